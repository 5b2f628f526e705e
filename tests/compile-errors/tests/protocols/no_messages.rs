anabranch_macros::proto! {
    pub bank {
        Login: send { login(String) -> Response }
        Response: recv {}
    }
}

fn main() {}

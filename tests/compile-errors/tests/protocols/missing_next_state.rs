anabranch_macros::proto! {
    pub bank {
        Login: send { login(String) -> () }
    }
}

fn main() {}

anabranch_macros::proto! {
    pub bank {
        Login: { login(String) -> ! }
    }
}

fn main() {}

anabranch_macros::proto! {
    pub bank {
        Login: send { login(String) -> Login2, logIn -> !, login -> ! }
        Login2: recv { ok -> ! }
        Login: recv { late -> ! }
    }
}

fn main() {}

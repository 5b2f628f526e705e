anabranch_macros::proto! {
    pub bank {
        Login: send { login(String) -> !, again -> Login2 }
        Login2: recv { ok -> Login }
        Connected: send { quit -> Vault }
        Vault: recv { closed -> ! }
    }
}

fn main() {}

anabranch_macros::proto! {
    pub bank {
        Login: send { login(String) -> LoginResponse }
        LoginResponse: recv { ok -> Conected, invalid -> Logout }
        Connected: send { quit -> ! }
    }
}

fn main() {}

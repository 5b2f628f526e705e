anabranch_macros::proto! {
    pub pairs {
        First: send { pair(second: u8, u16) -> Next }
        Next: send { same(a: u8, a: u16) -> !, one(first: u8, u16) -> !, three(u8, u8, first: u8) -> ! }
    }
}

fn main() {}

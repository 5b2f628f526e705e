anabranch_macros::proto! {
    pub kinds {
        First: send { type(u8) -> ! }
    }
}

fn main() {}

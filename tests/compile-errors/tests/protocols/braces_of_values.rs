anabranch_macros::proto! {
    pub greeting {
        First: send { hello { a: u8 } -> ! }
    }
}

fn main() {}

anabranch_macros::proto! {
    #[buffer(16)]
    #[unbounded]
    pub numbers {
        First: send { number(u64) -> First, end -> ! }
    }
}

fn main() {}

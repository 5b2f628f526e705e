anabranch_macros::proto! {
    pub bank {
        Open: send { deposit(u64) -> Open, try_deposit -> !, deposit_async(u64) -> !, writable -> ! }
    }
}

fn main() {}

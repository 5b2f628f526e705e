anabranch_macros::proto! {
    pub bank {
        Open: send { deposit(u64) -> Open, try_deposit -> !, deposit_timeout(u64) -> !, deposit_deadline -> !, writable -> ! }
    }
}

fn main() {}

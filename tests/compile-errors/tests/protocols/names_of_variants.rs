anabranch_macros::proto! {
    pub letters {
        A: send { b_c -> A_b }
        A_b: send { c -> ! }
    }
}

fn main() {}

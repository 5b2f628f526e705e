anabranch_macros::proto! {
    pub kinds {
        Self: send { end -> ! }
    }
}

fn main() {}

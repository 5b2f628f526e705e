anabranch_macros::proto! {
    pub values {
        First<T>: send { value(T) -> ! }
    }
}

fn main() {}

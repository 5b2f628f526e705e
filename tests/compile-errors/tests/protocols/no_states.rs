anabranch_macros::proto! {
    pub bank {}
}

fn main() {}

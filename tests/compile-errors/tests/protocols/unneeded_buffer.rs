anabranch_macros::proto! {
    pub upload {
        #[buffer(4)]
        Begin: send { name(String) -> Blocks }
        #[buffer(8)]
        Blocks: send { block(Vec<u8>) -> Blocks, end -> ! }
    }
}

fn main() {}

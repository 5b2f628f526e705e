anabranch_macros::proto! {
    pub news {
        Subscribe: send { subscribe(String) -> News }
        News: recv { headline(String) -> More }
        More: recv { text(String) -> News }
    }
}

fn main() {}

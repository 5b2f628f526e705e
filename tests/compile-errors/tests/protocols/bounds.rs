anabranch_macros::proto! {
    pub ask {
        Question: send<Q: Send, R> { ask(Q) -> Answer<Q, R> }
        Answer: recv<Q: Sync, R> { answer(Q) -> ! }
    }
}

fn main() {}

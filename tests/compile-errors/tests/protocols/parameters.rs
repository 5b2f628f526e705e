anabranch_macros::proto! {
    pub ask {
        Question: send<Q, A: Send> { ask(Q) -> Answer<Q>, other(Q) -> Answer<Q, Vec<A>>, none -> Answer }
        Answer: recv<A> { answer(A) -> ! }
    }
}

fn main() {}

//! Loom models: every interleaving of a few threads over the lines that ship.
//!
//! Run by `RUSTFLAGS="--cfg loom" cargo test -p anabranch --lib --release models -- --nocapture --test-threads 1`. Each
//! model prints how many executions loom went through. `.ci/mutate` breaks the orderings one by one and sees a model
//! fail.

mod bias;
mod cancel;
mod channel_cx;
mod channel_one_to_one;
mod channel_rendezvous;
mod channel_select;
mod channel_set;
mod channel_shared;
mod channel_versioned;
mod channel_versioned_select;
mod fork_stack;
mod future;
mod inbox;
mod jobs;
mod latch;
mod local_wait;
mod offer;
mod pages;
mod parcel;
mod parker;
mod proto_ring;
mod queue;
mod root;
mod sleep;
mod spin;
mod sync;
mod sync_overtaking;
mod thread;
mod waiter;
mod worker_entry;

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `body` in every interleaving and prints how many there were.
fn explore(name: &str, preemptions: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    static EXECUTIONS: AtomicUsize = AtomicUsize::new(0);
    EXECUTIONS.store(0, Ordering::Relaxed);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        body();
    });
    let bound = preemptions.map_or("all".to_owned(), |n| format!("at most {n} preemptions"));
    println!("model {name}: {} executions ({bound})", EXECUTIONS.load(Ordering::Relaxed));
}

//! loom models: loom runs the shipped code of a few threads in every interleaving.
//!
//! `.ci/run loom` runs them. The feature `__loom` only adds the dependency, which otherwise would be in the lock file
//! of each application. Each model prints the number of its executions. `.ci/mutate` breaks the orderings one by one
//! and checks that a model fails. A thread with a parker stands for a fiber.
//!
//! loom has two limits. It lets a store of another thread take effect between the load and the store of a swap, so the
//! code writes flags by swap and not by store. And it does not reorder a store before an earlier load of the same word
//! by the same thread.

mod admission;
mod bias;
mod cancel;
mod channel_blocking;
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
mod indices;
mod latch;
mod local_wait;
mod offer;
mod parcel;
mod parker;
mod placed;
mod proto_ring;
mod queue;
mod readiness;
mod root;
mod run_queue;
mod sleep;
mod spin;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod stacks;
mod sync;
mod sync_overtaking;
mod task_alloc;
mod thread;
mod waiter;
mod worker_entry;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Runs `body` in every interleaving, and prints their number.
fn explore(name: &str, preemptions: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let executions = Arc::new(AtomicUsize::new(0));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check({
        let executions = Arc::clone(&executions);
        move || {
            executions.fetch_add(1, Ordering::Relaxed);
            body();
        }
    });
    let bound = preemptions.map_or("all".to_owned(), |n| format!("at most {n} preemptions"));
    println!("model {name}: {} executions ({bound})", executions.load(Ordering::Relaxed));
}

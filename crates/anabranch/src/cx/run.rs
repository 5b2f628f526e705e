//! The way in from a plain thread.

use crate::{
    cx::{
        cx::{Cx, Deadline},
        thread::ThreadStrand,
    },
    fiber::locals::Locals,
    pool::{Pool, worker::Worker},
    wait::{cancel::CancelScope, suspend::Strand},
};

/// Runs `body` on the calling thread with the permission to wait.
///
/// While it waits the thread is parked; its place in the pool goes to another thread meanwhile. Called outside of any
/// pool it makes the thread a guest of the default one until it returns; [`Pool::run`] is for another.
///
/// Inside compute code, and **in a fiber, it parks the thread** all the same: whoever has a [`Cx`] at hand should use
/// that one. A fiber that waits by `run` for another fiber of its thread waits for ever; the first such wait in a pool
/// is told of, see [`Builder::on_hazard`](crate::Builder::on_hazard). It cannot suspend the fiber instead: `run` may be
/// called from anywhere, from the initialiser of a `thread_local!` too, and another fiber would find that variable half
/// made. That a wait needs a `Cx`, which such code is not passed, is what rules this out.
///
/// # Panics
/// When `body` panics; outside of any pool, when the default pool cannot be made.
///
/// ```
/// let (a, b) = anabranch::run(|cx| cx.join(|_| 6 * 7, |_| "both"));
/// assert_eq!((a, b), (42, "both"));
/// ```
#[track_caller]
pub fn run<R>(body: impl FnOnce(&Cx<'_>) -> R) -> R {
    if Worker::current().registry().is_some() {
        return run_here(body);
    }
    Pool::default().registry().enter(|| run_here(body))
}

fn run_here<R>(body: impl FnOnce(&Cx<'_>) -> R) -> R {
    let strand = ThreadStrand::new();
    let scope = CancelScope::root(strand.waiter());
    let locals = Locals::new();
    body(&Cx::new(&strand, &scope, Deadline::NONE, &locals))
}

impl Pool {
    /// As [`run`], in this pool.
    ///
    /// # Panics
    /// When `body` panics.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(1).build().unwrap();
    /// let sum = pool.run(|cx| {
    ///     let handle = anabranch::spawn(|_| 40);
    ///     Ok::<_, anabranch::JoinError>(handle.join(cx)? + 2)
    /// });
    /// assert_eq!(sum.unwrap(), 42);
    /// ```
    pub fn run<R>(&self, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        self.registry().enter(|| run_here(body))
    }
}

//! Waiting from a plain thread.

use crate::{
    cx::{
        cx::{Cx, Deadline},
        own_locals::OwnLocals,
        thread::BlockingThread,
    },
    pool::Pool,
    wait::{cancel::CancelScope, suspend::Suspend},
};

/// Runs `body` on the calling thread, with a [`Cx`], the permission to wait.
///
/// While `body` waits, the thread is parked, and another thread takes its slot in the pool. Inside compute code, such
/// as an item of a parallel loop, the thread keeps its slot: another thread would begin the next item, which waits too.
/// If all of the pool would stall otherwise, the thread gives its slot to another thread after all. Outside of any pool
/// the thread joins the default pool until this returns; use [`Pool::run`] for another pool.
///
/// Inside compute code, and **in a fiber, `run` parks the thread** too: code that has a [`Cx`] should use that `Cx`. A
/// fiber that waits in `run` for another fiber of its thread waits forever. The pool reports the first wait of a fiber
/// in `run`, see [`Builder::on_hazard`](crate::Builder::on_hazard). `run` cannot suspend the fiber instead. It may be
/// called from anywhere, even from the initialiser of a `thread_local!`, and another fiber would then find that
/// variable half initialised. A wait that takes a `Cx` rules this out, because such an initialiser receives no `Cx`.
///
/// # Panics
/// Panics when `body` panics, or outside of any pool when the default pool cannot be created.
///
/// ```
/// let (a, b) = anabranch::run(|cx| cx.join(|_| 6 * 7, |_| "both"));
/// assert_eq!((a, b), (42, "both"));
/// ```
#[track_caller]
pub fn run<R>(body: impl FnOnce(&Cx<'_>) -> R) -> R {
    if Pool::of_current().is_some() {
        return run_here(body);
    }
    Pool::of_outside().enter_to_wait(|| run_here(body))
}

pub(super) fn run_here<R>(body: impl FnOnce(&Cx<'_>) -> R) -> R {
    let owner = BlockingThread::new();
    let scope = CancelScope::root(owner.waiter());
    let locals = OwnLocals::new();
    body(&Cx::new(&owner, &scope, Deadline::NONE, &locals))
}

impl Pool {
    /// Runs `body` on the calling thread, in this pool. See [`run`].
    ///
    /// # Panics
    /// Panics when `body` panics.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(1).build().unwrap();
    /// let sum = pool.run(|cx| {
    ///     let handle = anabranch::spawn(|_| 40);
    ///     Ok::<_, anabranch::JoinError>(handle.join(cx)? + 2)
    /// });
    /// assert_eq!(sum.unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn run<R>(&self, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        self.registry().enter_to_wait(|| run_here(body))
    }
}

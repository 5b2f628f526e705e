//! Pending work, which a thread runs on request. The thread may wait for that work in a loop, and may be the only one
//! of its pool.

use crate::{
    pool::{
        registry::Registry,
        run_work::Work,
        worker::{ForkJoin, Worker},
    },
    sys::unwind,
};

impl ForkJoin<'_> {
    /// Runs a part of a broadcast, the newest task, or the oldest fork of this thread. Returns whether there was one.
    fn run_own(self) -> bool {
        if self.answer_broadcast() {
            return true;
        }
        if let Some(task) = self.worker.compute.tasks.take_newest() {
            self.run(Work::Task(task));
            return true;
        }
        loop {
            if let Some(claim) = self.take_own_fork() {
                self.run(Work::Frame(claim));
                return true;
            }
            // A fork that may wait is published elsewhere.
            if !self.publish_one() {
                return false;
            }
        }
    }

    /// Runs a piece of another thread, or from outside of the pool. Returns whether there was one.
    fn run_other(self, registry: &Registry) -> bool {
        let find = || {
            let mut others = registry.workers();
            others
                .find_map(|worker| worker.fork_join().steal_piece(self.worker))
                .or_else(|| registry.take_injected(self.worker))
        };
        let work = find().or_else(|| if registry.sees_work() { find() } else { None });
        work.map(|work| self.run(work)).is_some()
    }

    /// Runs pending work by `run`, unless the thread unwinds. Restores the index that the caller had before.
    fn run_keeping_index(self, run: impl FnOnce() -> bool) -> bool {
        let index = self.worker.compute.lease.get();
        let has_run = !unwind::panicking() && run();
        self.worker.restore_lease(index);
        has_run
    }
}

/// Runs one piece of pending work: of this thread, or else of another thread of its pool. Returns `None` outside of any
/// pool, and `Some(false)` if there is no pending work.
///
/// A thread that waits for other work of the pool in a loop calls this, so that the loop also ends if no other thread
/// runs that work. It may be any piece, so the caller must not hold a lock that the piece may take. Prefer a
/// [`scope`](crate::scope), which only runs what it waits for.
///
/// The pieces are forks, tasks, and parts of broadcasts, but not fibers. A thread that unwinds runs none. If there is
/// none the thread yields to others.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
///
/// let pool = anabranch::Pool::builder().threads(1).build().unwrap();
/// pool.install(|| {
///     let is_done = Arc::new(AtomicBool::new(false));
///     let signal = Arc::clone(&is_done);
///     anabranch::execute(move || signal.store(true, Ordering::Release));
///     while !is_done.load(Ordering::Acquire) {
///         anabranch::pool::run_pending();
///     }
/// });
/// assert_eq!(anabranch::pool::run_pending(), None);
/// ```
pub fn run_pending() -> Option<bool> {
    let me = Worker::current();
    let registry = me.registry()?;
    if me.fork_join().run_keeping_index(|| me.fork_join().run_own() || me.fork_join().run_other(registry)) {
        return Some(true);
    }
    me.yield_slot();
    Some(false)
}

/// Runs one piece of pending work of this thread: a part of a broadcast, the task that was spawned here last, or the
/// oldest fork. Returns `None` outside of any pool, and `Some(false)` if there is no pending work.
///
/// Like [`run_pending`], but never takes work of another thread.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(1).build().unwrap();
/// let (ran, _) = pool.install(|| anabranch::join(anabranch::pool::run_pending_local, || ()));
/// assert!(ran.is_some());
/// assert_eq!(anabranch::pool::run_pending_local(), None);
/// ```
pub fn run_pending_local() -> Option<bool> {
    let me = Worker::current();
    me.registry()?;
    Some(me.fork_join().run_keeping_index(|| me.fork_join().run_own()))
}

/// Returns whether this thread has pending work, which [`run_pending_local`] would run. Returns `None` outside of any
/// pool.
///
/// Other threads may take the work at any time, so this is a hint: for example, to do a piece at once instead of
/// spawning it while there are other pieces that no thread has taken.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(1).build().unwrap();
/// assert_eq!(pool.install(anabranch::pool::has_pending), Some(false));
/// assert_eq!(anabranch::pool::has_pending(), None);
/// ```
pub fn has_pending() -> Option<bool> {
    let me = Worker::current();
    me.registry().map(|_| me.compute.has_pending())
}

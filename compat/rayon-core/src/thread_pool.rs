//! `ThreadPool`.

use crate::{
    BroadcastContext, Scope, ScopeFifo, Yield, broadcast::broadcast_job, join, panics, scope, scope_fifo, spawn,
    yield_local, yield_now,
};
use anabranch::Pool;
use std::{fmt, marker::PhantomData};

/// A pool of threads that a program builds, by [`ThreadPoolBuilder`](crate::ThreadPoolBuilder).
///
/// Dropping it ends its threads once they have run what was spawned. The drop does not wait for them.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPool {
    /// Absent only while this is dropped.
    pool: Option<Pool>,
    /// Not `UnwindSafe`, as in rayon.
    _marker: PhantomData<Box<dyn Fn() + Send + Sync>>,
}

impl ThreadPool {
    pub(crate) fn new_from(pool: Pool) -> Self {
        Self { pool: Some(pool), _marker: PhantomData }
    }

    fn pool(&self) -> &Pool {
        self.pool.as_ref().expect("the pool is absent only during the drop")
    }

    /// Returns whether the calling thread works in this pool.
    fn is_current(&self) -> bool {
        anabranch::pool::current_pool_id() == Some(self.pool().id())
    }

    /// Runs `op` on one of the pool's threads, and waits for it. What `op` forks and spawns runs in this pool too. On a
    /// thread of this pool, this is a plain call.
    ///
    /// A thread of another pool that waits here runs only work of its pool that `op` has started.
    ///
    /// # Panics
    /// Panics when `op` panics.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// assert_eq!(pool.install(rayon_core::current_num_threads), 2);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.pool().call(op)
    }

    /// Runs `op` once on each thread of this pool, and returns the results in the order of the threads.
    ///
    /// # Panics
    /// Panics when an `op` panics, after all have ended.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
    /// assert_eq!(pool.broadcast(|context| context.index() * context.index()), [0, 1, 4]);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.pool().broadcast(|index| BroadcastContext::with(index, &op))
    }

    /// Returns the number of threads.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.pool().num_threads()
    }

    /// Returns the index of the calling thread in this pool, or `None` if it does not work in this pool. No two threads
    /// have the same index at a time, and the index of a job does not change while it runs.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.pool().current_thread_index()
    }

    /// Returns whether the calling thread has work that it has not begun, or `None` if it does not work in this pool.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        if self.is_current() { anabranch::pool::has_pending() } else { None }
    }

    /// Runs both closures in this pool, like [`join`](crate::join()).
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| join(oper_a, oper_b))
    }

    /// Runs a scope in this pool, like [`scope`](crate::scope()).
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope(op))
    }

    /// Runs a scope in this pool, like [`scope_fifo`](crate::scope_fifo()).
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope_fifo(op))
    }

    /// Runs `op` on the calling thread, and the jobs that it spawns in this pool. Waits for all jobs.
    ///
    /// # Panics
    /// Panics like [`scope`](crate::scope()).
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let received = pool.in_place_scope(|s| {
    ///     s.spawn(move |_| sender.send(22).unwrap());
    ///     receiver.recv()
    /// });
    /// assert_eq!(received, Ok(22));
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.pool().in_place_scope(|s| Scope::run(s, self.pool().id(), op))
    }

    /// Runs `op` like [`in_place_scope`](Self::in_place_scope), but the oldest job of the scope runs first.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.pool().in_place_scope(|s| ScopeFifo::run(s, self.pool().id(), op))
    }

    /// Spawns a job in this pool, like [`spawn`](crate::spawn()).
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool().execute(|| panics::run_job(op));
    }

    /// Spawns a job in this pool, like [`spawn_fifo`](crate::spawn_fifo()).
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        if self.is_current() {
            self.pool().execute(spawn::fifo_task(self.pool().id(), op));
        } else {
            self.spawn(op);
        }
    }

    /// Spawns `op` on each thread of this pool, like [`spawn_broadcast`](crate::spawn_broadcast()).
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.pool().spawn_broadcast(broadcast_job(op));
    }

    /// Runs one piece of pending work of this pool, like [`yield_now`](crate::yield_now()). Returns `None` if the
    /// calling thread does not work in this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        if self.is_current() { yield_now() } else { None }
    }

    /// Runs one piece of pending work of the calling thread, like [`yield_local`](crate::yield_local()). Returns `None`
    /// if the calling thread does not work in this pool.
    pub fn yield_local(&self) -> Option<Yield> {
        if self.is_current() { yield_local() } else { None }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.shutdown_background();
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("id", &self.pool().id())
            .finish()
    }
}

/// Returns the index of the calling thread in its pool, or `None` outside of any pool. No two threads of a pool have
/// the same index at a time, and the index of a job does not change while it runs.
///
/// ```
/// assert_eq!(rayon_core::current_thread_index(), None);
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert!(pool.install(rayon_core::current_thread_index).unwrap() < 2);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    anabranch::pool::current_thread_index()
}

/// Returns whether the calling thread has work that it has not begun, or `None` outside of any pool. Another thread may
/// take that work at any time.
///
/// ```
/// assert_eq!(rayon_core::current_thread_has_pending_tasks(), None);
/// ```
#[inline]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    anabranch::pool::has_pending()
}

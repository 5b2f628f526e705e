//! The public handle of a pool.

use crate::pool::{current_thread, id::PoolId, registry::Registry, stats::Stats, worker::Worker};
use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
};

/// A pool of worker threads.
///
/// Most programs use the implicit default pool. [`join`](crate::join), [`scope`](crate::scope) and the parallel loops
/// use the pool in which they are called. Outside of any pool they use the default pool, which is created on first use.
/// It has `ANABRANCH_NUM_THREADS` threads, or else one for each core that the process may use. Create a pool for
/// another number of threads, for thread names, stack sizes and handlers, or to separate two parts of a program.
///
/// If the system refuses some of the threads of the default pool, the pool continues with the others, and reports this
/// once on the standard error stream. If it refuses all, each caller does all of its work itself, and spawned fibers
/// wait until the system grants a thread.
///
/// A pool of T threads lets T threads work at a time. A thread from outside that calls [`install`](Self::install) works
/// as one of them until `install` returns, as a *guest*. So no work is handed over, and no thread has to wake up first.
/// If there are more than T guests, the pool's own threads release their slots, and the other guests wait for a slot.
///
/// Dropping a pool ends its threads and waits for them, exit handlers included. All work is finished by then: most ways
/// into a pool return only when their work is done, fibers are cancelled, and [tasks](Self::execute) run to their end.
/// [`shutdown_background`](Self::shutdown_background) does not wait. Neither does a drop on a thread of this or another
/// pool, or in work that a pool runs: the pool that ends may wait for that work.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(4).build()?;
/// let (a, b) = pool.install(|| anabranch::join(|| 6 * 7, || "both"));
/// assert_eq!((a, b), (42, "both"));
/// # Ok::<(), anabranch::pool::BuildError>(())
/// ```
pub struct Pool {
    pub(super) registry: Arc<Registry>,
    /// Whether the drop waits for the threads.
    pub(super) joins_threads: bool,
}

impl Pool {
    /// Runs `root` on the calling thread as a part of this pool: the pool's threads can take its forks.
    ///
    /// On a thread of this pool, or inside another `install` of it, this is a plain call. On a thread of another pool,
    /// this first publishes the forks of that thread there. So its own pool can continue without it.
    ///
    /// If T threads already compute in a pool of T threads, this waits until one of them has ended its work or waits in
    /// a join. Callers are served roughly in the order of arrival. See [`Builder::threads`](crate::Builder::threads)
    /// for threads that are blocked.
    ///
    /// # Panics
    /// Panics when `root` panics.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// use anabranch::prelude::*;
    ///
    /// let squares: Vec<u64> = pool.install(|| (0..1000u64).into_par_iter().map(|i| i * i).collect());
    /// assert_eq!(squares[31], 961);
    /// ```
    #[track_caller]
    pub fn install<R>(&self, root: impl FnOnce() -> R) -> R {
        self.registry.enter(root)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The maximum number of threads of a pool, not counting spare threads.
    pub const MAX_THREADS: usize = 4095;

    /// Returns a value that no other pool of the process has.
    ///
    /// ```
    /// let pools = [1, 1].map(|threads| anabranch::Pool::builder().threads(threads).build().unwrap());
    /// assert_ne!(pools[0].id(), pools[1].id());
    /// assert_eq!(pools[0].install(anabranch::pool::current_pool_id), Some(pools[0].id()));
    /// ```
    pub fn id(&self) -> PoolId {
        self.registry.id
    }

    /// Returns the index of the calling thread among those that work in this pool, or `None` if it is not in this pool.
    /// See [`current_thread_index`](crate::pool::current_thread_index).
    ///
    /// ```
    /// # let [pool, other] = [2, 2].map(|n| anabranch::Pool::builder().threads(n).build().unwrap());
    /// assert!(pool.install(|| pool.current_thread_index()).is_some());
    /// assert_eq!(pool.install(|| other.current_thread_index()), None);
    /// ```
    pub fn current_thread_index(&self) -> Option<usize> {
        let me = Worker::current();
        me.is_of(&self.registry).then(|| me.thread_index(&self.registry))
    }

    /// Returns the number of threads that work at a time.
    pub fn num_threads(&self) -> usize {
        self.registry.threads()
    }

    /// Returns the counters of the pool's threads since the pool was created. The call is cheap. It reads the counters
    /// one after the other while the threads run.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// use anabranch::prelude::*;
    ///
    /// pool.install(|| (0..1000u32).into_par_iter().for_each(|_| ()));
    /// println!("{}", pool.stats());
    /// assert_eq!(pool.stats().workers.len(), 2);
    /// ```
    pub fn stats(&self) -> Stats {
        self.registry.stats()
    }

    /// Ends the pool without waiting for it.
    ///
    /// As when the pool is dropped, fibers are cancelled, and all [tasks](Self::execute) run. The threads end after
    /// these, with their exit handlers, unless the program ends earlier.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let pool = anabranch::Pool::builder().threads(1).build().unwrap();
    /// let ((wake, wakes), (sender, receiver)) = (mpsc::channel(), mpsc::channel());
    /// pool.execute(move || sender.send(wakes.recv()).unwrap());
    /// pool.shutdown_background();
    /// wake.send("late").unwrap();
    /// assert_eq!(receiver.recv(), Ok(Ok("late")));
    /// ```
    pub fn shutdown_background(mut self) {
        self.joins_threads = false;
    }
}

/// Returns whether work of the pool may wait for what the calling thread does: for a thread or a blocking call of any
/// pool, and for work of a pool on a thread of the program.
fn may_wait_for_caller(registry: &Registry) -> bool {
    let me = Worker::current();
    me.registry().is_some() && me.is_own && !current_thread::is_member()
        || !me.lineage().is_null()
        || Pool::is_in_blocking_call()
        // Their handlers run outside of the pool.
        || registry.pool_threads.is_one_of_them()
        || registry.blocking.is_one_of_them()
}

// Threads of a pool share atomics, and data under locks within which no user code runs. So a panic leaves that data
// consistent.
impl UnwindSafe for Pool {}
impl RefUnwindSafe for Pool {}

impl Drop for Pool {
    fn drop(&mut self) {
        let registry = &*self.registry;
        registry.close();
        let (own, blocking) = (&registry.pool_threads, &registry.blocking);
        if self.joins_threads && !may_wait_for_caller(registry) {
            current_thread::wind_up(registry);
            // In this order: the last fiber makes the last blocking call.
            own.join_all();
            blocking.join_all();
            registry.closing.note_end();
        }
        current_thread::release(registry);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.num_threads()).finish_non_exhaustive()
    }
}

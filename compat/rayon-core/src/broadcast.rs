//! Closures that run on every thread of a pool.

use crate::{current_num_threads, global, panics};
use anabranch::pool::PoolId;
use std::{fmt, marker::PhantomData};

/// Runs `op` once on each thread of the caller's pool, or of the global pool if the caller is outside of any. Returns
/// the results in the order of the threads.
///
/// # Panics
/// Panics when an `op` panics, after all have ended.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.install(|| rayon_core::broadcast(|context| context.index() * 10)), [0, 10, 20]);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let op = |index| BroadcastContext::with(index, &op);
    if anabranch::pool::in_pool() { anabranch::pool::broadcast(op) } else { global::get().pool.broadcast(op) }
}

/// Spawns `op` on each thread of the caller's pool, or of the global pool if the caller is outside of any. Does not
/// wait for it.
///
/// # Panics
/// A panic of `op` goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler), or aborts the process.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn_broadcast(move |context| sender.send(context.index()).unwrap());
/// let mut indices: Vec<_> = receiver.into_iter().collect();
/// indices.sort();
/// assert!(indices.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let op = broadcast_job(op);
    if anabranch::pool::in_pool() {
        anabranch::pool::spawn_broadcast(op)
    } else {
        global::get().pool.spawn_broadcast(op)
    }
}

/// Returns what each thread runs for a detached broadcast.
pub(crate) fn broadcast_job(
    op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static,
) -> impl Fn(usize) + Send + Sync + 'static {
    move |index| panics::run_job(|| BroadcastContext::with(index, &op))
}

/// Tells a part of a broadcast which thread runs it.
pub struct BroadcastContext<'a> {
    index: usize,
    num_threads: usize,
    pool_id: Option<PoolId>,
    /// Neither `Send` nor `Sync`, as in rayon.
    _marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    /// Calls `op` with the context of thread `index` of the current pool.
    pub(crate) fn with<R>(index: usize, op: impl FnOnce(BroadcastContext<'_>) -> R) -> R {
        op(BroadcastContext {
            index,
            num_threads: current_num_threads(),
            pool_id: anabranch::pool::current_pool_id(),
            _marker: PhantomData,
        })
    }

    /// Returns the index of the thread that runs this part, from zero to the number of threads less one.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of threads that the broadcast reaches.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.num_threads
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.num_threads)
            .field("pool_id", &self.pool_id)
            .finish()
    }
}

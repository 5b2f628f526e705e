//! Jobs that outlive the call that spawns them.

use crate::{fifo::Fifo, global, panics};
use anabranch::pool::PoolId;
use std::{cell::RefCell, sync::Arc};

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The FIFO jobs that this thread spawns, and the pool for which. A thread that spawns in another pool begins a new
    /// queue; the tasks of the old one own it.
    static FIFO: RefCell<Option<(PoolId, Arc<Fifo<Job>>)>> = const { RefCell::new(None) };
}

/// Spawns a job in the caller's pool, or in the global pool if the caller is outside of any. Does not wait for it.
///
/// A thread of the pool runs the newest of its own jobs first. Other threads take the oldest.
///
/// # Panics
/// A panic of the job goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler), or aborts the
/// process.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(22).unwrap());
/// assert_eq!(receiver.recv(), Ok(22));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    let task = move || panics::run_job(func);
    if anabranch::pool::in_pool() { anabranch::execute(task) } else { global::get().pool.execute(task) }
}

/// Spawns a job like [`spawn`], but the oldest of a thread's jobs runs first.
///
/// # Panics
/// As for [`spawn`].
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// pool.install(|| {
///     for i in 0..3 {
///         let sender = sender.clone();
///         rayon_core::spawn_fifo(move || sender.send(i).unwrap());
///     }
/// });
/// drop(sender);
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    match anabranch::pool::current_pool_id() {
        Some(pool) => anabranch::execute(fifo_task(pool, func)),
        None => global::get().pool.execute(|| panics::run_job(func)),
    }
}

/// Puts a job into the queue of this thread, and returns the task that runs the oldest.
pub(crate) fn fifo_task(pool: PoolId, job: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send + 'static {
    let fifo = FIFO.with_borrow_mut(|current| match current {
        Some((id, fifo)) if *id == pool => fifo.clone(),
        _ => current.insert((pool, Arc::new(Fifo::new()))).1.clone(),
    });
    fifo.push(Box::new(job));
    move || panics::run_job(fifo.take_oldest())
}

//! Running a future on the pool, on a fiber of its own.

use crate::{
    cx::{handle::JoinHandle, join_error::JoinError, spawn::spawn_task},
    pool::Pool,
    wait::Cancelled,
};
use std::future::Future;

/// Runs a future on the pool that the caller is in, or else on the default pool.
///
/// It is polled on a fiber of its own, always on the same thread. Cancelling it, or dropping the pool, drops the
/// future; its handle then returns [`JoinError::Aborted`].
///
/// # Panics
/// Outside of any pool, when the default pool cannot be created.
///
/// ```
/// let handle = anabranch::spawn_async(async { 6 * 7 });
/// assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn_async<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let registry = Pool::of_caller();
    spawn_task(registry, (), |cx| cx.block_on(future).map_err(|Cancelled| JoinError::Aborted))
}

impl Pool {
    /// Runs a future on this pool, as [`spawn_async`] does.
    #[track_caller]
    pub fn spawn_async<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_task(self.registry(), (), |cx| cx.block_on(future).map_err(|Cancelled| JoinError::Aborted))
    }
}

//! Panics that reach no caller: those of spawned jobs, and of handlers.
//!
//! A pool's panic handler gets them; without one the process aborts, as in rayon. A job knows only the pool that it
//! runs in, so a list maps pools to handlers. The pool owns its handler, by its start handler. So an entry of the list
//! is empty once the pool has ended.

use anabranch::pool::PoolId;
use std::{
    any::Any,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    process,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// The type of a panic handler.
pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// The handler may be unset.
pub(crate) type SharedHandler = Option<Arc<PanicHandler>>;

static HANDLERS: Mutex<Vec<(PoolId, Weak<PanicHandler>)>> = Mutex::new(Vec::new());

/// Lists the handler of a pool, if it is not listed yet.
pub(crate) fn register(pool: Option<PoolId>, handler: &SharedHandler) {
    let (Some(pool), Some(handler)) = (pool, handler) else { return };
    let mut handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
    handlers.retain(|(_, handler)| handler.strong_count() > 0);
    if handlers.iter().all(|(id, _)| *id != pool) {
        handlers.push((pool, Arc::downgrade(handler)));
    }
}

/// Runs a job. A panic goes to the handler of the pool in which the job runs.
pub(crate) fn run_job(job: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
        handle(&of_current_pool(), panic);
    }
}

/// Runs a start or exit handler. A panic goes to `handler`.
pub(crate) fn run_callback(handler: &SharedHandler, callback: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(callback)) {
        handle(handler, panic);
    }
}

fn of_current_pool() -> SharedHandler {
    let pool = anabranch::pool::current_pool_id()?;
    let handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
    handlers.iter().find(|(id, _)| *id == pool)?.1.upgrade()
}

/// Passes the panic to the handler. Aborts the process if there is none, or if it panics.
#[cold]
fn handle(handler: &SharedHandler, panic: Box<dyn Any + Send>) {
    let abort = AbortOnDrop;
    if let Some(handler) = handler {
        handler(panic);
        mem::forget(abort);
    }
}

struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        eprintln!("Rayon: detected unexpected panic; aborting");
        process::abort();
    }
}

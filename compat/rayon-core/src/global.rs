//! The global pool, which is Anabranch's default pool.
//!
//! A root is a call from outside of any pool. In a global pool without options it runs on the calling thread, which is
//! a guest of the pool until it returns: nothing is handed over, and no thread has to wake up. If the program has set a
//! stack size, names, handlers or its own threads, it expects its work to see them. Then roots run on the pool's own
//! threads, as in rayon.

use crate::num_threads;
use anabranch::{Pool, Scope, pool::PoolId};
use std::sync::{Mutex, OnceLock, PoisonError};

/// See the [module](self).
pub(crate) struct Global {
    pub(crate) pool: &'static Pool,
    pub(crate) has_own_roots: bool,
}

static GLOBAL: OnceLock<Global> = OnceLock::new();

/// Held while the global pool is made. It protects no data, so a panic cannot leave it inconsistent.
static MAKING: Mutex<()> = Mutex::new(());

/// Returns the global pool, and makes it if it does not exist.
#[inline]
pub(crate) fn get() -> &'static Global {
    match GLOBAL.get() {
        Some(global) => global,
        None => make_implicitly(),
    }
}

#[cold]
fn make_implicitly() -> &'static Global {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    // If Anabranch's default pool exists, or the system refuses threads, the number of threads is Anabranch's choice.
    if let Some(threads) = num_threads::from_environment() {
        _ = Pool::builder().threads(threads).build_default();
    }
    GLOBAL.get_or_init(|| Global { pool: Pool::default_pool(), has_own_roots: false })
}

/// Makes the global pool. `start` starts it as Anabranch's default pool.
pub(crate) fn make<E>(has_own_roots: bool, start: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    start()?;
    _ = GLOBAL.set(Global { pool: Pool::default_pool(), has_own_roots });
    Ok(())
}

/// Returns the number of threads of the caller's pool, or of the global pool if the caller is outside of any.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.install(rayon_core::current_num_threads), 3);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
#[inline]
pub fn current_num_threads() -> usize {
    if anabranch::pool::in_pool() { anabranch::pool::current_num_threads() } else { get().pool.num_threads() }
}

/// Runs a root in the global pool.
#[cold]
#[inline(never)]
pub(crate) fn run<R: Send>(root: impl FnOnce() -> R + Send) -> R {
    let global = get();
    if global.has_own_roots { global.pool.call(root) } else { global.pool.install(root) }
}

/// Runs `work` in the caller's pool, or as a root of the global pool. `work` gets the pool.
pub(crate) fn run_in_pool<R: Send>(work: impl FnOnce(PoolId) -> R + Send) -> R {
    match anabranch::pool::current_pool_id() {
        Some(pool) => work(pool),
        None => run(|| work(get().pool.id())),
    }
}

/// Runs the body of a scope on the calling thread, and its tasks in the caller's pool or in the global pool. The body
/// gets the pool too.
pub(crate) fn in_place<'env, R>(body: impl for<'s> FnOnce(&'s Scope<'s, 'env>, PoolId) -> R) -> R {
    if let Some(pool) = anabranch::pool::current_pool_id() {
        return anabranch::scope(|s| body(s, pool));
    }
    let global = get();
    let pool = global.pool.id();
    if global.has_own_roots {
        global.pool.in_place_scope(|s| body(s, pool))
    } else {
        global.pool.install(|| anabranch::scope(|s| body(s, pool)))
    }
}

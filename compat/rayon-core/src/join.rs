//! `join` and `join_context`.
//!
//! rayon promises that both closures run, also when the first panics, and that the panic of the first is the one that
//! propagates. `anabranch::join` drops a second closure that has not begun. So both closures run under `catch_unwind`
//! here, which costs nothing when they return.

use crate::{FnContext, global};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// Runs both closures, possibly in parallel, and returns both results.
///
/// `a` runs on the calling thread; an idle thread of the pool may run `b` meanwhile. A call from outside of any pool
/// runs in the global pool.
///
/// While the calling thread waits for `b`, it runs only work that `b` has started.
///
/// # Panics
/// Panics when a closure panics, once both have run. If both panic, the panic of `a` is passed on.
///
/// ```
/// let mut numbers = [5, 1, 8, 22, 0, 44];
/// let (left, right) = numbers.split_at_mut(3);
/// rayon_core::join(|| left.sort(), || right.sort());
/// assert_eq!(numbers, [1, 5, 8, 0, 22, 44]);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let fork = || both(anabranch::join(|| catch(oper_a), || catch(oper_b)));
    if anabranch::pool::in_pool() { fork() } else { global::run(fork) }
}

/// Runs both closures like [`join`], and tells each whether it runs on another thread than the caller's.
///
/// # Panics
/// Panics like [`join`].
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let migrated = pool.install(|| rayon_core::join_context(|a| a.migrated(), |b| b.migrated()));
/// assert_eq!(migrated, (false, false));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let fork = |injected: bool| {
        both(anabranch::join_context(
            |_| catch(|| oper_a(FnContext::new(injected))),
            |context| catch(|| oper_b(FnContext::new(injected || context.migrated()))),
        ))
    };
    if anabranch::pool::in_pool() { fork(false) } else { global::run(|| fork(true)) }
}

/// A result, or a panic. It is boxed once more, so that a small result with its tag is returned in two registers. A
/// `thread::Result` is passed in memory: written as two words and read as one vector, for which the processor waits.
type Caught<R> = Result<R, Box<Box<dyn Any + Send>>>;

#[inline(always)]
fn catch<R>(closure: impl FnOnce() -> R) -> Caught<R> {
    // The panic propagates when both closures have ended, so nobody sees what it left behind before the caller does.
    catch_unwind(AssertUnwindSafe(closure)).map_err(Box::new)
}

#[inline(always)]
fn both<RA, RB>((a, b): (Caught<RA>, Caught<RB>)) -> (RA, RB) {
    match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(panic), _) | (_, Err(panic)) => resume_unwind(*panic),
    }
}

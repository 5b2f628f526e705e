//! chili: the recursion passes a `Scope` down by `&mut`, so it reads no thread-local.
//!
//! The calling thread works too: a pool of `n` threads is the caller and `n - 1` workers. While a scope lives, a timer
//! thread beats every 100 us. So entering the pool makes the scope, and leaving it drops the scope. chili runs its
//! *second* closure first, so the arguments are swapped.

use std::cell::Cell;
use std::num::NonZero;

use chili::{Config, Scope, ThreadPool};

use super::Peer;

/// `Scope::join` on a scope of a `ThreadPool`.
pub struct Chili;

impl Peer for Chili {
    // `Scope` needs `&mut`, whose lifetimes one parameter cannot name. A `Cell` of it is the same pointer.
    type Cx<'a> = Cell<Scope<'a>>;
    type Pool = ThreadPool;

    fn pool(threads: usize) -> ThreadPool {
        ThreadPool::with_config(Config { thread_count: NonZero::new(threads), ..Config::default() })
    }

    fn enter<R, F>(pool: &ThreadPool, f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send,
    {
        f(Cell::from_mut(&mut pool.scope()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(cx: &Self::Cx<'_>, a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        // SAFETY: `Cell` is not `Sync`, so only this thread has `cx`. `a` and `b` are `Send`, so they cannot have
        // captured it. So while this borrow lives, only `Scope::join` can reach the scope.
        let scope = unsafe { &mut *cx.as_ptr() };
        let (second, first) = scope.join(|scope| b(Cell::from_mut(scope)), |scope| a(Cell::from_mut(scope)));
        (first, second)
    }
}

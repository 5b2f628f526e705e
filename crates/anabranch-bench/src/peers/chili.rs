//! chili: a `Scope` handed down through the recursion by `&mut`, so that no thread-local is ever read.
//!
//! The calling thread works too: a pool of `n` threads is the caller and `n - 1` workers. While a scope lives, a timer
//! thread beats every 100 us, so a scope is made when the pool is entered and ends with it. chili runs its *second*
//! closure first; the arguments are swapped.

use std::cell::Cell;
use std::num::NonZero;

use chili::{Config, Scope, ThreadPool};

use super::Peer;

/// `Scope::join` on a scope of a `ThreadPool`.
pub struct Chili;

impl Peer for Chili {
    // `Scope` wants `&mut`, whose lifetimes one parameter cannot name; a `Cell` of it is the same pointer.
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
        // SAFETY: `Cell` is not `Sync`, so this thread alone holds `cx`, and `a` and `b`, being `Send`, cannot have
        // captured it: nothing reaches the scope while this borrow lives except through what `Scope::join` hands on.
        let scope = unsafe { &mut *cx.as_ptr() };
        let (second, first) = scope.join(|scope| b(Cell::from_mut(scope)), |scope| a(Cell::from_mut(scope)));
        (first, second)
    }
}

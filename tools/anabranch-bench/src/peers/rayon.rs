//! rayon: `rayon::join` on the workers of a `ThreadPool`, entered by `install`.
//!
//! The calling thread does not work: it waits for the pool's own threads.

use super::Peer;

/// `rayon::join` inside `ThreadPool::install`.
pub struct Rayon;

impl Peer for Rayon {
    type Cx<'a> = ();
    type Pool = rayon::ThreadPool;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool can be built")
    }

    fn enter<R, F>(pool: &rayon::ThreadPool, f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send,
    {
        pool.install(|| f(&()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(_cx: &(), a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&()), || b(&()))
    }
}

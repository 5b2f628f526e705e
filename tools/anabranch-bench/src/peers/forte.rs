//! forte: the recursion passes a `&Worker` down.
//!
//! The calling thread works too, because `with_worker` makes it a member: a pool of `n` threads is the caller and
//! `n - 1` managed workers. Like chili, forte runs its *second* closure first, so the arguments are swapped. Pools must
//! be static, and their timer thread beats while they have a managed worker. So a pool of each size is made once and
//! kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use forte::{ThreadPool, Worker};

use super::Peer;

/// `Worker::join` on a static pool.
pub struct Forte;

static POOLS: Mutex<Option<HashMap<usize, &'static ThreadPool>>> = Mutex::new(None);

impl Peer for Forte {
    type Cx<'a> = Worker;
    type Pool = &'static ThreadPool;

    fn pool(threads: usize) -> &'static ThreadPool {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        pools.get_or_insert_default().entry(threads).or_insert_with(|| {
            let pool = Box::leak(Box::new(ThreadPool::new()));
            pool.resize_to(threads - 1);
            pool
        })
    }

    fn enter<R, F>(pool: &&'static ThreadPool, f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send,
    {
        pool.with_worker(|worker| f(worker))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(cx: &Worker, a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (second, first) = cx.join(b, a);
        (first, second)
    }
}

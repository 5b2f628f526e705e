//! async-executor, the executor of smol: the requested number of threads, the calling one included, run one executor.

use std::pin::Pin;
use std::thread;

use async_executor::{Executor, StaticExecutor};
use futures_lite::future::{block_on, pending, yield_now};

use super::{Done, Peer};
use crate::stopwatch::Stopwatch;

/// `Executor::spawn` on a leaked executor, as its documentation recommends for speed.
pub struct Smol;

type Leaked = &'static StaticExecutor;

fn inside<R: Send + 'static>(executor: Leaked, root: impl Future<Output = R> + Send + 'static) -> R {
    block_on(executor.run(executor.spawn(root)))
}

async fn yields(times: u64) -> u64 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

fn fib(executor: Leaked, n: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if n < 2 {
            return u64::from(n);
        }
        let a = executor.spawn(fib(executor, n - 1));
        let b = fib(executor, n - 2).await;
        a.await + b
    })
}

impl Peer for Smol {
    type Pool = Leaked;

    fn pool(threads: usize) -> Leaked {
        let executor: Leaked = Executor::new().leak();
        for _ in 1..threads {
            thread::spawn(|| block_on(executor.run(pending::<()>())));
        }
        executor
    }

    fn yields(executor: &Leaked, fibers: u64, times: u64) -> Done {
        let executor = *executor;
        inside(executor, async move {
            let watch = Stopwatch::start();
            let others: Vec<_> = (1..fibers).map(|_| executor.spawn(yields(times))).collect();
            let mut sum = yields(times).await;
            for other in others {
                sum += other.await;
            }
            Done::new(sum, watch.stop())
        })
    }

    fn spawn(executor: &Leaked, count: u64) -> Done {
        let executor = *executor;
        inside(executor, async move {
            let watch = Stopwatch::start();
            let handles: Vec<_> = (0..count).map(|_| executor.spawn(async {})).collect();
            let mut joined = 0;
            for handle in handles {
                handle.await;
                joined += 1;
            }
            Done::new(joined, watch.stop())
        })
    }

    fn fib(executor: &Leaked, n: u32) -> Done {
        let executor = *executor;
        inside(executor, async move {
            let watch = Stopwatch::start();
            let answer = fib(executor, n).await;
            Done::new(answer, watch.stop())
        })
    }
}

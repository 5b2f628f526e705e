//! anabranch, in its two ways: fibers that borrow from a scope or a join, and spawned ones with handles.

use std::sync::Arc;

use anabranch::sync::Mutex;
use anabranch::{Cx, Pool};

use super::{Done, Peer};
use crate::fibers::workloads::alarms::Alarms;
use crate::fibers::workloads::asleep::Crowd;
use crate::sample::Stopwatch;

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().expect("a pool can be built")
}

/// Runs `root` on a fiber of the pool.
fn inside<R: Send + 'static>(pool: &Pool, root: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
    let handle = pool.spawn(root);
    pool.run(|cx| handle.join(cx)).expect("the root ends in peace")
}

fn yields(cx: &Cx<'_>, times: u64) -> u64 {
    (0..times).for_each(|_| cx.yield_now());
    times
}

/// `Cx::scope` and `Cx::join`.
pub struct Structured;

impl Peer for Structured {
    type Pool = Pool;

    fn pool(threads: usize) -> Pool {
        pool(threads)
    }

    fn yields(pool: &Pool, fibers: u64, times: u64) -> Done {
        inside(pool, move |cx| {
            let watch = Stopwatch::start();
            let others: Vec<_> = (1..fibers).map(|_| anabranch::spawn(move |cx| yields(cx, times))).collect();
            let own = yields(cx, times);
            let sum = others.into_iter().map(|other| other.join(cx).expect("no fiber panics")).sum::<u64>();
            Done::new(own + sum, watch.stop())
        })
    }

    fn spawn(pool: &Pool, count: u64) -> Done {
        inside(pool, move |cx| {
            let watch = Stopwatch::start();
            cx.scope(|s| {
                for _ in 0..count {
                    s.spawn(|_| ());
                }
            });
            Done::new(count, watch.stop())
        })
    }

    fn fib(pool: &Pool, n: u32) -> Done {
        fn fib(cx: &Cx<'_>, n: u32) -> u64 {
            if n < 2 {
                return u64::from(n);
            }
            let (a, b) = cx.join(|cx| fib(cx, n - 1), |cx| fib(cx, n - 2));
            a + b
        }
        inside(pool, move |cx| {
            let watch = Stopwatch::start();
            let answer = fib(cx, n);
            Done::new(answer, watch.stop())
        })
    }

    fn asleep(pool: &Pool, crowd: &Arc<Crowd>) {
        let crowd = Arc::clone(crowd);
        inside(pool, move |cx| {
            cx.scope(|s| {
                for _ in 0..crowd.count() {
                    s.spawn(|cx| {
                        crowd.enter();
                        cx.sleep_until(crowd.wakes()).expect("nobody cancels");
                        crowd.leave();
                    });
                }
            });
        });
    }

    fn alarms(pool: &Pool, alarms: &Arc<Alarms>) {
        let alarms = Arc::clone(alarms);
        inside(pool, move |cx| {
            cx.scope(|s| {
                for alarm in alarms.iter() {
                    s.spawn(move |cx| {
                        cx.sleep_until(alarm.due()).expect("nobody cancels");
                        alarm.ring();
                    });
                }
            });
        });
    }

    fn lock(pool: &Pool, fibers: u64, times: u64) -> Done {
        inside(pool, move |cx| {
            let mutex = Mutex::new(0u64);
            let watch = Stopwatch::start();
            cx.scope(|s| {
                for _ in 0..fibers {
                    s.spawn(|cx| (0..times).for_each(|_| *mutex.lock(cx).expect("nobody cancels") += 1));
                }
            });
            let meter = watch.stop();
            Done::new(mutex.into_inner(), meter)
        })
    }
}

/// `spawn` and `JoinHandle::join`.
pub struct Spawned;

impl Peer for Spawned {
    type Pool = Pool;

    fn pool(threads: usize) -> Pool {
        pool(threads)
    }

    fn spawn(pool: &Pool, count: u64) -> Done {
        inside(pool, move |cx| {
            let watch = Stopwatch::start();
            let handles: Vec<_> = (0..count).map(|_| anabranch::spawn(|_| ())).collect();
            let joined = handles.into_iter().map(|handle| handle.join(cx)).filter(Result::is_ok);
            let joined = joined.count() as u64;
            Done::new(joined, watch.stop())
        })
    }

    fn fib(pool: &Pool, n: u32) -> Done {
        fn fib(cx: &Cx<'_>, n: u32) -> u64 {
            if n < 2 {
                return u64::from(n);
            }
            let a = anabranch::spawn(move |cx| fib(cx, n - 1));
            let b = fib(cx, n - 2);
            a.join(cx).expect("no fiber panics") + b
        }
        inside(pool, move |cx| {
            let watch = Stopwatch::start();
            let answer = fib(cx, n);
            Done::new(answer, watch.stop())
        })
    }
}

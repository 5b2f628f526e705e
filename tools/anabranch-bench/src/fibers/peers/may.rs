//! may: stackful coroutines, started by `go!`. It starts its threads once per process, as many as its configuration
//! says.
//!
//! A spawn maps a stack and a guard, which are two mappings. The system allows 65,530 mappings per process, so only
//! about half as many coroutines can live at once.

use std::sync::Arc;
use std::time::Instant;

use may::coroutine::{self, JoinHandle};
use may::go;

use super::{Done, Peer, most_for_may};
use crate::fibers::programs::alarms::Alarms;
use crate::fibers::programs::crowd::Crowd;
use crate::stopwatch::Stopwatch;

/// The peer `may`.
pub struct May;

/// Runs `root` in a coroutine, and waits for its result.
fn inside<R: Send + 'static>(root: impl FnOnce() -> R + Send + 'static) -> R {
    go!(root).join().expect("the root does not panic")
}

fn yields(times: u64) -> u64 {
    (0..times).for_each(|_| coroutine::yield_now());
    times
}

fn sleep_until(instant: Instant) {
    coroutine::sleep(instant.saturating_duration_since(Instant::now()));
}

fn join<R>(handle: JoinHandle<R>) -> R {
    handle.join().expect("no coroutine panics")
}

impl Peer for May {
    type Pool = ();

    const MOST: u64 = most_for_may::ALIVE;
    const MOST_SPAWNED: u64 = most_for_may::SPAWNED;
    // may starts coroutines in the order of their spawns, so most of the forks live at the same time.
    const MOST_FIB: u32 = most_for_may::FIB;

    fn pool(threads: usize) {
        may::config().set_workers(threads);
    }

    fn yields(_: &(), fibers: u64, times: u64) -> Done {
        inside(move || {
            let watch = Stopwatch::start();
            let others: Vec<_> = (1..fibers).map(|_| go!(move || yields(times))).collect();
            let own = yields(times);
            let sum = others.into_iter().map(join).sum::<u64>();
            Done::new(own + sum, watch.stop())
        })
    }

    fn spawn(_: &(), count: u64) -> Done {
        inside(move || {
            let watch = Stopwatch::start();
            let mut joined = 0;
            while joined < count {
                // may can hold at most `MOST` coroutines at a time.
                let some = (count - joined).min(Self::MOST);
                let handles: Vec<_> = (0..some).map(|_| go!(|| ())).collect();
                handles.into_iter().for_each(join);
                joined += some;
            }
            Done::new(joined, watch.stop())
        })
    }

    fn fib(_: &(), n: u32) -> Done {
        fn fib(n: u32) -> u64 {
            if n < 2 {
                return u64::from(n);
            }
            let a = go!(move || fib(n - 1));
            let b = fib(n - 2);
            join(a) + b
        }
        inside(move || {
            let watch = Stopwatch::start();
            let answer = fib(n);
            Done::new(answer, watch.stop())
        })
    }

    fn asleep(_: &(), crowd: &Arc<Crowd>) {
        let crowd = Arc::clone(crowd);
        inside(move || {
            coroutine::scope(|scope| {
                for _ in 0..crowd.count() {
                    let crowd = &crowd;
                    go!(scope, move || {
                        crowd.enter();
                        sleep_until(crowd.wakes());
                        crowd.leave();
                    });
                }
            });
        });
    }

    fn alarms(_: &(), alarms: &Arc<Alarms>) {
        let alarms = Arc::clone(alarms);
        inside(move || {
            coroutine::scope(|scope| {
                for alarm in alarms.iter() {
                    go!(scope, move || {
                        sleep_until(alarm.due());
                        alarm.ring();
                    });
                }
            });
        });
    }

    fn lock(_: &(), fibers: u64, times: u64) -> Done {
        inside(move || {
            let mutex = Arc::new(may::sync::Mutex::new(0u64));
            let watch = Stopwatch::start();
            let handles: Vec<_> = (0..fibers)
                .map(|_| {
                    let mutex = Arc::clone(&mutex);
                    go!(move || (0..times).for_each(|_| *mutex.lock().unwrap() += 1))
                })
                .collect();
            handles.into_iter().for_each(join);
            let meter = watch.stop();
            let sum = *mutex.lock().unwrap();
            Done::new(sum, meter)
        })
    }
}

//! tokio, on its thread pool and on its current-thread runtime. The root is a task of the runtime in both.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Semaphore, mpsc, watch};
use tokio::task::{JoinSet, spawn, yield_now};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use super::{Done, Peer};
use crate::fibers::programs::alarms::Alarms;
use crate::fibers::programs::crowd::Crowd;
use crate::fibers::programs::gathering::Gathering;
use crate::fibers::programs::waits::{Chance, Program, ROOM};
use crate::stopwatch::Stopwatch;

/// The multi-threaded runtime.
pub struct Tokio;

/// The current-thread runtime.
pub struct Current;

fn inside<R: Send + 'static>(runtime: &Runtime, root: impl Future<Output = R> + Send + 'static) -> R {
    runtime.block_on(async { spawn(root).await }).expect("the root ends in peace")
}

async fn yields(times: u64) -> u64 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

fn fib(n: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if n < 2 {
            return u64::from(n);
        }
        let a = spawn(fib(n - 1));
        let b = fib(n - 2).await;
        a.await.expect("no task panics") + b
    })
}

async fn intervals(tasks: u64, ticks: u64) -> u64 {
    let mut set = JoinSet::new();
    for _ in 0..tasks {
        set.spawn(async move {
            let mut interval = interval(Duration::from_millis(1));
            interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
            // The first tick comes at once.
            for _ in 0..=ticks {
                interval.tick().await;
            }
            ticks
        });
    }
    set.join_all().await.into_iter().sum()
}

async fn ring(tasks: u64, tokens: u64, hops: u64) -> u64 {
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| mpsc::unbounded_channel()).unzip();
    let (over, mut ended) = mpsc::unbounded_channel();
    for token in 0..tokens {
        senders[(token * tasks / tokens) as usize].send(hops).expect("it is open");
    }
    senders.rotate_left(1);
    let mut set = JoinSet::new();
    for (sender, mut receiver) in senders.into_iter().zip(receivers) {
        let over = over.clone();
        set.spawn(async move {
            while let Some(left) = receiver.recv().await {
                if !(if left == 0 { over.send(()).is_ok() } else { sender.send(left - 1).is_ok() }) {
                    return;
                }
            }
        });
    }
    for _ in 0..tokens {
        ended.recv().await.expect("all tokens come to an end");
    }
    set.shutdown().await;
    tokens * hops
}

async fn actors(actors: u64, messages: u64, hops: u64) -> u64 {
    let (boxes, receivers): (Vec<_>, Vec<_>) = (0..actors).map(|_| mpsc::channel(ROOM)).unzip();
    let boxes: Arc<[mpsc::Sender<u64>]> = boxes.into();
    let (over, mut ended) = mpsc::unbounded_channel();
    let mut set = JoinSet::new();
    for (number, mut receiver) in (0..).zip(receivers) {
        let (boxes, over, mut chance) = (Arc::clone(&boxes), over.clone(), Chance::new(number));
        set.spawn(async move {
            while let Some(left) = receiver.recv().await {
                let is_open = if left == 0 {
                    over.send(()).is_ok()
                } else {
                    boxes[chance.neighbour(boxes.len())].send(left - 1).await.is_ok()
                };
                if !is_open {
                    return;
                }
            }
        });
    }
    for message in 0..messages {
        boxes[(message * actors / messages) as usize].send(hops).await.expect("it is open");
    }
    for _ in 0..messages {
        ended.recv().await.expect("all messages come to an end");
    }
    set.shutdown().await;
    messages * hops
}

async fn crawl(fetches: u64, at_a_time: usize) -> u64 {
    let permits = Arc::new(Semaphore::new(at_a_time));
    let mut set = JoinSet::new();
    for number in 0..fetches {
        let permit = Arc::clone(&permits).acquire_owned().await.expect("it is open");
        set.spawn(async move {
            sleep(Chance::nap(number)).await;
            drop(permit);
        });
    }
    set.join_all().await.len() as u64
}

impl Peer for Tokio {
    type Pool = Runtime;

    fn pool(threads: usize) -> Runtime {
        Builder::new_multi_thread().worker_threads(threads).enable_time().build().expect("a runtime can be built")
    }

    fn yields(runtime: &Runtime, fibers: u64, times: u64) -> Done {
        inside(runtime, async move {
            let watch = Stopwatch::start();
            let others: Vec<_> = (1..fibers).map(|_| spawn(yields(times))).collect();
            let mut sum = yields(times).await;
            for other in others {
                sum += other.await.expect("no task panics");
            }
            Done::new(sum, watch.stop())
        })
    }

    fn spawn(runtime: &Runtime, count: u64) -> Done {
        inside(runtime, async move {
            let watch = Stopwatch::start();
            let handles: Vec<_> = (0..count).map(|_| spawn(async {})).collect();
            let mut joined = 0;
            for handle in handles {
                handle.await.expect("no task panics");
                joined += 1;
            }
            Done::new(joined, watch.stop())
        })
    }

    fn fib(runtime: &Runtime, n: u32) -> Done {
        inside(runtime, async move {
            let watch = Stopwatch::start();
            let answer = fib(n).await;
            Done::new(answer, watch.stop())
        })
    }

    fn asleep(runtime: &Runtime, crowd: &Arc<Crowd>) {
        let crowd = Arc::clone(crowd);
        inside(runtime, async move {
            let mut set = JoinSet::new();
            for _ in 0..crowd.count() {
                let crowd = Arc::clone(&crowd);
                set.spawn(async move {
                    crowd.enter();
                    sleep_until(Instant::from_std(crowd.wakes())).await;
                    crowd.leave();
                });
            }
            set.join_all().await;
        });
    }

    fn alarms(runtime: &Runtime, alarms: &Arc<Alarms>) {
        let alarms = Arc::clone(alarms);
        inside(runtime, async move {
            let mut set = JoinSet::new();
            for index in 0..alarms.len() {
                let alarms = Arc::clone(&alarms);
                set.spawn(async move {
                    let alarm = alarms.get(index);
                    sleep_until(Instant::from_std(alarm.due())).await;
                    alarm.ring();
                });
            }
            set.join_all().await;
        });
    }

    fn gather(runtime: &Runtime, gathering: &Arc<Gathering>) {
        let gathering = Arc::clone(gathering);
        inside(runtime, async move {
            let (event, waiting) = watch::channel(false);
            let mut set = JoinSet::new();
            for _ in 0..gathering.count() {
                let (gathering, mut waiting) = (Arc::clone(&gathering), waiting.clone());
                let interval = gathering.interval();
                set.spawn(async move {
                    gathering.arrive();
                    waiting.wait_for(|has_come| *has_come).await.expect("the sender lives");
                    gathering.compute();
                });
                if !interval.is_zero() {
                    sleep(interval).await;
                }
            }
            while !gathering.is_complete() {
                sleep(Duration::from_millis(1)).await;
            }
            gathering.begin();
            event.send_replace(true);
            set.join_all().await;
        });
    }

    fn waits(runtime: &Runtime, program: Program) -> Done {
        inside(runtime, async move {
            let watch = Stopwatch::start();
            let steps = match program {
                Program::Intervals { fibers, ticks } => intervals(fibers, ticks).await,
                Program::Ring { fibers, tokens, hops } => ring(fibers, tokens, hops).await,
                Program::Actors { actors: count, messages, hops } => actors(count, messages, hops).await,
                Program::Crawl { fetches, at_a_time } => crawl(fetches, at_a_time).await,
            };
            Done::new(steps, watch.stop())
        })
    }

    fn lock(runtime: &Runtime, fibers: u64, times: u64) -> Done {
        inside(runtime, async move {
            let mutex = Arc::new(Mutex::new(0u64));
            let watch = Stopwatch::start();
            let handles: Vec<_> = (0..fibers)
                .map(|_| {
                    let mutex = Arc::clone(&mutex);
                    spawn(async move {
                        for _ in 0..times {
                            *mutex.lock().await += 1;
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.await.expect("no task panics");
            }
            let meter = watch.stop();
            let sum = *mutex.lock().await;
            Done::new(sum, meter)
        })
    }
}

impl Peer for Current {
    type Pool = Runtime;

    fn pool(_threads: usize) -> Runtime {
        Builder::new_current_thread().enable_time().build().expect("a runtime can be built")
    }

    fn yields(runtime: &Runtime, fibers: u64, times: u64) -> Done {
        Tokio::yields(runtime, fibers, times)
    }

    fn spawn(runtime: &Runtime, count: u64) -> Done {
        Tokio::spawn(runtime, count)
    }

    fn fib(runtime: &Runtime, n: u32) -> Done {
        Tokio::fib(runtime, n)
    }

    fn asleep(runtime: &Runtime, crowd: &Arc<Crowd>) {
        Tokio::asleep(runtime, crowd);
    }

    fn alarms(runtime: &Runtime, alarms: &Arc<Alarms>) {
        Tokio::alarms(runtime, alarms);
    }

    fn waits(runtime: &Runtime, program: Program) -> Done {
        Tokio::waits(runtime, program)
    }

    fn lock(runtime: &Runtime, fibers: u64, times: u64) -> Done {
        Tokio::lock(runtime, fibers, times)
    }
}

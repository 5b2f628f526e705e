//! anabranch, in its two ways: fibers that borrow from a scope or a join, and spawned fibers with handles.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anabranch::channel::{self, Receiver, Sender};
use anabranch::sync::{Event, Mutex};
use anabranch::{Cx, Pool, WaitError};

use super::{Done, Peer};
use crate::fibers::programs::alarms::Alarms;
use crate::fibers::programs::crowd::Crowd;
use crate::fibers::programs::gathering::Gathering;
use crate::fibers::programs::waits::{Chance, Program, ROOM};
use crate::stopwatch::Stopwatch;

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

    fn timeouts(pool: &Pool, share_a_scope: bool, times: u64) -> Done {
        inside(pool, move |cx| {
            let workers = Arc::new(Meeting::default());
            let watch = Stopwatch::start();
            let sum = if share_a_scope {
                let sum = AtomicU64::new(0);
                cx.scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|cx| sum.fetch_add(timeouts(cx, &workers, times), Ordering::Relaxed));
                    }
                });
                sum.into_inner()
            } else {
                let fibers = [(); 2].map(|()| {
                    let workers = Arc::clone(&workers);
                    anabranch::spawn(move |cx| timeouts(cx, &workers, times))
                });
                fibers.into_iter().map(|fiber| fiber.join(cx).expect("no fiber panics")).sum()
            };
            Done::new(sum, watch.stop())
        })
    }

    fn gather(pool: &Pool, gathering: &Arc<Gathering>) {
        let gathering = Arc::clone(gathering);
        inside(pool, move |cx| {
            let event = Event::new();
            cx.scope(|s| {
                for _ in 0..gathering.count() {
                    s.spawn(|cx| {
                        gathering.arrive();
                        event.wait(cx).expect("nobody cancels");
                        gathering.compute();
                    });
                    if !gathering.interval().is_zero() {
                        s.sleep(gathering.interval()).expect("nobody cancels");
                    }
                }
                while !gathering.is_complete() {
                    s.sleep(Duration::from_millis(1)).expect("nobody cancels");
                }
                gathering.begin();
                event.set();
            });
        });
    }

    fn waits(pool: &Pool, program: Program) -> Done {
        inside(pool, move |cx| {
            let watch = Stopwatch::start();
            let steps = match program {
                Program::Intervals { fibers, ticks } => intervals(cx, fibers, ticks),
                Program::Ring { fibers, tokens, hops } => ring(cx, fibers, tokens, hops),
                Program::Actors { actors: count, messages, hops } => actors(cx, count, messages, hops),
                Program::Crawl { fetches, at_a_time } => crawl(cx, fetches, at_a_time),
            };
            Done::new(steps, watch.stop())
        })
    }
}

/// Where two fibers wait for each other, so that each is on a worker of its own.
#[derive(Default)]
struct Meeting(AtomicU64);

impl Meeting {
    /// Waits for the other one, and does not let the worker run it meanwhile. Yields to the thread of the other worker:
    /// under a real-time priority it may wait for this core.
    fn meet(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        while self.0.load(Ordering::Relaxed) < 2 {
            thread::yield_now();
        }
    }
}

/// Has an answer from another fiber of this worker for each of so many time limits. The fiber waits for each of them.
fn timeouts(cx: &Cx<'_>, workers: &Meeting, times: u64) -> u64 {
    workers.meet();
    loop {
        let ((ask, asked), (answer, answered)) = (channel::unbounded(), channel::unbounded());
        let sum = cx.scope(|s| {
            s.spawn(move |cx| {
                let here = thread::current().id();
                while let Ok(number) = asked.recv(cx) {
                    answer.send(cx, (here, number)).expect("it is open until `ask` is dropped");
                }
            });
            let ask_for = |number: u64| {
                ask.send(s, number).expect("it is open");
                let limit = Duration::from_secs(600);
                s.timeout(limit, |cx| Ok::<_, WaitError>(answered.recv(cx).expect("it is open")))
                    .expect("it comes soon")
            };
            // The worker of the other fiber may have stolen this one.
            let is_here = ask_for(0).0 == thread::current().id();
            let sum = is_here.then(|| (0..times).map(|number| u64::from(ask_for(number).1 == number)).sum());
            drop(ask);
            sum
        });
        if let Some(sum) = sum {
            return sum;
        }
    }
}

fn intervals(cx: &Cx<'_>, fibers: u64, ticks: u64) -> u64 {
    let done = AtomicU64::new(0);
    cx.scope(|s| {
        for _ in 0..fibers {
            s.spawn(|cx| {
                let mut interval = cx.interval(Duration::from_millis(1));
                (0..ticks).for_each(|_| _ = interval.tick(cx).expect("nobody cancels"));
                done.fetch_add(ticks, Ordering::Relaxed);
            });
        }
    });
    done.into_inner()
}

/// Receives numbers, and sends each number minus one to the actor that `choose` returns. Zero goes to `over`.
fn forward(cx: &Cx<'_>, receiver: &Receiver<u64>, over: &Sender<()>, mut choose: impl FnMut(&Cx<'_>, u64) -> bool) {
    while let Ok(left) = receiver.recv(cx) {
        if !(if left == 0 { over.send(cx, ()).is_ok() } else { choose(cx, left - 1) }) {
            return;
        }
    }
}

fn ring(cx: &Cx<'_>, fibers: u64, tokens: u64, hops: u64) -> u64 {
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..fibers).map(|_| channel::unbounded()).unzip();
    let (over, ended) = channel::unbounded();
    for token in 0..tokens {
        senders[(token * fibers / tokens) as usize].send(cx, hops).expect("it is open");
    }
    senders.rotate_left(1);
    cx.scope(|s| {
        for (sender, receiver) in senders.into_iter().zip(receivers) {
            let over = over.clone();
            s.spawn(move |cx| forward(cx, &receiver, &over, |cx, left| sender.send(cx, left).is_ok()));
        }
        (0..tokens).for_each(|_| ended.recv(cx).expect("all tokens come to an end"));
        s.cancel();
    });
    tokens * hops
}

fn actors(cx: &Cx<'_>, actors: u64, messages: u64, hops: u64) -> u64 {
    let (boxes, receivers): (Vec<_>, Vec<_>) = (0..actors).map(|_| channel::bounded(ROOM)).unzip();
    let boxes = &boxes;
    let (over, ended) = channel::unbounded();
    cx.scope(|s| {
        for (number, receiver) in (0..).zip(receivers) {
            let (over, mut chance) = (over.clone(), Chance::new(number));
            s.spawn(move |cx| {
                forward(cx, &receiver, &over, |cx, left| boxes[chance.neighbour(boxes.len())].send(cx, left).is_ok());
            });
        }
        for message in 0..messages {
            boxes[(message * actors / messages) as usize].send(cx, hops).expect("it is open");
        }
        (0..messages).for_each(|_| ended.recv(cx).expect("all messages come to an end"));
        s.cancel();
    });
    messages * hops
}

fn crawl(cx: &Cx<'_>, fetches: u64, at_a_time: usize) -> u64 {
    let pages = cx.map_concurrent(at_a_time, 0..fetches, |cx, number| cx.sleep(Chance::nap(number)));
    pages.expect("nobody cancels").len() as u64
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

    /// From a thread outside of the pool.
    fn gather(pool: &Pool, gathering: &Arc<Gathering>) {
        let (event, interval) = (Arc::new(Event::new()), gathering.interval());
        let spawn = |_| {
            let (gathering, event) = (Arc::clone(gathering), Arc::clone(&event));
            let handle = pool.spawn(move |cx| {
                gathering.arrive();
                event.wait(cx).expect("nobody cancels");
                gathering.compute();
            });
            if !interval.is_zero() {
                thread::sleep(interval);
            }
            handle
        };
        let handles: Vec<_> = (0..gathering.count()).map(spawn).collect();
        while !gathering.is_complete() {
            thread::sleep(Duration::from_millis(1));
        }
        gathering.begin();
        event.set();
        // A thread in `run` would compute for the pool too.
        while !gathering.is_over() {
            thread::sleep(Duration::from_millis(1));
        }
        drop(handles);
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

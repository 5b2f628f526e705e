//! Fibers and compute work in one pool: fibers go on while threads compute, and loops whose items wait take no threads.

use crate::common::{LONG, fibers::on_fiber, pool, watchdog};
use anabranch::{Cx, Pool, channel, prelude::*, scope};
use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// The steps of some fibers that sleep again and again.
struct Tickers {
    steps: Vec<AtomicU32>,
    is_over: AtomicBool,
}

impl Tickers {
    /// Computes, without a wait, until each of the fibers has made a step.
    fn compute_until_all_step(&self) {
        for steps in &self.steps {
            let before = steps.load(Ordering::Relaxed);
            while steps.load(Ordering::Relaxed) == before {
                hint::spin_loop();
            }
        }
    }
}

/// Runs `body` on a fiber beside fibers that sleep, at least one on each worker.
fn beside_tickers(threads: usize, body: impl Fn(&Pool, &Cx<'_>, &Arc<Tickers>) + Send + Sync + 'static) {
    watchdog(LONG, move || {
        let pool = Arc::new(pool(threads));
        let own = Arc::clone(&pool);
        on_fiber(&pool, move |cx| {
            let steps = (0..4 * threads).map(|_| AtomicU32::new(0)).collect();
            let tickers = &Arc::new(Tickers { steps, is_over: AtomicBool::new(false) });
            cx.scope(|s| {
                for steps in &tickers.steps {
                    s.spawn(move |cx| {
                        while !tickers.is_over.load(Ordering::Relaxed) {
                            cx.sleep(Duration::from_micros(10)).unwrap();
                            steps.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                while tickers.steps.iter().any(|steps| steps.load(Ordering::Relaxed) == 0) {
                    s.sleep(Duration::from_micros(100)).unwrap();
                }
                body(&own, s, tickers);
                tickers.is_over.store(true, Ordering::Relaxed);
            });
        });
    });
}

/// Each item waits for all fibers without letting its thread go. So the loop ends only if none of its items runs on the
/// thread of a fiber.
#[test]
fn fibers_go_on_beside_loop_of_blocking_call() {
    for threads in [1, 2, 4] {
        beside_tickers(threads, |_, cx, tickers| {
            cx.blocking(|| (0..40u32).into_par_iter().for_each(|_| tickers.compute_until_all_step())).unwrap();
        });
    }
}

#[test]
fn fibers_go_on_beside_loop_of_thread_outside() {
    for threads in [1, 2, 4] {
        beside_tickers(threads, |pool, cx, tickers| {
            let (sender, mut receiver) = channel::oneshot::channel();
            thread::scope(|s| {
                s.spawn(move || {
                    pool.install(|| (0..40u32).into_par_iter().for_each(|_| tickers.compute_until_all_step()));
                    sender.send(()).unwrap();
                });
                receiver.recv(cx).unwrap();
            });
        });
    }
}

#[test]
fn fibers_go_on_beside_tree_of_joins() {
    fn tree(tickers: &Tickers, depth: u32) {
        if depth == 0 {
            return tickers.compute_until_all_step();
        }
        anabranch::join(|| tree(tickers, depth - 1), || tree(tickers, depth - 1));
    }
    beside_tickers(2, |_, cx, tickers| cx.blocking(|| tree(tickers, 5)).unwrap());
}

#[test]
fn fibers_go_on_beside_tasks_of_fiber() {
    beside_tickers(2, |_, cx, tickers| {
        let (sender, receiver) = channel::unbounded();
        for _ in 0..10 {
            let (sender, tickers) = (sender.clone(), Arc::clone(tickers));
            anabranch::execute(move || {
                tickers.compute_until_all_step();
                sender.try_send(()).unwrap();
            });
        }
        (0..10).for_each(|_| receiver.recv(cx).unwrap());
    });
}

/// Without any spare thread, the workers compute beside their fibers.
#[test]
fn compute_work_is_done_without_spares() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).max_spare_threads(0).build().unwrap();
        on_fiber(&pool, |cx| {
            let flag = Arc::new(AtomicBool::new(false));
            let task = Arc::clone(&flag);
            anabranch::execute(move || task.store(true, Ordering::Relaxed));
            while !flag.load(Ordering::Relaxed) {
                cx.sleep(Duration::from_micros(10)).unwrap();
            }
        });
    });
}

#[test]
fn guests_beyond_slots_wait_for_each_other() {
    watchdog(LONG, || {
        let (pool, inside, most) = (pool(2), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..12 {
                s.spawn(|| {
                    for _ in 0..20 {
                        pool.install(|| {
                            most.fetch_max(inside.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                            let start = Instant::now();
                            while start.elapsed() < Duration::from_micros(200) {
                                hint::spin_loop();
                            }
                            inside.fetch_sub(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
    });
}

#[test]
fn guest_begins_if_holder_of_slot_waits_for_it() {
    fn check(wait: impl Fn(channel::Receiver<()>) + Send + Sync) {
        watchdog(LONG, || {
            let (pool, is_inside) = (pool(1), AtomicBool::new(false));
            let (sender, receiver) = channel::unbounded();
            thread::scope(|s| {
                s.spawn(|| {
                    pool.install(|| {
                        is_inside.store(true, Ordering::Release);
                        wait(receiver);
                    });
                });
                while !is_inside.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                pool.install(|| sender.try_send(()).unwrap());
            });
        });
    }
    check(|signal| anabranch::run(|cx| signal.recv(cx)).unwrap());
    check(|signal| thread::spawn(move || signal.recv_blocking().unwrap()).join().unwrap());
}

/// No thread is left to find out that the worker is blocked.
#[test]
fn guest_begins_without_heartbeat_worker() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(1).max_spare_threads(0).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let (inside, is_inside) = mpsc::channel();
        pool.execute(move || {
            inside.send(()).unwrap();
            receiver.recv().unwrap();
        });
        is_inside.recv().unwrap();
        pool.install(|| sender.send(()).unwrap());
    });
}

#[test]
fn items_that_wait_for_fibers_take_no_threads() {
    for threads in [1, 2, 4] {
        watchdog(LONG, move || {
            let pool = pool(threads);
            let item = |i: u64| {
                let fiber = anabranch::spawn(move |cx| {
                    cx.sleep(Duration::from_micros(100)).unwrap();
                    i
                });
                anabranch::run(|cx| fiber.join(cx)).unwrap()
            };
            let sum: u64 = pool.install(|| (0..1000).into_par_iter().map(item).sum());
            assert_eq!(sum, 499_500);
            // Two on a quiet machine. A busy one may let threads appear to be blocked, and the pool adds some for
            // these.
            let stats = pool.stats();
            assert!(stats.spare_threads <= threads + 12, "{stats}");
        });
    }
}

#[test]
fn items_ask_service_fiber() {
    for threads in [1, 2, 8] {
        watchdog(LONG, move || {
            let pool = pool(threads);
            let (requests, request) = channel::unbounded::<(u64, channel::oneshot::Sender<u64>)>();
            let service = pool.spawn(move |cx| {
                while let Ok((n, reply)) = request.recv(cx) {
                    _ = reply.send(n * 2);
                }
            });
            let ask = |n: u64| {
                anabranch::run(|cx| {
                    let (reply, mut answer) = channel::oneshot::channel();
                    requests.send(cx, (n, reply)).unwrap();
                    answer.recv(cx).unwrap()
                })
            };
            let sum: u64 = pool.install(|| (0..500).into_par_iter().map(ask).sum());
            assert_eq!(sum, 249_500);
            drop(requests);
            pool.run(|cx| service.join(cx)).unwrap();
        });
    }
}

/// Each item waits for the next one, so the pool has to begin all of them.
#[test]
fn items_that_wait_for_later_items_end() {
    for threads in [1, 2, 4] {
        watchdog(LONG, move || {
            let pool = pool(threads);
            let ends: Vec<_> = (0..12).map(|_| channel::unbounded::<usize>()).collect();
            let last = ends.len() - 1;
            let item = |i: usize| {
                let value = if i == last { 0 } else { ends[i].1.recv_blocking().unwrap() };
                if i > 0 {
                    ends[i - 1].0.try_send(value + i).unwrap();
                }
                value
            };
            let values: Vec<usize> = pool.install(|| (0..=last).into_par_iter().map(item).collect());
            assert_eq!((values[0], values[last]), (66, 0));
            let mut tasks = 0;
            pool.install(|| {
                scope(|s| {
                    let item = &item;
                    (1..=last).for_each(|i| s.spawn(move || _ = item(i)));
                    tasks = item(0);
                });
            });
            assert_eq!(tasks, 66);
        });
    }
}

/// The pool cannot tell that it stands still, since a fiber always runs.
#[test]
fn items_that_wait_for_later_items_end_beside_tickers() {
    beside_tickers(1, |_, cx, _| {
        let (sender, receiver) = channel::unbounded::<u32>();
        let received = cx
            .blocking(|| anabranch::join(|| receiver.recv_blocking().unwrap(), || sender.try_send(7).unwrap()).0)
            .unwrap();
        assert_eq!(received, 7);
    });
}

/// A fiber that is spawned beside a sleeping one begins elsewhere, so that it cannot delay that one. Where the other
/// worker is not idle at that moment it may not, hence most of the time.
#[test]
fn fiber_beside_sleeping_one_begins_on_idle_worker() {
    watchdog(LONG, || {
        let pool = pool(2);
        let elsewhere = on_fiber(&pool, |cx| {
            let here = thread::current().id();
            (0..20)
                .filter(|_| {
                    cx.scope(|s| {
                        let fiber = s.spawn(|_| thread::current().id());
                        s.sleep(Duration::from_millis(1)).unwrap();
                        fiber.join(s).unwrap() != here
                    })
                })
                .count()
        });
        assert!(elsewhere >= 10, "{elsewhere} of 20");
    });
}

//! Where fibers start: workers get about the same number of those that wait for long.

use crate::common::{LONG, fibers::Event, watchdog};
use anabranch::{
    Cx, Pool,
    channel::{self, Receiver},
};
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

const FIBERS: usize = 400;

/// Starts fibers that wait for one event, and returns how many of them each worker has.
fn spread(pool: &Pool, cx: &Cx<'_>, pause: impl Fn(&Cx<'_>)) -> Vec<u64> {
    let (event, started) = (&Event::default(), &AtomicUsize::new(0));
    cx.scope(|s| {
        for _ in 0..FIBERS {
            s.spawn(move |cx| {
                started.fetch_add(1, Ordering::Relaxed);
                event.wait(cx)
            });
            pause(cx);
        }
        while started.load(Ordering::Relaxed) < FIBERS {
            cx.sleep(Duration::from_millis(1)).unwrap();
        }
        let live = pool.stats().workers.iter().map(|worker| worker.live).collect();
        event.set();
        live
    })
}

/// Other programs may delay a worker for so long that the others take its fibers, so one balanced run of many suffices.
/// On a quiet machine all of them are balanced.
fn assert_balanced(mut run: impl FnMut() -> Vec<u64>) {
    let mut last = Vec::new();
    let is_balanced = (0..50).any(|_| {
        last = run();
        last.iter().all(|live| *live >= FIBERS as u64 * 2 / 5)
    });
    assert!(is_balanced, "{last:?}");
}

/// Returns a pool of two threads, both of which have started.
fn pool_of_two() -> Pool {
    let pool = Pool::builder().threads(2).build().unwrap();
    pool.broadcast(|_| ());
    pool
}

#[test]
fn waiting_fibers_are_spread_over_workers_when_a_thread_spawns_slowly() {
    watchdog(LONG, || {
        assert_balanced(|| {
            let pool = pool_of_two();
            pool.run(|cx| spread(&pool, cx, |cx| cx.sleep(Duration::from_micros(50)).unwrap()))
        });
    });
}

#[test]
fn waiting_fibers_are_spread_over_workers_when_a_fiber_spawns_slowly() {
    watchdog(LONG, || {
        assert_balanced(|| {
            let (pool, pause) = (&pool_of_two(), |cx: &Cx<'_>| cx.sleep(Duration::from_micros(50)).unwrap());
            pool.run(|cx| cx.scope(|s| s.spawn(|cx| spread(pool, cx, pause)).join(cx).unwrap()))
        });
    });
}

#[test]
fn waiting_fibers_are_spread_over_workers_when_spawned_at_once() {
    watchdog(LONG, || {
        assert_balanced(|| {
            let pool = &pool_of_two();
            pool.run(|cx| cx.scope(|s| s.spawn(|cx| spread(pool, cx, |_| ())).join(cx).unwrap()))
        });
    });
}

#[test]
fn fibers_from_outside_of_the_pool_are_spread_over_workers() {
    watchdog(LONG, || {
        assert_balanced(|| {
            let (pool, event) = (pool_of_two(), Event::default());
            let handles = (0..FIBERS).map(|_| {
                let event = event.clone();
                pool.spawn(move |cx| event.wait(cx))
            });
            let handles: Vec<_> = handles.collect();
            let live = loop {
                let live: Vec<u64> = pool.stats().workers.iter().map(|worker| worker.live).collect();
                if live.iter().sum::<u64>() == FIBERS as u64 {
                    break live;
                }
                std::thread::yield_now();
            };
            event.set();
            pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap().unwrap()));
            live
        });
    });
}

#[test]
fn fiber_starts_elsewhere_while_another_computes() {
    watchdog(LONG, || {
        let pool = pool_of_two();
        let (event, started, ends) = (&Event::default(), &AtomicUsize::new(0), &AtomicUsize::new(0));
        pool.run(|cx| {
            cx.scope(|s| {
                // Computes until all others have started, on one of the two workers.
                s.spawn(move |_| {
                    started.fetch_add(1, Ordering::Relaxed);
                    while started.load(Ordering::Relaxed) < FIBERS {
                        std::hint::spin_loop();
                    }
                    ends.store(1, Ordering::Relaxed);
                });
                for _ in 1..FIBERS {
                    s.spawn(move |cx| {
                        started.fetch_add(1, Ordering::Relaxed);
                        event.wait(cx)
                    });
                }
                while ends.load(Ordering::Relaxed) == 0 {
                    cx.sleep(Duration::from_millis(1)).unwrap();
                }
                event.set();
            });
        });
    });
}

/// Fills a pool with fibers that block their threads by `wait`, and lets fibers from outside of the pool end the waits.
fn fibers_that_block_their_threads_do_not_delay_others(wait: fn(Receiver<u32>) -> u32) {
    watchdog(LONG, || {
        for threads in [1, 2, 4] {
            let pool = Pool::builder().threads(threads).on_hazard(|_| ()).build().unwrap();
            for _ in 0..20 {
                // Plain threads wait for all of it, so the fibers come from outside.
                let (report, reports) = mpsc::channel();
                let blocked: Vec<_> = (0..threads)
                    .map(|_| {
                        let (sender, receiver) = channel::unbounded();
                        let report = report.clone();
                        pool.spawn(move |_| {
                            report.send(0).unwrap();
                            report.send(wait(receiver)).unwrap();
                        });
                        assert_eq!(reports.recv(), Ok(0));
                        sender
                    })
                    .collect();
                for sender in blocked {
                    pool.spawn(move |cx| {
                        cx.yield_now();
                        sender.try_send(7).unwrap();
                    });
                    assert_eq!(reports.recv(), Ok(7));
                }
            }
        }
    });
}

#[test]
fn fibers_that_wait_in_run_do_not_delay_others() {
    fibers_that_block_their_threads_do_not_delay_others(|receiver| anabranch::run(|cx| receiver.recv(cx)).unwrap());
}

#[test]
fn fibers_that_wait_in_a_join_do_not_delay_others() {
    fibers_that_block_their_threads_do_not_delay_others(|receiver| {
        anabranch::join(|| (), || receiver.recv_blocking().unwrap()).1
    });
}

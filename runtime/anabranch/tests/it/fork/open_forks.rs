//! Open forks can be stolen, in any number: under deep recursion, while their owner waits for a broadcast or for
//! tasks, and during many broadcasts.

use super::panic_anywhere::{caught, throw};
use crate::common::{LONG, Tally, pool, sum_to, watchdog};
use anabranch::{Pool, join, scope};
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// Runs `body` on a thread with a stack for deep recursion.
fn deep<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    thread::scope(|s| thread::Builder::new().stack_size(1 << 30).spawn_scoped(s, body).unwrap().join().unwrap())
}

/// Opens so many forks, runs `bottom`, and closes them.
fn descend(depth: usize, fork: &(impl Fn() + Sync), bottom: &(impl Fn() + Sync)) {
    if depth == 0 {
        return bottom();
    }
    join(|| descend(depth - 1, fork, bottom), fork);
}

#[test]
fn thousands_of_open_forks_feed_one_receiver() {
    watchdog(LONG, || {
        for pool in [pool(1), pool(2), Pool::builder().threads(1).without_membarrier().build().unwrap()] {
            const DEPTH: usize = 6_000;
            let (sender, receiver) = mpsc::channel();
            let receiver = std::sync::Mutex::new(receiver);
            let bottom = || {
                let receiver = receiver.lock().unwrap();
                (0..DEPTH).for_each(|_| receiver.recv().unwrap());
            };
            deep(|| pool.install(|| descend(DEPTH, &|| sender.send(()).unwrap(), &bottom)));
        }
    });
}

/// The thread at the bottom neither forks nor returns: thieves have all forks above it published, one by one.
#[test]
fn forty_thousand_open_forks_are_all_stolen() {
    watchdog(LONG, || {
        const DEPTH: usize = 40_000;
        let (pool, stolen) = (pool(2), AtomicUsize::new(0));
        let owner = std::sync::OnceLock::new();
        let fork = || {
            assert_ne!(owner.get(), Some(&thread::current().id()));
            stolen.fetch_add(1, Ordering::Relaxed);
        };
        let bottom = || {
            owner.set(thread::current().id()).unwrap();
            while stolen.load(Ordering::Relaxed) < DEPTH {
                thread::yield_now();
            }
        };
        deep(|| pool.install(|| descend(DEPTH, &fork, &bottom)));
        assert_eq!(stolen.into_inner(), DEPTH);
    });
}

/// Each worker blocks in its part of the broadcast until the broadcaster's own fork has run, which a spare has to take.
#[test]
fn fork_of_waiting_broadcaster_is_stolen() {
    watchdog(LONG, || {
        let pool = pool(1);
        for _ in 0..100 {
            let (sender, receiver) = mpsc::channel();
            let receiver = std::sync::Mutex::new(receiver);
            pool.install(|| {
                join(|| pool.broadcast(|_| receiver.lock().unwrap().recv().unwrap()), move || sender.send(()).unwrap())
            });
        }
    });
}

/// The same, below several forks, from a worker, and with the answers waited for by the worker that gives one of them.
#[test]
fn forks_below_nested_broadcast_are_stolen() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..20 {
            let (sender, receiver) = mpsc::channel();
            let receiver = std::sync::Mutex::new(receiver);
            let ends = || _ = pool.broadcast(|_| receiver.lock().unwrap().recv().unwrap());
            pool.broadcast(|index| {
                if index == 0 {
                    descend(4, &|| sender.send(()).unwrap(), &ends);
                }
            });
        }
    });
}

/// The task blocks, on another thread or on the parent's own, until the fork beside the scope has run.
#[test]
fn fork_of_waiting_scope_is_stolen() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..100 {
            let (sender, receiver) = mpsc::channel();
            let (begin, begun) = mpsc::channel();
            let inner = move || {
                scope(|s| {
                    s.spawn(move || {
                        begin.send(()).unwrap();
                        receiver.recv().unwrap();
                    });
                    // Not by the parent, which then waits.
                    begun.recv().unwrap();
                });
            };
            pool.install(|| join(inner, move || sender.send(()).unwrap()));
        }
    });
}

/// What a broadcast runs waits in turn, and finds the next broadcast in the inbox, and so on.
#[test]
fn concurrent_broadcasts_do_not_nest_without_bound() {
    watchdog(LONG, || {
        const GUESTS: usize = 200;
        let pool = Pool::builder().threads(1).stack_size(256 << 10).build().unwrap();
        let (deepest, depth) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (begin, begun) = mpsc::channel::<()>();
        let begun = std::sync::Mutex::new(Some(begun));
        thread::scope(|s| {
            for _ in 0..GUESTS {
                thread::Builder::new()
                    .stack_size(256 << 10)
                    .spawn_scoped(s, || {
                        pool.broadcast(|_| {
                            // The first waits until all are there.
                            let begun = begun.lock().unwrap().take();
                            if let Some(begun) = begun {
                                let _ = begun.recv();
                            }
                            let here = depth.fetch_add(1, Ordering::Relaxed) + 1;
                            deepest.fetch_max(here, Ordering::Relaxed);
                            scope(|s| s.spawn(|| _ = std::hint::black_box([0u8; 4096])));
                            depth.fetch_sub(1, Ordering::Relaxed);
                        });
                    })
                    .unwrap();
            }
            thread::sleep(std::time::Duration::from_millis(300));
            drop(begin);
        });
        let deepest = deepest.into_inner();
        assert!(deepest <= 8, "{deepest} answers lay on one stack");
    });
}

/// Forks inside the first branch: all of them are open at once.
fn dive(depth: u32, bottom: &(impl Fn() + Sync), tally: &Tally) -> u32 {
    let _counted = tally.make();
    if depth == 0 {
        bottom();
        return 0;
    }
    let (a, b) = join(|| dive(depth - 1, bottom, tally), || depth % 2);
    a + b
}

/// Forks inside the second branch: one after the other.
fn follow(depth: u32, bottom: &(impl Fn() + Sync), tally: &Tally) -> u32 {
    let _counted = tally.make();
    if depth == 0 {
        bottom();
        return 0;
    }
    let (a, b) = join(|| depth % 2, || follow(depth - 1, bottom, tally));
    a + b
}

/// A thread can have ten thousand forks open, but not twenty thousand: those beyond are plain calls.
#[test]
fn panics_propagate_from_twenty_thousand_nested_forks() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = Pool::builder().threads(threads).stack_size(256 << 20).build().unwrap();
            for depth in [10_000, 20_000] {
                // On threads of the pool, whose stacks are large enough.
                pool.broadcast(|_| {
                    let tally = Tally::default();
                    assert_eq!(dive(depth, &|| (), &tally), depth / 2);
                    assert_eq!(follow(depth, &|| (), &tally), depth / 2);
                    assert_eq!(caught(|| _ = dive(depth, &|| throw(1), &tally)), Some(1));
                    assert_eq!(caught(|| _ = follow(depth, &|| throw(2), &tally)), Some(2));
                    tally.assert_all_dropped();
                    assert_eq!(sum_to(100), 5050);
                });
            }
        }
    });
}

//! A pool whose program mostly waits wakes up rarely. Measured by its own statistics, with an allowance for waits that
//! the machine prolongs.

use crate::common::{LONG, at_rest, pool, sum_to, watchdog};
use anabranch::{Pool, channel, join, spawn};
use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// The most searches of a heartbeat worker that found nothing for so long: some at first, and one every 25 ms from then
/// on.
fn looks_within(time: Duration) -> u64 {
    60 + time.as_millis() as u64 / 10
}

#[test]
fn sleeping_root_causes_few_wakeups() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            at_rest(&pool);
            let (before, start) = (pool.stats().total().parks, Instant::now());
            pool.install(|| thread::sleep(Duration::from_millis(400)));
            let parks = pool.stats().total().parks - before;
            assert!(parks <= looks_within(start.elapsed()), "{parks} in {:?}: {}", start.elapsed(), pool.stats());
        }
    });
}

#[test]
fn sleeping_branches_of_join_cause_few_wakeups() {
    watchdog(LONG, || {
        let pool = pool(2);
        at_rest(&pool);
        let (before, start) = (pool.stats().total().parks, Instant::now());
        let nap = || thread::sleep(Duration::from_millis(400));
        pool.install(|| join(nap, nap));
        let parks = pool.stats().total().parks - before;
        assert!(parks <= 2 * looks_within(start.elapsed()), "{parks} in {:?}: {}", start.elapsed(), pool.stats());
    });
}

/// The owner of a stolen fork searches for other work some times, and then waits for the thief's notification.
#[test]
fn owner_of_stolen_fork_parks_until_it_is_done() {
    watchdog(LONG, || {
        let pool = pool(2);
        at_rest(&pool);
        let before = pool.stats().guests.parks;
        pool.install(|| {
            let taken = Barrier::new(2);
            join(
                || _ = taken.wait(),
                || {
                    taken.wait();
                    thread::sleep(Duration::from_millis(400));
                },
            )
        });
        let parks = pool.stats().guests.parks - before;
        assert!(parks <= 15, "{parks}: {}", pool.stats());
    });
}

/// Neither the threads that sleep in `run`, nor the thread that waits for them.
#[test]
fn sleeping_broadcast_causes_few_wakeups() {
    watchdog(LONG, || {
        let pool = pool(2);
        at_rest(&pool);
        let (before, start) = (pool.stats().total().parks, Instant::now());
        pool.broadcast(|_| anabranch::run(|cx| cx.sleep(Duration::from_millis(400))).unwrap());
        let parks = pool.stats().total().parks - before;
        assert!(parks <= looks_within(start.elapsed()), "{parks} in {:?}: {}", start.elapsed(), pool.stats());
    });
}

/// The workers have waited for long in `run` by then, at parkers of their own.
#[test]
fn threads_in_long_waits_answer_broadcast() {
    watchdog(LONG, || {
        let pool = pool(2);
        let (sender, receiver) = channel::unbounded::<()>();
        thread::scope(|threads| {
            threads.spawn(|| {
                let ends = |_| anabranch::run(|cx| receiver.recv(cx)).is_err();
                assert_eq!(pool.broadcast(ends), [true, true]);
            });
            for _ in 0..3 {
                thread::sleep(Duration::from_millis(40));
                assert_eq!(pool.broadcast(|index| index), [0, 1]);
            }
            drop(sender);
        });
    });
}

#[test]
fn sleeping_halves_of_cx_join_cause_few_wakeups() {
    watchdog(LONG, || {
        let pool = pool(2);
        let nap = Duration::from_millis(400);
        let both = move |cx: &anabranch::Cx<'_>| _ = cx.join(|cx| cx.sleep(nap), |cx| cx.sleep(nap));
        at_rest(&pool);
        let (before, start) = (pool.stats().total().parks, Instant::now());
        pool.run(both);
        let fiber = pool.spawn(both);
        pool.run(|cx| fiber.join(cx)).unwrap();
        let parks = pool.stats().total().parks - before;
        assert!(parks <= looks_within(start.elapsed()), "{parks} in {:?}: {}", start.elapsed(), pool.stats());
    });
}

/// The heartbeat worker sleeps for long by then, and must be woken for what is forked.
#[test]
fn work_after_long_sleep_is_stolen() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..5 {
            pool.install(|| {
                thread::sleep(Duration::from_millis(60));
                // Ends only if another thread takes one of the two.
                let meeting = Barrier::new(2);
                join(|| _ = meeting.wait(), || _ = meeting.wait());
                thread::sleep(Duration::from_millis(60));
                anabranch::scope(|s| (0..2).for_each(|_| s.spawn(|| _ = meeting.wait())));
            });
            let fibers = pool.run(|cx| {
                cx.sleep(Duration::from_millis(60)).unwrap();
                let meeting = Barrier::new(2);
                cx.scope(|s| (0..2).for_each(|_| _ = s.spawn(|_| _ = meeting.wait())));
                2
            });
            assert_eq!(fibers, 2);
        }
    });
}

#[test]
fn timer_wakes_only_its_worker() {
    const TICKS: u64 = 200;
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            at_rest(&pool);
            let (before, start) = (pool.stats().total(), Instant::now());
            let ticking = pool.spawn(|cx| {
                let mut ticks = cx.interval(Duration::from_millis(1));
                (0..TICKS).for_each(|_| _ = ticks.tick(cx).unwrap());
            });
            pool.run(|cx| ticking.join(cx)).unwrap();
            let (after, rest) = (pool.stats().total(), looks_within(start.elapsed()));
            assert!(after.parks - before.parks <= 2 * TICKS + rest, "{}", pool.stats());
            assert!(after.searches - before.searches <= 10 * (TICKS + rest), "{}", pool.stats());
        }
    });
}

/// Runs a ring of fibers that wait for each other.
fn ring(pool: &Pool) {
    const FIBERS: usize = 5_000;
    const HOPS: usize = 50_000;
    let ring = pool.spawn(|cx| {
        let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..FIBERS).map(|_| channel::unbounded()).unzip();
        senders[0].send(cx, HOPS).unwrap();
        senders.rotate_left(1);
        let hops = senders.into_iter().zip(receivers).map(|(sender, receiver)| {
            spawn(move |cx| {
                while let Ok(left) = receiver.recv(cx) {
                    if left == 0 || sender.send(cx, left - 1).is_err() {
                        break;
                    }
                }
            })
        });
        hops.collect::<Vec<_>>().into_iter().for_each(|fiber| fiber.join(cx).unwrap());
    });
    pool.run(|cx| ring.join(cx)).unwrap();
}

/// Unless the system has blocked that worker, for memory say: then its slot is lent, as intended.
#[test]
fn ring_of_fibers_needs_no_spare_thread() {
    watchdog(LONG, || {
        loop {
            let pool = pool(1);
            ring(&pool);
            let stats = pool.stats();
            if stats.slots_lent == 0 {
                assert!(stats.spare_threads <= 1 && stats.spares.fibers == 0, "{stats}");
                break;
            }
        }
    });
}

#[test]
fn guests_return_after_their_slots_were_released() {
    const CROWD: usize = 200;
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..3 {
            let come = Barrier::new(CROWD);
            thread::scope(|threads| {
                for _ in 0..CROWD {
                    threads.spawn(|| {
                        pool.install(|| {
                            come.wait();
                            assert_eq!(join(|| sum_to(50), || sum_to(60)), (1275, 1830));
                        });
                    });
                }
            });
            // Long enough for the slots to be released.
            pool.install(|| thread::sleep(Duration::from_millis(30)));
        }
        at_rest(&pool);
    });
}

#[test]
fn timers_due_together_wake_worker_once() {
    watchdog(LONG, || {
        let pool: Pool = pool(1);
        let before = pool.stats().total().parks;
        let start = Instant::now();
        let sleepers = pool.spawn(|cx| {
            let due = cx.now() + Duration::from_millis(200);
            cx.scope(|s| {
                for n in 0..100 {
                    s.spawn(move |cx| cx.sleep_until(due + Duration::from_micros(4 * n)));
                }
            });
        });
        pool.run(|cx| sleepers.join(cx)).unwrap();
        let parks = pool.stats().total().parks - before;
        assert!(parks <= 20 + looks_within(start.elapsed()), "{parks}: {}", pool.stats());
    });
}

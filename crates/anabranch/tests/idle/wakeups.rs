//! What a pool does while its program mostly waits: little. Counted by its own statistics, in which a wait that the
//! machine prolongs is allowed for.

use crate::common::{LONG, at_rest, pool, sum_to, watchdog};
use anabranch::{Pool, channel, join, spawn};
use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// How often a lookout may have looked that saw nothing new for so long: some times at first, and every 25 ms from then
/// on.
fn looks_within(time: Duration) -> u64 {
    60 + time.as_millis() as u64 / 10
}

#[test]
fn a_lookout_rests_while_a_root_sleeps() {
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
fn a_lookout_rests_while_both_branches_of_a_join_sleep() {
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

/// The owner of a fork that a thief runs looks for other work some times, and then waits to be told.
#[test]
fn the_owner_of_a_fork_that_sleeps_elsewhere_rests() {
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

/// Neither those that sleep in `run`, nor who waits for them.
#[test]
fn threads_that_sleep_in_a_broadcast_rest() {
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
fn threads_that_wait_for_long_answer_a_broadcast() {
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
fn a_fiber_and_a_root_rest_while_both_halves_of_their_join_sleep() {
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

/// The lookout sleeps for long by then, and must be woken for what is forked.
#[test]
fn work_after_a_long_rest_is_shared() {
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
fn a_timer_wakes_its_worker_and_nobody_else() {
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

/// But where the system has blocked that worker, for memory say: its slot is lent then, as it should be.
#[test]
fn fibers_that_wait_for_each_other_stay_with_the_worker_of_their_pool() {
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
fn guests_come_back_to_seats_that_were_given_up() {
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
            // So long that the seats are given up.
            pool.install(|| thread::sleep(Duration::from_millis(30)));
        }
        at_rest(&pool);
    });
}

#[test]
fn timers_that_are_due_together_wake_a_worker_once() {
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

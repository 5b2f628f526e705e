//! Tasks of a scope start, from any spawner, whatever else the pool runs.

use crate::common::{LONG, fibers::until_in, one_thread, pool, watchdog};
use anabranch::{Pool, scope, sync::Trigger};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// Longer than it takes a pool without work to fall asleep.
const UNTIL_ASLEEP: Duration = Duration::from_millis(60);

/// A thread of no pool spawns into a scope whose body waits, when all of the pool sleep.
fn spawn_from_outside_while_the_body_waits(pool: &Pool) {
    pool.install(|| {
        scope(|s| {
            thread::scope(|threads| {
                let mut trigger = Trigger::new();
                let signal = trigger.signal();
                threads.spawn(move || {
                    thread::sleep(UNTIL_ASLEEP);
                    s.spawn(move || signal.send());
                });
                anabranch::run(|cx| trigger.wait(cx)).unwrap();
            });
        });
    });
}

#[test]
fn task_spawned_from_outside_wakes_sleeping_pool() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            spawn_from_outside_while_the_body_waits(&pool(threads));
            spawn_from_outside_while_the_body_waits(
                &Pool::builder().threads(threads).without_membarrier().build().unwrap(),
            );
        }
        spawn_from_outside_while_the_body_waits(&one_thread().build().unwrap());
    });
}

#[test]
fn task_spawned_by_another_pool_wakes_sleeping_pool() {
    watchdog(LONG, || {
        let (sleeping, other) = (pool(1), pool(1));
        sleeping.install(|| {
            scope(|s| {
                thread::scope(|threads| {
                    let mut trigger = Trigger::new();
                    let signal = trigger.signal();
                    let other = &other;
                    threads.spawn(move || {
                        thread::sleep(UNTIL_ASLEEP);
                        other.install(|| s.spawn(move || signal.send()));
                    });
                    anabranch::run(|cx| trigger.wait(cx)).unwrap();
                });
            });
        });
    });
}

/// A fiber that yields until `flag` is set.
fn yield_until(pool: &Pool, flag: &Arc<AtomicBool>) -> anabranch::JoinHandle<()> {
    let flag = Arc::clone(flag);
    pool.spawn(move |cx| until_in(cx, || flag.load(Ordering::Acquire)))
}

#[test]
fn task_runs_on_worker_with_always_ready_fibers() {
    watchdog(LONG, || {
        for pool in [pool(1), one_thread().build().unwrap()] {
            let flag = Arc::new(AtomicBool::new(false));
            let fiber = yield_until(&pool, &flag);
            let mut trigger = Trigger::new();
            let signal = trigger.signal();
            pool.install(|| {
                scope(|s| {
                    s.spawn(|| {
                        flag.store(true, Ordering::Release);
                        signal.send();
                    });
                    // The parent does not run its tasks before this.
                    anabranch::run(|cx| trigger.wait(cx)).unwrap();
                });
            });
            pool.run(|cx| fiber.join(cx)).unwrap();
        }
    });
}

#[test]
fn task_of_fiber_runs_on_worker_with_always_ready_fibers() {
    watchdog(LONG, || {
        for pool in [pool(1), one_thread().build().unwrap()] {
            let flag = Arc::new(AtomicBool::new(false));
            let fiber = yield_until(&pool, &flag);
            pool.install(|| {
                scope(|s| {
                    anabranch::run(|cx| {
                        let flag = &flag;
                        cx.scope(|fibers| {
                            fibers.spawn(move |_| s.spawn(move || flag.store(true, Ordering::Release)));
                        });
                        fiber.join(cx)
                    })
                    .unwrap();
                });
            });
        }
    });
}

/// The second half of a `join` whose first half waits is on a shelf, like a task in a queue.
#[test]
fn fork_runs_on_worker_with_always_ready_fibers() {
    watchdog(LONG, || {
        let pool = pool(1);
        let flag = Arc::new(AtomicBool::new(false));
        let fiber = yield_until(&pool, &flag);
        let mut trigger = Trigger::new();
        let signal = trigger.signal();
        pool.install(|| {
            anabranch::join(
                || anabranch::run(|cx| trigger.wait(cx)).unwrap(),
                || {
                    flag.store(true, Ordering::Release);
                    signal.send();
                },
            )
        });
        pool.run(|cx| fiber.join(cx)).unwrap();
    });
}

/// None of the fibers ever goes on, each begins another.
#[test]
fn task_runs_on_worker_with_always_new_fibers() {
    fn begin_another(pool: &Arc<Pool>, flag: &Arc<AtomicBool>, begun: &Arc<AtomicUsize>) {
        let (pool, flag, begun) = (Arc::clone(pool), Arc::clone(flag), Arc::clone(begun));
        pool.clone().spawn(move |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            if !flag.load(Ordering::Acquire) {
                begin_another(&pool, &flag, &begun);
            }
        });
    }
    watchdog(LONG, || {
        let pool = Arc::new(pool(1));
        let flag = Arc::new(AtomicBool::new(false));
        let begun = Arc::new(AtomicUsize::new(0));
        begin_another(&pool, &flag, &begun);
        let mut trigger = Trigger::new();
        let signal = trigger.signal();
        pool.install(|| {
            scope(|s| {
                s.spawn(|| {
                    flag.store(true, Ordering::Release);
                    signal.send();
                });
                anabranch::run(|cx| trigger.wait(cx)).unwrap();
            });
        });
        assert!(begun.load(Ordering::Relaxed) > 0);
    });
}

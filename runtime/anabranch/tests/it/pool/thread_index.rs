//! `current_thread_index`: unique among the threads that work in a pool, and constant during a job.

use crate::common::{LONG, Random, in_pools, join_stolen, one_thread, panic_text, pool, sum_to, watchdog};
use anabranch::{
    Pool, execute, join,
    pool::{current_num_threads, current_thread_index, in_pool},
    scope,
};
use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

fn index() -> usize {
    current_thread_index().expect("this thread is in a pool")
}

/// What belongs to the holder of each index.
struct Slots(Vec<AtomicBool>);

impl Slots {
    fn of(pool: &Pool) -> Self {
        Self((0..pool.num_threads()).map(|_| AtomicBool::new(false)).collect())
    }

    /// Checks that no other thread has this one's index meanwhile.
    fn visit(&self, body: impl FnOnce()) -> usize {
        let index = index();
        assert!(!self.0[index].swap(true, Ordering::AcqRel), "two threads have the index {index}");
        body();
        assert!(self.0[index].swap(false, Ordering::AcqRel));
        index
    }
}

fn spin() {
    (0..200).for_each(|_| std::hint::spin_loop());
}

#[test]
fn index_is_none_outside_of_pool() {
    in_pools(|pool| {
        assert_eq!((current_thread_index(), pool.current_thread_index()), (None, None));
        assert_eq!(pool.install(|| pool.current_thread_index()), pool.install(current_thread_index));
        let other = crate::common::pool(2);
        pool.install(|| {
            assert!(pool.current_thread_index().is_some());
            assert_eq!(other.current_thread_index(), None);
            other.install(|| assert!(pool.current_thread_index().is_none() && other.current_thread_index().is_some()));
        });
    });
}

#[test]
fn idle_worker_gets_its_own_index() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Pool::builder()
                .threads(threads)
                .max_spare_threads(0)
                .thread_name(|index| index.to_string())
                .build()
                .unwrap();
            for _ in 0..50 {
                let (index, name) = pool.call(|| (index(), thread::current().name().unwrap().to_owned()));
                assert_eq!(index.to_string(), name);
            }
        }
    });
}

#[test]
fn threads_that_work_have_different_indices() {
    in_pools(|pool| {
        let slots = Slots::of(pool);
        thread::scope(|threads| {
            for i in 0..12 {
                let slots = &slots;
                threads.spawn(move || {
                    for _ in 0..50 {
                        let visit = || _ = slots.visit(spin);
                        match i % 3 {
                            0 => pool.install(visit),
                            1 => pool.call(visit),
                            _ => pool.in_place_scope(|s| (0..4).for_each(|_| s.spawn(visit))),
                        }
                    }
                });
            }
        });
    });
}

/// A job keeps its index across all kinds of waits, and what runs meanwhile does so too.
#[test]
fn index_is_constant_during_job() {
    fn job(pool: &Pool, slots: &Slots, depth: u32, random: &mut Random) {
        let before = slots.visit(spin);
        if depth > 0 {
            let (mut left, mut right) = (Random(random.next()), Random(random.next()));
            match random.below(6) {
                0 => {
                    join(|| job(pool, slots, depth - 1, &mut left), || job(pool, slots, depth - 1, &mut right));
                }
                1 => {
                    scope(|s| {
                        s.spawn(|| job(pool, slots, depth - 1, &mut left));
                        s.spawn(|| job(pool, slots, depth - 1, &mut right));
                        assert_eq!(slots.visit(spin), before);
                    });
                }
                2 => {
                    let ids = pool.broadcast(|i| (i, slots.visit(spin)));
                    assert!(ids.into_iter().all(|(i, index)| i == index));
                }
                3 => {
                    anabranch::run(|cx| cx.join(|cx| cx.sleep(Duration::from_micros(50)), |_| ()).0).unwrap();
                }
                4 => _ = anabranch::pool::run_pending(),
                _ => {
                    let nested = panic_text(|| {
                        join(|| panic!("first"), || job(pool, slots, depth - 1, &mut right));
                    });
                    assert_eq!(nested, "first");
                }
            }
        }
        assert_eq!(slots.visit(spin), before, "the index of a job has changed");
    }
    crate::common::silence_panics_with::<&str>();
    watchdog(LONG, || {
        for threads in [1, 2, 32] {
            let pool = pool(threads);
            let slots = Slots::of(&pool);
            thread::scope(|s| {
                for seed in 0..6 {
                    let (pool, slots) = (&pool, &slots);
                    s.spawn(move || {
                        let mut random = Random(seed);
                        for i in 0..20 {
                            let job = || job(pool, slots, 4, &mut random);
                            if i % 2 == 0 { pool.install(job) } else { pool.call(job) }
                        }
                    });
                }
            });
        }
    });
}

#[test]
fn stolen_fork_has_index_of_its_own() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..50 {
            let meeting = Barrier::new(2);
            let meet = || {
                let index = index();
                meeting.wait();
                index
            };
            let (a, b) = pool.install(|| {
                let before = index();
                let (a, b) = join_stolen(meet, meet);
                assert_eq!((before, index()), (a, a));
                (a, b)
            });
            assert_ne!(a, b);
        }
    });
}

/// Guests are in the way of the workers whose indices they have taken, until they wait.
#[test]
fn part_of_broadcast_has_index_of_its_worker() {
    in_pools(|pool| {
        let expected: Vec<_> = (0..pool.num_threads()).collect();
        thread::scope(|threads| {
            for _ in 0..6 {
                threads.spawn(|| {
                    for _ in 0..20 {
                        pool.install(|| {
                            let before = index();
                            assert_eq!(pool.broadcast(|_| index()), expected);
                            assert_eq!(index(), before);
                            scope(|s| s.spawn_broadcast(|i| assert_eq!(index(), i)));
                            assert_eq!(index(), before);
                        });
                    }
                });
            }
        });
        // On top of a job that has another index.
        let nested = pool.broadcast(|outer| pool.broadcast(move |inner| (outer, inner, index())));
        assert!(nested.into_iter().flatten().all(|(_, inner, index)| inner == index));
    });
}

/// A guest has the index of the only worker, whose job waits for an index.
#[test]
fn worker_answers_under_its_own_index_on_top_of_another() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).max_spare_threads(0).build().unwrap();
        for _ in 0..20 {
            let (guest_has, job_has) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(usize::MAX));
            let until = |flag: &AtomicUsize| {
                while flag.load(Ordering::Acquire) == usize::MAX {
                    thread::yield_now();
                }
            };
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.install(|| {
                        guest_has.store(index(), Ordering::Release);
                        until(&job_has);
                    });
                });
                until(&guest_has);
                pool.call(|| {
                    let before = index();
                    job_has.store(before, Ordering::Release);
                    assert_ne!(before, guest_has.load(Ordering::Acquire));
                    assert_eq!(pool.broadcast(|i| (i, index())), [(0, 0), (1, 1)]);
                    assert_eq!(index(), before);
                });
            });
        }
    });
}

/// The guest is blocked in a foreign call, and its index is that of a worker.
#[test]
fn broadcast_does_not_wait_for_index_of_blocked_guest() {
    in_pools(|pool| {
        let (taken, has_index) = mpsc::channel();
        let (wake, wakes) = mpsc::channel();
        thread::scope(|threads| {
            threads.spawn(move || {
                pool.install(|| {
                    taken.send(index()).unwrap();
                    wakes.recv().unwrap();
                });
            });
            let of_guest = has_index.recv().unwrap();
            let expected: Vec<_> = (0..pool.num_threads()).collect();
            assert_eq!(pool.broadcast(|i| i), expected);
            let (done, ran) = mpsc::channel();
            pool.spawn_broadcast(move |i| done.send(i).unwrap());
            assert_eq!(ran.into_iter().count(), expected.len());
            // The other workers have theirs.
            let indices = pool.broadcast(|i| if i == of_guest { i } else { index() });
            assert_eq!(indices, expected);
            wake.send(()).unwrap();
        });
    });
}

#[test]
fn guest_waits_for_index_until_another_leaves() {
    watchdog(LONG, || {
        let pool = pool(1);
        for _ in 0..10 {
            let (taken, has_left) = (Barrier::new(2), AtomicBool::new(false));
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.install(|| {
                        assert_eq!(index(), 0);
                        taken.wait();
                        thread::sleep(Duration::from_millis(5));
                        has_left.store(true, Ordering::Release);
                    });
                });
                taken.wait();
                pool.install(|| assert!(index() == 0 && has_left.load(Ordering::Acquire)));
            });
        }
    });
}

/// The next job does not end until a guest has the index of the one before.
#[test]
fn index_is_free_between_jobs_of_worker() {
    watchdog(LONG, || {
        let pool = one_thread().build().unwrap();
        let (sender, job_has_index) = mpsc::channel();
        let guest_has_index = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&guest_has_index);
        pool.execute(move || {
            sender.send(index()).unwrap();
            execute(move || {
                while !flag.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        });
        assert_eq!(job_has_index.recv(), Ok(0));
        pool.install(|| guest_has_index.store(index() == 0, Ordering::Release));
    });
}

/// The job waits for another one that needs the same index.
#[test]
fn waiting_job_lends_its_index() {
    watchdog(LONG, || {
        let pool = pool(1);
        for _ in 0..10 {
            pool.install(|| {
                assert_eq!(index(), 0);
                let mut trigger = anabranch::sync::Trigger::new();
                let signal = trigger.signal();
                execute(move || {
                    assert_eq!(index(), 0);
                    signal.send();
                });
                anabranch::run(|cx| trigger.wait(cx)).unwrap();
                let fiber = anabranch::spawn(|_| index());
                assert_eq!(anabranch::run(|cx| fiber.join(cx)).unwrap(), 0);
                assert_eq!(index(), 0);
            });
        }
    });
}

#[test]
fn yielding_job_lends_its_index() {
    watchdog(LONG, || {
        let pool = pool(1);
        for _ in 0..5 {
            let flag = Arc::new(AtomicBool::new(false));
            pool.run(|cx| {
                assert_eq!(index(), 0);
                let set = Arc::clone(&flag);
                let fiber = anabranch::spawn(move |_| set.store(index() == 0, Ordering::Release));
                while !flag.load(Ordering::Acquire) {
                    cx.yield_now();
                    assert_eq!(index(), 0);
                }
                fiber.join(cx).unwrap();
            });
        }
    });
}

#[test]
fn calls_between_pools_of_one_thread_share_its_index() {
    watchdog(LONG, || {
        let (one, two) = (one_thread().build().unwrap(), one_thread().build().unwrap());
        for _ in 0..10 {
            one.call(|| {
                assert_eq!(index(), 0);
                two.call(|| {
                    assert_eq!(index(), 0);
                    one.call(|| assert_eq!((index(), current_num_threads()), (0, 1)));
                    assert_eq!(index(), 0);
                });
                assert_eq!((one.current_thread_index(), two.current_thread_index()), (Some(0), None));
            });
        }
    });
}

/// A thread that is inside of another pool does not keep an index.
#[test]
fn index_is_free_while_its_thread_is_in_another_pool() {
    watchdog(LONG, || {
        let (here, there) = (pool(1), pool(1));
        for _ in 0..10 {
            here.install(|| {
                assert_eq!(index(), 0);
                there.install(|| {
                    thread::scope(|threads| threads.spawn(|| here.install(|| assert_eq!(index(), 0))).join().unwrap());
                });
                assert_eq!(here.current_thread_index(), Some(0));
            });
        }
        assert!(!in_pool());
    });
}

#[test]
fn handlers_do_not_keep_an_index() {
    watchdog(LONG, || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let pool = Pool::builder()
            .threads(2)
            .max_spare_threads(0)
            .on_start(move |number| sink.lock().unwrap().push((number, index())))
            .build()
            .unwrap();
        assert!(seen.lock().unwrap().iter().all(|&(number, index)| number < 2 && index < 2));
        for _ in 0..10 {
            let meeting = Barrier::new(2);
            let indices = Mutex::new(Vec::new());
            thread::scope(|threads| {
                for _ in 0..2 {
                    threads.spawn(|| {
                        pool.install(|| {
                            indices.lock().unwrap().push(index());
                            meeting.wait();
                        });
                    });
                }
            });
            let mut indices = indices.into_inner().unwrap();
            indices.sort_unstable();
            assert_eq!(indices, [0, 1]);
        }
    });
}

#[test]
fn fibers_have_an_index() {
    in_pools(|pool| {
        let slots = Slots::of(pool);
        pool.run(|cx| {
            cx.scope(|s| {
                for _ in 0..20 {
                    s.spawn(|cx| {
                        slots.visit(spin);
                        cx.yield_now();
                        slots.visit(|| _ = sum_to(100));
                    });
                }
            });
        });
    });
}

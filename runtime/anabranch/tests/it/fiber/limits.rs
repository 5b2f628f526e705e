//! Limits: stack overflow, the maximum number of fibers, and guards without markers. Child processes run what aborts
//! or writes to the error stream.

#![cfg(unix)]

use crate::common::{
    self, LONG, at_rest,
    fibers::{Event, on_fiber, until, until_waiting},
    rerun, sum_to, watchdog,
};
use anabranch::{Cx, Pool};
use std::{
    env,
    hint::black_box,
    os::unix::process::ExitStatusExt,
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const CASE: &str = "ANABRANCH_TEST_CASE";

/// In a child: runs the case and does not return. Otherwise: the children of all cases.
fn in_children<const N: usize>(test: &str, cases: [(&str, fn()); N]) -> [Output; N] {
    if let Ok(wanted) = env::var(CASE) {
        let (_, case) = cases.iter().find(|(name, _)| *name == wanted).unwrap();
        watchdog(LONG, case);
        std::process::exit(0);
    }
    cases.map(|(name, _)| rerun(module_path!(), test).env(CASE, name).output().unwrap())
}

fn words(child: &Output) -> String {
    String::from_utf8_lossy(&child.stderr).into_owned()
}

/// Uses about so many bytes of stack.
#[inline(never)]
fn use_stack(bytes: usize) -> usize {
    let page = black_box([1u8; 1024]);
    let below = if bytes > 1024 { use_stack(bytes - 1024) } else { 0 };
    below + usize::from(black_box(page)[bytes % 1024])
}

#[test]
fn overflow_names_fiber_and_aborts() {
    fn named() {
        let pool = common::pool(1);
        let handle = pool.spawn_named("deep", |cx| {
            cx.yield_now();
            use_stack(64 << 20)
        });
        _ = pool.run(|cx| handle.join(cx));
    }
    fn named_later() {
        let pool = common::pool(2);
        on_fiber(&pool, |cx| {
            cx.set_name("before");
            cx.scope(|s| {
                s.spawn(|cx| {
                    cx.set_name("child");
                    cx.sleep(Duration::from_micros(100)).unwrap();
                    use_stack(64 << 20)
                });
            });
        });
    }
    fn without_markers() {
        let pool = Pool::builder().threads(1).without_guard_markers().fiber_stack_size(32 << 10).build().unwrap();
        let handle = pool.spawn_named("protected", |_| use_stack(64 << 10));
        _ = pool.run(|cx| handle.join(cx));
    }
    fn in_compute() {
        fn endless(n: usize) -> usize {
            let (a, b) = anabranch::join(|| endless(n + 1), || n);
            black_box(a + b)
        }
        let pool = common::pool(1);
        let handle = pool.spawn_named("computes", |_| endless(0));
        _ = pool.run(|cx| handle.join(cx));
    }
    let cases = [
        ("named", named as fn()),
        ("named later", named_later),
        ("without markers", without_markers),
        ("in compute", in_compute),
    ];
    let children = in_children("overflow_names_fiber_and_aborts", cases);
    for (child, name) in children.iter().zip(["deep", "child", "protected", "computes"]) {
        let words = words(child);
        assert_eq!(child.status.signal(), Some(6), "{name}: {:?}\n{words}", child.status);
        assert!(words.contains(name) && words.contains("overflow"), "{name}: {words}");
    }
}

#[test]
fn overflow_outside_fibers_is_reported_by_std() {
    fn on_a_thread() {
        let pool = common::pool(1);
        on_fiber(&pool, |cx| cx.yield_now());
        std::thread::Builder::new().name("plain".into()).spawn(|| use_stack(64 << 20)).unwrap().join().unwrap();
    }
    fn on_a_worker() {
        let pool = common::pool(1);
        on_fiber(&pool, |cx| cx.yield_now());
        pool.broadcast(|_| use_stack(64 << 20));
    }
    let children = in_children(
        "overflow_outside_fibers_is_reported_by_std",
        [("thread", on_a_thread as fn()), ("worker", on_a_worker)],
    );
    for (child, name) in children.iter().zip(["plain", "anabranch-0"]) {
        let words = words(child);
        assert_eq!(child.status.signal(), Some(6), "{name}: {:?}\n{words}", child.status);
        assert!(words.contains(name) && words.contains("overflow"), "{name}: {words}");
    }
}

#[test]
fn whole_stack_can_be_used() {
    watchdog(LONG, || {
        for kib in [64, 256, 4096] {
            let pool = Pool::builder().threads(2).fiber_stack_size(kib << 10).build().unwrap();
            // Frames of a debug build are larger than what is in them.
            let handles: Vec<_> = (0..20).map(|_| pool.spawn(move |_| use_stack((kib << 10) / 8))).collect();
            pool.run(|cx| handles.into_iter().for_each(|handle| assert!(handle.join(cx).unwrap() > 0)));
        }
    });
}

fn meet_at_the_limit(cx: &Cx<'_>, gate: &Event, count: &AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
    gate.wait(cx).unwrap();
}

#[test]
fn fibers_beyond_limit_wait_and_pool_warns_once() {
    fn over_the_limit() {
        for threads in [1, 4] {
            let pool = Pool::builder().threads(threads).max_fibers(10).build().unwrap();
            let (gate, count) = (Event::default(), Arc::new(AtomicUsize::new(0)));
            let handles: Vec<_> = (0..50)
                .map(|_| {
                    let (gate, count) = (gate.clone(), Arc::clone(&count));
                    pool.spawn(move |cx| meet_at_the_limit(cx, &gate, &count))
                })
                .collect();
            until(|| count.load(Ordering::Relaxed) == 10);
            at_rest(&pool);
            assert_eq!(count.load(Ordering::Relaxed), 10);
            // Compute code goes on, and a join runs its second half itself.
            assert_eq!(pool.install(|| sum_to(100)), 5050);
            assert_eq!(pool.run(|cx| cx.join(|cx| cx.sleep(Duration::from_millis(1)), |_| 2)), (Ok(()), 2));
            gate.set();
            pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap()));
            assert_eq!(count.load(Ordering::Relaxed), 50);
        }
    }
    fn below_the_limit() {
        let pool = Pool::builder().threads(2).max_fibers(10).build().unwrap();
        for _ in 0..20 {
            let gate = Event::default();
            let handles: Vec<_> = (0..9)
                .map(|_| {
                    let gate = gate.clone();
                    pool.spawn(move |cx| gate.wait(cx))
                })
                .collect();
            until(|| common::fibers::waiting(&pool) == 9);
            gate.set();
            pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap().unwrap()));
            until(|| pool.fibers().is_empty());
        }
    }
    fn dropped_at_the_limit() {
        let pool = Pool::builder().threads(2).max_fibers(3).build().unwrap();
        let ended = Arc::new(AtomicUsize::new(0));
        for _ in 0..20 {
            let ended = Arc::clone(&ended);
            pool.spawn(move |cx| {
                let _ = cx.sleep(common::fibers::FOREVER);
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        until(|| common::fibers::waiting(&pool) == 3);
        drop(pool);
        assert_eq!(ended.load(Ordering::Relaxed), 20);
    }
    let [over, below, dropped] = in_children(
        "fibers_beyond_limit_wait_and_pool_warns_once",
        [("over", over_the_limit as fn()), ("below", below_the_limit), ("dropped", dropped_at_the_limit)],
    );
    for child in [&over, &below, &dropped] {
        assert!(child.status.success(), "{:?}\n{}", child.status, words(child));
    }
    assert_eq!(words(&over).matches("Builder::max_fibers").count(), 2, "once for each pool: {}", words(&over));
    assert_eq!(words(&below).matches("Builder::max_fibers").count(), 0, "{}", words(&below));
    assert!(words(&dropped).matches("Builder::max_fibers").count() <= 1, "{}", words(&dropped));
}

#[test]
fn fibers_work_without_guard_markers() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = Pool::builder().threads(threads).without_guard_markers().build().unwrap();
            for _ in 0..2 {
                let gate = Event::default();
                let handles: Vec<_> = (0..2000)
                    .map(|_| {
                        let gate = gate.clone();
                        pool.spawn(move |cx| gate.wait(cx))
                    })
                    .collect();
                until_waiting(&pool, 2000);
                gate.set();
                pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap().unwrap()));
            }
        }
    });
}

#[test]
fn fibers_wait_when_mappings_run_out() {
    // About 32,000 stacks with protected guards fit into the usual limit on mappings.
    fn too_many() {
        let pool = Pool::builder().threads(1).without_guard_markers().fiber_stack_size(16 << 10).build().unwrap();
        let (gate, count) = (Event::default(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..40_000 {
            let (gate, count) = (gate.clone(), Arc::clone(&count));
            pool.spawn(move |cx| {
                gate.wait(cx).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        until(|| pool.fibers().iter().filter(|fiber| fiber.worker().is_some()).count() > 20_000);
        std::thread::sleep(Duration::from_millis(300));
        gate.set();
        until(|| count.load(Ordering::Relaxed) == 40_000);
    }
    let [child] = in_children("fibers_wait_when_mappings_run_out", [("too many", too_many as fn())]);
    assert!(child.status.success(), "{:?}\n{}", child.status, words(&child));
}

//! Reports with the stacks of those that wait.

use crate::common::{
    self, LONG,
    fibers::{Event, until, until_waiting},
    watchdog,
};
use anabranch::{Cx, Pool, channel, pool::FiberInfo, sync};
use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

/// Whether the stacks of suspended fibers are found here.
const HAS_STACKS: bool =
    cfg!(all(target_arch = "x86_64", target_os = "linux", not(any(anabranch_portable_switch, shuttle, miri))));

#[inline(never)]
fn wait_in_a_named_function(cx: &Cx<'_>, receiver: &channel::Receiver<u32>) -> Option<u32> {
    black_box(receiver.recv(cx).ok())
}

#[inline(never)]
fn wait_behind_recursion(cx: &Cx<'_>, receiver: &channel::Receiver<u32>, depth: u32) -> u32 {
    let number = match depth {
        0 => wait_in_a_named_function(cx, receiver).unwrap_or(0),
        _ => wait_behind_recursion(cx, receiver, depth - 1),
    };
    black_box(number) + 1
}

fn stack_of(fiber: &FiberInfo) -> String {
    fiber.stack().expect("a stack").to_string()
}

#[test]
fn stack_of_suspended_fiber_names_functions_that_wait() {
    watchdog(LONG, || {
        for threads in [1, 4] {
            let pool = common::pool(threads);
            let (sender, receiver) = channel::unbounded::<u32>();
            let fibers: Vec<_> = (0..20)
                .map(|depth| {
                    let receiver = receiver.clone();
                    let work = move |cx: &Cx<'_>| wait_behind_recursion(cx, &receiver, depth);
                    pool.spawn_named(&format!("depth {depth}"), work)
                })
                .collect();
            until_waiting(&pool, 20);
            for _ in 0..3 {
                let report = pool.report_with_stacks();
                assert_eq!(report.missing_stacks(), if HAS_STACKS { 0 } else { 20 }, "{report}");
                if !HAS_STACKS {
                    continue;
                }
                for fiber in report.fibers() {
                    let stack = stack_of(fiber);
                    let depth: usize = fiber.name().unwrap().strip_prefix("depth ").unwrap().parse().unwrap();
                    assert_eq!(stack.matches("wait_in_a_named_function").count(), 1, "{stack}");
                    assert_eq!(stack.matches("wait_behind_recursion").count(), depth + 1, "{stack}");
                }
                let text = report.to_string();
                assert!(text.contains("wait_in_a_named_function") && !text.contains("serve_fibers"), "{text}");
                assert!(!text.contains("force_capture"), "{text}");
            }
            assert!(pool.report().fibers().iter().all(|fiber| fiber.stack().is_none()));
            drop(sender);
            pool.run(|cx| fibers.into_iter().for_each(|fiber| assert!(fiber.join(cx).unwrap() > 0)));
        }
    });
}

/// Calls `check` while a thread or fiber waits in a named function.
fn while_one_waits(pool: &Pool, wait: impl FnOnce(channel::Receiver<u32>) + Send, check: impl FnOnce()) {
    let (sender, receiver) = channel::unbounded::<u32>();
    thread::scope(|s| {
        s.spawn(|| wait(receiver));
        until(|| pool.fibers().iter().any(|fiber| fiber.waits_for() == Some("Receiver::recv")));
        check();
        sender.try_send(1).unwrap();
    });
}

#[test]
fn stack_of_thread_that_waits_in_run_is_found() {
    watchdog(LONG, || {
        let pool = common::pool(2);
        let check = || {
            for _ in 0..3 {
                let report = pool.report_with_stacks();
                let thread = report.fibers().iter().find(|fiber| fiber.waits_for() == Some("Receiver::recv")).unwrap();
                assert!(thread.is_thread());
                assert!(stack_of(thread).contains("wait_in_a_named_function"), "{report}");
                assert!(report.to_string().contains("wait_in_a_named_function"), "{report}");
                assert_eq!(report.missing_stacks(), 0, "{report}");
            }
        };
        let wait = |receiver: &channel::Receiver<u32>| {
            assert_eq!(anabranch::run(|cx| wait_in_a_named_function(cx, receiver)), Some(1));
        };
        // A thread from outside, and a worker.
        while_one_waits(&pool, |receiver| pool.install(|| wait(&receiver)), check);
        let of_worker = |receiver: channel::Receiver<u32>| {
            let (done, end) = mpsc::channel();
            pool.execute(move || {
                wait(&receiver);
                done.send(()).unwrap();
            });
            end.recv().unwrap();
        };
        while_one_waits(&pool, of_worker, check);
    });
}

#[test]
fn fiber_that_blocks_its_thread_shows_its_stack_and_those_of_others() {
    struct WaitsOnDrop<'a>(&'a Cx<'a>, Arc<sync::Mutex<()>>);
    impl Drop for WaitsOnDrop<'_> {
        fn drop(&mut self) {
            wait_in_a_drop(self.0, &self.1);
        }
    }
    #[inline(never)]
    fn wait_in_a_drop(cx: &Cx<'_>, lock: &sync::Mutex<()>) {
        assert!(black_box(lock.lock(cx)).is_ok());
    }

    watchdog(LONG, || {
        let (pool, gate) = (common::pool(1), Event::default());
        let lock = Arc::new(sync::Mutex::new(()));
        let (_sender, receiver) = channel::unbounded::<u32>();
        let other = pool.spawn_named("other", move |cx| wait_in_a_named_function(cx, &receiver));
        until_waiting(&pool, 1);
        let held = lock.try_lock().unwrap();
        let own = Arc::clone(&lock);
        let begun = gate.clone();
        let panics = pool.spawn_named("panics", move |cx| {
            // It has left its stack before.
            begun.wait(cx).unwrap();
            let _guard = WaitsOnDrop(cx, own);
            std::panic::resume_unwind(Box::new(1));
        });
        until_waiting(&pool, 2);
        gate.set();
        until(|| pool.fibers().iter().any(|fiber| fiber.waits_for() == Some("Mutex::lock")));
        let report = pool.report_with_stacks();
        let find = |name| report.fibers().iter().find(|fiber| fiber.name() == Some(name)).unwrap();
        assert!(stack_of(find("panics")).contains("wait_in_a_drop"), "{report}");
        assert_eq!(find("other").stack().is_some(), HAS_STACKS);
        drop(held);
        other.cancel();
        pool.run(|cx| (panics.join(cx).is_err(), other.join(cx).is_ok()));
    });
}

#[test]
fn report_of_fiber_has_stacks_of_its_own_worker() {
    watchdog(LONG, || {
        let pool = Arc::new(common::pool(1));
        let (sender, receiver) = channel::unbounded::<u32>();
        let waits = pool.spawn(move |cx| wait_behind_recursion(cx, &receiver, 5));
        until_waiting(&pool, 1);
        let other = Arc::clone(&pool);
        let reports = pool.spawn(move |_| other.report_with_stacks());
        // Not by `run` in this pool: the guest would wait too.
        while !reports.is_finished() {
            thread::yield_now();
        }
        let report = pool.run(|cx| reports.join(cx)).unwrap();
        assert_eq!(report.missing_stacks(), usize::from(!HAS_STACKS), "{report}");
        assert_eq!(report.to_string().contains("wait_behind_recursion"), HAS_STACKS, "{report}");
        drop(sender);
        pool.run(|cx| waits.join(cx)).unwrap();
    });
}

#[test]
fn stacks_of_busy_worker_are_counted_as_missing() {
    watchdog(LONG, || {
        let pool = common::one_thread().build().unwrap();
        let (sender, receiver) = channel::unbounded::<u32>();
        let waits = pool.spawn(move |cx| wait_in_a_named_function(cx, &receiver));
        until_waiting(&pool, 1);
        let (begun, is_done) = (mpsc::channel(), Arc::new(AtomicBool::new(false)));
        let end = Arc::clone(&is_done);
        let busy = pool.spawn(move |_| {
            begun.0.send(()).unwrap();
            while !end.load(Ordering::Acquire) {
                thread::yield_now();
            }
        });
        begun.1.recv().unwrap();
        let report = pool.report_with_stacks();
        assert_eq!(report.missing_stacks(), 1);
        assert!(report.to_string().contains("1 stack missing"), "{report}");
        is_done.store(true, Ordering::Release);
        pool.run(|cx| busy.join(cx)).unwrap();
        // The late answer disturbs nothing. On a busy machine the worker may answer late again.
        until(|| pool.report_with_stacks().missing_stacks() == usize::from(!HAS_STACKS));
        sender.try_send(3).unwrap();
        assert_eq!(pool.run(|cx| waits.join(cx)).unwrap(), Some(3));
    });
}

#[test]
fn many_fibers_alike_are_asked_for_some_stacks() {
    watchdog(LONG, || {
        let (pool, gate) = (common::pool(2), Event::default());
        let alike = |_| {
            let gate = gate.clone();
            pool.spawn(move |cx| gate.wait(cx).unwrap())
        };
        let fibers: Vec<_> = (0..5_000).map(alike).collect();
        let (sender, receiver) = channel::unbounded::<u32>();
        let odd = pool.spawn_named("odd", move |cx| wait_in_a_named_function(cx, &receiver));
        until_waiting(&pool, 5_001);
        let report = pool.report_with_stacks();
        if HAS_STACKS {
            assert_eq!(report.fibers().iter().filter(|fiber| fiber.stack().is_some()).count(), 256);
            let odd = report.fibers().iter().find(|fiber| fiber.name() == Some("odd")).unwrap();
            assert!(stack_of(odd).contains("wait_in_a_named_function"));
            assert!(report.to_string().contains("the stack of one of them:"), "{report}");
        }
        gate.set();
        drop(sender);
        pool.run(|cx| fibers.into_iter().for_each(|fiber| fiber.join(cx).unwrap()));
        pool.run(|cx| odd.join(cx)).unwrap();
    });
}

#[test]
fn capture_needs_no_room_on_small_stack() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(1).fiber_stack_size(16 << 10).build().unwrap();
        let (sender, receiver) = channel::unbounded::<u32>();
        let fiber = pool.spawn(move |cx| wait_in_a_named_function(cx, &receiver));
        until_waiting(&pool, 1);
        let report = pool.report_with_stacks();
        assert_eq!(report.to_string().contains("wait_in_a_named_function"), HAS_STACKS, "{report}");
        sender.try_send(1).unwrap();
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Some(1));
    });
}

/// Reports are made all the time, while fibers of several workers, and a thread, wait a million times.
#[test]
fn waits_and_requests_for_stacks_do_not_disturb_each_other() {
    let waits: u32 = if cfg!(miri) { 100 } else { 250_000 };
    watchdog(LONG, || {
        let pool = common::pool(3);
        let is_over = AtomicBool::new(false);
        let rings: Vec<_> = (0..2)
            .map(|_| {
                // Each message makes both sides wait.
                let ((to, from_first), (back, from_second)) = (channel::bounded::<u32>(1), channel::bounded::<u32>(1));
                let echo = pool.spawn(move |cx| {
                    let mut next = 0;
                    while let Ok(number) = from_first.recv(cx) {
                        assert_eq!(number, next);
                        next += 1;
                        back.send(cx, number).unwrap();
                    }
                    next
                });
                let asks = pool.spawn(move |cx| {
                    for number in 0..waits {
                        to.send(cx, number).unwrap();
                        assert_eq!(from_second.recv(cx), Ok(number));
                    }
                });
                (echo, asks)
            })
            .collect();
        thread::scope(|s| {
            let reporter = s.spawn(|| {
                let (mut reports, mut stacks) = (0, 0);
                while !is_over.load(Ordering::Relaxed) {
                    let report = pool.report_with_stacks();
                    stacks += report.fibers().iter().filter(|fiber| fiber.stack().is_some()).count();
                    reports += 1;
                }
                (reports, stacks)
            });
            pool.run(|cx| {
                for (echo, asks) in rings {
                    asks.join(cx).unwrap();
                    assert_eq!(echo.join(cx).unwrap(), waits);
                }
            });
            is_over.store(true, Ordering::Relaxed);
            let (reports, stacks) = reporter.join().unwrap();
            assert!(reports > 0 && (stacks > 0 || !HAS_STACKS), "{reports} reports with {stacks} stacks");
        });
    });
}

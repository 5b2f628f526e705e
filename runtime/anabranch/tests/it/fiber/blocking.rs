//! Blocking calls: what they borrow and return, panics, limits, cancellation, forks inside, and pools that end.

use crate::common::{
    LONG, Tally,
    fibers::{on_fiber, until, until_waiting, with_every_cx},
    one_thread, panic_text, pool, sum_to, watchdog,
};
use anabranch::{Cancelled, Pool, WaitError, pool::current_pool_id, prelude::*, time::ManualClock};
use std::{
    collections::HashSet,
    fs, io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

#[test]
fn blocking_borrows_and_returns() {
    with_every_cx(|cx| {
        let mut words = vec!["ana".to_owned()];
        let length = cx.blocking(|| {
            words.push("branch".to_owned());
            words.iter().map(String::len).sum::<usize>()
        });
        assert_eq!((length, words.len()), (Ok(9), 2));
        // `Box` is not `Copy`: it moves there and back.
        assert_eq!(cx.blocking(|| Box::new(words.len())), Ok(Box::new(2)));
    });
}

#[test]
fn blocking_propagates_panic() {
    with_every_cx(|cx| {
        let text = panic_text(|| _ = cx.blocking(|| panic!("inside")));
        assert_eq!(text, "inside");
        assert_eq!(cx.blocking(|| 3), Ok(3));
    });
}

#[test]
fn errors_of_files_and_of_waits_share_a_function() {
    let missing = on_fiber(&pool(1), |cx| {
        let read = |path: &str| -> io::Result<_> { cx.blocking(|| fs::read(path))? };
        read("/nonexistent/anabranch")
    });
    assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn fibers_of_thread_run_during_blocking_call() {
    watchdog(LONG, || {
        let pool = one_thread().build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let (begun, begins) = mpsc::channel();
        let receiving = pool.spawn(move |cx| {
            cx.blocking(move || {
                begun.send(()).unwrap();
                receiver.recv().unwrap()
            })
        });
        begins.recv().unwrap();
        // On the same thread, which no spare replaces.
        let sending = pool.spawn(move |_| sender.send(7).unwrap());
        assert_eq!(pool.run(|cx| receiving.join(cx)).unwrap(), Ok(7));
        pool.run(|cx| sending.join(cx)).unwrap();
        assert_eq!(pool.stats().spare_threads, 0);
    });
}

#[test]
fn call_of_thread_lends_its_slot() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (sender, receiver) = mpsc::channel();
        let sending = pool.spawn(move |_| sender.send(thread::current().id()).unwrap());
        let caller = thread::current().id();
        let (other, here) =
            pool.run(|cx| cx.blocking(move || (receiver.recv().unwrap(), thread::current().id()))).unwrap();
        assert_eq!(here, caller, "it runs in place");
        assert_ne!(other, caller);
        pool.run(|cx| sending.join(cx)).unwrap();
    });
}

/// A pool of one thread for blocking calls, which a first call occupies until the returned sender is dropped.
fn occupied() -> (Pool, mpsc::Sender<()>) {
    let pool = Pool::builder().threads(2).max_blocking_threads(1).build().unwrap();
    let (release, released) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    pool.spawn(move |cx| {
        cx.blocking(move || {
            begun.send(()).unwrap();
            released.recv().unwrap_err()
        })
    });
    begins.recv().unwrap();
    (pool, release)
}

#[test]
fn cancelled_call_in_queue_does_not_run() {
    watchdog(LONG, || {
        let (pool, release) = occupied();
        let tally = Tally::default();
        let fibers: Vec<_> = (0..100)
            .map(|n| {
                let value = tally.make();
                pool.spawn(move |cx| {
                    cx.blocking(move || {
                        drop(value);
                        n
                    })
                })
            })
            .collect();
        until(|| pool.stats().blocking_queued == 100);
        // Out of the middle of the queue, from its ends, and all that is left.
        let is_cancelled = |n: usize| n.is_multiple_of(3) || n > 90;
        fibers.iter().enumerate().filter(|&(n, _)| is_cancelled(n)).for_each(|(_, fiber)| fiber.cancel());
        let cancelled = (0..100).filter(|&n| is_cancelled(n)).count();
        until(|| pool.stats().blocking_queued == 100 - cancelled);
        until(|| tally.dropped() == cancelled);
        assert_eq!(pool.stats().blocking_calls, 1);
        drop(release);
        for (n, fiber) in fibers.into_iter().enumerate() {
            let expected = if is_cancelled(n) { Err(Cancelled) } else { Ok(n) };
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), expected);
        }
        let stats = pool.stats();
        assert_eq!((stats.blocking_calls as usize, stats.blocking_queued), (1 + 100 - cancelled, 0));
        tally.assert_all_dropped();
    });
}

#[test]
fn queued_calls_run_in_order() {
    watchdog(LONG, || {
        let (pool, release) = occupied();
        let order = Arc::new(Mutex::new(Vec::new()));
        let fibers: Vec<_> = (0..20)
            .map(|n| {
                let order = Arc::clone(&order);
                let fiber = pool.spawn(move |cx| cx.blocking(|| order.lock().unwrap().push(n)));
                until(|| pool.stats().blocking_queued == n + 1);
                fiber
            })
            .collect();
        drop(release);
        fibers.into_iter().for_each(|fiber| pool.run(|cx| fiber.join(cx)).unwrap().unwrap());
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn call_that_has_begun_is_not_cancelled() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        let (release, released) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        let fiber = pool.spawn(move |cx| {
            let late = cx.timeout(Duration::from_secs(1), |cx| {
                let result = cx.blocking(move || {
                    begun.send(()).unwrap();
                    released.recv().unwrap_err();
                    "ended"
                });
                assert_eq!(result, Ok("ended"));
                // The next one does not begin.
                Ok::<_, WaitError>(cx.blocking(|| "begun")?)
            });
            (late, cx.is_cancelled())
        });
        begins.recv().unwrap();
        manual.advance(Duration::from_secs(2));
        fiber.cancel();
        // It waits on, and the thread runs other fibers.
        assert_eq!(pool.run(|cx| pool.spawn(|_| 3).join(cx)).unwrap(), 3);
        assert!(!fiber.is_finished());
        drop(release);
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), (Err(WaitError::Cancelled), true));
        assert_eq!(pool.stats().blocking_calls, 1);
    });
}

#[test]
fn blocking_in_cancelled_scope_does_not_run() {
    with_every_cx(|cx| {
        cx.cancellable(|cx, handle| {
            handle.cancel();
            assert_eq!(cx.blocking(|| unreachable!("cancelled before")), Err::<(), _>(Cancelled));
            assert_eq!(cx.shield(|cx| cx.blocking(|| 5)), Ok(5));
        });
    });
}

#[test]
fn ten_thousand_calls_share_four_threads() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).max_blocking_threads(4).build().unwrap();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let fibers: Vec<_> = (0..10_000)
            .map(|n| {
                let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                pool.spawn(move |cx| {
                    cx.blocking(|| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        n
                    })
                })
            })
            .collect();
        for (n, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(n));
        }
        let (stats, most) = (pool.stats(), most.load(Ordering::SeqCst));
        assert!((1..=4).contains(&most) && stats.blocking_threads <= 4, "{most} at a time, {stats}");
        assert_eq!((stats.blocking_calls, stats.blocking_queued), (10_000, 0));
    });
}

#[test]
fn idle_threads_end_and_others_start() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).blocking_keep_alive(Duration::from_millis(1)).build().unwrap();
        for calls in [1, 5, 2] {
            let barrier = Arc::new(std::sync::Barrier::new(calls));
            let fibers: Vec<_> = (0..calls)
                .map(|_| {
                    let barrier = Arc::clone(&barrier);
                    pool.spawn(move |cx| cx.blocking(|| _ = barrier.wait()))
                })
                .collect();
            fibers.into_iter().for_each(|fiber| pool.run(|cx| fiber.join(cx)).unwrap().unwrap());
            until(|| pool.stats().blocking_threads == 0);
        }
    });
}

#[test]
fn idle_thread_is_reused() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(1).blocking_keep_alive(LONG).build().unwrap();
        let first = on_fiber(&pool, |cx| {
            let mut names = HashSet::new();
            loop {
                // Once a thread has reported the end of a call, it is about to look for the next one.
                let name = cx.blocking(|| thread::current().name().map(str::to_owned)).unwrap();
                if !names.insert(name.clone()) {
                    return name;
                }
            }
        });
        assert!(first.unwrap().starts_with("anabranch-io-"));
    });
}

#[test]
fn forks_in_blocking_call_go_to_pool_of_caller() {
    with_every_cx(|cx| {
        let id = cx.join(|_| current_pool_id(), |_| ()).0;
        let on_fiber = cx.scope(|s| {
            s.spawn(move |cx| {
                cx.blocking(|| {
                    assert_eq!(sum_to(500), 125_250);
                    let squares: Vec<u64> = (0..1000u64).into_par_iter().map(|n| n * n).collect();
                    assert_eq!(squares[31], 961);
                    assert_eq!(anabranch::scope(|_| current_pool_id()), id);
                    assert_eq!(anabranch::join(current_pool_id, current_pool_id), (id, id));
                    assert_eq!(anabranch::run(|cx| anabranch::spawn(|_| current_pool_id()).join(cx)).unwrap(), id);
                    anabranch::run(|cx| assert_eq!(cx.blocking(|| 1), Ok(1)));
                    let spawned = anabranch::spawn(|_| current_pool_id());
                    assert_eq!(anabranch::run(|cx| spawned.join(cx)).unwrap(), id);
                    assert_eq!(current_pool_id(), None);
                })
            })
            .join(s)
        });
        on_fiber.unwrap().unwrap();
    });
}

#[test]
fn blocking_without_threads_runs_in_place() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(1).max_blocking_threads(0).build().unwrap();
        on_fiber(&pool, |cx| {
            let fiber = thread::current().id();
            assert_eq!(cx.blocking(|| thread::current().id()), Ok(fiber));
            assert_eq!(panic_text(|| _ = cx.blocking(|| panic!("in place"))), "in place");
            assert_eq!(cx.blocking(|| sum_to(100)), Ok(5050));
        });
        assert_eq!((pool.stats().blocking_threads, pool.stats().blocking_calls), (0, 0));
    });
}

#[test]
fn drop_of_pool_waits_for_calls_and_withdraws_queued_ones() {
    watchdog(LONG, || {
        let (pool, release) = occupied();
        let (sender, receiver) = mpsc::channel();
        for n in 0..10 {
            let sender = sender.clone();
            pool.spawn(move |cx| sender.send(cx.blocking(|| n)).unwrap());
        }
        until(|| pool.stats().blocking_queued == 10);
        let releaser = thread::spawn(move || {
            // All have been withdrawn before the first one ends.
            let results: Vec<_> = receiver.iter().take(10).collect();
            drop(release);
            results
        });
        drop(pool);
        assert_eq!(releaser.join().unwrap(), vec![Err(Cancelled); 10]);
    });
}

/// The threads of the pool are the program's, so the drop waits for nothing.
#[test]
fn drop_of_pool_on_threads_of_program_does_not_wait() {
    watchdog(LONG, || {
        let (release, released) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        let result = thread::scope(|s| {
            let pool = Pool::builder().threads(1).build_with(|thread| {
                s.spawn(|| thread.run());
                Ok(())
            });
            let pool = pool.unwrap();
            let fiber = pool.spawn(move |cx| {
                cx.blocking(move || {
                    begun.send(()).unwrap();
                    released.recv().unwrap_err();
                    7
                })
            });
            begins.recv().unwrap();
            drop(pool);
            drop(release);
            anabranch::run(|cx| fiber.join(cx))
        });
        assert_eq!(result.unwrap(), Ok(7));
    });
}

#[test]
fn call_may_drop_its_pool() {
    watchdog(LONG, || {
        let pool = Arc::new(pool(2));
        let (sender, receiver) = mpsc::channel();
        let own = Arc::clone(&pool);
        let (begun, begins) = mpsc::channel();
        pool.spawn(move |cx| {
            cx.blocking(move || {
                begins.recv().unwrap();
                // This one is the last.
                drop(own);
                sender.send(sum_to(100)).unwrap();
            })
        });
        drop(pool);
        begun.send(()).unwrap();
        assert_eq!(receiver.recv(), Ok(5050));
    });
}

#[test]
fn blocking_while_unwinding_needs_a_shield() {
    struct AtEnd<'a, 'b>(&'a anabranch::Cx<'b>, &'a mut Vec<Result<u32, Cancelled>>);

    impl Drop for AtEnd<'_, '_> {
        fn drop(&mut self) {
            self.1.push(self.0.shield(|cx| cx.blocking(|| 2)));
        }
    }

    watchdog(LONG, || {
        let results = on_fiber(&pool(1), |cx| {
            let mut results = Vec::new();
            let text = panic_text(|| {
                let _at_end = AtEnd(cx, &mut results);
                panic!("unwinds");
            });
            assert_eq!(text, "unwinds");
            results
        });
        assert_eq!(results, [Ok(2)]);
    });
}

#[test]
fn list_shows_blocking_calls() {
    watchdog(LONG, || {
        let (pool, release) = occupied();
        until_waiting(&pool, 1);
        assert_eq!(pool.fibers()[0].waits_for(), Some("blocking"));
        drop(release);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn thread_of_pinned_pool_uses_all_cores() {
    let own = |_: &()| {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
    };
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).pin_threads(true).build().unwrap();
        let there = on_fiber(&pool, move |cx| cx.blocking(|| own(&())).unwrap());
        assert_eq!(there, own(&()));
    });
}

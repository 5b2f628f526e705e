//! `Builder::build_with`: pools whose threads the program starts.

use crate::common::{LONG, join_stolen, pool, sum_to, watchdog};
use anabranch::{
    Pool,
    pool::{BuildError, ThreadBuilder, current_thread_index, in_pool},
};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Starts each thread in the scope.
fn spawn<'s>(s: &'s thread::Scope<'s, '_>) -> impl FnMut(ThreadBuilder) -> io::Result<()> {
    |thread| {
        let mut builder = thread::Builder::new().name(thread.name().to_owned());
        if let Some(size) = thread.stack_size() {
            builder = builder.stack_size(size);
        }
        builder.spawn_scoped(s, || thread.run()).map(drop)
    }
}

#[test]
fn threads_of_program_run_pool() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let handlers = Arc::new(AtomicUsize::new(0));
            let (on_start, on_exit) = (Arc::clone(&handlers), Arc::clone(&handlers));
            thread::scope(|s| {
                let builder = Pool::builder()
                    .threads(threads)
                    .stack_size(1 << 20)
                    .thread_name(|index| format!("own-{index}"))
                    .on_start(move |_| _ = on_start.fetch_add(1, Ordering::AcqRel))
                    .on_exit(move |_| _ = on_exit.fetch_add(100, Ordering::AcqRel));
                let pool = builder.build_with(spawn(s)).unwrap();
                let names = pool.broadcast(|index| (index, thread::current().name().unwrap().to_owned()));
                assert!(names.iter().all(|(index, name)| *name == format!("own-{index}")));
                assert_eq!(names.len(), threads);
                assert_eq!(pool.call(|| sum_to(1000)) + pool.install(|| sum_to(1000)), 1_001_000);
                assert!(pool.call(current_thread_index).unwrap() < threads);
                assert_eq!(handlers.load(Ordering::Acquire), threads);
            });
            assert_eq!(handlers.load(Ordering::Acquire), 101 * threads);
        }
    });
}

#[test]
fn thread_builder_tells_what_pool_wants() {
    watchdog(LONG, || {
        let seen = Mutex::new(Vec::new());
        thread::scope(|s| {
            let mut spawn = spawn(s);
            let pool = Pool::builder().threads(3).stack_size(1 << 20).build_with(|thread| {
                let seen_here = (thread.index(), thread.name().to_owned(), thread.stack_size(), thread.pool_id());
                assert!(format!("{thread:?}").contains(&format!("index: {}", thread.index())));
                seen.lock().unwrap().push(seen_here);
                spawn(thread)
            });
            let (pool, seen) = (pool.unwrap(), seen.lock().unwrap());
            for (i, (index, name, stack_size, id)) in seen.iter().enumerate() {
                assert_eq!((*index, name.as_str(), *stack_size), (i, format!("anabranch-{i}").as_str(), Some(1 << 20)));
                assert_eq!(*id, pool.id());
            }
            assert_eq!(seen.len(), 3);
        });
    });
}

#[test]
fn refused_thread_fails_build_and_ends_others() {
    watchdog(LONG, || {
        for refused in 0..3 {
            thread::scope(|s| {
                let mut spawn = spawn(s);
                let error = Pool::builder().threads(3).build_with(|thread| {
                    if thread.index() == refused { Err(io::Error::other("no more")) } else { spawn(thread) }
                });
                let error = error.unwrap_err();
                assert!(matches!(&error, BuildError::Spawn(error) if error.to_string() == "no more"), "{error}");
            });
        }
    });
}

#[test]
fn panic_of_spawn_handler_ends_others() {
    watchdog(LONG, || {
        thread::scope(|s| {
            let mut spawn = spawn(s);
            let panic = catch_unwind(AssertUnwindSafe(|| {
                Pool::builder().threads(3).build_with(|thread| {
                    assert_ne!(thread.index(), 2);
                    spawn(thread)
                })
            }));
            assert!(panic.is_err());
        });
    });
}

/// The pool works with the threads that there are, and ends without the others.
#[test]
fn threads_that_never_run_do_not_block_build_or_drop() {
    watchdog(LONG, || {
        let kept = Mutex::new(Vec::new());
        let pool = Pool::builder().threads(2).build_with(|thread| {
            kept.lock().unwrap().push(thread);
            Ok(())
        });
        let pool = pool.unwrap();
        assert_eq!(pool.install(|| sum_to(1000)), 500_500);
        let late = kept.lock().unwrap().pop().unwrap();
        let thread = thread::spawn(|| late.run());
        assert_eq!(pool.call(|| sum_to(1000)), 500_500);
        drop(pool);
        thread.join().unwrap();
        // One runs after the end of the pool.
        kept.into_inner().unwrap().pop().unwrap().run();
        drop(Pool::builder().threads(2).build_with(|_| Ok(())).unwrap());
        assert!(!in_pool());
    });
}

#[test]
fn pool_has_no_spares() {
    watchdog(LONG, || {
        thread::scope(|s| {
            let pool = Pool::builder().threads(2).build_with(spawn(s)).unwrap();
            let meeting = Barrier::new(3);
            thread::scope(|threads| {
                for _ in 0..2 {
                    threads.spawn(|| pool.call(|| meeting.wait()));
                }
                thread::sleep(Duration::from_millis(30));
                meeting.wait();
            });
            assert_eq!(pool.stats().spare_threads, 0);
            assert_eq!(pool.install(|| join_stolen(|| 1, || 2)), (1, 2));
        });
    });
}

#[test]
fn dropped_pool_runs_pending_tasks_later() {
    watchdog(LONG, || {
        let ran = AtomicUsize::new(0);
        thread::scope(|s| {
            let (sender, receiver) = mpsc::channel::<()>();
            let (count, counted) = mpsc::channel();
            let pool = Pool::builder().threads(1).build_with(spawn(s)).unwrap();
            pool.execute(move || _ = receiver.recv());
            for _ in 0..10 {
                let count = count.clone();
                pool.execute(move || count.send(1).unwrap());
            }
            drop((pool, count));
            drop(sender);
            ran.store(counted.into_iter().sum(), Ordering::Relaxed);
        });
        assert_eq!(ran.into_inner(), 10);
    });
}

#[test]
fn thread_in_a_pool_cannot_run_another() {
    watchdog(LONG, || {
        let other = pool(1);
        let kept = Mutex::new(None);
        let pool = Pool::builder().threads(1).build_with(|thread| {
            *kept.lock().unwrap() = Some(thread);
            Ok(())
        });
        let thread = kept.into_inner().unwrap().unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| other.install(|| thread.run())));
        assert!(panic.is_err());
        drop(pool);
        assert_eq!(other.call(|| sum_to(10)), 55);
    });
}

#[test]
fn build_need_not_wait_for_start_handlers() {
    watchdog(LONG, || {
        let (open, opened) = mpsc::channel::<()>();
        let opened = Mutex::new(opened);
        let started = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&started);
        let pool = Pool::builder()
            .threads(2)
            .without_waiting_for_start()
            .on_start(move |_| {
                _ = opened.lock().unwrap().recv();
                count.fetch_add(1, Ordering::AcqRel);
            })
            .build()
            .unwrap();
        assert_eq!(started.load(Ordering::Acquire), 0);
        drop(open);
        pool.broadcast(|_| assert!(started.load(Ordering::Acquire) > 0));
        assert_eq!(started.load(Ordering::Acquire), 2);
    });
}

/// No thread can have the name of the second one, so the build fails after the first one has started.
#[test]
fn failed_build_need_not_wait_for_threads() {
    watchdog(LONG, || {
        let (failed, failure) = mpsc::channel();
        let (ended, end) = mpsc::channel();
        let failure = Mutex::new(failure);
        let builder = Pool::builder()
            .threads(2)
            .without_waiting_for_start()
            .thread_name(|index| String::from(["own", "\0"][index]))
            .on_exit(move |_| ended.send(failure.lock().unwrap().recv()).unwrap());
        assert!(catch_unwind(AssertUnwindSafe(|| builder.build())).is_err());
        failed.send("after the build").unwrap();
        assert_eq!(end.recv(), Ok(Ok("after the build")));
    });
}

//! `Pool::shutdown_background`: returns at once, and the pool ends later by itself.

use crate::common::{LONG, Tally, pool, sum_to, watchdog};
use anabranch::Pool;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

#[test]
fn pending_tasks_still_run() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let (tally, exits) = (Tally::default(), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&exits);
            let pool = Pool::builder()
                .threads(threads)
                .max_spare_threads(0)
                .on_exit(move |_| _ = count.fetch_add(1, Ordering::AcqRel))
                .build()
                .unwrap();
            let (wake, woken) = mpsc::channel::<()>();
            let woken = Arc::new(std::sync::Mutex::new(woken));
            let (sender, receiver) = mpsc::channel();
            for i in 0..20 {
                let (woken, sender, value) = (Arc::clone(&woken), sender.clone(), tally.make());
                pool.execute(move || {
                    _ = woken.lock().unwrap().recv();
                    anabranch::execute(move || {
                        drop(value);
                        sender.send((i, sum_to(100))).unwrap();
                    });
                });
            }
            drop(sender);
            pool.shutdown_background();
            assert_eq!(exits.load(Ordering::Acquire), 0, "the tasks wait for this thread");
            drop(wake);
            let mut all: Vec<_> = receiver.into_iter().collect();
            all.sort_unstable();
            assert_eq!(all, (0..20).map(|i| (i, 5050)).collect::<Vec<_>>());
            tally.assert_all_dropped();
            while exits.load(Ordering::Acquire) < threads {
                thread::yield_now();
            }
        }
    });
}

/// Nothing but the threads refers to the pool.
#[test]
fn idle_pool_ends_and_is_freed() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let token = Arc::new(());
            let held = Arc::clone(&token);
            let pool = Pool::builder().threads(threads).on_exit(move |_| _ = &held).build().unwrap();
            pool.install(|| sum_to(100));
            thread::sleep(Duration::from_millis(20));
            pool.shutdown_background();
            while Arc::strong_count(&token) > 1 {
                thread::yield_now();
            }
        }
    });
}

#[test]
fn fibers_are_cancelled() {
    watchdog(LONG, || {
        let pool = pool(2);
        let (sender, receiver) = mpsc::channel();
        let (begun, begins) = mpsc::channel();
        drop(pool.spawn(move |cx| {
            begun.send(()).unwrap();
            let outcome = cx.sleep(Duration::from_secs(3600));
            sender.send(outcome.is_err()).unwrap();
        }));
        begins.recv().unwrap();
        pool.shutdown_background();
        assert_eq!(receiver.recv(), Ok(true));
    });
}

#[test]
fn thread_of_pool_may_shut_it_down() {
    watchdog(LONG, || {
        let slot = Arc::new(std::sync::Mutex::new(None::<Pool>));
        let (sender, receiver) = mpsc::channel();
        let pool = pool(2);
        let taken = Arc::clone(&slot);
        let mut guard = slot.lock().unwrap();
        pool.execute(move || {
            let pool = taken.lock().unwrap().take().unwrap();
            pool.execute(move || sender.send(sum_to(10)).unwrap());
            pool.shutdown_background();
        });
        *guard = Some(pool);
        drop(guard);
        assert_eq!(receiver.recv(), Ok(55));
    });
}

//! Programs that hang with rayon's own scheduler, reduced to the cause, with the order of events fixed. In each, a
//! thread waits for a stolen half of a `join`, or for another pool. Meanwhile there is an unrelated job that it could
//! run on top of what it waits in. That job needs what the thread holds.
//!
//! `.ci/rayon stock` runs this file with rayon's own rayon-core, and expects each test to fail by its watchdog.

use rayon::ThreadPoolBuilder;
use std::{
    env,
    sync::{
        Mutex, OnceLock, RwLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// Runs a program on a thread of its own, and fails if it does not end.
fn ends(program: impl FnOnce() + Send + 'static) {
    let seconds = env::var("WATCHDOG_SECONDS").map_or(60, |seconds| seconds.parse().unwrap());
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        program();
        sender.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(seconds)).expect("the program hangs or has panicked");
}

fn spin_until(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

/// Returns when the job has started on the waiting thread, or when that has had time enough to take it. A run in which
/// it takes the job later shows nothing, and fails nothing.
fn give_time_to_steal(has_started: &AtomicBool) {
    let deadline = Instant::now() + Duration::from_millis(300);
    while !has_started.load(Ordering::Acquire) && Instant::now() < deadline {
        thread::yield_now();
    }
}

/// Runs `outer` on one thread of a pool of two. It gets a function that waits for the stolen half of a `join`. During
/// that wait the other thread spawns `other`, where the waiting thread could steal it.
fn steal_while_waiting(outer: impl FnOnce(&(dyn Fn() + Sync)) + Send, other: impl FnOnce() + Send) {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let other = Mutex::new(Some(other));
    let (is_stolen, has_started) = (AtomicBool::new(false), AtomicBool::new(false));
    let (is_stolen, has_started) = (&is_stolen, &has_started);
    pool.scope(|s| {
        outer(&|| {
            rayon::join(
                || spin_until(is_stolen),
                || {
                    is_stolen.store(true, Ordering::Release);
                    let other = other.lock().unwrap().take().unwrap();
                    s.spawn(move |_| {
                        has_started.store(true, Ordering::Release);
                        other();
                    });
                    give_time_to_steal(has_started);
                },
            );
        });
    });
}

#[test]
fn a_mutex_may_be_held_across_a_join() {
    ends(|| {
        let mutex = Mutex::new(0);
        let outer = |wait: &(dyn Fn() + Sync)| {
            let mut value = mutex.lock().unwrap();
            wait();
            *value += 1;
        };
        steal_while_waiting(outer, || *mutex.lock().unwrap() += 1);
        assert_eq!(mutex.into_inner().unwrap(), 2);
    });
}

#[test]
fn a_once_lock_may_be_initialised_by_a_join() {
    ends(|| {
        let cell = OnceLock::new();
        let outer = |wait: &(dyn Fn() + Sync)| {
            cell.get_or_init(|| {
                wait();
                1
            });
        };
        steal_while_waiting(outer, || assert_eq!(*cell.get_or_init(|| 2), 1));
    });
}

#[test]
fn a_read_lock_may_be_held_across_a_join_while_a_writer_waits() {
    ends(|| {
        let lock = RwLock::new(0);
        thread::scope(|threads| {
            let outer = |wait: &(dyn Fn() + Sync)| {
                let value = lock.read().unwrap();
                threads.spawn(|| *lock.write().unwrap() += 1);
                // A waiting writer keeps further readers out.
                while lock.try_read().is_ok() {
                    thread::yield_now();
                }
                wait();
                assert_eq!(*value, 0);
            };
            steal_while_waiting(outer, || drop(lock.read().unwrap()));
        });
        assert_eq!(lock.into_inner().unwrap(), 1);
    });
}

#[test]
fn a_message_may_be_sent_after_a_join() {
    ends(|| {
        let (sender, receiver) = mpsc::channel();
        let outer = move |wait: &(dyn Fn() + Sync)| {
            wait();
            sender.send(1).unwrap();
        };
        steal_while_waiting(outer, move || assert_eq!(receiver.recv(), Ok(1)));
    });
}

#[test]
fn a_mutex_may_be_held_across_a_call_into_another_pool() {
    ends(|| {
        let callers = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let driver = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let mutex = Mutex::new(0);
        let has_started = AtomicBool::new(false);
        callers.scope(|s| {
            s.spawn(|_| {
                has_started.store(true, Ordering::Release);
                *mutex.lock().unwrap() += 1;
            });
            let mut value = mutex.lock().unwrap();
            driver.scope(|s| s.spawn(|_| give_time_to_steal(&has_started)));
            *value += 1;
        });
        assert_eq!(mutex.into_inner().unwrap(), 2);
    });
}

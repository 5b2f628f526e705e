//! The sleep protocol: while a root is open and a worker is asleep, there is a heartbeat worker. A worker that is
//! called wakes up.

use super::explore;
use crate::{
    pool::{
        sleep::{Idle, Sleep},
        status::Status,
    },
    sys::{
        asymmetric_fence::Fence,
        parker::Parker,
        sync::{AtomicBool, Ordering},
    },
};
use loom::{sync::Arc, thread};

struct Pool {
    sleep: Sleep,
    guest: Status,
    workers: Vec<(Parker, AtomicBool)>,
}

impl Pool {
    fn new(workers: usize, fence: Fence) -> Arc<Self> {
        Arc::new(Self {
            sleep: Sleep::new(fence),
            guest: Status::vacant(),
            workers: (0..workers).map(|_| (Parker::new(), AtomicBool::new(false))).collect(),
        })
    }

    /// Does the same as `Worker::call`.
    fn wake(&self, worker: Option<usize>) {
        if let Some((parker, called)) = worker.map(|index| &self.workers[index]) {
            called.swap(true, Ordering::Release);
            parker.unpark();
        }
    }

    /// Does the same as the beginning of a root.
    fn enter(&self) {
        assert!(self.guest.occupy());
        self.wake(self.sleep.call_if_vacant());
    }

    fn lie_down(&self, me: usize) -> bool {
        self.sleep.retire(me) == Idle::Asleep || self.sleep.fall_asleep(me, || self.guest.is_occupied())
    }

    fn sleep_until_called(&self, me: usize) {
        let (parker, called) = &self.workers[me];
        while !called.swap(false, Ordering::Acquire) {
            parker.park();
        }
    }
}

fn spawn(pool: &Arc<Pool>, act: impl Fn(&Pool) + Send + 'static) -> thread::JoinHandle<()> {
    let pool = Arc::clone(pool);
    thread::spawn(move || act(&pool))
}

/// A worker falls asleep in every possible way while a root begins. In the end it is awake, as the heartbeat worker.
fn a_root_begins_while_a_worker_lies_down(fence: Fence) {
    let pool = Pool::new(1, fence);
    let worker = spawn(&pool, |pool| {
        if pool.lie_down(0) {
            pool.sleep_until_called(0);
        }
    });
    pool.enter();
    worker.join().unwrap();
    assert_eq!(pool.sleep.retire(9), Idle::Asleep, "there is no heartbeat worker");
}

#[test]
fn models_sleep_root_begins_while_worker_falls_asleep() {
    explore("sleep, root against a worker, asymmetric", None, || {
        a_root_begins_while_a_worker_lies_down(Fence::Asymmetric);
    });
    explore("sleep, root against a worker, symmetric", None, || {
        a_root_begins_while_a_worker_lies_down(Fence::Symmetric);
    });
}

/// Two workers fall asleep while a root begins. In the end one of them is the heartbeat worker, and the other may
/// sleep.
#[test]
fn models_sleep_root_begins_while_two_workers_fall_asleep() {
    explore("sleep, root against two workers", Some(3), || {
        let pool = Pool::new(2, Fence::Asymmetric);
        let workers = [0, 1].map(|me| {
            spawn(&pool, move |pool| {
                pool.lie_down(me);
            })
        });
        pool.enter();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(pool.sleep.retire(9), Idle::Asleep, "there is no heartbeat worker");
    });
}

/// A root ends and another begins at once, as in a loop of small roots, while the heartbeat worker falls asleep.
#[test]
fn models_sleep_roots_follow_each_other() {
    explore("sleep, two roots", None, || {
        let pool = Pool::new(1, Fence::Asymmetric);
        let worker = spawn(&pool, |pool| {
            if pool.lie_down(0) {
                pool.sleep_until_called(0);
            }
        });
        pool.enter();
        pool.guest.vacate();
        pool.enter();
        worker.join().unwrap();
        assert_eq!(pool.sleep.retire(9), Idle::Asleep, "there is no heartbeat worker");
    });
}

/// A heartbeat worker that begins to work hands the role to the sleeper or resigns. A worker that retires meanwhile is
/// not lost.
#[test]
fn models_sleep_heartbeat_worker_hands_over_or_resigns() {
    explore("sleep, successor", None, || {
        let pool = Pool::new(2, Fence::Asymmetric);
        assert_eq!(pool.sleep.retire(0), Idle::Heartbeat);
        let other = spawn(&pool, |pool| {
            if pool.sleep.retire(1) == Idle::Asleep {
                pool.sleep_until_called(1);
            }
        });
        pool.enter();
        pool.wake(pool.sleep.successor().or_else(|| pool.sleep.resign().ok()));
        other.join().unwrap();
        assert_eq!(pool.sleep.retire(9), Idle::Asleep, "there is no heartbeat worker");
    });
}

/// A waiting thread relies on the heartbeat worker, which begins to work and finds no successor. The thread is woken,
/// or has found no heartbeat worker.
#[test]
fn models_sleep_long_wait_ends_without_heartbeat_worker() {
    explore("sleep, long wait", None, || {
        let pool = Pool::new(2, Fence::Asymmetric);
        assert_eq!(pool.sleep.retire(0), Idle::Heartbeat);
        let waiting = spawn(&pool, |pool| {
            if pool.sleep.begin_long_wait(1) {
                pool.sleep_until_called(1);
                pool.sleep.end_long_wait(1);
            }
        });
        let relying = pool.sleep.resign().expect_err("no worker sleeps");
        relying.into_iter().for_each(|waiting| pool.wake(Some(waiting)));
        waiting.join().unwrap();
        assert!(!pool.sleep.begin_long_wait(1), "there is no heartbeat worker");
        assert_eq!(pool.sleep.resign(), Err(Vec::new()));
    });
}

/// A sleeping heartbeat worker can still be called, so a long wait may continue to rely on it.
#[test]
fn models_sleep_long_wait_relies_on_sleeping_heartbeat_worker() {
    explore("sleep, long wait while the heartbeat worker falls asleep", None, || {
        let pool = Pool::new(1, Fence::Asymmetric);
        assert_eq!(pool.sleep.retire(0), Idle::Heartbeat);
        let heartbeat = spawn(&pool, |pool| {
            if pool.sleep.fall_asleep(0, || pool.guest.is_occupied()) {
                pool.sleep_until_called(0);
            }
        });
        assert!(pool.sleep.begin_long_wait(1), "a sleeper can be called");
        pool.enter();
        heartbeat.join().unwrap();
        assert_eq!(pool.sleep.retire(9), Idle::Asleep, "there is no heartbeat worker");
    });
}

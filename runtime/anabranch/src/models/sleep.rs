//! The sleep protocol: while a root is open and a worker is asleep, there is a heartbeat worker. A worker that is
//! called wakes up.

use super::explore;
use crate::{
    pool::{
        sleep::{Call, Called, Idle, Sleep},
        status::Status,
    },
    sys::{asymmetric_fence::Fence, parker::Parker},
};
use loom::{sync::Arc, thread};

struct Pool {
    sleep: Sleep,
    guest: Status,
    workers: Vec<(Parker, Called)>,
}

impl Pool {
    fn new(workers: usize, fence: Fence) -> Arc<Self> {
        Arc::new(Self {
            sleep: Sleep::new(fence),
            guest: Status::vacant(),
            workers: (0..workers).map(|_| (Parker::new(), Called::new())).collect(),
        })
    }

    fn wake(&self, worker: Option<usize>) {
        self.call(worker, Call::Heartbeat);
    }

    /// Does the same as `Parking::call`.
    fn call(&self, worker: Option<usize>, call: Call) {
        if let Some((parker, called)) = worker.map(|index| &self.workers[index]) {
            called.set(call);
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

    /// Returns whether the worker was called as the heartbeat worker.
    fn sleep_until_called(&self, me: usize) -> bool {
        let (parker, called) = &self.workers[me];
        loop {
            match called.take() {
                Some(call) => return call == Call::Heartbeat,
                None => parker.park(),
            };
        }
    }
}

fn spawn<R: 'static>(pool: &Arc<Pool>, act: impl Fn(&Pool) -> R + Send + 'static) -> thread::JoinHandle<R> {
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
        assert_eq!(pool.sleep.retire(1), Idle::Heartbeat);
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

/// A heartbeat worker that begins to work calls its successor and a helper, while one of the sleepers wakes by itself.
/// That one is not the heartbeat worker, whether or not it was called.
#[test]
fn models_sleep_helper_is_called_or_wakes_by_itself() {
    explore("sleep, successor and helper", None, || {
        let pool = Pool::new(3, Fence::Asymmetric);
        assert_eq!(pool.sleep.retire(2), Idle::Heartbeat);
        assert_eq!([0, 1].map(|me| pool.sleep.retire(me)), [Idle::Asleep; 2]);
        let waking = spawn(&pool, |pool| {
            let (parker, called) = &pool.workers[0];
            assert!(!pool.sleep.leave(0, called, parker), "another one is the heartbeat worker");
        });
        pool.wake(pool.sleep.successor());
        assert!(pool.sleep_until_called(1), "the last to fall asleep succeeds");
        let helper = pool.sleep.helper(|worker| worker < 2);
        pool.call(helper, Call::Help);
        waking.join().unwrap();
        assert_eq!(pool.workers[0].1.take(), None, "the call does not stay for later");
        assert_eq!(pool.sleep.helper(|_| true), None, "no worker sleeps");
        assert_eq!(pool.sleep.retire(2), Idle::Asleep, "there is a heartbeat worker");
    });
}

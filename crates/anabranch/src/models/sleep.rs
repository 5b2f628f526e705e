//! The sleep protocol: where a root is open, a worker asleep and a slot free, there is a lookout; and whoever is called
//! hears it.

use super::explore;
use crate::{
    pool::sleep::{Call, Idle, Sleep},
    sys::parker::Parker,
};
use loom::{sync::Arc, thread};

struct Pool {
    sleep: Sleep,
    parkers: Vec<Parker>,
}

impl Pool {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self { sleep: Sleep::new(workers), parkers: (0..workers).map(|_| Parker::new()).collect() })
    }

    fn wake(&self, call: Call) {
        if let Some(worker) = call {
            self.parkers[worker].unpark();
        }
    }

    fn root(&self) {
        self.wake(self.sleep.enter_root().unwrap());
        self.sleep.assert_invariant_for_an_open_root();
        self.wake(self.sleep.leave_root());
    }
}

fn spawn(pool: &Arc<Pool>, act: impl Fn(&Pool) + Send + 'static) -> thread::JoinHandle<()> {
    let pool = Arc::clone(pool);
    thread::spawn(move || act(&pool))
}

/// One worker lies down in every way it can while roots begin: the invariant holds whenever a root has been entered.
#[test]
fn models_sleep_a_root_begins_while_workers_lie_down() {
    explore("sleep, root against stand_down", Some(3), || {
        let pool = Pool::new(2);
        let workers = [0, 1].map(|me| {
            spawn(&pool, move |pool| {
                if pool.sleep.retire(me) == Idle::Lookout {
                    pool.sleep.stand_down(me, pool.sleep.activity());
                }
            })
        });
        pool.root();
        for worker in workers {
            worker.join().unwrap();
        }
        pool.root();
    });
}

/// A lookout that goes to work names the next, while a waiting guest frees its slot for a moment.
#[test]
fn models_sleep_a_lookout_is_promoted_while_a_guest_blocks() {
    explore("sleep, promote against block", Some(3), || {
        let pool = Pool::new(3);
        assert_eq!([0, 1, 2].map(|me| pool.sleep.retire(me)), [Idle::Lookout, Idle::Asleep, Idle::Asleep]);
        pool.wake(pool.sleep.enter_root().unwrap());
        let lookout = spawn(&pool, |pool| {
            let call = pool.sleep.promote().expect("a slot is free");
            pool.wake(call);
        });
        pool.wake(pool.sleep.block());
        pool.sleep.unblock();
        lookout.join().unwrap();
        pool.sleep.assert_invariant_for_an_open_root();
    });
}

/// A worker that lies down just as a guest comes and waits is awake in the end, as the lookout, whatever the order.
#[test]
fn models_sleep_the_called_sleeper_wakes() {
    explore("sleep, call", None, || {
        let pool = Pool::new(1);
        let worker = spawn(&pool, |pool| {
            let is_asleep = pool.sleep.retire(0) == Idle::Asleep || pool.sleep.stand_down(0, pool.sleep.activity());
            if is_asleep {
                while !pool.sleep.is_called(0) {
                    pool.parkers[0].park();
                }
            }
        });
        pool.wake(pool.sleep.enter_root().unwrap());
        pool.wake(pool.sleep.block());
        worker.join().unwrap();
        pool.sleep.assert_invariant_for_an_open_root();
        assert!(pool.sleep.promote().is_some(), "the guest waits, so there is a slot for the worker");
    });
}

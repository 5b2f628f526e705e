//! Threads of the system without any library, and the locks for them.

use std::sync::Arc;
use std::thread;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::{Done, Peer};
use crate::stopwatch::Stopwatch;

/// std.
pub struct Std;

/// parking_lot.
#[cfg(feature = "peers")]
pub struct ParkingLot;

/// Binds the process to one core, so that threads yield to each other.
fn stay_on_one_core() {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this).expect("the affinity can be read");
    let first = (0..CpuSet::count()).find(|cpu| allowed.is_set(*cpu) == Ok(true)).expect("there is a core");
    let mut one = CpuSet::new();
    one.set(first).expect("the core was in a set");
    sched_setaffinity(this, &one).expect("a process may do with less");
}

/// Runs `body` on `threads` threads, the calling one included.
fn together<R: Send>(threads: u64, body: impl Fn() -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&body)).collect();
        let own = body();
        let others = others.into_iter().map(|other| other.join().expect("no thread panics"));
        std::iter::once(own).chain(others).collect()
    })
}

impl Peer for Std {
    type Pool = ();

    fn pool(_threads: usize) {}

    fn yields(_: &(), fibers: u64, times: u64) -> Done {
        stay_on_one_core();
        let watch = Stopwatch::start();
        let sum = together(fibers, || {
            (0..times).for_each(|_| thread::yield_now());
            times
        });
        Done::new(sum.into_iter().sum(), watch.stop())
    }

    fn lock(_: &(), fibers: u64, times: u64) -> Done {
        let mutex = Arc::new(std::sync::Mutex::new(0u64));
        let watch = Stopwatch::start();
        together(fibers, || (0..times).for_each(|_| *mutex.lock().unwrap() += 1));
        let meter = watch.stop();
        let sum = *mutex.lock().unwrap();
        Done::new(sum, meter)
    }
}

#[cfg(feature = "peers")]
impl Peer for ParkingLot {
    type Pool = ();

    fn pool(_threads: usize) {}

    fn lock(_: &(), fibers: u64, times: u64) -> Done {
        let mutex = Arc::new(parking_lot::Mutex::new(0u64));
        let watch = Stopwatch::start();
        together(fibers, || (0..times).for_each(|_| *mutex.lock() += 1));
        let meter = watch.stop();
        let sum = *mutex.lock();
        Done::new(sum, meter)
    }
}

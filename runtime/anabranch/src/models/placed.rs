//! Jobs that a thread places on a worker that goes to rest.

use super::explore;
use crate::{
    fiber::placed::{Patience, Placed},
    sys::{
        parker::Parker,
        sync::{Arc, AtomicBool, Ordering, fence},
    },
};
use loom::thread;

struct Worker {
    placed: Placed<u32>,
    parker: Parker,
}

/// Does the same as `placement::place`.
fn place(worker: &Worker, job: u32) {
    worker.placed.place([job], 0);
    worker.parker.unpark();
}

/// Does the same as `Registry::rest`: parks until there is a job.
fn take(worker: &Worker) -> u32 {
    loop {
        if !worker.placed.is_empty()
            && let Some(job) = worker.placed.take(|| 0)
        {
            return job;
        }
        worker.parker.park();
    }
}

#[test]
fn models_resting_worker_wakes_for_placed_jobs() {
    explore("placed", Some(3), || {
        let worker = Arc::new(Worker { placed: Placed::new(), parker: Parker::new() });
        let placers = [1, 2].map(|job| {
            let worker = Arc::clone(&worker);
            thread::spawn(move || place(&worker, job))
        });
        let jobs = take(&worker) + take(&worker);
        assert_eq!(jobs, 3);
        placers.into_iter().for_each(|placer| placer.join().unwrap());
        assert!(worker.placed.is_empty());
    });
}

#[test]
fn models_placed_job_is_taken_once() {
    explore("placed, overdue", Some(3), || {
        let worker = Arc::new(Worker { placed: Placed::new(), parker: Parker::new() });
        place(&worker, 1);
        let thief = {
            let worker = Arc::clone(&worker);
            thread::spawn(move || worker.placed.take_overdue(Patience::Idle, || u64::MAX))
        };
        let own = worker.placed.take(|| 0);
        let stolen = thief.join().unwrap();
        assert_eq!([own, stolen].into_iter().flatten().collect::<Vec<_>>(), [1]);
        assert!(worker.placed.is_empty());
    });
}

/// The worker waits for something else while a job is placed on it: one of the two threads notices.
#[test]
fn models_placed_job_of_waiting_worker_is_announced() {
    explore("placed, waiting", Some(3), || {
        let placed = Arc::new((Placed::new(), AtomicBool::new(false)));
        let placer = {
            let placed = Arc::clone(&placed);
            // Does the same as `placement::place`.
            thread::spawn(move || {
                placed.0.place([1], 0);
                fence(Ordering::SeqCst);
                placed.1.load(Ordering::Relaxed)
            })
        };
        // Does the same as `Worker::lend_slot`.
        placed.1.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let is_seen = !placed.0.is_empty();
        assert!(placer.join().unwrap() || is_seen);
    });
}

//! The run queue of a worker: the owner and thieves take each job once, and the thread that takes it sees the writes
//! before its push.

use super::explore;
use crate::{
    fiber::run_queue::RunQueue,
    sys::{
        asymmetric_fence::Fence,
        sync::{Arc, Cell},
    },
};
use loom::thread;

/// The data of a job, tracked by loom: written before the push, and by the thread that has taken the job.
struct Cells([Cell<u32>; 4]);

// SAFETY: loom reports unordered accesses to the cells.
unsafe impl Sync for Cells {}
// SAFETY: loom reports unordered accesses to the cells.
unsafe impl Send for Cells {}

struct Queue {
    jobs: RunQueue<usize>,
    cells: Cells,
}

impl Queue {
    fn new(fence: Fence) -> Arc<Self> {
        Arc::new(Self { jobs: RunQueue::new(fence), cells: Cells([0; 4].map(Cell::new)) })
    }

    /// Pushes a job, as the owner.
    fn push(&self, job: usize) {
        self.cells.0[job].set(1);
        // SAFETY: each model has one owner.
        unsafe { self.jobs.push(job) };
    }

    /// Takes the newest job, as the owner. Returns how many jobs it has taken.
    fn pop(&self) -> usize {
        // SAFETY: each model has one owner, which is the only caller.
        self.note(unsafe { self.jobs.take_newest() })
    }

    /// Takes jobs as a thief, and puts surplus ones into its own queue. Returns how many it has taken in all.
    fn steal(&self) -> usize {
        let own = RunQueue::new(Fence::Asymmetric);
        // SAFETY: the thief has just made it.
        let (first, second) = unsafe { (self.jobs.steal(&own), own.take_newest()) };
        self.note(first) + self.note(second)
    }

    fn note(&self, job: Option<usize>) -> usize {
        let Some(job) = job else { return 0 };
        let cell = &self.cells.0[job];
        assert_eq!(cell.get(), 1, "put in, and taken once");
        cell.set(2);
        1
    }
}

/// Runs `owner` and one thief, after two jobs were pushed.
fn with_a_thief(name: &str, bound: Option<usize>, owner: fn(&Queue) -> usize, in_all: usize) {
    for fence in [Fence::Asymmetric, Fence::Symmetric] {
        explore(&format!("jobs, {name}, {fence:?}"), bound, move || {
            let queue = Queue::new(fence);
            queue.push(0);
            queue.push(1);
            let thief = thread::spawn({
                let queue = Arc::clone(&queue);
                move || queue.steal()
            });
            let mut taken = owner(&queue);
            taken += thief.join().unwrap();
            while queue.pop() > 0 {
                taken += 1;
            }
            assert_eq!(taken, in_all);
            assert!(queue.jobs.is_empty());
        });
    }
}

#[test]
fn models_run_queue_owner_and_thief_take_jobs_once() {
    with_a_thief("the owner takes all", Some(3), |queue| queue.pop() + queue.pop(), 2);
}

#[test]
fn models_run_queue_slot_is_reused() {
    let owner = |queue: &Queue| {
        let taken = queue.pop();
        queue.push(2);
        taken + queue.pop()
    };
    with_a_thief("one out, one in, one out", Some(3), owner, 3);
}

#[test]
fn models_run_queue_ring_grows() {
    let owner = |queue: &Queue| {
        queue.push(2);
        queue.push(3);
        queue.pop()
    };
    with_a_thief("the ring grows", Some(3), owner, 4);
}

/// The owner pushes jobs while a thief looks.
#[test]
fn models_run_queue_owner_pushes_during_steal() {
    for fence in [Fence::Asymmetric, Fence::Symmetric] {
        explore(&format!("jobs, an owner at work, {fence:?}"), Some(3), move || {
            let queue = Queue::new(fence);
            let thief = thread::spawn({
                let queue = Arc::clone(&queue);
                move || queue.steal()
            });
            queue.push(0);
            queue.push(1);
            let mut taken = queue.pop() + queue.pop();
            taken += thief.join().unwrap();
            assert_eq!(taken, 2);
        });
    }
}

#[test]
fn models_run_queue_two_thieves_take_jobs_once() {
    explore("jobs, two thieves", Some(2), || {
        let queue = Queue::new(Fence::Asymmetric);
        (0..3).for_each(|job| queue.push(job));
        let thieves = [(); 2].map(|()| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.steal())
        });
        let mut taken = queue.pop() + queue.pop();
        taken += thieves.map(|thief| thief.join().unwrap()).iter().sum::<usize>();
        while queue.pop() > 0 {
            taken += 1;
        }
        assert_eq!(taken, 3);
    });
}

/// Injected jobs are found after those that are in the queue already.
#[test]
fn models_run_queue_injected_jobs_follow_local_ones() {
    explore("jobs, injected", None, || {
        let queue = Queue::new(Fence::Asymmetric);
        let other = thread::spawn({
            let queue = Arc::clone(&queue);
            move || {
                queue.cells.0[1].set(1);
                queue.jobs.inject(1);
            }
        });
        queue.push(0);
        let mut taken = queue.pop() + queue.pop();
        other.join().unwrap();
        taken += queue.pop();
        assert_eq!(taken, 2);
    });
}

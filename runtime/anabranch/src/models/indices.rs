//! The indices of working threads: one holder at a time, each sees the work of the last one, and no wait is lost.

use super::explore;
use crate::{
    pool::indices::{Indices, Wanted},
    sys::{
        parker::Parker,
        sync::{Arc, Cell},
    },
};
use loom::thread;

struct Pool {
    indices: Indices,
    /// What belongs to the holder of each index. Loom reports unordered accesses.
    slots: Vec<Cell<u32>>,
    parkers: Vec<Parker>,
}

// SAFETY: loom reports unordered accesses to the slots.
unsafe impl Send for Pool {}
// SAFETY: loom reports unordered accesses to the slots.
unsafe impl Sync for Pool {}

impl Pool {
    fn new(count: usize, threads: usize) -> Arc<Self> {
        Arc::new(Self {
            indices: Indices::new(count),
            slots: (0..count).map(|_| Cell::new(0)).collect(),
            parkers: (0..threads).map(|_| Parker::new()).collect(),
        })
    }

    fn take(&self, me: usize, wanted: Wanted) -> usize {
        let index = self.indices.take(wanted, &self.parkers[me], || self.parkers[me].park());
        self.slots[index].set(self.slots[index].get() + 1);
        index
    }

    fn work(&self, me: usize, wanted: Wanted) {
        let index = self.take(me, wanted);
        self.indices.give_back(index);
    }
}

fn spawn(pool: &Arc<Pool>, act: impl Fn(&Pool) + Send + 'static) -> thread::JoinHandle<()> {
    let pool = Arc::clone(pool);
    thread::spawn(move || act(&pool))
}

#[test]
fn models_indices_two_threads_share_one() {
    explore("indices, two threads and one index", Some(4), || {
        let pool = Pool::new(1, 2);
        let other = spawn(&pool, |pool| pool.work(1, Wanted::Any(0)));
        pool.work(0, Wanted::Any(0));
        other.join().unwrap();
        assert_eq!(pool.slots[0].get(), 2);
    });
}

/// The holder waits, and takes the same index again.
#[test]
fn models_indices_holder_takes_its_index_again() {
    explore("indices, a holder that waits", Some(3), || {
        let pool = Pool::new(1, 2);
        let other = spawn(&pool, |pool| pool.work(1, Wanted::Any(0)));
        let index = pool.take(0, Wanted::Any(0));
        pool.indices.give_back(index);
        pool.work(0, Wanted::Exactly(index));
        other.join().unwrap();
        assert_eq!(pool.slots[0].get(), 3);
    });
}

#[test]
fn models_indices_three_threads_share_two() {
    explore("indices, three threads and two indices", Some(2), || {
        let pool = Pool::new(2, 3);
        let others =
            [spawn(&pool, |pool| pool.work(1, Wanted::Any(0))), spawn(&pool, |pool| pool.work(2, Wanted::Exactly(0)))];
        pool.work(0, Wanted::Any(0));
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(pool.slots[0].get() + pool.slots[1].get(), 3);
    });
}

//! The admission of guests: no guest waits for a slot that is free, and each of them begins.

use super::explore;
use crate::{
    pool::{admission::Admission, status::Status},
    sys::{asymmetric_fence::Fence, parker::Parker},
};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A pool of one slot, and its guests.
struct Pool {
    admission: Admission,
    guests: Vec<(Status, Parker)>,
    admitted: AtomicUsize,
}

impl Pool {
    fn new(guests: usize) -> Arc<Self> {
        Arc::new(Self {
            admission: Admission::new(Fence::Asymmetric),
            guests: (0..guests).map(|_| (Status::vacant(), Parker::new())).collect(),
            admitted: AtomicUsize::new(0),
        })
    }

    fn taken(&self) -> usize {
        self.guests.iter().filter(|(status, _)| status.holds_slot()).count()
    }

    /// The guests run on two cores.
    fn note_free_slot(&self, me: usize) {
        if let Some(guest) = self.admission.next(|| self.taken() == 0, || me % 2) {
            self.guests[guest].1.unpark();
        }
    }

    /// Does the same as `Registry::admit`, without a limit of time.
    fn enter(&self, me: usize) {
        let (status, parker) = &self.guests[me];
        assert!(status.occupy());
        if !self.admission.has_waiting() && self.taken() <= 1 {
            return;
        }
        status.wait();
        self.note_free_slot(me);
        self.admission.enqueue(me, me % 2);
        let begin = || {
            status.activate();
            self.admitted.fetch_add(1, Ordering::Relaxed);
        };
        while self.admission.try_admit(me, |_| self.taken() == 0, begin).is_err() {
            parker.park();
        }
        self.note_free_slot(me);
    }

    fn leave(&self, me: usize) {
        self.guests[me].0.vacate();
        self.note_free_slot(me);
    }
}

fn spawn(pool: &Arc<Pool>, me: usize) -> thread::JoinHandle<()> {
    let pool = Arc::clone(pool);
    thread::spawn(move || {
        pool.enter(me);
        pool.leave(me);
    })
}

#[test]
fn models_admission_guest_that_leaves_wakes_next_one() {
    explore("admission, two guests and one slot", Some(3), || {
        let pool = Pool::new(2);
        let other = spawn(&pool, 1);
        pool.enter(0);
        pool.leave(0);
        other.join().unwrap();
        assert_eq!(pool.taken(), 0);
        assert!(!pool.admission.has_waiting() && pool.admission.next(|| true, || 0).is_none());
    });
}

#[test]
fn models_admission_three_guests_share_one_slot() {
    explore("admission, three guests and one slot", Some(2), || {
        let pool = Pool::new(3);
        let others = [1, 2].map(|guest| spawn(&pool, guest));
        pool.enter(0);
        pool.leave(0);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(pool.taken(), 0);
        assert!(pool.admission.next(|| true, || 0).is_none());
    });
}

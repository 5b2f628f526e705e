//! Fibers that other threads have placed on a worker, since it has fewer fibers than others. See `fiber::placement`.
//!
//! | a placed job is | left by                                                                                 |
//! |-----------------|-----------------------------------------------------------------------------------------|
//! | in the list     | the worker takes it; a thief takes it and marks the worker as late                      |
//! | taken           | the thread that took it runs it                                                         |
//!
//! A thief takes a job once the list is *overdue*: the worker has taken none for a while, or the list has not been
//! empty for a longer time. These times depend on the state of the worker, see [`Patience`].
//!
//! A thread that places jobs does it under the lock, and then unparks the worker. The worker that rests checks the
//! length before each time it parks, and a parker keeps an unpark for the next park. So the worker either sees the jobs
//! before it parks, or is woken at once. The length is a copy for threads without the lock. It orders nothing.

use crate::sys::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, const_unless_loom, lock};
use std::collections::VecDeque;

/// How long other threads leave the jobs to the worker: the time without a job taken by it, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// The worker waits for something else, and does not check the list.
    None = 0,
    /// The worker runs a fiber, perhaps a long one.
    AtWork = 100,
    /// The worker is being woken. A parked thread wakes within this time unless the machine is busy.
    Idle = 1000,
}

/// The time without an empty list after which they may take jobs of a worker that takes some itself, in microseconds.
/// Each of them may run for long.
const OVERDUE_IN_ALL: u64 = 5000;

/// See the [module](self).
pub(crate) struct Placed<T> {
    jobs: Mutex<VecDeque<T>>,
    len: AtomicUsize,
    /// When the worker last took a job and left others, or a job came into the empty list. In microseconds since the
    /// pool was made.
    since: AtomicU64,
    /// When a job last came into the empty list.
    began: AtomicU64,
    /// Whether the worker's thread is in its main loop, where it looks at the list.
    is_open: AtomicBool,
    /// Whether a thief had to take a job. Then the worker runs something long.
    is_late: AtomicBool,
}

impl<T: Copy> Placed<T> {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                jobs: Mutex::new(VecDeque::new()),
                len: AtomicUsize::new(0),
                since: AtomicU64::new(0),
                began: AtomicU64::new(0),
                is_open: AtomicBool::new(false),
                is_late: AtomicBool::new(false),
            }
        }
    }

    /// Returns the number of jobs, as of a moment ago.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the worker will look at the list soon.
    pub(crate) fn is_served(&self) -> bool {
        self.is_open.load(Ordering::Relaxed) && !self.is_late()
    }

    /// Records that the worker begins to look at the list, or ends to.
    pub(crate) fn open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    /// Records that the worker is in time again.
    #[inline]
    pub(crate) fn note_in_time(&self) {
        if self.is_late() {
            self.is_late.store(false, Ordering::Relaxed);
        }
    }

    /// Adds jobs. The caller then unparks the worker. `now` is the time in microseconds since the pool was made.
    pub(crate) fn place(&self, new: impl IntoIterator<Item = T>, now: u64) {
        let mut jobs = lock(&self.jobs);
        if jobs.is_empty() {
            self.since.store(now, Ordering::Relaxed);
            self.began.store(now, Ordering::Relaxed);
        }
        jobs.extend(new);
        self.len.store(jobs.len(), Ordering::Relaxed);
    }

    /// Takes the oldest job, for the worker itself. `now` returns the time in microseconds since the pool was made.
    pub(crate) fn take(&self, now: impl FnOnce() -> u64) -> Option<T> {
        let mut jobs = lock(&self.jobs);
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            self.since.store(now(), Ordering::Relaxed);
        }
        self.len.store(jobs.len(), Ordering::Relaxed);
        job
    }

    /// Returns whether other threads may take jobs. `now` returns the time, as for [`take`](Self::take).
    pub(crate) fn is_overdue(&self, patience: Patience, now: impl FnOnce() -> u64) -> bool {
        if self.is_empty() || patience == Patience::None {
            return !self.is_empty();
        }
        let now = now();
        let has_passed = |start: &AtomicU64, limit| now.saturating_sub(start.load(Ordering::Relaxed)) >= limit;
        has_passed(&self.since, patience as u64) || has_passed(&self.began, OVERDUE_IN_ALL)
    }

    /// Returns whether a thief has taken jobs since the worker last looked at the list with no other work.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Takes the oldest job, for another thread, if the list is [overdue](Self::is_overdue).
    pub(crate) fn take_overdue(&self, patience: Patience, now: impl FnOnce() -> u64) -> Option<T> {
        let mut jobs = lock(&self.jobs);
        if !self.is_overdue(patience, now) {
            return None;
        }
        let job = jobs.pop_front()?;
        self.len.store(jobs.len(), Ordering::Relaxed);
        self.is_late.store(true, Ordering::Relaxed);
        Some(job)
    }

    /// Calls `look` with all jobs. None of them is taken meanwhile.
    #[cfg(not(loom))]
    pub(crate) fn for_each(&self, look: impl FnMut(T)) {
        if !self.is_empty() {
            lock(&self.jobs).iter().copied().for_each(look);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const OVERDUE: u64 = Patience::Idle as u64;

    #[test]
    fn jobs_are_overdue_after_a_millisecond_without_progress() {
        let placed = Placed::new();
        placed.place([1, 2, 3], 100);
        assert!(!placed.is_overdue(Patience::Idle, || 100 + OVERDUE - 1));
        assert!(placed.is_overdue(Patience::Idle, || 100 + OVERDUE));
        assert_eq!(placed.take(|| 1000), Some(1));
        assert!(!placed.is_overdue(Patience::Idle, || 1000 + OVERDUE - 1));
        assert!(placed.is_overdue(Patience::Idle, || 1000 + OVERDUE));
    }

    #[test]
    fn jobs_of_worker_at_work_are_overdue_sooner_and_of_waiting_one_at_once() {
        let placed = Placed::new();
        assert!(!placed.is_overdue(Patience::None, || 0));
        placed.place([1, 2], 100);
        assert!(!placed.is_overdue(Patience::AtWork, || 199) && placed.is_overdue(Patience::AtWork, || 200));
        assert_eq!(placed.take_overdue(Patience::AtWork, || 199), None);
        assert_eq!(placed.take_overdue(Patience::None, || 100), Some(1));
    }

    #[test]
    fn jobs_behind_slow_ones_are_overdue_though_the_worker_takes_some() {
        let placed = Placed::new();
        placed.place(0..100, 0);
        let slow = OVERDUE - 100;
        let taken = (1..).take_while(|n| {
            placed.take(|| n * slow);
            !placed.is_overdue(Patience::Idle, || n * slow)
        });
        assert_eq!(taken.count() as u64, OVERDUE_IN_ALL / slow);
    }

    #[test]
    fn theft_and_new_jobs_leave_the_others_overdue() {
        let placed = Placed::new();
        placed.place([1, 2], 0);
        placed.place([3], OVERDUE);
        assert_eq!(placed.take_overdue(Patience::Idle, || OVERDUE), Some(1));
        assert!(placed.is_overdue(Patience::Idle, || OVERDUE));
    }

    #[test]
    fn empty_list_is_never_overdue() {
        let placed = Placed::new();
        placed.place([1], 0);
        assert_eq!(placed.take(|| unreachable!("no other job waits")), Some(1));
        assert!(!placed.is_overdue(Patience::Idle, || u64::MAX));
        assert_eq!(placed.take_overdue(Patience::Idle, || u64::MAX), None);
        placed.open(true);
        assert!(placed.is_served());
    }

    #[test]
    fn late_worker_is_not_served_until_it_looks_at_the_list() {
        let placed = Placed::new();
        placed.open(true);
        placed.place([1], 0);
        assert_eq!(placed.take_overdue(Patience::Idle, || OVERDUE - 1), None);
        assert!(placed.is_served() && !placed.is_late());
        assert_eq!(placed.take_overdue(Patience::Idle, || OVERDUE), Some(1));
        assert!(!placed.is_served() && placed.is_late());
        placed.note_in_time();
        assert!(placed.is_served() && !placed.is_late());
    }
}

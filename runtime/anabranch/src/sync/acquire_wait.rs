//! The wait of one fiber or thread for permits of a [`RawSemaphore`].

use crate::{
    cx::attempt::Attempt,
    sync::{
        raw_semaphore::{IsClosed, RawSemaphore},
        semaphore_queue::{Given, PATIENCE, Turn},
    },
    sys::clock::Instant,
    wait::{
        queue::Entry,
        waitable::{Armed, Ended, Waitable},
        waiter::Waiter,
    },
};
#[cfg(not(loom))]
use crate::{cx::thread::status_of_waiting, fiber::status::FiberStatus, pool::worker::Worker};
use std::cell::Cell;
#[cfg(not(loom))]
use std::ptr;

/// See the [module](self).
pub(crate) struct AcquireWait<'a> {
    semaphore: &'a RawSemaphore,
    entry: Entry<Turn>,
    wanted: u64,
    given: Cell<Given>,
    /// The time of the first attempt that came too late after a wake-up.
    late_since: Cell<Option<Instant>>,
    /// The record that shows which lock this waits for, while it waits.
    #[cfg(not(loom))]
    shown: Cell<Option<&'a FiberStatus>>,
}

impl<'a> AcquireWait<'a> {
    pub(crate) fn new(semaphore: &'a RawSemaphore, permits: u64) -> Self {
        Self {
            semaphore,
            entry: Entry::new(Turn::new(permits, false)),
            wanted: permits,
            given: Cell::new(Given::Nothing),
            late_since: Cell::new(None),
            #[cfg(not(loom))]
            shown: Cell::new(None),
        }
    }

    /// Returns whether the waiter was woken, and has neither acquired nor waited again since.
    pub(crate) fn was_woken(&self) -> bool {
        self.given.get() == Given::WakeUp
    }

    /// Returns whether the next attempt succeeds because permits were handed over.
    pub(crate) fn has_permits(&self) -> bool {
        self.given.get() == Given::Permits
    }

    /// Attempts to acquire the permits. Returns an error if the semaphore was closed, and `None` if the caller has to
    /// wait.
    pub(super) fn attempt_unless_closed(&self) -> Option<Result<(), IsClosed>> {
        let is_acquired = match self.given.get() {
            Given::Nothing => self.semaphore.try_acquire(self.wanted),
            Given::WakeUp => self.semaphore.try_acquire_woken(self.wanted),
            Given::Permits => true,
        };
        if !is_acquired {
            if !self.semaphore.is_closed() {
                return None;
            }
            self.pass_on();
            return Some(Err(IsClosed));
        }
        self.given.set(Given::Nothing);
        self.late_since.set(None);
        Some(Ok(()))
    }

    /// Shows in the status of the calling fiber or thread which lock it waits for, if the lock knows its holder.
    #[cfg(not(loom))]
    fn show(&self, waiter: *const Waiter) {
        if !self.semaphore.knows_holders() {
            return;
        }
        // SAFETY: the waiter has just been registered, so it is alive. A fiber or thread calls `unregister`, which
        // clears the status, before it leaves its wait, and the lock lives longer than this.
        unsafe {
            let status = status_of_waiting(waiter);
            if let Some(status) = status {
                status.lock.set(ptr::from_ref(self.semaphore));
                Worker::current().wait.lock_waits.add(1);
            }
            self.shown.set(status);
        }
    }

    /// Returns whether the waiter has come too late for too long. Called for a woken waiter.
    fn has_lost_patience(&self) -> bool {
        // A model has no clock, so the first attempt that comes too late is enough.
        if cfg!(loom) {
            return true;
        }
        match self.late_since.get() {
            Some(since) => since.elapsed() > PATIENCE,
            None => {
                self.late_since.set(Some(Instant::now()));
                false
            }
        }
    }
}

/// For locks, whose semaphores are never closed.
impl Attempt for AcquireWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.attempt_unless_closed().map(|acquired| acquired.expect("a lock is not closed"))
    }

    fn pass_on(&self) {
        match self.given.replace(Given::Nothing) {
            Given::Nothing => {}
            Given::WakeUp => self.semaphore.pass_on_wake_up(self.wanted),
            Given::Permits => self.semaphore.release(self.wanted),
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `select_head`, under the lock of the queue.
unsafe impl Waitable for AcquireWait<'_> {
    fn is_lock(&self) -> bool {
        true
    }

    fn register(&self, armed: Armed) -> bool {
        let was_woken = self.was_woken();
        let turn = Turn::new(self.wanted, was_woken && self.has_lost_patience());
        #[cfg(not(loom))]
        let waiter = armed.address();
        let is_registered = self.semaphore.enqueue(&self.entry, turn, was_woken, armed);
        if is_registered {
            self.given.set(Given::Nothing);
            #[cfg(not(loom))]
            self.show(waiter);
        }
        is_registered
    }

    fn unregister(&self, mut ended: Ended) {
        #[cfg(not(loom))]
        if let Some(shown) = self.shown.take() {
            shown.lock.clear();
            Worker::current().wait.lock_waits.add(u64::MAX);
        }
        if ended.is_selected() {
            self.given.set(self.entry.with_selected(&mut ended, |turn| turn.given()));
            return;
        }
        self.semaphore.dequeue(&self.entry, ended);
    }
}

impl Drop for AcquireWait<'_> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

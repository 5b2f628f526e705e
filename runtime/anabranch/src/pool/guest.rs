//! Guests: threads from outside that enter a pool. A guest takes a worker entry, and leaves it at the end.

use crate::{
    pool::{admission::MAX_SLOT_WAIT, registry::Registry, thread_index::Away, worker::Worker},
    sys::{
        clock::Instant,
        thread::{self, thread_local},
    },
    trace::Origin,
    wait::current_stack::Pinned,
};
use std::{any::type_name, cell::Cell, panic::Location, ptr, time::Duration};

/// How often the first guest that waits looks for a slot. A worker stops computing without notice when it begins
/// fibers, or when a fiber of it returns from a loop.
const RECHECK_INTERVAL: Duration = Duration::from_millis(if cfg!(shuttle) { 1 } else { 5 });

/// The number of vacant worker entries that stay on the list for the next guests.
const MAX_VACANT_ENTRIES: usize = if cfg!(shuttle) { 0 } else { 16 };

thread_local! {
    /// The last worker entry of this thread as a guest, as a hint: the address of the pool, and the index.
    static LAST_ENTRY: Cell<(*const Registry, usize)> = const { Cell::new((ptr::null(), 0)) };
}

impl Registry {
    /// Runs `root` on the calling thread as a member of this pool. A thread that does not belong to the pool runs it as
    /// a guest.
    #[inline]
    #[track_caller]
    pub(crate) fn enter<R, F: FnOnce() -> R>(&self, root: F) -> R {
        let _guest = self.guest_that(true, type_name::<F>);
        root()
    }

    /// Like [`enter`](Self::enter), for a root that mostly waits: it does not wait for a slot before.
    #[track_caller]
    pub(crate) fn enter_to_wait<R>(&self, root: impl FnOnce() -> R) -> R {
        let _guest = self.guest_that(false, || "");
        root()
    }

    /// Makes the calling thread a guest until the value is dropped. Returns `None` if it belongs to this pool.
    #[inline]
    #[track_caller]
    pub(crate) fn guest(&self) -> Option<Guest<'_>> {
        self.guest_that(true, || "")
    }

    /// Makes the calling thread a guest, one that `computes` or one that mostly waits. `job` returns the type of its
    /// root.
    #[inline]
    #[track_caller]
    fn guest_that(&self, computes: bool, job: fn() -> &'static str) -> Option<Guest<'_>> {
        let current = Worker::current();
        if current.is_of(self) {
            return None;
        }
        // The thread may be away for long, so it lets other threads take its forks in its own pool.
        let away = current.registry().map(|_| {
            current.fork_join().publish_all();
            Away::new(current)
        });
        Some(Guest::enter(self, away, computes, job))
    }

    /// Returns how many threads compute; counts up to `limit`. A thread of the program that is the only one of the pool
    /// does not count: it is always active, whatever it does.
    fn count_computing(&self, limit: usize) -> usize {
        let is_programs_own = |worker: &Worker| worker.index == 0 && self.pool_threads.had_no_thread();
        let computes = |worker: &Worker| worker.is_inside_compute_or_guest() && !is_programs_own(worker);
        self.workers().filter(|worker| worker.status.holds_slot() && computes(worker)).take(limit).count()
    }

    /// Lets a guest, whose worker entry is active, wait until it may compute.
    #[inline]
    fn admit(&self, guest: &Worker) {
        // The guest itself counts, too.
        if self.slots.admission.has_waiting() || self.count_computing(self.threads() + 1) > self.threads() {
            self.wait_for_admission(guest);
        }
    }

    #[cold]
    fn wait_for_admission(&self, guest: &Worker) {
        guest.status.wait();
        // Another guest may have counted the slot that this one held for a moment.
        self.note_free_slot();
        self.slots.admission.enqueue(guest.index, thread::core());
        // The threads that hold the slots may all be blocked.
        self.call_heartbeat();
        let (mut admitted, mut since) = (0, Instant::now());
        loop {
            let is_watched = cfg!(target_os = "linux") && self.sleep.has_heartbeat();
            let may_begin = |now| self.has_room() || !is_watched && now == admitted && since.elapsed() >= MAX_SLOT_WAIT;
            match self.slots.admission.try_admit(guest.index, may_begin, || guest.status.activate()) {
                Ok(()) => break,
                Err(now) if now != admitted => (admitted, since) = (now, Instant::now()),
                Err(_) => {}
            }
            if self.slots.admission.is_first(guest.index) {
                guest.parking.parker.park_timeout(RECHECK_INTERVAL);
            } else {
                guest.parking.parker.park();
            }
        }
        self.call_heartbeat();
        self.note_free_slot();
    }

    /// Returns whether fewer threads compute than there are slots, so that one more may.
    pub(super) fn has_room(&self) -> bool {
        self.count_computing(self.threads()) < self.threads()
    }

    /// Wakes the next guest if it may compute, after a slot has become free.
    #[inline]
    pub(crate) fn note_free_slot(&self) {
        if let Some(guest) = self.slots.admission.next(|| self.has_room(), thread::core) {
            self.worker(guest).parking.unpark();
        }
    }

    /// Takes a worker entry for a guest, if possible the last one of this thread. The caller holds it.
    #[inline]
    fn take_entry(&self) -> &Worker {
        let (registry, index) = LAST_ENTRY.get();
        // The pool may be another one at the same address. The index is only a hint, so the worker entry is taken only
        // if it is vacant.
        if ptr::eq(registry, self)
            && let Some(worker) = self.entries.get(index)
            && !worker.is_own
            && worker.status.occupy()
        {
            return worker;
        }
        self.find_entry()
    }

    #[cold]
    fn find_entry(&self) -> &Worker {
        let vacant = self.entries.all().find(|worker| !worker.is_own && worker.status.occupy());
        let worker = vacant.unwrap_or_else(|| {
            loop {
                let worker = self.add_entry(false);
                if worker.status.occupy() {
                    break worker;
                }
            }
        });
        LAST_ENTRY.set((self, worker.index));
        worker
    }

    /// Lists a worker entry that the caller has just taken.
    #[inline]
    fn list_again(&self, worker: &Worker) {
        if worker.is_unlisted.get() != 0 {
            self.list_slow(worker);
        }
    }

    #[cold]
    fn list_slow(&self, worker: &Worker) {
        worker.is_unlisted.set(0);
        self.entries.list(worker.index);
    }

    /// Removes the vacant worker entries of guests from the list, except for a few.
    pub(crate) fn trim_entries(&self) {
        let is_vacant = |worker: &&Worker| !worker.is_own && !worker.status.is_occupied();
        for worker in self.workers().filter(is_vacant).skip(MAX_VACANT_ENTRIES) {
            if !worker.status.occupy() {
                continue;
            }
            // Held, but without a slot.
            worker.status.wait();
            if !worker.fork_join().has_work() && worker.compute.broadcasts.is_empty() {
                worker.is_unlisted.set(1);
                self.entries.unlist(worker.index);
            }
            worker.status.vacate();
        }
    }
}

/// A thread from outside that runs a root of its own.
pub(crate) struct Guest<'a> {
    worker: &'a Worker,
    outer: *const Worker,
    /// A fiber of another pool does not leave its stack meanwhile, because fibers of this worker entry do not run on
    /// it.
    _pinned: Pinned,
    /// Restores the index in the pool of `outer`, after `drop`.
    _away: Option<Away<'a>>,
}

impl<'a> Guest<'a> {
    #[inline]
    #[track_caller]
    fn enter(registry: &'a Registry, away: Option<Away<'a>>, computes: bool, job: fn() -> &'static str) -> Self {
        let worker = registry.take_entry();
        registry.list_again(worker);
        worker.note_thread();
        if computes {
            registry.admit(worker);
        }
        worker.roots.begun.add(1);
        registry.call_heartbeat();
        worker.compute.stack.set_demand(registry.wake_heartbeat());
        // SAFETY: the worker entry was vacant, and this thread holds it now. The registry, which the caller keeps
        // alive, owns the worker entry, and `drop` puts the thread back on its outer worker entry.
        let outer = unsafe { Worker::occupy(worker) };
        if worker.trace.is_on() {
            worker.trace_root(Origin { at: Some(Location::caller()), job });
        }
        Self { worker, outer, _pinned: Pinned::new(), _away: away }
    }
}

impl Drop for Guest<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.worker.trace.is_on() {
            self.worker.trace_exit();
        }
        // SAFETY: this is the worker entry that the thread had before. A call further down the stack keeps the worker
        // entry alive.
        unsafe { Worker::occupy(self.outer) };
        self.worker.end_lease();
        // The next guest may take the worker entry at once, so the pool is read before.
        let registry = self.worker.registry();
        self.worker.status.vacate();
        if let Some(registry) = registry {
            registry.note_free_slot();
        }
    }
}

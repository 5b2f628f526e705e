//! The state that the threads of a pool share: their worker entries, and which of them sleep.

use crate::{
    fiber::{limits::Limits, shutdown::Closing},
    fork::task::Task,
    pool::{
        blocking_threads::{BlockingConfig, BlockingThreads},
        clock::PoolClock,
        demand::Demand,
        id::PoolId,
        injected::Injected,
        sleep::{Call, Sleep},
        slots::Slots,
        stats::{Stats, WorkerStats},
        threads::{ThreadConfig, Threads},
        worker::Worker,
        worker_list::WorkerList,
    },
    sys::{
        asymmetric_fence::Fence,
        sync::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Clock,
    trace::{Event, Tracer},
};
use std::{
    io,
    sync::{Arc, Weak},
};

/// See the [module](self).
pub(crate) struct Registry {
    pub(crate) id: PoolId,
    pub(crate) trace: Tracer,
    fence: Fence,
    /// Each thread of the pool has a reference.
    this: Weak<Self>,
    pub(super) entries: WorkerList<Worker>,
    pub(crate) slots: Slots,
    pub(crate) sleep: Sleep,
    /// The worker entry of the last heartbeat worker: a hint.
    heartbeat: AtomicUsize,
    pub(super) demand: Demand,
    pub(crate) injected: Injected,
    pub(crate) time: PoolClock,
    pub(crate) limits: Limits,
    pub(crate) pool_threads: Threads,
    /// The threads for blocking calls of fibers.
    pub(crate) blocking: Arc<BlockingThreads>,
    pub(crate) closing: Closing,
    /// The events of this pool at the last report of a deadlock. See `pool::deadlock`.
    pub(super) reported: AtomicU64,
}

impl Registry {
    pub(crate) fn new(
        threads: usize,
        fence: Fence,
        config: ThreadConfig,
        blocking: BlockingConfig,
        clock: Clock,
        limits: Limits,
    ) -> Arc<Self> {
        let id = PoolId::new();
        let trace = Tracer::of_pool(config.trace, id.number(), threads);
        Arc::new_cyclic(|this: &Weak<Self>| {
            let entries = WorkerList::new();
            let has_hooks = config.hooks.is_some();
            for _ in 0..threads {
                entries.add(|index| Worker::new(this.as_ptr(), threads, index, true, fence, has_hooks, trace));
            }
            let on_change = {
                let this = this.clone();
                move || {
                    if let Some(registry) = this.upgrade() {
                        registry.wake_all();
                    }
                }
            };
            Self {
                id,
                trace,
                fence,
                this: this.clone(),
                entries,
                slots: Slots::new(threads, fence),
                sleep: Sleep::new(fence),
                heartbeat: AtomicUsize::new(0),
                demand: Demand::new(),
                injected: Injected::new(),
                time: PoolClock::new(clock, on_change),
                limits,
                pool_threads: Threads::new(config),
                blocking: BlockingThreads::new(blocking),
                closing: Closing::new(fence),
                reported: AtomicU64::new(0),
            }
        })
    }

    /// Returns another reference to the registry.
    pub(crate) fn shared(&self) -> Arc<Self> {
        self.this.upgrade().expect("the caller has a reference")
    }

    /// Returns how many threads work at a time.
    pub(crate) fn threads(&self) -> usize {
        self.slots.threads()
    }

    /// The system has refused all threads but the first `running`. One works at a time in any case, be it a guest.
    pub(crate) fn make_do_with(&self, running: usize, error: io::Error) {
        let wanted = self.threads();
        self.slots.limit(running.max(1));
        self.pool_threads.make_do_with(running..wanted, error);
    }

    /// Returns all listed workers: the pool's own threads, spares, and the entries of guests, taken or vacant. Entries
    /// that were taken off the list are not among them.
    pub(crate) fn workers(&self) -> impl Iterator<Item = &Worker> + Clone {
        self.entries.iter()
    }

    /// Returns the workers that are neither spares nor guests.
    pub(crate) fn first_workers(&self) -> impl Iterator<Item = &Worker> {
        self.workers().take(self.threads())
    }

    pub(crate) fn worker(&self, index: usize) -> &Worker {
        self.entries.get(index).expect("a worker is made before its index is handed out")
    }

    pub(crate) fn add_entry(&self, is_own: bool) -> &Worker {
        let has_hooks = self.pool_threads.hooks().is_some();
        let new = |index| Worker::new(self, self.threads(), index, is_own, self.fence, has_hooks, self.trace);
        let index = self.entries.add(new);
        self.worker(index)
    }

    /// Wakes a sleeper that was named heartbeat worker.
    pub(crate) fn wake(&self, worker: Option<usize>) {
        if let Some(index) = worker {
            self.trace.record(|| Event::Unpark { worker: index as u32 });
            self.worker(index).parking.call(Call::Heartbeat);
        }
    }

    /// Makes the workers end, and cancels the fibers. Wakes all sleeping workers for it.
    pub(crate) fn close(&self) {
        self.closing.close(|| {
            for worker in self.workers() {
                // SAFETY: `close` calls this closure, for fibers of this pool, as `cancel_root` demands.
                worker.fibers.blocks.for_each(|fiber| unsafe { fiber.cancel_root() });
            }
        });
        self.blocking.close();
        self.wake_all();
    }

    /// The last fiber or the last detached task has ended: if the pool closes, the workers can.
    pub(crate) fn note_last(&self) {
        if self.is_closing() {
            self.wake_all();
        }
    }

    fn wake_all(&self) {
        for worker in self.workers().filter(|worker| worker.is_own) {
            worker.parking.unpark();
        }
    }

    /// Wakes the heartbeat worker, or names one, for work that no awake thread may know of.
    pub(crate) fn announce_work(&self) {
        match self.sleep.call_if_vacant() {
            Some(worker) => self.wake(Some(worker)),
            None if self.sleep.has_heartbeat() => self.unpark_heartbeat(),
            // The hint would be an old one: perhaps the caller itself, which is about to park, and would never do so.
            // There may be no worker yet that could be called.
            None if self.pool_threads.had_no_thread() => self.ensure_heartbeat(),
            None => {}
        }
    }

    /// Ends the interval of the heartbeat worker. The worker is a hint: the last one that has acted as such.
    pub(super) fn unpark_heartbeat(&self) {
        let heartbeat = self.worker(self.heartbeat.load(Ordering::Relaxed));
        self.trace.record(|| Event::Unpark { worker: heartbeat.index as u32 });
        heartbeat.parking.unpark();
    }

    /// Records that a worker acts as the heartbeat worker.
    pub(crate) fn note_heartbeat(&self, worker: &Worker) {
        if self.heartbeat.load(Ordering::Relaxed) != worker.index {
            self.heartbeat.store(worker.index, Ordering::Relaxed);
        }
    }

    /// Enqueues a task: in the caller's own queue if it is in this pool, or else in that of the pool.
    pub(crate) fn submit(&self, task: Task) {
        let here = Worker::current();
        if here.is_of(self) {
            here.compute.tasks.push(task);
            self.wake_heartbeat_for_work();
        } else {
            self.injected.tasks.push(task);
            self.announce_work();
        }
    }

    /// Records the end of a detached task.
    ///
    /// Either this thread sees that the pool closes, or the workers that the closing thread wakes see the count: both
    /// sides have a fence in between.
    pub(crate) fn end_detached(&self) {
        if self.injected.remove_detached() {
            self.fence.frequent();
            self.note_last();
        }
    }

    /// Returns whether a worker of a pool that closes may end: no fiber and no detached task is left anywhere, and
    /// there are no fibers to be started. The fibers and tasks of other workers may still need a thread that takes what
    /// they fork, or their slot.
    pub(crate) fn is_wound_up(&self) -> bool {
        self.limits.is_empty()
            && !self.injected.has_detached()
            && self.workers().all(|worker| worker.fibers.jobs.is_empty() && worker.fibers.placed.is_empty())
    }

    /// Panics if nothing runs any more what is enqueued in this pool. Only a thread of the program that has stayed in
    /// the pool finds it so; see `pool::current_thread`.
    #[track_caller]
    #[inline]
    pub(crate) fn check_open(&self) {
        assert!(
            !self.closing.has_ended(),
            "the pool of this thread has ended: it was dropped inside a call that the thread, one of the pool's own by \
             `use_current_thread`, has not left, and no thread would run what is started here"
        );
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.has_begun()
    }

    /// Returns how many threads work; counts up to `limit`.
    pub(crate) fn count_active(&self, limit: usize) -> usize {
        self.workers().filter(|worker| worker.status.is_active()).take(limit).count()
    }

    /// Returns how many slots are taken; counts up to `limit`.
    pub(crate) fn count_slots(&self, limit: usize) -> usize {
        self.workers().filter(|worker| worker.status.holds_slot()).take(limit).count()
    }

    /// Returns whether a slot is free for a worker. If a guest waits, the first free slot is for that guest: a worker
    /// that took it would give it up at once, since the pool is [crowded](Self::is_crowded), and so on.
    pub(crate) fn has_free_slot(&self) -> bool {
        self.count_slots(self.threads()) + usize::from(self.slots.admission.has_waiting()) < self.threads()
    }

    /// Returns whether more threads work than there are slots, or a guest waits for one, so that a thread between two
    /// pieces of work should give up its slot.
    pub(crate) fn is_crowded(&self) -> bool {
        self.count_slots(self.threads() + 1) + usize::from(self.slots.admission.has_waiting()) > self.threads()
    }

    /// Returns whether a thread works: a guest, or a worker that has taken something, a fiber perhaps. Waiting threads
    /// do not count. They wait for the work of another thread, or for an event from outside, and until then there is
    /// nothing for a heartbeat worker to see.
    pub(crate) fn is_root_open(&self) -> bool {
        self.workers().any(|worker| worker.status.is_at_work())
    }

    /// Makes sure that there is a heartbeat worker. Called after a worker entry has become active again.
    pub(crate) fn call_heartbeat(&self) {
        self.wake(self.sleep.call_if_vacant());
    }

    /// Wakes a heartbeat worker that dozes, when a root begins. Returns whether a thread is about to request work of
    /// it: one that searches or has just been woken, or, where forks are worth taking, one that will search soon. Such
    /// a thread has just ended a piece of the last root, and a root may make all its forks before the thread asks.
    #[inline]
    pub(crate) fn wake_heartbeat(&self) -> bool {
        self.demand.has_searcher()
            || self.sleep.has_dozing() && self.wake_heartbeat_slow()
            || self.demand.expects_forks()
    }

    /// Wakes a heartbeat worker that dozes, when there is work that another thread may take and a slot to do it in.
    #[inline]
    pub(crate) fn wake_heartbeat_for_work(&self) {
        if self.sleep.has_dozing() {
            self.wake_heartbeat_if_slots_are_free();
        }
    }

    #[cold]
    pub(crate) fn wake_heartbeat_slow(&self) -> bool {
        let heartbeat = self.sleep.end_doze();
        if let Some(heartbeat) = heartbeat {
            self.worker(heartbeat).parking.unpark();
        }
        heartbeat.is_some()
    }

    #[cold]
    fn wake_heartbeat_if_slots_are_free(&self) {
        if self.has_free_slot() {
            self.wake_heartbeat_slow();
        }
    }

    /// Returns how many roots there have been: two equal readings mean that none has begun between.
    pub(crate) fn count_roots(&self) -> u64 {
        self.workers().fold(0, |sum, worker| sum.wrapping_add(worker.roots.begun.get()))
    }

    /// Returns what the pool's threads have done: two equal readings mean that none has changed fibers, or begun one,
    /// between.
    pub(crate) fn count_steps(&self) -> u64 {
        self.workers().fold(0, |sum, worker| sum.wrapping_add(worker.counters.steps()))
    }

    pub(crate) fn stats(&self) -> Stats {
        let (blocking_threads, blocking_queued, blocking_calls) = self.blocking.counts();
        let mut stats = Stats {
            blocking_threads,
            blocking_queued,
            blocking_calls,
            workers: Vec::with_capacity(self.threads()),
            guests: WorkerStats::default(),
            spares: WorkerStats::default(),
            spare_threads: self.pool_threads.spares(),
            spares_refused: self.pool_threads.refused(),
            slots_lent: self.slots.lent.get(),
            uses_membarrier: self.fence == Fence::Asymmetric,
        };
        for worker in self.entries.all() {
            let counts = worker.counters.read();
            if worker.index < self.threads() {
                stats.workers.push(counts);
            } else {
                Stats::accumulate(if worker.is_own { &mut stats.spares } else { &mut stats.guests }, &counts);
            }
        }
        stats
    }
}

//! The search for work: an idle thread searches everywhere, a waiting one only among the descendants of the work that
//! it waits for.

use crate::{
    fiber::{steal_policy::StealPolicy, task::Job},
    fork::{
        frame::Lineage,
        raid::Raid,
        shelf::{Claim, Theft},
    },
    pool::{
        registry::Registry,
        run_work::Work,
        worker::{ForkJoin, Worker},
    },
    sys::sync::hint,
    trace::{Event, Loot},
};
use std::{ptr, time::Duration};

/// The number of thefts that a waiting thread follows, from one thief to the next.
const MAX_HOPS: usize = 16;

/// The number of looks after a request: long enough for a worker that forks every few nanoseconds.
const CHECKS_AFTER_REQUEST: usize = if cfg!(shuttle) { 2 } else { 20 };

/// After a search of this length a raid is worth its cost, some microseconds.
pub(super) const MIN_SEARCH_BEFORE_RAID: Duration = Duration::from_micros(20);

/// Thieves call these functions of their victim.
impl ForkJoin<'_> {
    /// Returns whether there is something to take.
    pub(crate) fn has_work(self) -> bool {
        self.worker.compute.stack.shelf.has_available() || self.has_spawned_work()
    }

    /// Returns whether there are tasks here, or forks that their owner, which waits, will not run soon.
    pub(crate) fn has_stranded_work(self) -> bool {
        let is_away = self.worker.status.is_occupied() && !self.worker.status.holds_slot();
        !self.worker.compute.tasks.is_empty() || is_away && self.worker.compute.stack.shelf.has_available()
    }

    /// Returns whether there are tasks or fibers to start here: work other than forks.
    pub(crate) fn has_spawned_work(self) -> bool {
        !self.worker.compute.tasks.is_empty() || self.worker.scheduler().has_available_jobs()
    }

    /// Takes work from this worker for `thief`: a published fork, or else a task, or else fibers.
    pub(crate) fn steal(self, thief: &Worker, policy: StealPolicy) -> Option<Work> {
        self.steal_piece(thief).or_else(|| self.steal_fibers(thief, policy))
    }

    /// Takes fibers to start from this worker for `thief`, and no other work. See [`steal`](Self::steal).
    pub(crate) fn steal_fibers(self, thief: &Worker, policy: StealPolicy) -> Option<Work> {
        let job = self.worker.scheduler().steal_job(thief, policy)?;
        thief.counters.stolen.add(1);
        Some(Work::Fibers(Some(job)))
    }

    /// Takes work from this worker for `thief`, but no fibers. See [`steal`](Self::steal).
    pub(crate) fn steal_piece(self, thief: &Worker) -> Option<Work> {
        let (work, loot) = match self.worker.compute.stack.shelf.take(thief.fork_join().theft()) {
            Some(claim) => (Work::Frame(claim), Loot::Fork),
            None => (Work::Task(self.worker.compute.tasks.take_oldest()?), Loot::Task),
        };
        thief.counters.stolen.add(1);
        thief.trace_theft(loot, self.worker);
        Some(work)
    }

    /// Takes the oldest published fork of this worker itself.
    pub(crate) fn take_own_fork(self) -> Option<Claim> {
        self.worker.compute.stack.shelf.take(self.theft())
    }

    /// Takes a published fork at `from` or above for `thief`, if it descends from `ancestor`.
    pub(crate) fn steal_descendant(self, from: usize, ancestor: *const Lineage, thief: &Worker) -> Option<Work> {
        self.worker.compute.stack.shelf.take_descendant(from, ancestor, thief.fork_join().theft()).map(Work::Frame)
    }

    /// Returns the record of a theft by this worker, which begins now.
    fn theft(self) -> Theft {
        Theft { thief: self.worker.index, base: self.worker.compute.stack.shelf.open() }
    }
}

impl Registry {
    /// Takes work from any worker: of the kinds that `me` [takes](Worker::takes_pieces).
    pub(crate) fn find(&self, me: &Worker, policy: StealPolicy) -> Option<Work> {
        me.counters.searches.add(1);
        let takes_pieces = me.takes_pieces();
        if takes_pieces && let Some(task) = me.compute.tasks.take_newest() {
            return Some(Work::Task(task));
        }
        if let Some(job) = me.scheduler().next_job() {
            return Some(Work::Fibers(Some(job)));
        }
        let count = self.workers().count();
        let first = me.compute.last_victim.get();
        for victim in self.workers().cycle().skip(first).take(count) {
            let work = if takes_pieces {
                victim.fork_join().steal(me, policy)
            } else {
                victim.fork_join().steal_fibers(me, policy)
            };
            if let Some(found) = &work {
                if matches!(found, Work::Fibers(_)) {
                    self.wake_helper_for_fibers(me);
                }
                me.compute.last_victim.set(victim.index);
                return work;
            }
        }
        if takes_pieces { self.take_injected(me) } else { None }
    }

    /// Takes the oldest of the tasks from outside of the pool.
    pub(crate) fn take_injected(&self, me: &Worker) -> Option<Work> {
        let task = self.injected.tasks.take_oldest()?;
        me.counters.stolen.add(1);
        me.trace.record(|| Event::Steal { loot: Loot::Task, victim: u32::MAX, count: 1 });
        Some(Work::Task(task))
    }

    /// Takes work from elsewhere now and then, for a worker that has fibers to resume or to begin. Without this such a
    /// worker would never take that work, and its fibers may wait for it by yielding. Perhaps no other thread may take
    /// it either, while its owner is parked.
    ///
    /// A task or a fork may compute for long. So the worker takes one only if no fiber of it waits meanwhile, and if no
    /// other thread will take it: when no slot is free, or there is no heartbeat worker.
    pub(crate) fn find_in_turn(&self, me: &Worker) -> Option<Work> {
        let turn = me.fibers.next_turn_of_others()?;
        let others = || self.workers().filter(|worker| !ptr::eq(*worker, me));
        let job = || {
            others()
                .find_map(|worker| worker.scheduler().steal_job(me, StealPolicy::All))
                .map(|job| Work::Fibers(Some(job)))
        };
        let piece = || {
            if !me.takes_pieces() || self.sleep.has_heartbeat() && self.has_free_slot() {
                return None;
            }
            let own = me.compute.tasks.take_oldest().map(Work::Task);
            own.or_else(|| others().find_map(|worker| worker.fork_join().steal_piece(me)))
                .or_else(|| self.take_injected(me))
        };
        // Takes turns, so that neither kind waits until the other has run out.
        if turn.is_multiple_of(2) { job().or_else(piece) } else { piece().or_else(job) }
    }

    /// Requests that all workers publish at their next fork.
    pub(crate) fn request_all(&self) {
        for worker in self.workers() {
            worker.compute.stack.request_work();
        }
    }

    /// Returns whether there is work that can be taken without a request.
    pub(crate) fn has_published_work(&self) -> bool {
        self.workers().any(|worker| worker.fork_join().has_work()) || !self.injected.tasks.is_empty()
    }

    /// Returns whether there is such work besides forks.
    pub(super) fn has_spawned_work(&self) -> bool {
        self.workers().any(|worker| worker.fork_join().has_spawned_work()) || !self.injected.tasks.is_empty()
    }

    /// Returns whether there are fibers to start that any thread may take.
    pub(super) fn has_available_jobs(&self) -> bool {
        self.workers().any(|worker| worker.scheduler().has_available_jobs())
    }

    /// Returns whether there is work besides fibers that no thread may come to while all slots are taken.
    pub(super) fn has_stranded_work(&self) -> bool {
        self.workers().any(|worker| worker.fork_join().has_stranded_work()) || !self.injected.tasks.is_empty()
    }

    /// Searches as the heartbeat worker, or for [`run_pending`](crate::pool::run_pending), and returns whether there is
    /// work. Requests work of the workers that were busy since its last look, and raids those that do not serve the
    /// request because they are in a long piece that does not fork.
    ///
    /// A root that has begun since the last look is left alone, unless the forks of the last ones were worth it: most
    /// roots are over before a thread can be of help. So work that takes less than one interval is not disturbed.
    pub(crate) fn sees_work(&self) -> bool {
        let (mut has_requested, expects_forks) = (false, self.demand.expects_forks());
        for worker in self.workers().filter(|worker| worker.is_worth_requesting(expects_forks)) {
            worker.compute.stack.request_work();
            has_requested = true;
        }
        if !has_requested {
            return false;
        }
        let is_answered = (0..CHECKS_AFTER_REQUEST).any(|_| {
            hint::spin_loop();
            self.has_published_work()
        });
        is_answered || self.raid_all()
    }

    /// Publishes for all workers that have not served a request: as many forks as there are threads to take one.
    pub(super) fn raid_all(&self) -> bool {
        let raided = self.trace.timed(
            || self.raid_silent(),
            |&raided, took| {
                let count = u8::try_from(raided).unwrap_or(u8::MAX);
                (raided > 0).then_some(Event::Raid { count, took })
            },
        );
        raided > 0
    }

    /// Publishes for all workers that have not served a request, and returns how many forks.
    fn raid_silent(&self) -> usize {
        // A waiting worker has published all its forks: see `Worker::park`.
        let silent = |worker: &&Worker| {
            worker.compute.stack.is_requested() && (worker.status.is_active() || worker.status.is_lent())
        };
        let mut raid = Raid::new();
        for worker in self.workers().filter(silent) {
            raid.add(worker, &worker.compute.stack, || worker.roots.begun.get());
        }
        let mut raided = 0;
        raid.publish(
            self.threads(),
            |worker| &raw const worker.parking.parker,
            |worker, offer| worker.fibers.jobs.inject(Job::offer(offer)),
            |worker, published| {
                if published > 0 {
                    worker.counters.raided.add_shared(published as u64);
                    raided += published;
                }
            },
        );
        raided
    }

    /// Leapfrogging (Wagner and Calder 1993): a thread whose fork, at this position, was stolen takes work from the
    /// thief, or from the thieves of that thief, but only what descends from `awaited`.
    pub(crate) fn find_descendant(&self, me: &Worker, position: usize, awaited: *const Lineage) -> Option<Work> {
        let mut theft = me.compute.stack.shelf.theft_at(position)?;
        for _ in 0..MAX_HOPS {
            let victim = self.worker(theft.thief);
            let work = victim.fork_join().steal_descendant(theft.base, awaited, me);
            let work = work.or_else(|| victim.compute.tasks.take_descendant(awaited).map(Work::Task));
            if work.is_some() {
                me.trace_theft(Loot::Descendant, victim);
                return work;
            }
            victim.compute.stack.request_work();
            theft = victim.compute.stack.shelf.oldest_theft(theft.base)?;
        }
        None
    }

    /// Takes a task of which `awaited` is an ancestor, wherever it was spawned.
    pub(crate) fn find_task(&self, me: &Worker, awaited: *const Lineage) -> Option<Work> {
        let take = |victim: &Worker| {
            let task = victim.compute.tasks.take_descendant(awaited)?;
            me.trace_theft(Loot::Descendant, victim);
            Some(task)
        };
        me.compute
            .tasks
            .take_descendant(awaited)
            .or_else(|| self.workers().find_map(take))
            .or_else(|| self.injected.tasks.take_descendant(awaited))
            .map(Work::Task)
    }
}

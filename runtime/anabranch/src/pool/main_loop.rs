//! The main loop of the pool's own threads: work while there is some, search for a while, sleep.

use crate::{
    fiber::steal_policy::StealPolicy,
    pool::{
        heartbeat::{Doze, Finding, Heartbeat},
        registry::Registry,
        run_work::Work,
        sleep::{Assigned, Call, Idle},
        stats::Phase,
        steal::MIN_SEARCH_BEFORE_RAID,
        steal_backoff::StealBackoff,
        worker::Worker,
    },
    sys::{
        clock::Instant,
        free_list,
        sync::{Ordering, fence, hint},
        thread,
    },
    trace::Role,
};
use std::time::Duration;

/// The number of looks at the shelves between two looks at the clock.
const SEARCHES_PER_CLOCK_READ: usize = 8;

/// The number of looks at the clock between two yields, about 2 us. The thread that will publish work may just have
/// been woken on the same core.
const ROUNDS_BETWEEN_YIELDS: u32 = 4;

impl Registry {
    /// Runs a thread of the pool until the pool closes. A spare begins as the heartbeat worker, the others go to rest.
    /// If each of them searched first, the start of a pool would look at each worker once for each worker.
    pub(crate) fn work(&self, me: &Worker, is_spare: bool) {
        let _keeping = free_list::keep();
        // The start handler may have taken an index.
        me.end_lease();
        me.trace_entry(if is_spare { Role::Spare } else { Role::Worker });
        me.fibers.placed.open(true);
        // Whether it was woken as a helper and has found no work since.
        let mut is_in_vain = false;
        let mut backoff = StealBackoff::new();
        let role = if is_spare { Idle::Heartbeat } else { self.sleep.retire(me.index) };
        let mut found = self.rest(me, role, &mut backoff, &mut is_in_vain);
        // The last look at the clock.
        let mut now = Instant::now();
        loop {
            if found.is_none() && self.ends() {
                break;
            }
            let work = found.take().or_else(|| {
                let work = self.search(me, &mut backoff, &mut now);
                self.demand.note_searcher(false);
                work
            });
            if let Some(work) = work {
                // A thread that was not the heartbeat worker leaves no heartbeat worker behind if it blocks.
                if !self.sleep.has_heartbeat() {
                    self.ensure_heartbeat();
                }
                // A look takes longer than a switch to a fiber, so there is no look before a resumed fiber. The time of
                // a theft is not part of the time of the work.
                if !matches!(work, Work::Fibers(None)) {
                    now = Instant::now();
                }
                me.enter_phase_at(Phase::Working, now);
                let is_fork = !matches!(work, Work::Fibers(_));
                match work {
                    Work::Fibers(job) => me.scheduler().run(job),
                    work => {
                        // It may compute for long, so no thread should place fibers here.
                        me.fibers.placed.open(false);
                        me.fork_join().run(work);
                        me.fibers.placed.open(true);
                    }
                }
                me.end_lease();
                now = Instant::now();
                backoff.note(me.enter_phase_at(Phase::Searching, now));
                match backoff.expects_forks() {
                    Some(true) if is_fork => self.demand.fork_credit.fill(),
                    Some(false) if is_fork => self.demand.fork_credit.spend(),
                    _ => {}
                }
                is_in_vain = false;
                // The pool may have lent the slot while the work ran.
                me.status.activate();
            } else {
                if is_in_vain {
                    self.demand.fork_credit.spend();
                }
                me.status.vacate();
                self.note_free_slot();
                let role = self.sleep.retire(me.index);
                // The heartbeat worker had no slot to offer, and did not doze. From now on the next root may wake it.
                let may_doze = role == Idle::Asleep && self.demand.expects_forks() && !self.sleep.has_dozing();
                if may_doze && me.takes_pieces() && self.has_free_slot() {
                    self.unpark_heartbeat();
                }
                found = self.rest(me, role, &mut backoff, &mut is_in_vain);
                now = Instant::now();
            }
        }
        me.fibers.placed.open(false);
        me.status.vacate();
        me.scheduler().shut_down();
        me.trace_exit();
    }

    /// Returns whether there will never be work again.
    pub(super) fn ends(&self) -> bool {
        self.is_closing() && self.is_wound_up()
    }

    /// Searches for work for a while. Returns `None` if there is none, or if this thread should release its slot.
    ///
    /// Between two looks at the clock it only reads the shelves and queues, which disturbs no other thread. A request
    /// makes its victims publish, so it is made with backoff.
    fn search(&self, me: &Worker, backoff: &mut StealBackoff, now: &mut Instant) -> Option<Work> {
        me.fibers.placed.note_in_time();
        me.scheduler().note_settled();
        let (mut start, mut has_searched, mut has_raided, mut rounds) = (*now, false, false, 0u32);
        // If no other thread works, no thread can publish anything. One look is enough, unless the next parallel part
        // is likely to follow soon.
        let ends_at_once = self.count_active(2) < 2 && !self.demand.expects_forks();
        let searches = if ends_at_once { 1 } else { SEARCHES_PER_CLOCK_READ };
        let search_time = if ends_at_once { Duration::ZERO } else { backoff.search_time(me) };
        loop {
            // Most broadcasts are short, and a thread that waits for one makes sure that there is a heartbeat worker.
            while !me.compute.broadcasts.is_empty() {
                me.enter_phase(Phase::Working);
                me.fork_join().answer_broadcast();
                *now = Instant::now();
                // The time of the broadcast does not count as searching.
                start += me.enter_phase_at(Phase::Searching, *now);
            }
            // A worker that looks only once waits in its reactor next.
            if has_searched {
                me.parking.reactor.poll();
            }
            // Also without a slot: those that were placed here wait for this worker too.
            let has_own_fibers = me.scheduler().has_ready() || me.scheduler().has_placed_jobs();
            // Otherwise `find` takes work from elsewhere.
            if (has_own_fibers || me.scheduler().has_jobs())
                && let Some(work) = self.find_in_turn(me)
            {
                return Some(work);
            }
            // No other thread will run these fibers soon.
            if has_own_fibers {
                backoff.note_search(me.fibers.were_woken());
                return Some(Work::Fibers(None));
            }
            if self.is_closing() {
                return self.find(me, StealPolicy::All);
            }
            // If the machine has fewer cores than the pool has threads, a search keeps other threads from working.
            let is_in_the_way =
                self.is_crowded() || has_searched && self.count_active(self.slots.cores + 1) > self.slots.cores;
            // Otherwise a search looks at least once, however short it is.
            if is_in_the_way || has_searched && (ends_at_once || *now - start > search_time) {
                // A thread in a long piece that does not fork serves no request.
                let raids = !is_in_the_way && !has_raided && search_time >= MIN_SEARCH_BEFORE_RAID;
                if !(raids && self.raid_all()) {
                    backoff.note_search(false);
                    return None;
                }
                has_raided = true;
            }
            let may_request = backoff.may_request(*now);
            let policy = if may_request { StealPolicy::Aged(self.time.micros_at(*now)) } else { StealPolicy::Nothing };
            for _ in 0..searches {
                if let Some(work) = self.find(me, policy) {
                    backoff.note_search(true);
                    return Some(work);
                }
                if me.scheduler().has_ready() {
                    backoff.note_search(me.fibers.were_woken());
                    return Some(Work::Fibers(None));
                }
                hint::spin_loop();
            }
            *now = Instant::now();
            has_searched = true;
            rounds += 1;
            if rounds.is_multiple_of(ROUNDS_BETWEEN_YIELDS) {
                thread::yield_now();
            }
            if may_request {
                self.demand.note_searcher(true);
                self.request_all();
            }
        }
    }

    /// Waits without a slot until there is work or the pool closes. Returns a fiber to begin, with or without a slot,
    /// if one has waited for too long. Sets `is_helper` to whether it was woken as a helper.
    fn rest(&self, me: &Worker, mut idle: Idle, backoff: &mut StealBackoff, is_helper: &mut bool) -> Option<Work> {
        let mut found = None;
        *is_helper = false;
        // Not before this is the heartbeat worker, since it looks at every worker.
        let new_heartbeat = || Heartbeat::new(self);
        let mut heartbeat = None;
        me.enter_phase(Phase::Parked);
        loop {
            me.fibers.placed.note_in_time();
            // Ready fibers wait for this worker, and so does a thread that broadcasts. A broadcast may take long, and
            // no thread should rely on this worker meanwhile.
            if self.ends()
                || !me.compute.broadcasts.is_empty()
                || me.scheduler().has_ready()
                || me.scheduler().has_placed_jobs()
            {
                if idle == Idle::Heartbeat || self.sleep.leave(me.index, &me.parking.called, &me.parking.parker) {
                    // The role does not go to a spare: most broadcasts are short, and the thread that waits for one
                    // makes sure that there is a heartbeat worker.
                    self.resign_role();
                }
                me.status.activate();
                break;
            }
            match idle {
                Idle::Asleep => match me.parking.called.take() {
                    Some(Call::Heartbeat) => {
                        me.counters.wakes.add(1);
                        (idle, heartbeat) = (Idle::Heartbeat, None);
                    }
                    Some(Call::Help) => {
                        me.counters.wakes.add(1);
                        me.status.activate();
                        *is_helper = true;
                        break;
                    }
                    None => {
                        me.counters.parks.add(1);
                        self.park_idle(me, None);
                    }
                },
                Idle::Heartbeat => match heartbeat.get_or_insert_with(new_heartbeat).check(self, me) {
                    Finding::Work | Finding::Starved(_) if self.leaves_work(me) => idle = Idle::Asleep,
                    Finding::Work => {
                        me.status.activate();
                        self.hand_over_role();
                        break;
                    }
                    Finding::Quiet if self.sleep.fall_asleep(me.index, || self.has_something_to_look_at()) => {
                        idle = Idle::Asleep
                    }
                    finding => {
                        if let Finding::Starved(policy) = finding
                            && let Some(work) = self.find_starved(me, policy)
                        {
                            me.status.activate();
                            self.hand_over_role();
                            found = Some(work);
                            break;
                        }
                        me.counters.parks.add(1);
                        self.park_for_interval(me, heartbeat.get_or_insert_with(new_heartbeat), backoff);
                    }
                },
            }
        }
        me.enter_phase(Phase::Searching);
        found
    }

    /// Leaves the work that the heartbeat worker has found, and the role, to a thread that suits the work better.
    /// Returns whether there is one.
    ///
    /// Fibers stay with the worker that begins them. A spare leaves them to one of the first workers, so the fibers of
    /// a pool are on at most as many threads as it has slots, and few of their messages cross threads. A worker that
    /// owns fibers leaves new ones to a first worker that owns none: a new fiber may compute, and the others would
    /// wait. It leaves forks and tasks to any thread that owns none, if need be to a new spare.
    fn leaves_work(&self, me: &Worker) -> bool {
        let is_first = |worker: usize| worker < self.threads();
        let swap = |suits: &dyn Fn(usize) -> bool| {
            let other = self.sleep.swap_roles(me.index, suits);
            self.wake(other);
            other.is_some()
        };
        let swap_with_free_first = || swap(&|worker| is_first(worker) && !self.worker(worker).owns_fibers());
        if is_first(me.index) && !me.owns_fibers() {
            return false;
        }
        if self.has_available_jobs() {
            return swap_with_free_first() || !is_first(me.index) && swap(&is_first);
        }
        if me.takes_pieces() {
            return swap_with_free_first();
        }
        swap(&|worker| self.worker(worker).takes_pieces()) || self.add_spare_for_role(me)
    }

    /// Takes work for which there is no slot: fibers, or else a task or fork that no thread would take.
    fn find_starved(&self, me: &Worker, policy: StealPolicy) -> Option<Work> {
        let fibers = self.workers().find_map(|worker| worker.fork_join().steal_fibers(me, policy));
        if fibers.is_some() || !matches!(policy, StealPolicy::All) || !me.takes_pieces() {
            return fibers;
        }
        let mut stranded = self.workers().filter(|worker| worker.fork_join().has_stranded_work());
        stranded.find_map(|worker| worker.fork_join().steal_piece(me)).or_else(|| self.take_injected(me))
    }

    /// Lets a new spare be the heartbeat worker, and puts this one to sleep. Returns `false` if there is no spare, or
    /// if it has gone to sleep already.
    fn add_spare_for_role(&self, me: &Worker) -> bool {
        self.add_spare() && self.sleep.retire(me.index) == Idle::Asleep
    }

    /// Parks the heartbeat worker until its next check.
    fn park_for_interval(&self, me: &Worker, heartbeat: &mut Heartbeat, backoff: &mut StealBackoff) {
        if heartbeat.is_time_to_tidy_up() {
            self.trim_entries();
        }
        if heartbeat.doze == Doze::Nothing {
            self.park_idle(me, Some(heartbeat.interval));
            return;
        }
        let only_for_fibers = heartbeat.doze == Doze::Fibers;
        if !only_for_fibers {
            // Without a request a thread that forks would publish nothing, and would not wake this one.
            self.request_all();
        }
        self.sleep.doze(me.index, only_for_fibers);
        if !(if only_for_fibers { self.has_available_jobs() } else { self.has_published_work() }) {
            self.park_idle(me, Some(heartbeat.interval));
        }
        if self.sleep.was_woken_early() {
            heartbeat.note_news();
            if !only_for_fibers {
                // Until it finds work, which fills the credit again.
                backoff.note_search(false);
                self.demand.fork_credit.spend();
            }
        }
    }

    /// Parks until this worker is woken, a fiber of it is due, or `most` has passed.
    fn park_idle(&self, me: &Worker, most: Option<Duration>) {
        // A handler or a waker may have taken an index.
        me.end_lease();
        me.fibers.trim();
        if !me.fibers.go_away() {
            return;
        }
        let bounds = [most, me.scheduler().time_to_next_batch(), me.fibers.time_to_trim()];
        me.parking.park(bounds.into_iter().flatten().min());
        me.fibers.come_back();
    }

    /// Returns whether a heartbeat worker is needed. Call this after the role was seen to be vacant.
    fn has_something_to_look_at(&self) -> bool {
        // A guest that has left may have left tasks behind. A thread that sees that the guest has left also sees these.
        self.is_root_open() || self.slots.admission.has_waiting() || {
            fence(Ordering::Acquire);
            self.has_published_work()
        }
    }

    /// Makes sure that there is a heartbeat worker.
    pub(crate) fn ensure_heartbeat(&self) {
        if self.closing.has_ended() {
            return;
        }
        match self.sleep.assign() {
            Assigned::Before => {}
            Assigned::Sleeper(worker) => self.wake(Some(worker)),
            Assigned::NoSleeper => self.assign_role_to_spare(),
        }
    }

    /// Assigns a successor when the heartbeat worker begins to work: a sleeper, or else a spare. So a heartbeat worker
    /// notices if all working threads are blocked.
    fn hand_over_role(&self) {
        match self.sleep.successor() {
            Some(worker) => self.wake(Some(worker)),
            None => self.assign_role_to_spare(),
        }
    }

    /// Adds a spare as the heartbeat worker, when no worker sleeps. The holder of the role calls this. If there is no
    /// spare, the role falls vacant, and waiting threads search by themselves at intervals.
    fn assign_role_to_spare(&self) {
        if self.add_spare() {
            return;
        }
        self.resign_role();
    }

    /// Gives up the role of the heartbeat worker, and wakes the sleeper that gets it. If there is no sleeper, wakes the
    /// threads that rely on a heartbeat worker. Each of these finds another one, or searches at intervals.
    fn resign_role(&self) {
        match self.sleep.resign() {
            Ok(sleeper) => self.wake(Some(sleeper)),
            Err(waiting) => waiting.into_iter().for_each(|waiting| self.worker(waiting).parking.unpark()),
        }
    }
}

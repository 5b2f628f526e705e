//! The main loop of the pool's own threads: work while there is some, search for a while, sleep.

use crate::{
    fiber::{blocked_detector::BlockedDetector, steal_policy::StealPolicy},
    pool::{
        registry::Registry,
        sleep::{Assigned, Idle},
        stats::Phase,
        sysmon::{self, Sysmon},
        worker::{Work, Worker},
    },
    sys::{
        clock::Instant,
        free_list,
        sync::{Ordering, fence, hint},
        thread,
    },
};
use std::{collections::HashMap, time::Duration};

/// How often the heartbeat worker looks for work.
const INTERVAL: Duration = Duration::from_micros(100);

/// How often it looks when every core is busy: it then shares a core with working threads.
const BUSY_INTERVAL: Duration = Duration::from_micros(400);

/// How often it looks when all slots are taken: only a thread that blocks in a foreign call can change that unnoticed.
const FULL_INTERVAL: Duration = Duration::from_millis(1);

/// The longest interval of a heartbeat worker that sees nothing new, and that where all slots are taken. Between the
/// two looks only a thread that blocks goes unnoticed: what is forked, spawned or begun wakes the heartbeat worker.
/// Shorter under shuttle, where a thread that sleeps for long may sleep for ever.
const LONGEST_INTERVAL: Duration = Duration::from_millis(if cfg!(shuttle) { 4 } else { 25 });
const LONGEST_FULL_INTERVAL: Duration = Duration::from_millis(4);

/// From how long an interval on the heartbeat worker registers to be woken for what is new.
const DOZE: Duration = Duration::from_millis(1);

/// How long a worker without work searches at most before it gives its slot back: about as long as the gaps between the
/// parallel parts of a program that is parallel throughout.
const SEARCH: Duration = Duration::from_micros(100);

/// After how many checks that have shown nothing new the heartbeat worker tidies up.
const CALM: u32 = 3;

/// How long a worker searches at least, and no longer where one of its own timers ends the search.
const NAP: Duration = Duration::from_micros(2);

/// How often a searching thread looks at the shelves between two looks at the clock.
const LOOKS_BETWEEN: usize = 8;

/// How often it looks at the clock between two times that it lets other threads run, some 2 us: the one that will have
/// work for it may just have been woken on this very core.
const ROUNDS_BETWEEN_YIELDS: u32 = 4;

/// A piece shorter than this was not worth taking: the owner would have done it in the time that handing it over took.
const WORTH_WHILE: Duration = Duration::from_micros(10);

/// How long a thread that got short pieces waits at least, and at most, before it asks again.
const REQUEST_DELAYS: (Duration, Duration) = (Duration::from_micros(10), Duration::from_micros(160));

/// How long a fiber waits for a slot, and then begins without one.
const STARVING: Duration = Duration::from_millis(10);

/// How long after the last root the heartbeat worker goes to sleep.
const QUIET: Duration = Duration::from_millis(10);

impl Registry {
    /// The life of a thread of the pool. A spare begins as the heartbeat worker, the others as if they had just run out
    /// of work.
    pub(crate) fn work(&self, me: &Worker, is_spare: bool) {
        let _keeping = free_list::keep();
        let mut found = None;
        if is_spare {
            found = self.rest(me, Idle::Heartbeat);
        } else {
            me.status.activate();
        }
        let mut backoff = StealBackoff::new();
        // The last look at the clock.
        let mut now = Instant::now();
        loop {
            if found.is_none() && self.ends() {
                break;
            }
            if let Some(work) = found.take().or_else(|| self.search(me, &mut backoff, &mut now)) {
                // A thread that came to its work without having been the heartbeat worker leaves none behind if it
                // blocks.
                if !self.sleep.has_heartbeat() {
                    self.ensure_heartbeat();
                }
                // To look takes longer than to switch to a fiber, so there is no look before one that goes on. What was
                // taken from others took its time, which is not that of the work.
                if !matches!(work, Work::Fibers(None)) {
                    now = Instant::now();
                }
                me.counters.enter_at(Phase::Working, now);
                match work {
                    Work::Fibers(job) => me.run_fibers(job),
                    work => me.run(work),
                }
                now = Instant::now();
                backoff.note(me.counters.enter_at(Phase::Searching, now));
                // While it ran, the slot may have been lent.
                me.status.activate();
            } else {
                me.status.vacate();
                found = self.rest(me, self.sleep.retire(me.index));
                now = Instant::now();
            }
        }
        me.status.vacate();
        me.end_fibers();
    }

    /// Returns whether there is nothing left to do, ever.
    fn ends(&self) -> bool {
        self.is_closing() && self.is_wound_up()
    }

    /// Searches for work for a while. Returns `None` if there is none, or this thread should give up its slot.
    ///
    /// Between two readings of the clock it only reads the shelves and queues, which disturbs no other thread. A
    /// request makes its victims publish, so it is made with backoff.
    fn search(&self, me: &Worker, backoff: &mut StealBackoff, now: &mut Instant) -> Option<Work> {
        let (mut start, mut has_looked, mut rounds) = (*now, false, 0u32);
        // If no other thread works one look is enough: no thread could publish something in a moment.
        let is_alone = self.count_active(2) < 2;
        let looks = if is_alone { 1 } else { LOOKS_BETWEEN };
        let search_time = if is_alone { Duration::ZERO } else { backoff.search_time(me) };
        loop {
            // Most broadcasts are short, and a thread that waits for one makes sure that there is a heartbeat worker.
            while !me.inbox.is_empty() {
                me.counters.enter(Phase::Working);
                me.answer_broadcast();
                *now = Instant::now();
                // What it took does not count.
                start += me.counters.enter_at(Phase::Searching, *now);
            }
            let has_ready_fibers = me.has_ready_fibers();
            // Otherwise `find` comes to what is elsewhere.
            if (has_ready_fibers || me.has_jobs())
                && let Some(work) = self.find_in_turn(me)
            {
                return Some(work);
            }
            // No other thread can go on with these fibers.
            if has_ready_fibers {
                backoff.note_search(me.was_woken());
                return Some(Work::Fibers(None));
            }
            if self.is_closing() {
                return self.find(me, StealPolicy::All);
            }
            // On a machine with fewer cores than the pool has threads a search keeps others from working.
            let is_in_the_way = self.is_crowded() || has_looked && self.count_active(self.cores + 1) > self.cores;
            // A search has looked once before it ends, however short it is.
            if is_in_the_way || has_looked && (is_alone || *now - start > search_time) {
                backoff.note_search(false);
                return None;
            }
            let may_request = backoff.may_request(*now);
            let policy = if may_request { StealPolicy::Aged(self.micros_at(*now)) } else { StealPolicy::Nothing };
            for _ in 0..looks {
                if let Some(work) = self.find(me, policy) {
                    backoff.note_search(true);
                    return Some(work);
                }
                if me.has_ready_fibers() {
                    backoff.note_search(me.was_woken());
                    return Some(Work::Fibers(None));
                }
                hint::spin_loop();
            }
            *now = Instant::now();
            has_looked = true;
            rounds += 1;
            if rounds.is_multiple_of(ROUNDS_BETWEEN_YIELDS) {
                thread::yield_now();
            }
            if may_request {
                self.request_all();
            }
        }
    }

    /// Does without a slot, until there is something to do or the pool closes. A fiber to begin, slot or no slot, if
    /// one has waited for too long.
    fn rest(&self, me: &Worker, mut idle: Idle) -> Option<Work> {
        let mut found = None;
        let mut heartbeat = Heartbeat::new(self);
        me.counters.enter(Phase::Parked);
        loop {
            // Fibers that can go on wait for this worker, as does a thread that broadcasts. A broadcast may take long,
            // and no thread should rely on this worker meanwhile.
            if self.ends() || !me.inbox.is_empty() || me.has_ready_fibers() {
                if idle == Idle::Heartbeat || !self.wakes_by_itself(me) {
                    // Not to a spare: most broadcasts are short, and the thread that waits for one makes sure that
                    // there is a heartbeat worker.
                    self.resign_role();
                }
                me.status.activate();
                break;
            }
            match idle {
                Idle::Asleep if me.is_called() => {
                    me.counters.wakes.add(1);
                    (idle, heartbeat) = (Idle::Heartbeat, Heartbeat::new(self));
                }
                Idle::Asleep => {
                    me.counters.parks.add(1);
                    self.park_idle(me, None);
                }
                Idle::Heartbeat => match heartbeat.check(self, me) {
                    Finding::Work if self.gives_way(me) => idle = Idle::Asleep,
                    Finding::Work => {
                        me.status.activate();
                        self.hand_over_role();
                        break;
                    }
                    Finding::Quiet if self.sleep.fall_asleep(me.index, || self.has_something_to_look_at()) => {
                        idle = Idle::Asleep
                    }
                    Finding::Starved
                        if let Some(job) = self.workers().find_map(|worker| worker.steal_job(me, StealPolicy::All)) =>
                    {
                        me.status.activate();
                        self.hand_over_role();
                        found = Some(Work::Fibers(Some(job)));
                        break;
                    }
                    Finding::Quiet | Finding::Nothing | Finding::Starved => {
                        me.counters.parks.add(1);
                        self.park_for_interval(me, &mut heartbeat);
                    }
                },
            }
        }
        me.counters.enter(Phase::Searching);
        found
    }

    /// A spare that has found work leaves it, and the role, to one of the first workers, if one sleeps. What they begin
    /// stays with them, so the fibers of a pool are on as many threads as it has slots, and do not talk across more of
    /// them.
    fn gives_way(&self, me: &Worker) -> bool {
        if me.index < self.threads() {
            return false;
        }
        let first = self.sleep.swap_roles(me.index, |worker| worker < self.threads());
        self.wake(first);
        first.is_some()
    }

    /// Parks the heartbeat worker until its next check.
    fn park_for_interval(&self, me: &Worker, heartbeat: &mut Heartbeat) {
        if heartbeat.calm == CALM {
            self.trim_entries();
        }
        if !heartbeat.dozes {
            self.park_idle(me, Some(heartbeat.interval));
            return;
        }
        // A thread that forks is to come by here.
        self.request_all();
        self.sleep.doze(me.index);
        if !self.has_published_work() {
            self.park_idle(me, Some(heartbeat.interval));
        }
        if self.sleep.was_woken_early() {
            heartbeat.calm = 0;
        }
    }

    /// Parks until this worker is woken, a fiber of it is due, or `most` has passed.
    fn park_idle(&self, me: &Worker, most: Option<Duration>) {
        if !me.fibers.go_away() {
            return;
        }
        match [most, me.time_to_next_fibers()].into_iter().flatten().min() {
            Some(most) => _ = me.parker.park_timeout(most),
            None => me.parker.park(),
        }
        me.fibers.come_back();
    }

    /// Takes a sleeper that woke without a call off the list. Returns `false` if it was called just now, and is the
    /// heartbeat worker.
    fn wakes_by_itself(&self, me: &Worker) -> bool {
        let is_uncalled = self.sleep.withdraw(me.index);
        if !is_uncalled {
            // The thread that took it off the list is about to set the mark, which must not be left for later.
            while !me.is_called() {
                me.parker.park();
            }
        }
        is_uncalled
    }

    /// Returns whether the heartbeat worker is needed, if that is asked after the role was shown to be vacant.
    fn has_something_to_look_at(&self) -> bool {
        // A guest that has left may have left tasks behind: a thread that sees that it has left sees these too.
        self.is_root_open() || {
            fence(Ordering::Acquire);
            self.has_published_work()
        }
    }

    /// Makes sure that there is a heartbeat worker.
    pub(crate) fn ensure_heartbeat(&self) {
        match self.sleep.assign() {
            Assigned::Before => {}
            Assigned::Sleeper(worker) => self.wake(Some(worker)),
            Assigned::NoSleeper => self.assign_role_to_spare(),
        }
    }

    /// Assigns a successor when the heartbeat worker goes to work: a sleeper, or else a spare, so that a heartbeat
    /// worker notices it if all working threads are blocked.
    fn hand_over_role(&self) {
        match self.sleep.successor() {
            Some(worker) => self.wake(Some(worker)),
            None => self.assign_role_to_spare(),
        }
    }

    /// Adds a spare as the heartbeat worker, for the holder of the role, when no worker sleeps. If there is no spare
    /// the role falls vacant, and waiting threads have to search by themselves at intervals.
    fn assign_role_to_spare(&self) {
        if self.add_spare() {
            return;
        }
        self.resign_role();
    }

    /// Gives up the role of the heartbeat worker, and wakes the sleeper that has it now. If there is none, wakes the
    /// threads that rely on a heartbeat worker: each makes sure of another, or searches at intervals.
    fn resign_role(&self) {
        match self.sleep.resign() {
            Ok(sleeper) => self.wake(Some(sleeper)),
            Err(waiting) => waiting.into_iter().for_each(|waiting| self.worker(waiting).parker.unpark()),
        }
    }
}

/// When a searching thread may ask for work, or take fibers that a worker has just spawned.
///
/// A request publishes even tiny pieces, and the owner pays for the publication and for the wait. So a thread whose
/// last piece was short backs off, longer each time. One whose last piece was long enough asks at once.
///
/// A search that finds nothing makes the next one shorter, since a thread with little to do, and that little now and
/// then, would spend most of its time on searches.
struct StealBackoff {
    delay: Duration,
    not_before: Option<Instant>,
    /// How long the next search takes at most.
    search: Duration,
}

impl StealBackoff {
    fn new() -> Self {
        Self { delay: Duration::ZERO, not_before: None, search: SEARCH }
    }

    /// Returns how long the next search may take.
    fn search_time(&self, me: &Worker) -> Duration {
        if me.time_to_next_fiber().is_some_and(|time| time < self.search) { NAP } else { self.search }
    }

    fn note_search(&mut self, has_found: bool) {
        self.search = if has_found { (self.search * 2).min(SEARCH) } else { (self.search / 2).max(NAP) };
    }

    fn note(&mut self, took: Duration) {
        let (least, most) = REQUEST_DELAYS;
        self.delay = if took < WORTH_WHILE { (self.delay * 2).clamp(least, most) } else { Duration::ZERO };
        self.not_before = None;
    }

    fn may_request(&mut self, now: Instant) -> bool {
        if self.delay.is_zero() {
            return true;
        }
        let may = now >= *self.not_before.get_or_insert(now + self.delay);
        if may {
            self.not_before = Some(now + self.delay);
        }
        may
    }
}

/// What the heartbeat worker sees.
enum Finding {
    /// Work, and a slot to do it in.
    Work,
    Nothing,
    /// No slot, and fibers that have waited for one for long.
    Starved,
    /// Nothing, and there has been no root for a while.
    Quiet,
}

/// What the heartbeat worker remembers from one check to the next.
struct Heartbeat {
    roots: u64,
    steps: u64,
    active: Instant,
    sysmon: Sysmon,
    detector: BlockedDetector,
    starving: Starving,
    /// How many checks in a row have shown nothing new.
    calm: u32,
    /// How long it sleeps until the next check.
    interval: Duration,
    /// Whether it asks to be woken for what is new.
    dozes: bool,
}

impl Heartbeat {
    fn new(registry: &Registry) -> Self {
        Self {
            roots: registry.count_roots(),
            steps: registry.count_steps(),
            active: Instant::now(),
            sysmon: Sysmon::default(),
            detector: BlockedDetector::default(),
            starving: Starving::default(),
            calm: 0,
            interval: INTERVAL,
            dozes: false,
        }
    }

    fn check(&mut self, registry: &Registry, me: &Worker) -> Finding {
        registry.note_heartbeat(me);
        let (roots, steps) = (registry.count_roots(), registry.count_steps());
        // Fibers that were spawned from outside are work even while no thread works.
        let is_waiting = registry.has_published_work();
        let is_busy = is_waiting || registry.is_root_open();
        let has_new_roots = roots != self.roots;
        if is_busy || has_new_roots || steps != self.steps {
            self.active = Instant::now();
        }
        (self.roots, self.steps) = (roots, steps);
        if is_waiting || has_new_roots {
            self.calm = 0;
        }
        if !is_busy {
            // Whatever begins from here on wakes the heartbeat worker, but for fibers that go on by themselves.
            self.set_interval(if has_new_roots { INTERVAL } else { DOZE }, LONGEST_INTERVAL);
            return if self.active.elapsed() >= QUIET { Finding::Quiet } else { Finding::Nothing };
        }
        self.detector.check(registry.workers());
        if !registry.has_free_slot() {
            let found = self.sysmon.check(registry.workers());
            if found.has_lent {
                registry.slots_lent.add(1);
            }
            if found.has_lent || found.is_unsure {
                self.calm = 0;
            }
            if !registry.has_free_slot() {
                self.set_interval(FULL_INTERVAL, LONGEST_FULL_INTERVAL);
                // To be woken does not help where there is no slot.
                self.dozes = false;
                return if self.starving.check(registry.workers()) { Finding::Starved } else { Finding::Nothing };
            }
        }
        self.starving.forget();
        // Where every core is busy another thread only takes turns with those that work: it is worth while for work
        // that has been waiting, and not for what comes and goes between two intervals.
        let is_waiting = is_waiting || registry.has_published_work();
        let has_core = registry.count_active(registry.cores) < registry.cores;
        let sees_work = is_waiting || registry.sees_work();
        if sees_work {
            self.calm = 0;
        }
        self.set_interval(if has_core { INTERVAL } else { BUSY_INTERVAL }, LONGEST_INTERVAL);
        if is_waiting || has_core && sees_work { Finding::Work } else { Finding::Nothing }
    }

    /// The interval after a check that has shown nothing to do: twice as long as the last one if it has shown nothing
    /// new either.
    fn set_interval(&mut self, first: Duration, longest: Duration) {
        self.interval = first.saturating_mul(1 << self.calm.min(16)).min(longest);
        self.calm = self.calm.saturating_add(1);
        self.dozes = self.interval >= DOZE;
    }
}

/// Finds fibers that no thread begins. The threads that made forks and tasks run them at the latest when they wait, but
/// a fiber without a slot would wait for as long as guests compute.
///
/// A queue whose worker goes on with its fibers does not starve, however long it is: the worker comes to all of them.
/// One that computes has as much time of its own processor, so that it is not taken for busy while the system runs
/// other programs.
#[derive(Default)]
struct Starving(HashMap<usize, Still>);

/// Since when a worker has not begun a fiber, nor changed to another.
struct Still {
    steps: u64,
    since: Instant,
    clock: Option<u64>,
}

impl Starving {
    fn forget(&mut self) {
        self.0.clear();
    }

    /// Returns whether fibers have waited for a slot for too long.
    fn check<'a>(&mut self, workers: impl Iterator<Item = &'a Worker>) -> bool {
        let mut is_starving = false;
        for worker in workers {
            if !worker.has_jobs() {
                self.0.remove(&worker.index);
                continue;
            }
            let steps = worker.counters.steps();
            let is_at_work = worker.is_own && worker.status.is_active();
            let clock = if is_at_work && !cfg!(shuttle) { sysmon::cpu_clock(worker.thread()) } else { None };
            let still = self.0.entry(worker.index).or_insert(Still { steps, since: Instant::now(), clock });
            // A clock that has come or gone is that of a worker that has begun or ended its work.
            if still.steps != steps || still.clock.is_some() != clock.is_some() {
                *still = Still { steps, since: Instant::now(), clock };
            }
            let has_run = match (still.clock, clock) {
                (Some(before), Some(now)) => Duration::from_nanos(now.saturating_sub(before)),
                _ => still.since.elapsed(),
            };
            is_starving |= has_run >= STARVING;
        }
        is_starving
    }
}

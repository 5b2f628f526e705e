//! The checks that the heartbeat worker makes of its pool, and the time between two checks.

use crate::{
    fiber::{blocked_detector::BlockedDetector, steal_policy::StealPolicy},
    pool::{
        crowding::Crowding,
        deadlock,
        registry::Registry,
        standstill::Standstill,
        sysmon::{self, Sysmon},
        worker::Worker,
    },
    sys::clock::Instant,
};
use std::{collections::HashMap, time::Duration};

/// How often the heartbeat worker looks for work.
const MIN_INTERVAL: Duration = Duration::from_micros(100);

/// The interval when every core is busy: the heartbeat worker then shares a core with working threads.
const BUSY_INTERVAL: Duration = Duration::from_micros(400);

/// The interval when all slots are taken. Then only a thread that blocks in a foreign call changes the state without a
/// wake-up.
const FULL_INTERVAL: Duration = Duration::from_millis(1);

/// The longest interval of a heartbeat worker that sees nothing new, and the longest one when all slots are taken.
/// Between two looks only a thread that blocks goes unnoticed, because forks, spawns and new roots wake the heartbeat
/// worker. Shorter under shuttle, where a thread that sleeps for long may sleep forever.
const MAX_INTERVAL: Duration = Duration::from_millis(if cfg!(shuttle) { 4 } else { 25 });
const MAX_FULL_INTERVAL: Duration = Duration::from_millis(4);

/// From this interval on, the heartbeat worker registers to be woken by new work.
const MIN_DOZE_INTERVAL: Duration = Duration::from_millis(1);

/// The longest interval while it polls sockets for other workers.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// After this many looks that have shown nothing new, the heartbeat worker tidies up.
const LOOKS_BEFORE_TIDYING: u32 = 3;

/// The time after which a fiber that waits for a slot begins without one.
const MAX_JOB_WAIT: Duration = Duration::from_millis(10);

/// The time after the last root at which the heartbeat worker goes to sleep.
const SLEEP_AFTER: Duration = Duration::from_millis(10);

/// How long nothing has begun when the heartbeat worker looks for a deadlock of threads that have work.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// The number of looks for a deadlock that may find a thread at work before the heartbeat worker goes to sleep anyway.
const MAX_UNSURE: u32 = 40;

/// The result of a look of the heartbeat worker.
pub(super) enum Finding {
    /// There is work, and a slot to run it.
    Work,
    Nothing,
    /// There is no free slot, but there is work that should begin without a slot: fibers that this policy allows to
    /// take, or a task.
    Starved(StealPolicy),
    /// There is no work, and there has been no root for a while.
    Quiet,
}

/// The new work that wakes the heartbeat worker before its next look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doze {
    Nothing,
    /// Fibers alone: no slot is free, or the interval is short.
    Fibers,
    All,
}

/// The state that the heartbeat worker keeps from one look to the next.
pub(super) struct Heartbeat {
    roots: u64,
    steps: u64,
    active: Instant,
    /// When something has begun, or the heartbeat worker has looked for a deadlock.
    looked: Instant,
    sysmon: Sysmon,
    detector: BlockedDetector,
    starving: Starving,
    standstill: Standstill,
    crowding: Crowding,
    /// The number of looks in a row that have shown nothing new.
    calm: u32,
    /// The number of looks for a deadlock in a row that have decided nothing.
    unsure: u32,
    /// Whether it has polled sockets for a worker that computes.
    polls: bool,
    /// The time until the next look.
    pub(super) interval: Duration,
    /// The events that wake it earlier.
    pub(super) doze: Doze,
}

impl Heartbeat {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            roots: registry.count_roots(),
            steps: registry.count_steps(),
            active: Instant::now(),
            looked: Instant::now(),
            sysmon: Sysmon::default(),
            detector: BlockedDetector::default(),
            starving: Starving::default(),
            standstill: Standstill::default(),
            crowding: Crowding::default(),
            calm: 0,
            unsure: 0,
            polls: false,
            interval: MIN_INTERVAL,
            doze: Doze::Nothing,
        }
    }

    /// Looks at the pool, and sets the time until the next look.
    pub(super) fn check(&mut self, registry: &Registry, me: &Worker) -> Finding {
        registry.note_heartbeat(me);
        self.polls = false;
        for worker in registry.workers() {
            self.polls |= worker.parking.reactor.poll_for_owner();
        }
        let (roots, steps) = (registry.count_roots(), registry.count_steps());
        // Fibers that were spawned from outside count as work even while no thread works.
        let is_waiting = registry.has_published_work();
        let is_busy = is_waiting || registry.is_root_open() || registry.slots.admission.has_waiting();
        let has_new_roots = roots != self.roots;
        let has_begun = has_new_roots || steps != self.steps;
        if is_busy || has_begun {
            self.active = Instant::now();
        }
        if has_begun || is_waiting {
            self.looked = self.active;
        } else if is_busy && self.active - self.looked >= LOOK_AFTER {
            self.looked = self.active;
            deadlock::look(registry, me);
        }
        (self.roots, self.steps) = (roots, steps);
        if is_waiting || has_new_roots {
            self.calm = 0;
        }
        if !is_busy {
            self.crowding.forget();
            // All new work wakes the heartbeat worker from here on, except for resumed fibers.
            self.set_interval(registry, if has_new_roots { MIN_INTERVAL } else { MIN_DOZE_INTERVAL }, MAX_INTERVAL);
            return if self.active.elapsed() >= SLEEP_AFTER { self.settle(registry, me) } else { Finding::Nothing };
        }
        self.detector.check(registry.workers());
        if !registry.has_free_slot() {
            let found = self.sysmon.check(registry.workers());
            let has_released = self.standstill.check(registry, &found.blocked);
            if found.has_lent || has_released {
                registry.slots.lent.add(1);
                registry.note_free_slot();
            }
            if found.has_lent || has_released || found.is_unsure {
                self.calm = 0;
            }
            if !registry.has_free_slot() {
                // Fibers do not wait for threads that compute while another worker is idle.
                let has_idle = registry.first_workers().any(|worker| !worker.status.is_occupied());
                if has_idle && registry.has_available_jobs() {
                    self.set_interval(registry, MIN_INTERVAL, MIN_INTERVAL);
                    return Finding::Starved(StealPolicy::Aged(registry.time.micros_at(Instant::now())));
                }
                self.set_interval(registry, FULL_INTERVAL, MAX_FULL_INTERVAL);
                // Otherwise a wake-up does not help without a slot.
                self.doze = if has_idle { Doze::Fibers } else { Doze::Nothing };
                return if self.starving.check(registry) {
                    Finding::Starved(StealPolicy::All)
                } else {
                    Finding::Nothing
                };
            }
        }
        self.starving.forget();
        self.standstill.forget();
        // If every core is busy, another thread only takes turns with the working ones. That does not pay for work that
        // lasts less than an interval, nor for forks while the working threads use every core. Other work may have
        // nothing to do with theirs, and takes its turn.
        let is_waiting = is_waiting || registry.has_published_work();
        let has_core = registry.count_active(registry.slots.cores) < registry.slots.cores;
        let sees_work = is_waiting || registry.sees_work();
        if sees_work {
            self.calm = 0;
        }
        self.set_interval(registry, if has_core { MIN_INTERVAL } else { BUSY_INTERVAL }, MAX_INTERVAL);
        if has_core || !is_waiting || registry.has_spawned_work() {
            self.crowding.forget();
            return if is_waiting || has_core && sees_work { Finding::Work } else { Finding::Nothing };
        }
        let at_work = registry.workers().filter(|worker| worker.status.is_active());
        let clocks = at_work.map(|worker| (worker.index, sysmon::cpu_clock(worker.thread())));
        if self.crowding.check(clocks, registry.slots.cores, Instant::now()) {
            // Without a core a wake-up does not help.
            self.doze = Doze::Nothing;
            return Finding::Nothing;
        }
        Finding::Work
    }

    /// Looks for a deadlock before the heartbeat worker goes to sleep. If a thread runs that has nothing to do, looks
    /// again later, a few times.
    fn settle(&mut self, registry: &Registry, me: &Worker) -> Finding {
        let is_unsure = deadlock::look(registry, me) == deadlock::Look::Unsure;
        self.unsure = if is_unsure { self.unsure + 1 } else { 0 };
        if is_unsure && self.unsure < MAX_UNSURE { Finding::Nothing } else { Finding::Quiet }
    }

    /// Returns whether enough looks have shown nothing new, so that the heartbeat worker tidies up.
    pub(super) fn is_time_to_tidy_up(&self) -> bool {
        self.calm == LOOKS_BEFORE_TIDYING
    }

    /// Records that new work came before the interval was over.
    pub(super) fn note_news(&mut self) {
        self.calm = 0;
    }

    /// Sets the interval after a look: twice the last one if the look has shown nothing new.
    fn set_interval(&mut self, registry: &Registry, first: Duration, longest: Duration) {
        let longest = if self.polls { longest.min(MAX_POLL_INTERVAL) } else { longest };
        self.interval = first.saturating_mul(1 << self.calm.min(16)).min(longest);
        self.calm = self.calm.saturating_add(1);
        self.doze = match self.interval {
            interval if interval >= MIN_DOZE_INTERVAL || registry.demand.expects_forks() => Doze::All,
            interval if interval > MIN_INTERVAL => Doze::Fibers,
            _ => Doze::Nothing,
        };
    }
}

/// Finds fibers and other work that no thread begins. A fiber without a slot would wait for as long as guests compute.
/// A task, or a fork whose owner waits, would wait for as long as all slots are taken by fibers.
///
/// A queue whose worker still runs fibers does not starve, however long it is, because the worker will begin all of
/// them. A worker that computes counts as busy only for its own CPU time, not while the system runs other programs.
#[derive(Default)]
struct Starving {
    still: HashMap<usize, Still>,
    /// Since when there has been stranded work, and fewer threads have computed than there are slots.
    stranded_since: Option<Instant>,
}

/// The time since which a worker has not begun a fiber, nor switched to another.
struct Still {
    steps: u64,
    since: Instant,
    clock: Option<u64>,
}

impl Starving {
    fn forget(&mut self) {
        self.still.clear();
        self.stranded_since = None;
    }

    /// Returns whether fibers, tasks or forks have waited for a slot for too long.
    fn check(&mut self, registry: &Registry) -> bool {
        let is_stranded = registry.has_stranded_work() && registry.has_room();
        self.stranded_since = is_stranded.then(|| self.stranded_since.unwrap_or_else(Instant::now));
        let mut is_starving = self.stranded_since.is_some_and(|since| since.elapsed() >= MAX_JOB_WAIT);
        for worker in registry.workers() {
            if !worker.scheduler().has_jobs() {
                self.still.remove(&worker.index);
                continue;
            }
            let steps = worker.counters.steps();
            let is_at_work = worker.is_own && worker.status.is_active();
            let clock = if is_at_work && !cfg!(shuttle) { sysmon::cpu_clock(worker.thread()) } else { None };
            let still = self.still.entry(worker.index).or_insert(Still { steps, since: Instant::now(), clock });
            // If there is a clock now and was none before, or the reverse, the worker has begun or ended its work.
            if still.steps != steps || still.clock.is_some() != clock.is_some() {
                *still = Still { steps, since: Instant::now(), clock };
            }
            let has_run = match (still.clock, clock) {
                (Some(before), Some(now)) => Duration::from_nanos(now.saturating_sub(before)),
                _ => still.since.elapsed(),
            };
            is_starving |= has_run >= MAX_JOB_WAIT;
        }
        is_starving
    }
}

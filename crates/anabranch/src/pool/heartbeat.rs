//! The checks of the heartbeat worker: what it sees in the pool, and how long it waits until the next check.

use crate::{
    fiber::blocked_detector::BlockedDetector,
    pool::{
        registry::Registry,
        sysmon::{self, Sysmon},
        worker::Worker,
    },
    sys::clock::Instant,
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

/// After how many checks that have shown nothing new the heartbeat worker tidies up.
const CALM: u32 = 3;

/// How long a fiber waits for a slot, and then begins without one.
const STARVING: Duration = Duration::from_millis(10);

/// How long after the last root the heartbeat worker goes to sleep.
const QUIET: Duration = Duration::from_millis(10);

/// What the heartbeat worker sees.
pub(super) enum Finding {
    /// Work, and a slot to do it in.
    Work,
    Nothing,
    /// No slot, and fibers that have waited for one for long.
    Starved,
    /// Nothing, and there has been no root for a while.
    Quiet,
}

/// What the heartbeat worker remembers from one check to the next.
pub(super) struct Heartbeat {
    roots: u64,
    steps: u64,
    active: Instant,
    sysmon: Sysmon,
    detector: BlockedDetector,
    starving: Starving,
    /// How many checks in a row have shown nothing new.
    calm: u32,
    /// How long it sleeps until the next check.
    pub(super) interval: Duration,
    /// Whether it asks to be woken for what is new.
    pub(super) dozes: bool,
}

impl Heartbeat {
    pub(super) fn new(registry: &Registry) -> Self {
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

    /// Looks at the pool.
    pub(super) fn check(&mut self, registry: &Registry, me: &Worker) -> Finding {
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

    /// Returns whether the checks have shown nothing new for long enough to tidy up.
    pub(super) fn is_time_to_tidy_up(&self) -> bool {
        self.calm == CALM
    }

    /// Records that something new came before the interval was over.
    pub(super) fn note_news(&mut self) {
        self.calm = 0;
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

//! Counters of each thread of a pool. They are always on. They cost one plain store at rare events, and nothing in a
//! fork that no thread takes.

use crate::{
    pool::{
        counter::Counter,
        latency::{LatencyCounters, LatencyHistogram},
    },
    sys::clock::Instant,
};
use std::{cell::Cell, fmt, time::Duration};

/// The phases that a thread spends its time in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Working,
    Searching,
    Parked,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The counters of one worker entry.
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
            pub(crate) timer_lateness: LatencyCounters,
            times: [Counter; 3],
            phase: Cell<Option<(Phase, Instant)>>,
        }

        /// Counters of one thread of a pool, since the pool was created. See [`Pool::stats`](crate::Pool::stats).
        ///
        /// Times are measured for the pool's own threads, up to the last change of phase. For guests they are zero.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerStats {
            $($(#[$doc])* pub $name: u64,)*
            /// Time spent on work: roots, stolen forks, tasks.
            pub working: Duration,
            /// Time spent searching for work.
            pub searching: Duration,
            /// Time spent parked, asleep or between two heartbeats.
            pub parked: Duration,
            /// How late the thread was when it made the fibers ready whose timers had fired. Sleeps, intervals, time
            /// limits and deadlines have timers. A timer is late if a fiber of the same thread computes for long,
            /// because the thread checks its timers only between two runs of fibers.
            ///
            /// Up to a millisecond is normal: a thread that has slept wakes once for all timers that are due within 0.9
            /// ms. Only timers are counted. How late a fiber begins to run after another fiber, a thread or a socket
            /// has woken it is measured in [traced](crate::trace) pools, because it has to read the clock for each
            /// wake-up. The time in the queue of ready fibers is also in the trace only.
            pub timer_lateness: LatencyHistogram,
        }

        impl Counters {
            pub(crate) const fn new() -> Self {
                Self {
                    $($name: Counter::new(),)*
                    timer_lateness: LatencyCounters::new(),
                    times: [const { Counter::new() }; 3],
                    phase: Cell::new(None),
                }
            }

            pub(crate) fn read(&self) -> WorkerStats {
                let time = |phase: Phase| Duration::from_nanos(self.times[phase as usize].get());
                WorkerStats {
                    $($name: self.$name.get(),)*
                    working: time(Phase::Working),
                    searching: time(Phase::Searching),
                    parked: time(Phase::Parked),
                    timer_lateness: self.timer_lateness.read(),
                }
            }
        }

        impl WorkerStats {
            fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
                self.working += other.working;
                self.searching += other.searching;
                self.parked += other.parked;
                self.timer_lateness.add(&other.timer_lateness);
            }
        }
    };
}

counters! {
    /// Forks that this thread published itself, on request.
    published,
    /// Forks of this thread that an idle thread published by a raid.
    raided,
    /// Published forks of this thread that it took back because no other thread had taken them.
    reclaimed,
    /// Pieces of work that this thread took: forks from the shelves of others, tasks from any queue.
    stolen,
    /// The number of these that it took while it waited, for a stolen fork or for the tasks of a scope.
    helped,
    /// Searches of all shelves.
    searches,
    /// The number of times it parked.
    parks,
    /// The number of times it was woken to be the heartbeat worker.
    wakes,
    /// Fibers that it started.
    fibers,
    /// Fibers that are live: that it has started and that have not ended.
    live,
    /// Fibers that it placed on other workers, which had fewer.
    placed,
    /// The number of times it switched to the stack of a fiber and back.
    switches,
}

impl Counters {
    /// Begins another phase, and returns how long the last one took. Only the pool's own threads call this.
    pub(crate) fn enter(&self, phase: Phase) -> Duration {
        self.enter_at(phase, Instant::now())
    }

    /// Begins another phase like [`enter`](Self::enter), at a time that the caller has just read from the clock.
    pub(crate) fn enter_at(&self, phase: Phase, now: Instant) -> Duration {
        let Some((old, since)) = self.phase.replace(Some((phase, now))) else { return Duration::ZERO };
        let took = now - since;
        self.times[old as usize].add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        took
    }

    /// Returns a count that grows when the thread switches to a fiber, or starts one. If it has grown, the thread did
    /// not block in between.
    pub(crate) fn steps(&self) -> u64 {
        self.switches.get().wrapping_add(self.fibers.get())
    }

    /// Returns when the current phase of the thread began, or `None` for a guest.
    pub(crate) fn phase_began(&self) -> Option<Instant> {
        self.phase.get().map(|(_, since)| since)
    }

    /// Returns the current phase of the thread, or `None` for a guest.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.phase.get().map(|(phase, _)| phase)
    }
}

/// Counters of a pool, since it was created. See [`Pool::stats`](crate::Pool::stats).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The pool's own threads, in the order of their indices.
    pub workers: Vec<WorkerStats>,
    /// All guests, past and present, summed.
    pub guests: WorkerStats,
    /// The spare threads, which were added because other threads had blocked, summed. The pool keeps them for reuse.
    pub spares: WorkerStats,
    /// How many threads were added because other threads had blocked.
    pub spare_threads: usize,
    /// The number of times a spare thread was needed and not added, because the limit was reached or the system
    /// refused.
    pub spares_refused: u64,
    /// The number of times the slot of a thread blocked in a foreign call was lent.
    pub slots_lent: u64,
    /// Whether raids use `membarrier`. Without `membarrier`, every join takes a lock instead.
    pub uses_membarrier: bool,
    /// How many threads there are now for [blocking calls](crate::Cx::blocking) of fibers, including idle threads.
    pub blocking_threads: usize,
    /// How many blocking calls wait for a thread now. If there are often some, raise
    /// [`Builder::max_blocking_threads`](crate::Builder::max_blocking_threads).
    pub blocking_queued: usize,
    /// How many blocking calls a thread has begun.
    pub blocking_calls: u64,
}

impl Stats {
    /// Returns the sums over all threads.
    pub fn total(&self) -> WorkerStats {
        let mut total = WorkerStats::default();
        for worker in self.workers.iter().chain([&self.guests, &self.spares]) {
            total.add(worker);
        }
        total
    }

    pub(crate) fn accumulate(into: &mut WorkerStats, worker: &WorkerStats) {
        into.add(worker);
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let late = &total.timer_lateness;
        write!(
            f,
            "published {}, raided {}, reclaimed {}, stolen {} ({} while waiting), searches {}, parks {}, wakes {}, \
             fibers {} ({} live, {} placed elsewhere), switches {}, spare threads {}, slots lent {}, blocking calls {} on \
             {} threads, {} queued, timers {} (late by p50 {:.1?}, p99 {:.1?}, max {:.1?}), working {:?}, \
             searching {:?}, parked {:?}",
            total.published,
            total.raided,
            total.reclaimed,
            total.stolen,
            total.helped,
            total.searches,
            total.parks,
            total.wakes,
            total.fibers,
            total.live,
            total.placed,
            total.switches,
            self.spare_threads,
            self.slots_lent,
            self.blocking_calls,
            self.blocking_threads,
            self.blocking_queued,
            late.count(),
            late.quantile(0.5),
            late.quantile(0.99),
            late.max(),
            total.working,
            total.searching,
            total.parked,
        )
    }
}

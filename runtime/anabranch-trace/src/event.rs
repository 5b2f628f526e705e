//! What can happen on a thread, and its form of 16 bytes.
//!
//! A record is two words. The first has the time in its upper 48 bits, in nanoseconds since the trace began, then the
//! kind of the event and a small number of 8 bits. The second is a number of 64 bits, or two of 32.

/// The number of bits of a time: enough for 78 hours.
pub(crate) const TIME_BITS: u32 = 48;

/// The most that [`Event::TimerDue`] can say, in nanoseconds: 18 minutes.
pub const MAX_LATE: u64 = (1 << 40) - 1;

/// A source location with a label. Zero stands for an unknown one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "read", derive(serde::Serialize))]
pub struct Site(pub u32);

impl Site {
    /// The site of which nothing is known.
    pub const UNKNOWN: Self = Self(0);
}

/// Defines an enum of one byte, with its conversion from a byte.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "read", derive(serde::Serialize), serde(rename_all = "snake_case"))]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $code,)*
        }

        impl $name {
            /// All values, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// What a thread does from one event on. A thread that holds no worker entry has no state.
    State {
        /// Runs the program's code.
        Working = 0,
        /// Has no work, and searches for some.
        Searching = 1,
        /// Has no work, and is parked.
        Parked = 2,
        /// Waits for a stolen fork, or for the tasks of a scope, and searches for work that it may run meanwhile.
        Joining = 3,
        /// Waits like [`Joining`](Self::Joining), but is parked; its slot is free for another thread.
        JoinParked = 4,
        /// Waits for an event, on a thread in `run`, and is parked. The site of the event says for what.
        Waiting = 5,
    }
}

codes! {
    /// As what a thread has a worker entry.
    Role {
        /// One of the pool's own threads.
        Worker = 0,
        /// A thread that was added because others had blocked.
        Spare = 1,
        /// A thread from outside that runs work in the pool.
        Guest = 2,
    }
}

codes! {
    /// What a thread has taken from another one.
    Loot {
        /// A fork.
        Fork = 0,
        /// A task of a scope, or a detached one.
        Task = 1,
        /// Fibers that have not begun.
        Fibers = 2,
        /// A piece of work that the thread took while it waited, and that descends from what it waits for.
        Descendant = 3,
    }
}

codes! {
    /// How a strand ends: a time in which a thread that records every fork runs code without a fork.
    Step {
        /// A call begins. The strand was outside of the pool, since the last call of the thread.
        Begin = 0,
        /// The first half of a fork begins.
        Fork = 1,
        /// The first half of a fork ends, and the second half begins.
        Half = 2,
        /// The second half of the innermost fork ends.
        Join = 3,
        /// A wait for tasks begins.
        Wait = 4,
        /// A task begins in the wait.
        Task = 5,
        /// The innermost task ends.
        TaskEnd = 6,
        /// The innermost wait for tasks ends.
        WaitEnd = 7,
        /// The call ends.
        End = 8,
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The thread takes a worker entry of a pool. A guest or worker then works or searches as its next state says.
    Enter {
        /// As what.
        role: Role,
        /// The number of the pool.
        pool: u32,
        /// The index of the worker entry.
        worker: u32,
    },
    /// The thread gives its worker entry back.
    Leave,
    /// A call into the pool begins on this thread, at a site. It ends with the next [`Leave`](Self::Leave).
    Root(Site),
    /// The state of the thread changes.
    State {
        /// What it does now.
        state: State,
        /// For what it waits.
        site: Site,
    },
    /// The thread has taken work of another one, and begins to run it.
    Steal {
        /// What.
        loot: Loot,
        /// From which worker entry; `u32::MAX` for the queue of the pool.
        victim: u32,
        /// How many pieces.
        count: u32,
    },
    /// The thread has published forks of its own, because another one had requested work.
    Publish {
        /// How many, at most 255.
        count: u8,
        /// The fork that noticed the request.
        site: Site,
        /// How long it took, in nanoseconds.
        took: u32,
    },
    /// The thread has published forks of others that did not do so themselves.
    Raid {
        /// How many, at most 255.
        count: u8,
        /// How long it took, in nanoseconds.
        took: u32,
    },
    /// The thread begins a fiber.
    FiberStart {
        /// The number of the fiber.
        fiber: u32,
        /// Where it was spawned.
        site: Site,
    },
    /// The fiber that runs on this thread leaves it, to wait.
    FiberSuspend {
        /// The number of the fiber.
        fiber: u32,
        /// For what it waits, and where.
        site: Site,
    },
    /// A fiber continues on this thread.
    FiberResume {
        /// The number of the fiber.
        fiber: u32,
    },
    /// A fiber ends on this thread.
    FiberEnd {
        /// The number of the fiber.
        fiber: u32,
    },
    /// A fiber has a name. The label of the site is the name.
    FiberName {
        /// The number of the fiber.
        fiber: u32,
        /// The name.
        site: Site,
    },
    /// The thread ends the wait of a fiber.
    Wake {
        /// The number of the fiber.
        fiber: u32,
    },
    /// The timer of a fiber has fired on this thread. A [`Wake`](Self::Wake) follows.
    TimerDue {
        /// The number of the fiber.
        fiber: u32,
        /// How long ago it was due, in nanoseconds, at most [`MAX_LATE`].
        late: u64,
    },
    /// The thread has enqueued a fiber, at a site.
    Spawn(Site),
    /// The thread wakes the thread of a worker entry.
    Unpark {
        /// The index of the worker entry.
        worker: u32,
    },
    /// A span of the program begins. The label of the site is its name.
    SpanBegin(Site),
    /// The innermost span of the program that is open on this thread ends.
    SpanEnd,
    /// The program has marked a moment. The label of the site is its name.
    Mark(Site),
    /// The pool has found that the thread of a worker entry is blocked in a foreign call, and lends its slot.
    Blocked {
        /// The index of the worker entry.
        worker: u32,
    },
    /// The pool has found that the thread runs again.
    Unblocked {
        /// The index of the worker entry.
        worker: u32,
    },
    /// The CPU time of this thread until now, in nanoseconds.
    CpuTime(u64),
    /// How long this thread has waited for a core until now, though it could run, in nanoseconds.
    RunDelay(u64),
    /// How long the root that ends now has taken, without the time for forks, in nanoseconds.
    Work(u64),
    /// How long that root would have taken on any number of threads, in nanoseconds. It follows the work.
    Span(u64),
    /// A strand ends.
    Step {
        /// With what.
        step: Step,
        /// How long the thread had a core in it, in nanoseconds. The time of the fork itself is in no strand.
        time: u64,
    },
    /// A sample begins: how long all cores of the machine together have been busy until now, for all processes, in
    /// nanoseconds since a time that does not change.
    CoresBusy(u64),
    /// How long a thread of this process has run, and has waited for a core, since the last sample.
    ThreadTime {
        /// The number of the thread in the system.
        thread: u32,
        /// How long it has run, in units of [`SAMPLE_UNIT`].
        ran: u16,
        /// How long it could run and had no core, in the same units.
        waited: u16,
    },
}

/// The unit of the times in an [`Event::ThreadTime`], in nanoseconds.
pub const SAMPLE_UNIT: u64 = 10_000;

/// An event in its form of 16 bytes.
pub type Record = [u64; 2];

/// The codes of the kinds of events.
mod kind {
    pub(super) const ENTER: u8 = 1;
    pub(super) const LEAVE: u8 = 2;
    pub(super) const ROOT: u8 = 3;
    pub(super) const STATE: u8 = 4;
    pub(super) const STEAL: u8 = 5;
    pub(super) const PUBLISH: u8 = 6;
    pub(super) const RAID: u8 = 7;
    pub(super) const FIBER_START: u8 = 8;
    pub(super) const FIBER_SUSPEND: u8 = 9;
    pub(super) const FIBER_RESUME: u8 = 10;
    pub(super) const FIBER_END: u8 = 11;
    pub(super) const FIBER_NAME: u8 = 12;
    pub(super) const WAKE: u8 = 13;
    pub(super) const SPAWN: u8 = 14;
    pub(super) const UNPARK: u8 = 15;
    pub(super) const SPAN_BEGIN: u8 = 16;
    pub(super) const SPAN_END: u8 = 17;
    pub(super) const MARK: u8 = 18;
    pub(super) const BLOCKED: u8 = 19;
    pub(super) const UNBLOCKED: u8 = 20;
    pub(super) const CPU_TIME: u8 = 21;
    pub(super) const RUN_DELAY: u8 = 22;
    pub(super) const WORK: u8 = 23;
    pub(super) const SPAN: u8 = 24;
    pub(super) const TIMER_DUE: u8 = 25;
    pub(super) const CORES_BUSY: u8 = 26;
    pub(super) const THREAD_TIME: u8 = 27;
    pub(super) const STEP: u8 = 28;
}

/// Puts two numbers into a word, the first into its upper half.
const fn pair(upper: u32, lower: u32) -> u64 {
    (upper as u64) << 32 | lower as u64
}

impl Event {
    /// Returns the record of this event at a time, in nanoseconds since the trace began. Times above 78 hours wrap
    /// around.
    ///
    /// ```
    /// use anabranch_trace::event::{Event, State, Site};
    ///
    /// let event = Event::State { state: State::Searching, site: Site::UNKNOWN };
    /// assert_eq!(Event::decode(event.encode(1_500)), (1_500, Some(event)));
    /// ```
    #[inline]
    pub fn encode(self, time: u64) -> Record {
        let (kind, small, argument) = match self {
            Self::Enter { role, pool, worker } => (kind::ENTER, role as u8, pair(pool, worker)),
            Self::Leave => (kind::LEAVE, 0, 0),
            Self::Root(site) => (kind::ROOT, 0, pair(0, site.0)),
            Self::State { state, site } => (kind::STATE, state as u8, pair(0, site.0)),
            Self::Steal { loot, victim, count } => (kind::STEAL, loot as u8, pair(count, victim)),
            Self::Publish { count, site, took } => (kind::PUBLISH, count, pair(took, site.0)),
            Self::Raid { count, took } => (kind::RAID, count, pair(took, 0)),
            Self::FiberStart { fiber, site } => (kind::FIBER_START, 0, pair(fiber, site.0)),
            Self::FiberSuspend { fiber, site } => (kind::FIBER_SUSPEND, 0, pair(fiber, site.0)),
            Self::FiberResume { fiber } => (kind::FIBER_RESUME, 0, pair(fiber, 0)),
            Self::FiberEnd { fiber } => (kind::FIBER_END, 0, pair(fiber, 0)),
            Self::FiberName { fiber, site } => (kind::FIBER_NAME, 0, pair(fiber, site.0)),
            Self::Wake { fiber } => (kind::WAKE, 0, pair(fiber, 0)),
            Self::Spawn(site) => (kind::SPAWN, 0, pair(0, site.0)),
            Self::Unpark { worker } => (kind::UNPARK, 0, pair(0, worker)),
            Self::SpanBegin(site) => (kind::SPAN_BEGIN, 0, pair(0, site.0)),
            Self::SpanEnd => (kind::SPAN_END, 0, 0),
            Self::Mark(site) => (kind::MARK, 0, pair(0, site.0)),
            Self::Blocked { worker } => (kind::BLOCKED, 0, pair(0, worker)),
            Self::Unblocked { worker } => (kind::UNBLOCKED, 0, pair(0, worker)),
            Self::CpuTime(time) => (kind::CPU_TIME, 0, time),
            Self::RunDelay(time) => (kind::RUN_DELAY, 0, time),
            Self::Work(time) => (kind::WORK, 0, time),
            Self::Span(time) => (kind::SPAN, 0, time),
            Self::Step { step, time } => (kind::STEP, step as u8, time),
            Self::CoresBusy(time) => (kind::CORES_BUSY, 0, time),
            Self::ThreadTime { thread, ran, waited } => {
                (kind::THREAD_TIME, 0, pair(thread, u32::from(ran) << 16 | u32::from(waited)))
            }
            Self::TimerDue { fiber, late } => {
                let late = late.min(MAX_LATE);
                (kind::TIMER_DUE, (late >> 32) as u8, pair(fiber, late as u32))
            }
        };
        [time << (u64::BITS - TIME_BITS) | u64::from(kind) << 8 | u64::from(small), argument]
    }

    /// Returns the time and the event of a record; `None` for the event if its kind or a code in it is unknown.
    pub fn decode([head, argument]: Record) -> (u64, Option<Self>) {
        let (upper, lower) = ((argument >> 32) as u32, argument as u32);
        let (kind, small, site) = ((head >> 8) as u8, head as u8, Site(lower));
        let event = match kind {
            kind::ENTER => Role::from_code(small).map(|role| Self::Enter { role, pool: upper, worker: lower }),
            kind::LEAVE => Some(Self::Leave),
            kind::ROOT => Some(Self::Root(site)),
            kind::STATE => State::from_code(small).map(|state| Self::State { state, site }),
            kind::STEAL => Loot::from_code(small).map(|loot| Self::Steal { loot, victim: lower, count: upper }),
            kind::PUBLISH => Some(Self::Publish { count: small, site, took: upper }),
            kind::RAID => Some(Self::Raid { count: small, took: upper }),
            kind::FIBER_START => Some(Self::FiberStart { fiber: upper, site }),
            kind::FIBER_SUSPEND => Some(Self::FiberSuspend { fiber: upper, site }),
            kind::FIBER_RESUME => Some(Self::FiberResume { fiber: upper }),
            kind::FIBER_END => Some(Self::FiberEnd { fiber: upper }),
            kind::FIBER_NAME => Some(Self::FiberName { fiber: upper, site }),
            kind::WAKE => Some(Self::Wake { fiber: upper }),
            kind::SPAWN => Some(Self::Spawn(site)),
            kind::UNPARK => Some(Self::Unpark { worker: lower }),
            kind::SPAN_BEGIN => Some(Self::SpanBegin(site)),
            kind::SPAN_END => Some(Self::SpanEnd),
            kind::MARK => Some(Self::Mark(site)),
            kind::BLOCKED => Some(Self::Blocked { worker: lower }),
            kind::UNBLOCKED => Some(Self::Unblocked { worker: lower }),
            kind::CPU_TIME => Some(Self::CpuTime(argument)),
            kind::RUN_DELAY => Some(Self::RunDelay(argument)),
            kind::WORK => Some(Self::Work(argument)),
            kind::SPAN => Some(Self::Span(argument)),
            kind::STEP => Step::from_code(small).map(|step| Self::Step { step, time: argument }),
            kind::TIMER_DUE => Some(Self::TimerDue { fiber: upper, late: u64::from(small) << 32 | u64::from(lower) }),
            kind::CORES_BUSY => Some(Self::CoresBusy(argument)),
            kind::THREAD_TIME => {
                Some(Self::ThreadTime { thread: upper, ran: (lower >> 16) as u16, waited: lower as u16 })
            }
            _ => None,
        };
        (head >> (u64::BITS - TIME_BITS), event)
    }

    /// Returns the site of the event, if it has one.
    pub fn site(self) -> Option<Site> {
        let site = match self {
            Self::Root(site) | Self::Spawn(site) | Self::SpanBegin(site) | Self::Mark(site) => site,
            Self::State { site, .. } | Self::Publish { site, .. } => site,
            Self::FiberStart { site, .. } | Self::FiberSuspend { site, .. } | Self::FiberName { site, .. } => site,
            _ => return None,
        };
        (site != Site::UNKNOWN).then_some(site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One event of each kind, with numbers that differ from each other.
    fn all() -> Vec<Event> {
        let (site, fiber, worker) = (Site(0x0102_0304), 0x1112_1314, 0x2122_2324);
        let mut all = vec![
            Event::Leave,
            Event::Root(site),
            Event::Publish { count: 200, site, took: 0x3132_3334 },
            Event::Raid { count: 201, took: 0x3132_3334 },
            Event::FiberStart { fiber, site },
            Event::FiberSuspend { fiber, site },
            Event::FiberResume { fiber },
            Event::FiberEnd { fiber },
            Event::FiberName { fiber, site },
            Event::Wake { fiber },
            Event::Spawn(site),
            Event::Unpark { worker },
            Event::SpanBegin(site),
            Event::SpanEnd,
            Event::Mark(site),
            Event::Blocked { worker },
            Event::Unblocked { worker },
            Event::CpuTime(u64::MAX - 1),
            Event::RunDelay(u64::MAX - 2),
            Event::Work(u64::MAX - 3),
            Event::Span(u64::MAX - 4),
            Event::CoresBusy(u64::MAX - 5),
            Event::ThreadTime { thread: 0x5152_5354, ran: 0x6162, waited: 0x7172 },
            Event::TimerDue { fiber, late: 0xf1_4142_4344 },
        ];
        all.extend(Role::ALL.iter().map(|&role| Event::Enter { role, pool: 7, worker }));
        all.extend(State::ALL.iter().map(|&state| Event::State { state, site }));
        all.extend(Step::ALL.iter().map(|&step| Event::Step { step, time: u64::MAX - 6 }));
        all.extend(Loot::ALL.iter().map(|&loot| Event::Steal { loot, victim: worker, count: 9 }));
        all
    }

    #[test]
    fn every_event_survives_its_record() {
        for (index, event) in all().into_iter().enumerate() {
            let time = (1 << 48) - 1 - index as u64;
            assert_eq!(Event::decode(event.encode(time)), (time, Some(event)));
        }
    }

    #[test]
    fn kinds_are_distinct() {
        let kinds = |event: &Event| event.encode(0)[0];
        let mut heads: Vec<u64> = all().iter().map(kinds).collect();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!(heads.len(), all().len());
    }

    #[test]
    fn longest_lateness_is_limited() {
        let event = |late| Event::TimerDue { fiber: 7, late };
        assert_eq!(Event::decode(event(u64::MAX).encode(5)), (5, Some(event(MAX_LATE))));
    }

    #[test]
    fn unknown_kinds_and_codes_are_no_events() {
        assert_eq!(Event::decode([5 << 16, 0]), (5, None));
        assert_eq!(Event::decode([5 << 16 | 0xff << 8, 0]), (5, None));
        let state = Event::State { state: State::Working, site: Site(1) }.encode(5);
        assert_eq!(Event::decode([state[0] | 0xff, state[1]]), (5, None));
    }
}

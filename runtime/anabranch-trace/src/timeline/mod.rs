//! What each thread and each fiber did, as intervals.
//!
//! ```
//! use anabranch_trace::{event::{Event, Role, Site, State}, read::Trace, write::Writer};
//! use anabranch_trace::timeline::{Activity, Timeline};
//!
//! let mut writer = Writer::new(Vec::new())?;
//! writer.pool(0, 1)?;
//! writer.lane(0, 4711, "worker", 0)?;
//! let state = |state| Event::State { state, site: Site::UNKNOWN };
//! writer.events(0, [
//!     Event::Enter { role: Role::Worker, pool: 0, worker: 0 }.encode(0),
//!     state(State::Working).encode(10),
//!     state(State::Parked).encode(40),
//!     Event::Leave.encode(100),
//! ])?;
//! let timeline = Timeline::new(&Trace::read(&writer.finish()?).unwrap());
//! let intervals = &timeline.lanes[0].intervals;
//! assert_eq!((intervals[0].begin, intervals[0].end, intervals[0].activity), (10, 40, Activity::Working));
//! assert_eq!((intervals[1].begin, intervals[1].end, intervals[1].activity), (40, 100, Activity::Parked));
//! # Ok::<(), std::io::Error>(())
//! ```

mod build;
mod fibers;
mod lanes;
mod shares;

pub(crate) use build::lost_pool;

use crate::{
    event::{Loot, Role, Site},
    read::Trace,
};
use serde::Serialize;

/// How long a successful search counts as [`Finding`](Activity::Finding), in nanoseconds. A thread that searches finds
/// work within this time if there is some: its requests are answered at the next fork, or it raids.
pub const PROMPT: u64 = 50_000;

/// All that happened, as intervals. Times are in nanoseconds since the trace began.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// When the trace begins: the time of its first event.
    pub begin: u64,
    /// When the trace ends: the time of its last event.
    pub end: u64,
    /// From when on no event of a thread is missing. At most `end`.
    pub complete_from: u64,
    /// The threads, in the order of [`Trace::lanes`].
    pub lanes: Vec<LaneTimeline>,
    /// The fibers, in the order in which they began.
    pub fibers: Vec<FiberTimeline>,
    /// The spans of the program, in the order of their ends.
    pub spans: Vec<Span>,
    /// What threads took from each other, in the order of time.
    pub steals: Vec<Steal>,
    /// The moments that the program marked, in the order of time.
    pub marks: Vec<Mark>,
}

/// What a thread did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LaneTimeline {
    /// Its number in the trace.
    pub id: u32,
    /// Its number in the system; zero if unknown.
    pub thread: u32,
    /// Its name.
    pub name: String,
    /// As what it first entered a pool, which pool, and the index of its worker entry there. `None` if it never did, or
    /// if the event was lost.
    pub entry: Option<(Role, u32, u32)>,
    /// What it did, in the order of time, without overlaps. Between two intervals nothing is known.
    pub intervals: Vec<Interval>,
}

/// What a thread does during an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Runs the program's code.
    Working,
    /// Runs the program's code, and the pool has found it blocked. Its slot is free for another thread.
    Blocked,
    /// Publishes forks, or raids another thread for them.
    Publishing,
    /// Searches for work without success, or for longer than [`PROMPT`].
    Searching,
    /// Searches, and takes work of another thread at the end of the interval.
    Finding,
    /// Has no work, and is parked.
    Parked,
    /// Waits for a stolen fork or for the tasks of a scope, and searches for work that it may run meanwhile.
    Joining,
    /// Waits for the same, and is parked.
    JoinParked,
    /// Waits for an event, on a thread in `run`, and is parked.
    Waiting,
    /// Is in no pool: a thread between two calls into a pool.
    Outside,
}

impl Activity {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::Outside as usize + 1;

    /// Returns its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Blocked => "blocked",
            Self::Publishing => "publishing",
            Self::Searching => "searching",
            Self::Finding => "finding",
            Self::Parked => "parked",
            Self::Joining => "joining",
            Self::JoinParked => "parked in a join",
            Self::Waiting => "waiting",
            Self::Outside => "outside of the pool",
        }
    }
}

/// A time during which a thread did one thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// When it begins.
    pub begin: u64,
    /// When it ends; always after `begin`.
    pub end: u64,
    /// What the thread does.
    pub activity: Activity,
    /// The pool; for [`Activity::Outside`] the one that the thread enters next.
    pub pool: u32,
    /// For what the thread waits, or which fork it publishes.
    pub site: Site,
    /// How an interval of [`Working`](Activity::Working) or [`Outside`](Activity::Outside) divides, as far as the
    /// readings of the thread's clocks say. `None` if there are none.
    pub shares: Option<Shares>,
}

impl Interval {
    /// Returns its length, in nanoseconds.
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// Returns whether it has no length. The timeline has no such intervals.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Parts of an interval, from 0 to 1. The rest up to 1 is the time for which the thread could run and had no core.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shares {
    /// On a core.
    pub cpu: f64,
    /// Blocked in foreign calls: locks, sleeps, files.
    pub blocked: f64,
}

/// What a fiber did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FiberTimeline {
    /// Its number.
    pub fiber: u32,
    /// The site that has its name.
    pub name: Site,
    /// Where it was spawned.
    pub spawned: Site,
    /// Its intervals, in the order of time, without gaps.
    pub intervals: Vec<FiberInterval>,
}

/// What a fiber does during an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FiberState {
    /// Runs on a thread.
    Running,
    /// Waits for what the site of the interval says.
    Waiting,
    /// Could run, and waits for its thread: since another fiber or a thread has woken it, or since its timer was due.
    Ready,
}

/// A time during which a fiber did one thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FiberInterval {
    /// When it begins.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// What the fiber does.
    pub state: FiberState,
    /// For what it waits or has waited.
    pub site: Site,
    /// The index of its thread in [`Timeline::lanes`].
    pub lane: usize,
}

/// A span of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Span {
    /// When it begins.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// The site that has its name.
    pub site: Site,
    /// The index of its thread in [`Timeline::lanes`].
    pub lane: usize,
    /// The fiber in which it was opened.
    pub fiber: Option<u32>,
    /// How many spans are around it.
    pub depth: u32,
}

/// A thread takes work of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Steal {
    /// When it begins to run the work.
    pub time: u64,
    /// The index of the thread from which it takes; `None` for the queue of the pool, or if it is unknown.
    pub from: Option<usize>,
    /// The index of the thread that takes.
    pub to: usize,
    /// What.
    pub loot: Loot,
    /// How many pieces.
    pub count: u32,
}

/// A moment that the program marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// When.
    pub time: u64,
    /// The site that has its name.
    pub site: Site,
    /// The index of its thread in [`Timeline::lanes`].
    pub lane: usize,
}

impl Timeline {
    /// Computes the timeline of a trace. Takes time O(n log k) for n events of k threads, and memory proportional to n.
    pub fn new(trace: &Trace) -> Self {
        build::build(trace)
    }

    /// Returns how many threads worked in a pool: each time at which the number changes, and the new number. Takes time
    /// O(n log n) for n intervals.
    pub fn working(&self, pool: u32) -> Vec<(u64, u32)> {
        let mut changes = Vec::new();
        for interval in self.lanes.iter().flat_map(|lane| &lane.intervals) {
            if interval.pool == pool && interval.activity == Activity::Working {
                changes.extend([(interval.begin, true), (interval.end, false)]);
            }
        }
        changes.sort_unstable();
        let mut counts: Vec<(u64, u32)> = Vec::new();
        let mut count = 0u32;
        for (time, begins) in changes {
            count = if begins { count.saturating_add(1) } else { count.saturating_sub(1) };
            match counts.last_mut() {
                Some(last) if last.0 == time => last.1 = count,
                _ => counts.push((time, count)),
            }
        }
        counts.dedup_by_key(|&mut (_, count)| count);
        counts
    }
}

//! Where the time of a parallel program went.
//!
//! A pool of T threads could have worked for T times the wall time. [`explain`] says how much of this was work, and
//! divides the rest, the *lost time*, by cause and by place.
//!
//! # The accounting
//! At each instant a pool has T slots. Threads that work take the first ones, then those that publish or raid, then
//! those that the pool has found blocked. Each of the remaining slots is lost, and has one cause:
//!
//! 1. In a pool in which nothing is open, all are lost to a sequential phase outside, or to another pool.
//! 2. A thread that searches and finds work within 50 us competes for it.
//! 3. A fiber that could run, and waits for more than 50 us for its thread, which runs another fiber.
//! 4. If few threads work (one, or a quarter of the pool) and others wait in a join for them, a long piece is the
//!    cause. Otherwise it is the cause of as many lost slots as there are threads in joins.
//! 5. Then the fibers and threads that wait for something: for a lock, for the end of others (a long piece), or for
//!    anything else (idle). Waits for the outside world count only if nothing works.
//! 6. If exactly one thread works, this is a sequential phase. Otherwise there was no work to find.
//!
//! The readings of the threads' clocks then divide the time of work: on a core, blocked in foreign calls, ready but
//! without a core. So the sum of work and losses is the product of threads and wall time.
//!
//! # Fibers that could run
//! A fiber that computes for long keeps its thread from the other fibers that are bound to it. A slot is lost by that
//! only if another thread has nothing to do. [`ReadyWaits`] has all of it: how long fibers waited from when they could
//! run until they ran, and which runs of other fibers kept the thread.
//!
//! # Limits
//! A fork that no thread takes leaves no event. So the time that forks cost is part of the work, and the critical path
//! is only bounded from above. The first part of an interval between two readings is not told from its last. While a
//! fiber waits, its pool counts as active, so a thread that computes outside meanwhile is not found.

mod account;
mod figures;
mod lanes;
mod ledger;
mod path;
mod pools;
mod ready;
mod sentences;
mod sweep;
mod waits;

use crate::{
    event::{Event, Site},
    read::Trace,
};
use serde::Serialize;

/// What [`explain`] uses besides the trace.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Options<'a> {
    /// A trace of the same program with one worker. CPU time of work above that of this trace is a loss to the machine.
    pub alone: Option<&'a Trace>,
    /// The most entries of [`Explanation::findings`], and of [`ReadyWaits::kept`].
    pub findings: usize,
}

impl Default for Options<'_> {
    /// No trace of one worker, and 32 findings.
    fn default() -> Self {
        Self { alone: None, findings: 32 }
    }
}

/// Where the time went. Times are in seconds unless a field says otherwise.
///
/// The [`Display`](std::fmt::Display) form has the figures, and then the findings in plain sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// When the time that is explained begins, in nanoseconds since the trace began.
    pub begin: u64,
    /// When it ends, in nanoseconds since the trace began.
    pub end: u64,
    /// How many events were lost. If there are any, `begin` is where all threads have theirs again.
    pub lost_events: u64,
    /// The wall time.
    pub wall: f64,
    /// The threads of all pools.
    pub threads: u64,
    /// What the threads could have worked: the sum of `capacity` of the pools.
    pub capacity: f64,
    /// The work.
    pub work: Work,
    /// The lost time: `capacity` less [`Work::time`].
    pub lost: f64,
    /// The lost time by cause, the largest first. All causes are here.
    pub losses: Vec<Loss>,
    /// The work and the span that the program has measured, if it was asked to.
    pub work_span: Option<WorkSpan>,
    /// The time on a core of the longest chain of pieces that had to run one after the other, as far as they are in the
    /// trace. At least the span of the program.
    pub critical_path: f64,
    /// The time on cores divided by the critical path. At most the parallelism of the program.
    pub parallelism: f64,
    /// The lost time by cause and place, the largest first.
    pub findings: Vec<Finding>,
    /// How long fibers that could run waited for their thread.
    pub ready_waits: ReadyWaits,
    /// The pools.
    pub pools: Vec<PoolAccount>,
    /// The spans of the program by name, the longest first.
    pub spans: Vec<SpanAccount>,
    /// What restricts these figures, in plain sentences.
    pub notes: Vec<String>,
}

impl Explanation {
    /// Returns the findings that are at least 1% of the lost time. The others are not worth a sentence.
    pub fn main_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.share >= 0.01)
    }
}

/// The work of a program or of a pool, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Work {
    /// The work that counts: on a core as far as this is known, and without the excess over a trace of one worker.
    pub time: f64,
    /// The wall time for which threads worked.
    pub wall: f64,
    /// The part of `wall` for which there are readings of the threads' CPU clocks.
    pub measured: f64,
    /// The CPU time in `measured`.
    pub cpu: f64,
    /// The CPU time of the program's work in the trace of one worker.
    pub alone: Option<f64>,
}

/// The work and the span of the calls into the pools, in seconds, as Cilkscale reports them: without the time for
/// forks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WorkSpan {
    /// How long the calls take on one thread.
    pub work: f64,
    /// How long they take on any number of threads, one after the other.
    pub span: f64,
    /// How many calls were measured.
    pub calls: u64,
}

impl WorkSpan {
    /// Returns the most threads that can be of use.
    pub fn parallelism(&self) -> f64 {
        if self.span > 0.0 { self.work / self.span } else { 1.0 }
    }

    /// Returns the sums of the trace, if it has any.
    fn of(trace: &Trace) -> Option<Self> {
        let (mut work, mut span, mut calls) = (0.0, 0.0, 0);
        for (_, event) in trace.lanes.iter().flat_map(|lane| &lane.events) {
            match *event {
                Event::Work(time) => work += time as f64 / 1e9,
                Event::Span(time) => (span, calls) = (span + time as f64 / 1e9, calls + 1),
                _ => {}
            }
        }
        (calls > 0).then_some(Self { work, span, calls })
    }
}

/// Why time was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// No call into the pool was open. One thread outside may compute.
    SequentialOutside,
    /// One thread worked, and no other thread waited for it.
    SequentialInside,
    /// Threads waited in a join while one or few others worked.
    LongPiece,
    /// There was no work to find.
    Idle,
    /// Threads searched while there was work.
    Competing,
    /// Forks were published, or raided.
    Overhead,
    /// Threads were blocked in foreign calls: locks, sleeps, files.
    Blocked,
    /// Threads could run and had no core, or the work took more CPU time than in a run of one worker.
    Machine,
    /// Fibers or threads waited for locks, and used no CPU time.
    Locked,
    /// Fibers could run, and waited for their thread, which ran another fiber.
    Kept,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 10] = [
        Self::SequentialOutside,
        Self::SequentialInside,
        Self::LongPiece,
        Self::Idle,
        Self::Competing,
        Self::Overhead,
        Self::Blocked,
        Self::Machine,
        Self::Locked,
        Self::Kept,
    ];

    /// Returns a short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialOutside => "sequential, outside of the pool",
            Self::SequentialInside => "sequential, inside of a call",
            Self::LongPiece => "waiting for a long piece",
            Self::Idle => "idle, no work to find",
            Self::Competing => "competing for work",
            Self::Overhead => "overhead of publishing",
            Self::Blocked => "blocked in foreign calls",
            Self::Machine => "machine",
            Self::Locked => "idle, waiting for locks",
            Self::Kept => "ready, behind a computing fiber",
        }
    }
}

/// The time that was lost by one cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// The cause.
    pub cause: Cause,
    /// The time.
    pub time: f64,
    /// The part of the whole lost time, from 0 to 1.
    pub share: f64,
}

/// What the places of a [`Finding`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The time between two calls into a pool: after the call at `site`, and before the one at `until`.
    Outside,
    /// A phase inside of a call: after the fork at `site`, and before the one at `until`.
    Phase,
    /// Pieces of work that come from `site`.
    Piece,
    /// Waits of fibers and threads at `site`.
    Wait,
    /// Waits for locks at `site`, while no thread worked.
    Standstill,
    /// Waits of fibers that could run, while a fiber from `site` had their thread.
    Ready,
    /// Publications of forks at `site`.
    Fork,
    /// Searches for pieces of work that come from `site`.
    Search,
    /// The work of the whole program, compared with a run of one worker.
    Work,
    /// The whole program; the sites are unknown.
    Program,
}

/// The time that was lost by one cause at one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The cause.
    pub cause: Cause,
    /// The time that was lost by all slots together.
    pub time: f64,
    /// The part of the whole lost time, from 0 to 1.
    pub share: f64,
    /// What the places are.
    pub subject: Subject,
    /// The place: the last one before a phase, the origin of a piece, or what a fiber waits for.
    pub site: Site,
    /// The first place after a phase.
    pub until: Site,
    /// The innermost span of the program that was open.
    pub span: Site,
    /// How often it happened.
    pub count: u64,
    /// The wall time of the longest one.
    pub longest: f64,
    /// When the longest one begins, in nanoseconds since the trace began.
    pub longest_begin: u64,
    /// When the longest one ends.
    pub longest_end: u64,
    /// All of this as a sentence.
    pub sentence: String,
    /// What to do about it, if this is certain.
    pub advice: Option<String>,
}

/// How long fibers that could run waited for their thread. Such a wait begins with a wake-up or when a timer is due. It
/// ends when the fiber runs. Times are in seconds.
///
/// A wait for a socket ends when the thread has looked at the socket, so the time before is missing. So are the waits
/// before the first run of a fiber, and after it yields.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadyWaits {
    /// How many such waits there were.
    pub count: u64,
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The longest one.
    pub max: f64,
    /// Those that took at least 2^n nanoseconds and less than 2^(n+1), for n from zero. The last bucket is not empty.
    pub buckets: Vec<WaitBucket>,
    /// The runs of other fibers that kept the threads during waits of 5 ms and more, by place, the longest first.
    pub kept: Vec<KeptThread>,
}

/// Waits of about the same length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct WaitBucket {
    /// How many there were.
    pub count: u64,
    /// How long they took in sum, in seconds.
    pub time: f64,
}

/// Runs of fibers at one place that kept the thread to which other fibers were bound. A run ends when the fiber waits.
/// It includes the parallel loops that the fiber calls, and the time for which the thread had no core.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KeptThread {
    /// Where the fiber was spawned.
    pub spawned: Site,
    /// For what the fiber has waited before; unknown for its first run.
    pub after: Site,
    /// For what the fiber waits afterwards; unknown if it ends or yields.
    pub until: Site,
    /// The site that has the name of the fiber with the longest run; unknown if it has none.
    pub name: Site,
    /// How many runs there were.
    pub runs: u64,
    /// The wall time of the longest one.
    pub longest: f64,
    /// When the longest one begins, in nanoseconds since the trace began.
    pub longest_begin: u64,
    /// When the longest one ends.
    pub longest_end: u64,
    /// How many waits of other fibers, of 5 ms and more, are due to these runs.
    pub waits: u64,
    /// All of this as a sentence.
    pub sentence: String,
    /// What to do about it.
    pub advice: String,
}

/// The figures of one pool, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PoolAccount {
    /// The number of the pool.
    pub pool: u32,
    /// How many threads it has.
    pub threads: u32,
    /// How many threads from outside have called into it.
    pub guests: u64,
    /// How many threads were added because others had blocked.
    pub spares: u64,
    /// For how long it existed, within the time that is explained.
    pub wall: f64,
    /// `threads` times `wall`.
    pub capacity: f64,
    /// The work, without a comparison with one worker.
    pub work: Work,
    /// The lost time by cause, the largest first, without a comparison with one worker.
    pub losses: Vec<Loss>,
}

/// The figures of all spans of a name, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SpanAccount {
    /// The site that has the name.
    pub site: Site,
    /// The name.
    pub name: String,
    /// How many there were.
    pub count: u64,
    /// The sum of their lengths.
    pub time: f64,
    /// The time that was lost while one of them was the innermost span at the place of the loss.
    pub lost: f64,
}

/// Explains where the time of a trace went. Takes time O(n log n) and memory proportional to n for n events, whatever
/// they are.
///
/// ```
/// use anabranch_trace::{event::{Event, Role, Site, State}, read::Trace, write::Writer};
/// use anabranch_trace::explain::{Cause, Options, explain};
///
/// // A pool of two threads, of which one works for 3 ms.
/// let mut writer = Writer::new(Vec::new())?;
/// writer.pool(0, 2)?;
/// let state = |state| Event::State { state, site: Site::UNKNOWN };
/// for (worker, does) in [(0, State::Working), (1, State::Parked)] {
///     writer.lane(worker, 100 + worker, "worker", 0)?;
///     let enter = Event::Enter { role: Role::Worker, pool: 0, worker };
///     writer.events(worker, [enter.encode(0), state(does).encode(0), Event::Leave.encode(3_000_000)])?;
/// }
/// let explanation = explain(&Trace::read(&writer.finish()?).unwrap(), &Options::default());
/// assert_eq!((explanation.capacity, explanation.work.time), (0.006, 0.003));
/// assert_eq!(explanation.losses[0].cause, Cause::SequentialInside);
/// assert!(explanation.to_string().contains("100% of the lost time is one sequential phase of 3.0 ms"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn explain(trace: &Trace, options: &Options<'_>) -> Explanation {
    figures::explain(trace, options)
}

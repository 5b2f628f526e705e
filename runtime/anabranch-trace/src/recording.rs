//! A computation of which every fork was recorded: the pieces of work, the forks, and the tasks.
//!
//! `ANABRANCH_TRACE_FORKS=1` makes a program on one thread write an [`Event::Step`] at each end of a piece.
//! [`Recording`] builds the tree of each call from them, in one pass. Its pieces are in one array, in the order
//! in which they ran.
//!
//! ```
//! use anabranch_trace::{event::{Event, Step}, read::Trace, recording::{Piece, Recording}, write::Writer};
//!
//! let mut writer = Writer::new(Vec::new())?;
//! let step = |step, time| Event::Step { step, time }.encode(0);
//! // 2 ns, and then a fork whose halves take 50 and 30 ns.
//! let steps = [(Step::Begin, 0), (Step::Fork, 2), (Step::Half, 50), (Step::Join, 30), (Step::End, 0)];
//! writer.events(0, steps.map(|(kind, time)| step(kind, time)))?;
//! let recording = Recording::of(&Trace::read(&writer.finish()?).unwrap(), 0).unwrap();
//! assert_eq!((recording.calls[0].work, recording.calls[0].span), (82, 52));
//! assert_eq!(recording.pieces[1], Piece::Fork { second: 3, end: 4 });
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::{
    event::{Event, Step},
    read::Trace,
};
use std::{error, fmt, mem, ops::Range};

/// The most forks and tasks inside of each other. Deeper ones count as work of what is around them, so that a function
/// can recurse over the tree.
pub const MAX_DEPTH: usize = 256;

/// A part of a recorded computation. A number is an index into [`Recording::pieces`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Work without a fork, in nanoseconds.
    Work(u64),
    /// A fork. The first half is what follows up to `second`, and the second half is from there up to `end`.
    Fork {
        /// Where the second half begins.
        second: usize,
        /// Where the fork ends.
        end: usize,
    },
    /// A wait for the tasks that follow up to `end`.
    Tasks {
        /// Where the wait ends.
        end: usize,
    },
    /// A task: what follows up to `end`.
    Task {
        /// Where the task ends.
        end: usize,
    },
}

/// A call into a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// For how long the thread had a core between the call before and this one, in nanoseconds.
    pub outside: u64,
    /// For how long it had none meanwhile, in nanoseconds.
    pub away: u64,
    /// The work of the call, in nanoseconds.
    pub work: u64,
    /// Its span, in nanoseconds.
    pub span: u64,
    /// Its pieces.
    pub pieces: Range<usize>,
}

/// The recorded calls of a program, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The calls.
    pub calls: Vec<Call>,
    /// The pieces of all calls.
    pub pieces: Vec<Piece>,
    /// How many forks and waits for tasks were too small or too deep, and are part of the work around them.
    pub merged: u64,
}

/// Why a trace has no recording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingError {
    /// No fork was recorded.
    Absent,
    /// Events were lost, so the tree is not whole.
    Lost(u64),
    /// Several threads have made calls, which cannot be put in an order.
    Threads(usize),
    /// The steps contradict each other.
    Broken,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str(
                "the trace has no record of every fork; run the program with ANABRANCH_TRACE_FORKS=1 and \
                 ANABRANCH_NUM_THREADS=1",
            ),
            Self::Lost(events) => write!(
                f,
                "the {events} oldest events of the trace were lost; record again with a larger ANABRANCH_TRACE_MEMORY, \
                 such as 1024"
            ),
            Self::Threads(count) => {
                write!(f, "{count} threads have recorded forks; run the program with ANABRANCH_NUM_THREADS=1")
            }
            Self::Broken => f.write_str("the recorded forks contradict each other; record again"),
        }
    }
}

impl error::Error for RecordingError {}

/// The kind of a part that has begun and not ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    First,
    Second,
    Tasks,
    Task,
}

struct Open {
    kind: Kind,
    /// The index of its piece; `None` if it is too deep to have one.
    at: Option<usize>,
    work: u64,
    /// The span since it began, or since its second half did.
    span: u64,
    /// The span of the first half.
    first: u64,
    /// Where the sequence around it begins.
    before: usize,
}

#[derive(Default)]
struct Builder {
    recording: Recording,
    grain: u64,
    open: Vec<Open>,
    /// The pieces before this one are no part of the present sequence.
    sequence: usize,
}

impl Recording {
    /// Builds the tree of a trace. A fork, or a wait for tasks, whose work is at most `grain` nanoseconds is part of
    /// the work around it. A call that had not ended is left out. Takes time and memory proportional to the trace.
    ///
    /// # Errors
    /// Returns an error if the trace has no complete recording of one thread.
    pub fn of(trace: &Trace, grain: u64) -> Result<Self, RecordingError> {
        let is_step = |&(_, event): &(u64, Event)| matches!(event, Event::Step { .. });
        let mut lanes = trace.lanes.iter().filter(|lane| lane.events.iter().any(is_step));
        let lane = lanes.next().ok_or(RecordingError::Absent)?;
        match lanes.count() {
            _ if trace.lost > 0 => return Err(RecordingError::Lost(trace.lost)),
            0 => {}
            more => return Err(RecordingError::Threads(more + 1)),
        }
        let mut builder = Builder { grain, ..Builder::default() };
        // When the last call ended; `None` before the first one.
        let mut ended = None;
        for &(time, event) in &lane.events {
            let Event::Step { step, time: took } = event else { continue };
            builder.step(step, took).ok_or(RecordingError::Broken)?;
            match step {
                Step::Begin => {
                    let call = builder.recording.calls.last_mut().ok_or(RecordingError::Broken)?;
                    let wall = ended.map_or(0, |ended| time.saturating_sub(ended));
                    call.outside = if ended.is_some() { took.min(wall) } else { 0 };
                    call.away = wall - call.outside;
                }
                Step::End => ended = Some(time),
                _ => {}
            }
        }
        let mut recording = builder.recording;
        if !builder.open.is_empty() || recording.calls.last().is_some_and(|call| call.pieces.end == usize::MAX) {
            let call = recording.calls.pop().ok_or(RecordingError::Broken)?;
            recording.pieces.truncate(call.pieces.start);
        }
        if recording.calls.is_empty() { Err(RecordingError::Absent) } else { Ok(recording) }
    }

    /// Returns the work of all calls, in nanoseconds.
    pub fn work(&self) -> u64 {
        self.calls.iter().fold(0, |sum, call| sum.saturating_add(call.work))
    }

    /// Returns how many forks and tasks there are among the pieces.
    pub fn forks(&self) -> usize {
        let is_fork = |piece: &&Piece| matches!(piece, Piece::Fork { .. } | Piece::Task { .. });
        self.pieces.iter().filter(is_fork).count()
    }

    /// Returns how long the program was outside of calls, from the begin of the first one to the end of the last, in
    /// nanoseconds.
    pub fn outside(&self) -> u64 {
        self.calls.iter().fold(0, |sum, call| sum.saturating_add(call.outside).saturating_add(call.away))
    }

    /// Returns the least time that any scheduler needs on some cores, in nanoseconds: of each call the larger one of
    /// its span and its work for each core, and the time outside.
    pub fn bound(&self, cores: u64) -> u64 {
        let least = |call: &Call| call.span.max(call.work / cores.max(1));
        self.calls.iter().map(least).fold(self.outside(), u64::saturating_add)
    }
}

impl Builder {
    /// Returns `None` if the step contradicts those before it.
    fn step(&mut self, step: Step, time: u64) -> Option<()> {
        if step == Step::Begin {
            let start = self.recording.pieces.len();
            let is_open = self.recording.calls.last().is_some_and(|call| call.pieces.end == usize::MAX);
            if is_open {
                return None;
            }
            self.sequence = start;
            let pieces = start..usize::MAX;
            self.recording.calls.push(Call { outside: 0, away: 0, work: 0, span: 0, pieces });
            return Some(());
        }
        if self.recording.calls.last()?.pieces.end != usize::MAX {
            return None;
        }
        if step != Step::Task && step != Step::WaitEnd {
            self.work(time);
            self.count(time, time);
        }
        match step {
            Step::Begin => return None,
            Step::Fork => self.open(Kind::First, Piece::Fork { second: 0, end: 0 }),
            Step::Wait => self.open(Kind::Tasks, Piece::Tasks { end: 0 }),
            Step::Task => {
                self.open.last().filter(|open| open.kind == Kind::Tasks)?;
                self.open(Kind::Task, Piece::Task { end: 0 });
            }
            Step::Half => {
                let len = self.recording.pieces.len();
                let open = self.open.last_mut().filter(|open| open.kind == Kind::First)?;
                open.kind = Kind::Second;
                open.first = mem::take(&mut open.span);
                if let Some(at) = open.at {
                    self.recording.pieces[at] = Piece::Fork { second: len, end: 0 };
                    self.sequence = len;
                }
            }
            Step::Join => {
                let open = self.open.pop().filter(|open| open.kind == Kind::Second)?;
                self.close(&open);
                self.count(open.work, open.first.max(open.span));
            }
            Step::TaskEnd => {
                let open = self.open.pop().filter(|open| open.kind == Kind::Task)?;
                if let Some(at) = open.at {
                    let end = self.recording.pieces.len();
                    self.recording.pieces[at] = Piece::Task { end };
                    self.sequence = end;
                }
                let tasks = self.open.last_mut()?;
                tasks.work = tasks.work.saturating_add(open.work);
                tasks.span = tasks.span.max(open.span);
            }
            Step::WaitEnd => {
                let open = self.open.pop().filter(|open| open.kind == Kind::Tasks)?;
                self.close(&open);
                self.count(open.work, open.span);
            }
            Step::End => {
                let end = self.recording.pieces.len();
                self.recording.calls.last_mut().filter(|_| self.open.is_empty())?.pieces.end = end;
            }
        }
        Some(())
    }

    /// Adds work to the present sequence.
    fn work(&mut self, time: u64) {
        let pieces = &mut self.recording.pieces;
        match pieces.get_mut(self.sequence..).and_then(<[Piece]>::last_mut) {
            _ if time == 0 => {}
            Some(Piece::Work(sum)) => *sum = sum.saturating_add(time),
            _ => pieces.push(Piece::Work(time)),
        }
    }

    /// Adds to the work and the span of what is open.
    fn count(&mut self, more_work: u64, more_span: u64) {
        let (work, span) = match self.open.last_mut() {
            Some(open) => (&mut open.work, &mut open.span),
            None => match self.recording.calls.last_mut() {
                Some(call) => (&mut call.work, &mut call.span),
                None => return,
            },
        };
        (*work, *span) = (work.saturating_add(more_work), span.saturating_add(more_span));
    }

    fn open(&mut self, kind: Kind, piece: Piece) {
        let before = self.sequence;
        // A wait needs room for a task in it.
        let depth = self.open.len() + usize::from(kind == Kind::Tasks);
        let at = (depth < MAX_DEPTH && self.open.last().is_none_or(|open| open.at.is_some())).then(|| {
            self.recording.pieces.push(piece);
            self.sequence = self.recording.pieces.len();
            self.sequence - 1
        });
        self.open.push(Open { kind, at, work: 0, span: 0, first: 0, before });
    }

    /// Closes a fork or a wait. A small one becomes work.
    fn close(&mut self, &Open { at, work, before, .. }: &Open) {
        let Some(at) = at else {
            self.recording.merged += 1;
            return;
        };
        let end = self.recording.pieces.len();
        if work > self.grain {
            match &mut self.recording.pieces[at] {
                Piece::Fork { end: place, .. } | Piece::Tasks { end: place } => *place = end,
                _ => {}
            }
            self.sequence = end;
            return;
        }
        self.recording.merged += 1;
        self.recording.pieces.truncate(at);
        self.sequence = before;
        self.work(work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Lane;

    fn recording(steps: &[(Step, u64)], grain: u64) -> Result<Recording, RecordingError> {
        let event = |(index, &(step, time)): (usize, &(Step, u64))| (index as u64 * 1_000, Event::Step { step, time });
        let events = steps.iter().enumerate().map(event).collect();
        let lane = Lane { id: 0, thread: 0, name: String::new(), lost: 0, events };
        Recording::of(&Trace { lanes: vec![lane], ..Trace::default() }, grain)
    }

    use Step::{Begin, End, Fork, Half, Join, Task, TaskEnd, Wait, WaitEnd};

    /// Forks in both halves of a fork, between work.
    const NESTED: [(Step, u64); 12] = [
        (Begin, 0),
        (Fork, 10),
        (Fork, 1),
        (Half, 20),
        (Join, 30),
        (Half, 2),
        (Fork, 3),
        (Half, 40),
        (Join, 5),
        (Join, 4),
        (Wait, 6),
        (WaitEnd, 0),
    ];

    #[test]
    fn work_and_span_of_nested_forks() {
        let steps = [&NESTED[..], &[(End, 100)]].concat();
        let whole = recording(&steps, 0).unwrap();
        let [call] = &whole.calls[..] else { panic!("{whole:?}") };
        assert_eq!(call.work, 10 + 1 + 20 + 30 + 2 + 3 + 40 + 5 + 4 + 6 + 100);
        assert_eq!(call.span, 10 + (3 + 40 + 4) + 6 + 100);
        assert_eq!(whole.pieces[1], Piece::Fork { second: 7, end: 12 }, "{whole:?}");
        assert_eq!(whole.pieces.last(), Some(&Piece::Work(106)), "an empty wait is no piece: {whole:?}");
        assert_eq!(whole.bound(1), call.work);
        assert_eq!(whole.bound(64), call.span);
    }

    #[test]
    fn small_forks_are_work() {
        let steps = [&NESTED[..], &[(End, 100)]].concat();
        let whole = recording(&steps, 0).unwrap();
        let coarse = recording(&steps, 51).unwrap();
        assert_eq!((coarse.calls[0].work, coarse.calls[0].span), (whole.calls[0].work, whole.calls[0].span));
        let work = Piece::Work;
        let fork = Piece::Fork { second: 3, end: 4 };
        assert_eq!(coarse.pieces, [work(10), fork, work(53), work(52), work(106)]);
        assert_eq!(recording(&steps, 1_000).unwrap().pieces, [work(221)]);
    }

    #[test]
    fn tasks_are_beside_each_other_and_calls_after_each_other() {
        let one = [(Begin, 7), (Wait, 1), (Task, 0), (TaskEnd, 50), (Task, 0), (TaskEnd, 60), (WaitEnd, 0), (End, 2)];
        let whole = recording(&[one, one].concat(), 0).unwrap();
        let [first, second] = &whole.calls[..] else { panic!("{whole:?}") };
        assert_eq!((first.work, first.span, first.outside, first.away), (113, 63, 0, 0));
        assert_eq!((second.outside, second.away), (7, 993));
        assert_eq!(whole.pieces[1], Piece::Tasks { end: 6 });
        assert_eq!(whole.pieces[4], Piece::Task { end: 6 });
        assert_eq!((whole.work(), whole.outside(), whole.bound(2)), (226, 1_000, 1_126));
    }

    #[test]
    fn call_that_has_not_ended_is_left_out() {
        let steps = [&[(Begin, 0), (End, 9)], &NESTED[..5]].concat();
        let whole = recording(&steps, 0).unwrap();
        assert_eq!((whole.calls.len(), &whole.pieces[..]), (1, &[Piece::Work(9)][..]));
        assert_eq!(recording(&NESTED[..5], 0), Err(RecordingError::Absent));
    }

    #[test]
    fn deep_forks_are_work() {
        let mut steps = vec![(Begin, 0)];
        steps.extend([(Fork, 1); 1_000]);
        steps.extend([(Half, 1), (Join, 1)].repeat(1_000));
        steps.push((End, 0));
        let whole = recording(&steps, 0).unwrap();
        assert_eq!(whole.calls[0].work, 3_000);
        let forks = whole.pieces.iter().filter(|piece| matches!(piece, Piece::Fork { .. }));
        assert_eq!(forks.count(), MAX_DEPTH);
    }

    #[test]
    fn contradictions_are_refused() {
        for steps in [
            &[(Begin, 0), (Half, 0)][..],
            &[(Begin, 0), (Fork, 0), (Join, 0)],
            &[(Begin, 0), (Fork, 0), (End, 0)],
            &[(Begin, 0), (Task, 0)],
            &[(Begin, 0), (Wait, 0), (TaskEnd, 0)],
            &[(Begin, 0), (Begin, 0)],
            &[(End, 0)],
        ] {
            assert_eq!(recording(steps, 0), Err(RecordingError::Broken), "{steps:?}");
        }
        let lane = |id| Lane {
            id,
            thread: 0,
            name: String::new(),
            lost: 0,
            events: vec![(0, Event::Step { step: Begin, time: 0 })],
        };
        let mut trace = Trace { lanes: vec![lane(0), lane(1)], ..Trace::default() };
        assert_eq!(Recording::of(&trace, 0), Err(RecordingError::Threads(2)));
        trace.lost = 3;
        assert_eq!(Recording::of(&trace, 0), Err(RecordingError::Lost(3)));
        assert_eq!(Recording::of(&Trace::default(), 0), Err(RecordingError::Absent));
    }
}

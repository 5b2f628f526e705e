//! The sums of a trace, as the tables and the plots show them.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_trace::event::Loot;

use super::model::{Ending, Lane, MOMENTS, Model, MomentKind, Piece, STATES, WAITING, WORKING};

/// How often something happened, and how long it took in sum, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub total: u64,
    pub longest: u64,
}

impl Sum {
    fn add(&mut self, length: u64) {
        self.count += 1;
        self.total += length;
        self.longest = self.longest.max(length);
    }

    pub fn mean(&self) -> u64 {
        self.total / self.count.max(1)
    }
}

/// The totals of a fiber.
#[derive(Debug, Default)]
pub struct FiberSum {
    pub runs: Sum,
    /// From where it left a thread to wait until it ran again.
    pub waits: Sum,
    pub threads: BTreeSet<u32>,
    pub ended: bool,
}

/// The sums.
#[derive(Debug)]
pub struct Totals {
    /// The time in each state, by thread.
    pub states: Vec<[u64; STATES.len()]>,
    /// The spans by site, and whether they are calls into the pool.
    pub spans: BTreeMap<(bool, u32), Sum>,
    /// The waits of fibers by site.
    pub fiber_waits: BTreeMap<u32, Sum>,
    /// The waits of threads that are in no fiber, by site.
    pub thread_waits: BTreeMap<u32, Sum>,
    pub fibers: BTreeMap<u32, FiberSum>,
    pub moments: [u64; MOMENTS.len()],
    /// How often each kind of loot was stolen.
    pub steals: [u64; 4],
    /// How many uninterrupted pieces of work have at least 2^n nanoseconds and less than 2^(n+1), and how long they
    /// take in sum.
    pub lengths: [(u64, u64); 48],
}

impl Totals {
    pub fn new(model: &Model) -> Self {
        let mut totals = Self {
            states: Vec::new(),
            spans: BTreeMap::new(),
            fiber_waits: BTreeMap::new(),
            thread_waits: BTreeMap::new(),
            fibers: BTreeMap::new(),
            moments: [0; MOMENTS.len()],
            steals: [0; 4],
            lengths: [(0, 0); 48],
        };
        let mut runs: Vec<(Piece, u32)> = Vec::new();
        for (index, lane) in model.lanes.iter().enumerate() {
            totals.add_states(lane);
            for span in lane.spans.iter().flatten() {
                totals.spans.entry((span.detail == 1, span.subject)).or_default().add(span.length());
            }
            runs.extend(lane.fibers.iter().map(|&run| (run, index as u32)));
            for moment in &lane.moments {
                totals.moments[moment.kind as usize] += 1;
                if moment.kind == MomentKind::Steal {
                    totals.steals[moment.numbers[2] as usize] += 1;
                }
            }
        }
        totals.add_fibers(runs);
        totals
    }

    /// Returns the time of all threads in a state.
    pub fn state(&self, state: usize) -> u64 {
        self.states.iter().map(|states| states[state]).sum()
    }

    /// Returns the time of all threads in any state.
    pub fn all_states(&self) -> u64 {
        self.states.iter().flatten().sum()
    }

    fn add_states(&mut self, lane: &Lane) {
        let mut states = [0; STATES.len()];
        for piece in &lane.states {
            states[usize::from(piece.class)] += piece.length();
            if piece.class == WORKING {
                let bucket = &mut self.lengths[piece.length().ilog2().min(47) as usize];
                bucket.0 += 1;
                bucket.1 += piece.length();
            }
            if piece.class == WAITING {
                self.thread_waits.entry(piece.subject).or_default().add(piece.length());
            }
        }
        self.states.push(states);
    }

    fn add_fibers(&mut self, mut runs: Vec<(Piece, u32)>) {
        runs.sort_by_key(|(run, _)| (run.subject, run.begin));
        for (index, &(run, lane)) in runs.iter().enumerate() {
            let fiber = self.fibers.entry(run.subject).or_default();
            fiber.runs.add(run.length());
            fiber.threads.insert(lane);
            fiber.ended |= run.detail == Ending::DONE;
            let next = runs.get(index + 1).filter(|(next, _)| next.subject == run.subject);
            if let (Some(site), Some((next, _))) = (run.detail.checked_sub(Ending::WAITS), next) {
                let wait = next.begin.saturating_sub(run.end);
                fiber.waits.add(wait);
                self.fiber_waits.entry(site).or_default().add(wait);
            }
        }
    }
}

/// Returns how long the threads are in each state in each of `count` equal parts of the trace, as numbers of threads.
pub fn utilisation(model: &Model, count: usize) -> Vec<[f64; STATES.len()]> {
    let mut parts = vec![[0.0; STATES.len()]; count];
    let width = model.wall as f64 / count as f64;
    if width <= 0.0 {
        return parts;
    }
    for piece in model.lanes.iter().flat_map(|lane| &lane.states) {
        for_each_part(piece, width, count, |part, share| parts[part][usize::from(piece.class)] += share);
    }
    parts
}

/// Calls `f` with each part that a piece is in, and with how much of the part it covers.
pub fn for_each_part(piece: &Piece, width: f64, count: usize, mut f: impl FnMut(usize, f64)) {
    let (begin, end) = (piece.begin as f64 / width, piece.end as f64 / width);
    let mut part = (begin as usize).min(count - 1);
    while part < count && (part as f64) < end {
        let share = end.min((part + 1) as f64) - begin.max(part as f64);
        if share > 0.0 {
            f(part, share);
        }
        part += 1;
    }
}

/// Returns the name of a kind of loot by its code.
pub fn loot_name(code: usize) -> &'static str {
    Loot::ALL.get(code).map_or("something", |&loot| super::model::loot(loot))
}

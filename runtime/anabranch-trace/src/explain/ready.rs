//! How long fibers that could run waited for their thread, and which runs of other fibers kept the thread meanwhile.
//!
//! A fiber is bound to its thread. So if it waits for long, another fiber has run there: in one long run, or in many
//! short ones. The longest run during a wait is found by a segment tree over the runs of each thread, so all of this
//! takes time O(n log n) for n intervals.

use crate::{
    event::Site,
    explain::{KeptThread, ReadyWaits, WaitBucket},
    timeline::{FiberInterval, FiberState, Timeline},
};
use std::collections::{BTreeMap, BTreeSet};

/// The least wait for which a run is sought that kept the thread, in nanoseconds.
const LONG_WAIT: u64 = 5_000_000;

/// The least part of such a run that is within the wait, in nanoseconds.
const MIN_RUN: u64 = 1_000_000;

/// The nanoseconds of a second.
const SECOND: f64 = 1e9;

/// The time from which on a fiber runs until it waits.
#[derive(Clone, Copy)]
struct Run {
    begin: u64,
    end: u64,
    place: Place,
    /// The site that has the name of the fiber.
    name: Site,
}

/// Where the fiber was spawned, and between which waits it runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    spawned: Site,
    after: Site,
    until: Site,
}

/// The runs on one thread in the order of time, without overlaps.
#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
    /// A segment tree: node `i` has the index of the longest run below the nodes `2 * i` and `2 * i + 1`.
    longest: Vec<usize>,
}

impl Runs {
    /// Puts the runs in order.
    fn prepare(&mut self) {
        self.runs.sort_by_key(|run| (run.begin, run.end));
        for index in 1..self.runs.len() {
            // Only contradictory traces have runs that overlap.
            let next = self.runs[index].begin;
            let before = &mut self.runs[index - 1];
            before.end = before.end.min(next);
        }
        let len = self.runs.len();
        self.longest = vec![0; len];
        self.longest.extend(0..len);
        for node in (1..len).rev() {
            self.longest[node] = self.longer(self.longest[2 * node], self.longest[2 * node + 1]);
        }
    }

    fn longer(&self, one: usize, other: usize) -> usize {
        let length = |index: usize| self.runs[index].end - self.runs[index].begin;
        if length(other) > length(one) { other } else { one }
    }

    /// Returns the index of the longest run in a range that is not empty.
    fn longest_in(&self, from: usize, to: usize) -> usize {
        let len = self.runs.len();
        let (mut low, mut high, mut best) = (from + len, to + len, from);
        while low < high {
            if low % 2 == 1 {
                best = self.longer(best, self.longest[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                best = self.longer(best, self.longest[high]);
            }
            (low, high) = (low / 2, high / 2);
        }
        best
    }

    /// Returns the index of the run that has the most of a time, if that is at least [`MIN_RUN`].
    fn keeper(&self, begin: u64, end: u64) -> Option<usize> {
        let first = self.runs.partition_point(|run| run.end <= begin);
        let after = self.runs.partition_point(|run| run.begin < end);
        let last = after.checked_sub(1).filter(|&last| first <= last)?;
        // The first and the last run may be partly outside.
        let inner = if first + 1 < last { self.longest_in(first + 1, last) } else { first };
        let within = |index: usize| {
            let run = &self.runs[index];
            run.end.min(end).saturating_sub(run.begin.max(begin))
        };
        [first, inner, last].into_iter().max_by_key(|&index| within(index)).filter(|&index| within(index) >= MIN_RUN)
    }
}

/// The long waits during which runs at one place kept the thread.
#[derive(Default)]
struct Kept {
    waits: u64,
    /// The runs by thread and index.
    runs: BTreeSet<(usize, usize)>,
}

/// Returns how long fibers waited for their thread, with at most `most` places whose runs kept a thread. The sentences
/// are empty.
pub(super) fn ready_waits(timeline: &Timeline, most: usize) -> ReadyWaits {
    let mut lanes: Vec<Runs> = timeline.lanes.iter().map(|_| Runs::default()).collect();
    // The length of each wait, and the times of the long ones with the thread.
    let (mut lengths, mut long) = (Vec::new(), Vec::new());
    for fiber in &timeline.fibers {
        for (index, interval) in fiber.intervals.iter().enumerate() {
            let &FiberInterval { begin, end, state, site, lane } = interval;
            let next = fiber.intervals.get(index + 1);
            match (state, next) {
                (FiberState::Running, _) => {
                    let until = next.map_or(Site::UNKNOWN, |next| next.site);
                    let place = Place { spawned: fiber.spawned, after: site, until };
                    lanes[lane].runs.push(Run { begin, end, place, name: fiber.name });
                }
                (FiberState::Ready, Some(next))
                    if next.state == FiberState::Running && begin >= timeline.complete_from =>
                {
                    lengths.push(end - begin);
                    if end - begin >= LONG_WAIT {
                        long.push((next.lane, begin, end));
                    }
                }
                _ => {}
            }
        }
    }
    let mut kept: BTreeMap<Place, Kept> = BTreeMap::new();
    if !long.is_empty() {
        lanes.iter_mut().for_each(Runs::prepare);
    }
    for (lane, begin, end) in long {
        if let Some(run) = lanes[lane].keeper(begin, end) {
            let kept = kept.entry(lanes[lane].runs[run].place).or_default();
            kept.waits += 1;
            kept.runs.insert((lane, run));
        }
    }
    let mut kept: Vec<KeptThread> = kept.iter().map(|(place, kept)| kept_thread(&lanes, *place, kept)).collect();
    kept.sort_by(|one, two| two.longest.total_cmp(&one.longest));
    kept.truncate(most);
    summary(lengths, kept)
}

fn kept_thread(lanes: &[Runs], place: Place, kept: &Kept) -> KeptThread {
    let runs = kept.runs.iter().map(|&(lane, run)| lanes[lane].runs[run]);
    let longest = runs.max_by_key(|run| run.end - run.begin).expect("each entry has a run");
    KeptThread {
        spawned: place.spawned,
        after: place.after,
        until: place.until,
        name: longest.name,
        runs: kept.runs.len() as u64,
        longest: (longest.end - longest.begin) as f64 / SECOND,
        longest_begin: longest.begin,
        longest_end: longest.end,
        waits: kept.waits,
        sentence: String::new(),
        advice: String::new(),
    }
}

fn summary(mut lengths: Vec<u64>, kept: Vec<KeptThread>) -> ReadyWaits {
    lengths.sort_unstable();
    let bucket = |length: u64| length.max(1).ilog2() as usize;
    let mut buckets = vec![WaitBucket::default(); lengths.last().map_or(0, |&longest| bucket(longest) + 1)];
    for &length in &lengths {
        let bucket = &mut buckets[bucket(length)];
        bucket.count += 1;
        bucket.time += length as f64 / SECOND;
    }
    let quantile = |q: f64| {
        let rank = (q * lengths.len() as f64).ceil() as usize;
        lengths.get(rank.saturating_sub(1)).map_or(0.0, |&length| length as f64 / SECOND)
    };
    let (p50, p99, max) = (quantile(0.5), quantile(0.99), quantile(1.0));
    ReadyWaits { count: lengths.len() as u64, p50, p99, max, buckets, kept }
}

//! The programs that run on virtual cores, each with the bound of a greedy scheduler.

use anabranch_sim::{
    Machine, simulate,
    thread::{sleep, work},
    time::Instant,
};
use anabranch_simulated::{Pool, join, prelude::*, sync::Event};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    fmt,
    time::Duration,
};

/// The loops that warm up, and those that are measured after them.
const WARM_UP: u32 = 3;
const LOOPS: u32 = 20;

/// The time that fibers have until the event comes.
const GATHERING: Duration = Duration::from_millis(5);

/// A program of forks.
#[derive(Debug, Clone, Copy)]
pub enum Program {
    /// The sum of the leaves of a balanced tree.
    Tree { leaves: u64, grain: Duration },
    /// A loop of iterations of equal length, again and again after a gap, in which the caller sleeps.
    Loop { count: u32, iteration: Duration, gap: Duration },
    /// A loop of loops. An iteration of the last inner loop takes ten times as long as one of the first.
    Nested { outer: u32, inner: u32, iteration: Duration },
    /// A recursion whose function works before its two halves, as quicksort does, or after them, as mergesort does.
    Sort { items: u64, merges: bool },
    /// Fibers that are spawned at once, wait for an event, and compute when it comes.
    Burst { fibers: u32, computation: Duration },
    /// Fibers that compute at once, again and again after a gap. A fiber spawns them, or else a thread outside.
    Fibers { fibers: u32, computation: Duration, gap: Duration, from_outside: bool },
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Tree { leaves, grain } => format!("tree of {leaves} x {grain:?}"),
            Self::Loop { count, iteration, gap } => format!("loop of {count} x {iteration:?}, gap {gap:?}"),
            Self::Nested { outer, inner, iteration } => format!("levels of {outer} x {inner} x {iteration:?}, skewed"),
            Self::Sort { items, merges: false } => format!("quicksort of {items}"),
            Self::Sort { items, merges: true } => format!("mergesort of {items}"),
            Self::Burst { fibers, computation } => format!("burst of {fibers} fibers x {computation:?}"),
            Self::Fibers { fibers, computation, gap, from_outside } => {
                let place = if *from_outside { "outside" } else { "inside" };
                format!("{fibers} fibers x {computation:?} from {place}, gap {gap:?}")
            }
        };
        f.pad(&text)
    }
}

/// A program on a machine.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub program: Program,
    pub machine: Machine,
    pub threads: usize,
}

impl Scenario {
    /// Returns the mean time over some seeds, and the loops of each run.
    pub fn measure(&self, seeds: u64) -> Duration {
        let (program, threads) = (self.program, self.threads);
        let run = |seed| simulate(self.machine.clone(), seed, move || program.run(threads)).value;
        (0..seeds).map(run).sum::<Duration>() / seeds as u32
    }

    /// Returns the larger one of the span, and the work for each core.
    pub fn greedy(&self) -> Duration {
        let cores = self.machine.cores() as u32;
        match self.program {
            Program::Tree { leaves, grain } => grain.max(grain * leaves as u32 / cores),
            Program::Loop { count, iteration, .. } => iteration.max(iteration * count / cores),
            Program::Nested { outer, inner, iteration } => {
                skewed(iteration, outer - 1, outer).max(iteration * outer * inner / cores)
            }
            Program::Sort { items, merges } => greedy_sort(items, merges, cores as usize),
            Program::Burst { fibers, computation } | Program::Fibers { fibers, computation, .. } => {
                computation.max(computation * fibers / cores)
            }
        }
    }
}

impl Program {
    fn run(self, threads: usize) -> Duration {
        let pool = Pool::builder().threads(threads).build().expect("a pool");
        let time = |body: &(dyn Fn() + Sync)| {
            let start = Instant::now();
            pool.install(body);
            start.elapsed()
        };
        match self {
            Self::Tree { leaves, grain } => time(&|| assert_eq!(sum(0, leaves, grain), leaves * (leaves - 1) / 2)),
            Self::Loop { count, iteration, gap } => {
                repeat(gap, || time(&|| (0..count).into_par_iter().for_each(|_| work(iteration))))
            }
            Self::Nested { outer, inner, iteration } => time(&|| {
                (0..outer).into_par_iter().for_each(|index| {
                    (0..inner).into_par_iter().for_each(|_| work(skewed(iteration, index, outer)));
                });
            }),
            Self::Sort { items, merges } => time(&|| sort(items, merges)),
            Self::Fibers { fibers, computation, gap, from_outside } => repeat(gap, || {
                let start = Instant::now();
                if from_outside {
                    let handles: Vec<_> = (0..fibers).map(|_| pool.spawn(move |_| work(computation))).collect();
                    pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).expect("a result")));
                } else {
                    let parent = pool.spawn(move |cx| {
                        cx.scope(|s| (0..fibers).for_each(|_| drop(s.spawn(move |_| work(computation)))));
                    });
                    pool.run(|cx| parent.join(cx)).expect("a result");
                }
                start.elapsed()
            }),
            Self::Burst { fibers, computation } => pool.run(|cx| {
                let is_due = Event::new();
                let start = cx.scope(|s| {
                    for _ in 0..fibers {
                        s.spawn(|cx| is_due.wait(cx).map(|()| work(computation)));
                    }
                    cx.sleep(GATHERING).expect("nobody cancels");
                    let start = Instant::now();
                    is_due.set();
                    start
                });
                start.elapsed()
            }),
        }
    }
}

/// Runs a program again and again after a gap, and returns its mean time.
fn repeat(gap: Duration, run: impl Fn() -> Duration) -> Duration {
    let times = (0..WARM_UP + LOOPS).map(|_| {
        if !gap.is_zero() {
            sleep(gap);
        }
        run()
    });
    times.skip(WARM_UP as usize).sum::<Duration>() / LOOPS
}

/// Returns the length of an iteration, of which the last is ten times the first, and the mean is `mean`.
fn skewed(mean: Duration, index: u32, count: u32) -> Duration {
    mean * 2 / 11 + mean * 18 / 11 * index / (count - 1)
}

fn sum(low: u64, high: u64, grain: Duration) -> u64 {
    if high - low == 1 {
        work(grain);
        return low;
    }
    let middle = low.midpoint(high);
    let (left, right) = join(|| sum(low, middle, grain), || sum(middle, high, grain));
    left + right
}

/// The number of items from which on a sort is parallel.
const MIN_SORT: u64 = 2_000;

/// Returns the time of the sequential part of a sort: a nanosecond an item, or ten for each item of a leaf.
fn sequential(items: u64) -> Duration {
    Duration::from_nanos(if items < MIN_SORT { 10 * items } else { items })
}

/// Returns the items of the two halves. A partition of quicksort is uneven, and a half has a third to two thirds.
fn halves(items: u64, merges: bool) -> (u64, u64) {
    let third = items / 3;
    let first = if merges { items / 2 } else { third + items.wrapping_mul(0x9E37_79B9_7F4A_7C15) % third };
    (first, items - first)
}

fn sort(items: u64, merges: bool) {
    let is_leaf = items < MIN_SORT;
    if is_leaf || !merges {
        work(sequential(items));
    }
    if is_leaf {
        return;
    }
    let (left, right) = halves(items, merges);
    join(|| sort(left, merges), || sort(right, merges));
    if merges {
        work(sequential(items));
    }
}

/// Returns the time of a sort if a core that becomes free begins the part that waits longest. A mergesort is the same
/// in reverse.
fn greedy_sort(items: u64, merges: bool, cores: usize) -> Duration {
    let (mut ready, mut running, mut now) = (VecDeque::from([items]), BinaryHeap::new(), Duration::ZERO);
    loop {
        while running.len() < cores
            && let Some(items) = ready.pop_front()
        {
            running.push(Reverse((now + sequential(items), items)));
        }
        let Some(Reverse((end, items))) = running.pop() else { return now };
        now = end;
        if items >= MIN_SORT {
            let (left, right) = halves(items, merges);
            ready.extend([left, right]);
        }
    }
}

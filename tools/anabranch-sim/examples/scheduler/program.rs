//! The programs that run on virtual cores, each with the bound of a greedy scheduler.

use anabranch_sim::{
    Machine, simulate,
    thread::{sleep, work},
    time::Instant,
};
use anabranch_simulated::{Pool, join, prelude::*, sync::Event};
use std::{fmt, time::Duration};

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
    /// Fibers that are spawned at once, wait for an event, and compute when it comes.
    Burst { fibers: u32, computation: Duration },
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Tree { leaves, grain } => format!("tree of {leaves} x {grain:?}"),
            Self::Loop { count, iteration, gap } => format!("loop of {count} x {iteration:?}, gap {gap:?}"),
            Self::Nested { outer, inner, iteration } => format!("levels of {outer} x {inner} x {iteration:?}, skewed"),
            Self::Burst { fibers, computation } => format!("burst of {fibers} fibers x {computation:?}"),
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
            Program::Burst { fibers, computation } => computation.max(computation * fibers / cores),
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
                let times = (0..WARM_UP + LOOPS).map(|_| {
                    if !gap.is_zero() {
                        sleep(gap);
                    }
                    time(&|| (0..count).into_par_iter().for_each(|_| work(iteration)))
                });
                times.skip(WARM_UP as usize).sum::<Duration>() / LOOPS
            }
            Self::Nested { outer, inner, iteration } => time(&|| {
                (0..outer).into_par_iter().for_each(|index| {
                    (0..inner).into_par_iter().for_each(|_| work(skewed(iteration, index, outer)));
                });
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

//! The libraries that are compared, one a file, and Go.

pub mod anabranch;
pub mod executor;
pub mod go;
pub mod may;
pub mod threads;
pub mod tokio;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bench::{self, Peers};
use crate::fibers::workloads::alarms::Alarms;
use crate::fibers::workloads::asleep::Crowd;
use crate::fibers::workloads::waits::Program;
use crate::sample::Meter;

/// What a peer did and how long it took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// What the workload checks.
    pub answer: u64,
    /// Of the measured part.
    #[serde(flatten)]
    pub meter: Meter,
    /// Further figures, by name.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
}

impl Done {
    /// Without further figures.
    pub fn new(answer: u64, meter: Meter) -> Done {
        Done { answer, meter, figures: BTreeMap::new() }
    }
}

/// A library with fibers, tasks or the like; they are called fibers here.
///
/// Everything is measured inside: a fiber of the pool begins the work and looks at the clock, so that the way in, which
/// differs between libraries, is left out. Which of these functions a peer has is said by the workload's `suits`.
pub trait Peer: 'static {
    /// Whatever holds the threads.
    type Pool;

    /// How many fibers can be alive at once, where there is a limit.
    const MOST: u64 = u64::MAX;

    /// How many can be spawned in a sample that is not to take a minute.
    const MOST_SPAWNED: u64 = u64::MAX;

    /// The largest number that `fib` can be called with.
    const MOST_FIB: u32 = u32::MAX;

    /// A pool in which `threads` threads run fibers.
    fn pool(threads: usize) -> Self::Pool;

    /// Spawns `fibers` that give way `times` times each. Returns how often they did, together.
    fn yields(_: &Self::Pool, _fibers: u64, _times: u64) -> Done {
        unsuited()
    }

    /// Spawns `count` fibers that do nothing, then waits for each of them. Returns for how many.
    fn spawn(_: &Self::Pool, _count: u64) -> Done {
        unsuited()
    }

    /// The `n`th Fibonacci number, one fiber a fork.
    fn fib(_: &Self::Pool, _n: u32) -> Done {
        unsuited()
    }

    /// Spawns as many fibers as make up the crowd. Each enters it, sleeps until the crowd wakes up, and leaves.
    fn asleep(_: &Self::Pool, _crowd: &Arc<Crowd>) {
        unsuited()
    }

    /// Spawns a fiber for each alarm, which sleeps until it is due and rings it.
    fn alarms(_: &Self::Pool, _alarms: &Arc<Alarms>) {
        unsuited()
    }

    /// Spawns `fibers` that lock a mutex `times` times each, to add one to what is in it. Returns the sum.
    fn lock(_: &Self::Pool, _fibers: u64, _times: u64) -> Done {
        unsuited()
    }

    /// Runs a program that mostly waits. Returns how many steps it made.
    fn waits(_: &Self::Pool, _program: Program) -> Done {
        unsuited()
    }
}

fn unsuited() -> ! {
    panic!("the workload does not suit this peer")
}

/// A column of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// anabranch, the structured way: `Cx::scope`, `Cx::join`.
    Anabranch,
    /// anabranch with `spawn` and `JoinHandle::join`.
    AnabranchSpawn,
    /// may, with `go!` and `JoinHandle::join`.
    May,
    /// tokio on its pool of threads.
    Tokio,
    /// tokio on the calling thread.
    TokioCurrent,
    /// async-executor, the one below smol.
    Executor,
    /// Go, a program of its own.
    Go,
    /// Threads of the system with the locks of std.
    Std,
    /// Threads of the system with the locks of parking_lot.
    ParkingLot,
}

impl Kind {
    /// The name that the command line and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Anabranch => "anabranch",
            Kind::AnabranchSpawn => "anabranch-spawn",
            Kind::May => "may",
            Kind::Tokio => "tokio",
            Kind::TokioCurrent => "tokio-current",
            Kind::Executor => "async-executor",
            Kind::Go => "go",
            Kind::Std => "std",
            Kind::ParkingLot => "parking-lot",
        }
    }
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[
        Kind::Anabranch,
        Kind::AnabranchSpawn,
        Kind::May,
        Kind::Tokio,
        Kind::TokioCurrent,
        Kind::Executor,
        Kind::Go,
        Kind::Std,
        Kind::ParkingLot,
    ];

    const BASELINE: Kind = Kind::Anabranch;

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        match self {
            Kind::TokioCurrent => asked.contains(&1).then_some(Some(1)).into_iter().collect(),
            // As many as there are fibers, which the system spreads over all cores.
            Kind::Std | Kind::ParkingLot => vec![None],
            _ => asked.iter().copied().map(Some).collect(),
        }
    }

    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or_else(|| "-".into(), |threads| threads.to_string())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        bench::by_name(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in Kind::ALL.iter().copied() {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("tokyo".parse::<Kind>().unwrap_err().contains("tokio-current"));
    }
}

//! The compared libraries, one per file, and Go.

pub mod anabranch;
#[cfg(feature = "peers")]
pub mod executor;
#[cfg(feature = "peers")]
pub mod go;
#[cfg(feature = "peers")]
pub mod may;
pub mod threads;
#[cfg(feature = "peers")]
pub mod tokio;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bench::{self, Peers};
use crate::fibers::programs::alarms::Alarms;
use crate::fibers::programs::crowd::Crowd;
use crate::fibers::programs::gathering::Gathering;
use crate::fibers::programs::waits::Program;

pub use crate::fibers::done::Done;

/// The amounts that are the most for may.
pub mod most_for_may {
    /// The number of coroutines that can live at once.
    pub const ALIVE: u64 = 25_000;
    /// The number of coroutines that can be spawned in a sample of less than a minute.
    pub const SPAWNED: u64 = 100_000;
    /// The largest argument of `fib`.
    pub const FIB: u32 = 21;
}

/// A library with fibers, tasks or the like, all called fibers here.
///
/// Everything is measured inside: a fiber of the pool starts the work and reads the clock. So the entry into the pool,
/// which differs between libraries, does not count. The workload's `suits` determines which of these functions a peer
/// has.
pub trait Peer: 'static {
    /// The pool of threads.
    type Pool;

    /// The number of fibers that can live at once, if there is a limit.
    const MOST: u64 = u64::MAX;

    /// The number of fibers that can be spawned in a sample of less than a minute.
    const MOST_SPAWNED: u64 = u64::MAX;

    /// The largest argument of `fib`.
    const MOST_FIB: u32 = u32::MAX;

    /// Makes a pool in which `threads` threads run fibers.
    fn pool(threads: usize) -> Self::Pool;

    /// Spawns `fibers` that yield `times` times each. Returns the total number of yields.
    fn yields(_: &Self::Pool, _fibers: u64, _times: u64) -> Done {
        unsuited()
    }

    /// Spawns `count` fibers that do nothing, then waits for each of them. Returns their number.
    fn spawn(_: &Self::Pool, _count: u64) -> Done {
        unsuited()
    }

    /// Computes the `n`th Fibonacci number, with one fiber per fork.
    fn fib(_: &Self::Pool, _n: u32) -> Done {
        unsuited()
    }

    /// Spawns the fibers of the crowd. Each enters it, sleeps until the crowd wakes up, and leaves.
    fn asleep(_: &Self::Pool, _crowd: &Arc<Crowd>) {
        unsuited()
    }

    /// Spawns a fiber for each alarm, which sleeps until the alarm is due and rings it.
    fn alarms(_: &Self::Pool, _alarms: &Arc<Alarms>) {
        unsuited()
    }

    /// Spawns `fibers` that lock a mutex `times` times each and increment its value. Returns the sum.
    fn lock(_: &Self::Pool, _fibers: u64, _times: u64) -> Done {
        unsuited()
    }

    /// Runs two fibers, each on its own worker. Each sets `times` time limits one after the other, and waits within
    /// each of them. The fibers share a scope, or have no scope in common. Returns the number of time limits. `pool`
    /// has two threads.
    fn timeouts(_: &Self::Pool, _share_a_scope: bool, _times: u64) -> Done {
        unsuited()
    }

    /// Starts the fibers of the gathering at its interval. When all of them wait, has them compute.
    fn gather(_: &Self::Pool, _gathering: &Arc<Gathering>) {
        unsuited()
    }

    /// Runs a program that mostly waits. Returns the number of its steps.
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
    /// tokio on its current-thread runtime.
    TokioCurrent,
    /// async-executor, the executor of smol.
    Executor,
    /// Go, as a separate program.
    Go,
    /// Threads of the system with the locks of std.
    Std,
    /// Threads of the system with the locks of parking_lot.
    ParkingLot,
}

impl Kind {
    /// Returns the name on the command line and in the report.
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
        #[cfg(feature = "peers")]
        Kind::May,
        #[cfg(feature = "peers")]
        Kind::Tokio,
        #[cfg(feature = "peers")]
        Kind::TokioCurrent,
        #[cfg(feature = "peers")]
        Kind::Executor,
        #[cfg(feature = "peers")]
        Kind::Go,
        Kind::Std,
        #[cfg(feature = "peers")]
        Kind::ParkingLot,
    ];

    const BASELINE: Kind = Kind::Anabranch;

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        match self {
            Kind::TokioCurrent => asked.contains(&1).then_some(Some(1)).into_iter().collect(),
            // As many as there are fibers; the system spreads them over all cores.
            Kind::Std | Kind::ParkingLot => vec![None],
            _ => asked.iter().copied().map(Some).collect(),
        }
    }

    fn is_of_anabranch(self) -> bool {
        matches!(self, Kind::Anabranch | Kind::AnabranchSpawn)
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

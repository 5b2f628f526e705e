//! The balance of fibers over workers: 400 fibers start at an interval, wait for an event, and compute for some 200 us
//! each when it has come.
//!
//! The figure is the share of the worker with the most fibers, as a multiple of the mean: 1 is even, 2 means that one
//! of two workers had all. `x one` is the speed of the computation as a multiple of that of one thread. There are 16
//! workers on machines with as many cores, and two on others.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::Workload;
use crate::bench::Threads;
use crate::fibers::peers::{Kind, Peer};
use crate::fibers::programs::gathering::Gathering;
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Returns the number of workers.
fn threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if cores >= 16 { 16 } else { 2 }
}

/// Fibers that gather.
pub struct Balance {
    count: u64,
    interval: Duration,
}

impl Balance {
    /// Creates a workload of 400 fibers that start at an interval of so many microseconds.
    pub fn new(micros: u64) -> Balance {
        Balance { count: 400, interval: Duration::from_micros(micros) }
    }
}

impl Workload for Balance {
    fn title(&self) -> String {
        format!(
            "{} fibers, started {:?} apart, that compute after an event: most on a worker",
            self.count, self.interval
        )
    }

    fn unit(&self) -> &'static str {
        "x mean"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(threads())
    }

    fn suits(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Anabranch | Kind::AnabranchSpawn | Kind::Tokio)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let gathering = Arc::new(Gathering::new(self.count, self.interval));
        let ((), meter) = metered(|| P::gather(pool, &gathering));
        let (most, speed) = gathering.figures(threads());
        Sample { value: most, ..Sample::per_unit(meter, 1.0, 1.0) }.with("x one", speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_gather() {
        everyone_does_it(&Balance { count: 10, interval: Duration::from_micros(50) }, threads());
    }
}

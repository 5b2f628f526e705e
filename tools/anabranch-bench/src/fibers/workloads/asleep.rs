//! A very large number of sleeping fibers, and their memory.
//!
//! Each fiber reports that it has started, and sleeps until a common time. A separate thread waits until all have
//! started, reads the memory of the process, and checks that no fiber has woken up yet. The figure is the added
//! resident memory per fiber. All fibers have to end.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::Workload;
use crate::fibers::peers::{Kind, Peer, most_for_may};
use crate::fibers::programs::crowd::Crowd;
use crate::process::Memory;
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Sleeping fibers.
pub struct Asleep {
    count: u64,
    nap: Duration,
}

impl Asleep {
    /// Creates a workload with `count` fibers, which wake up `milliseconds` after the start.
    pub fn new(count: u64, milliseconds: u64) -> Asleep {
        Asleep { count, nap: Duration::from_millis(milliseconds) }
    }
}

impl Workload for Asleep {
    fn title(&self) -> String {
        format!(
            "{} fibers asleep at once (may: {}): resident bytes each",
            self.count,
            self.count.min(most_for_may::ALIVE)
        )
    }

    fn unit(&self) -> &'static str {
        "bytes"
    }

    fn rounds(&self, asked: usize) -> usize {
        asked.div_ceil(5)
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::AnabranchSpawn | Kind::Executor | Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let crowd = Arc::new(Crowd::new(self.count.min(P::MOST), self.nap));
        let before = Memory::now();
        let watcher = Arc::clone(&crowd);
        let watcher = thread::spawn(move || watcher.watch(before));
        let ((), meter) = metered(|| P::asleep(pool, &crowd));
        watcher.join().expect("watching does not panic");
        let (mut figures, elsewhere) = crowd.figures();
        let meter = elsewhere.unwrap_or(meter);
        let value = figures.remove("resident").expect("memory is resident");
        let sample = Sample { value, ..Sample::per_unit(meter, 1.0, 1.0) };
        let sample = figures.iter().fold(sample, |sample, (name, figure)| sample.with(name, *figure));
        sample.with("end s", meter.wall - self.nap.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_sleep() {
        everyone_does_it(&Asleep::new(100, 500), 2);
    }
}

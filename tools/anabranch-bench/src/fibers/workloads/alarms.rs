//! Sleeping timers: how late they are, and in which order they ring.
//!
//! There is one fiber per alarm. The due times are spread evenly over a second, in a shuffled order. An alarm rings
//! when its sleep has ended: it reads the clock and takes the next sequence number. The figure is the lateness that 99
//! of 100 alarms stay below. `swapped` is the share, in a thousand, of consecutive pairs that ring in the wrong order.
//! (Several threads ring independently of each other.)

use std::sync::Arc;
use std::time::Duration;

use super::Workload;
use crate::fibers::peers::{Kind, Peer, most_for_may};
use crate::fibers::programs::alarms::Alarms;
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Alarms that ring.
pub struct Ringing {
    count: u64,
}

impl Ringing {
    /// Creates a workload with `count` alarms.
    pub fn new(count: u64) -> Ringing {
        Ringing { count }
    }
}

impl Workload for Ringing {
    fn title(&self) -> String {
        format!("{} alarms within a second (may: {}), lateness", self.count, self.count.min(most_for_may::ALIVE))
    }

    fn unit(&self) -> &'static str {
        "us, p99"
    }

    fn rounds(&self, asked: usize) -> usize {
        asked.div_ceil(3)
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::AnabranchSpawn | Kind::Executor | Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let count = self.count.min(P::MOST);
        let lead = Duration::from_millis(300 + count / 60);
        let alarms = Arc::new(Alarms::new(count, lead, Duration::from_secs(1)));
        let ((), meter) = metered(|| P::alarms(pool, &alarms));
        let elsewhere = alarms.take_result();
        let (mut figures, meter) =
            elsewhere.map_or_else(|| (alarms.figures(), meter), |done| (done.figures, done.meter));
        let value = figures.remove("p99").expect("the figure of this workload");
        let sample = Sample { value, ..Sample::per_unit(meter, 1.0, 1.0) };
        let sample = figures.iter().fold(sample, |sample, (name, figure)| sample.with(name, *figure));
        sample.with("CPU ms", meter.cpu * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_ring_alarms() {
        everyone_does_it(&Ringing::new(50), 2);
    }
}

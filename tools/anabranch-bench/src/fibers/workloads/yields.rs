//! Yields on one thread, with no other fiber or with one: the cost of a switch away and back.

use super::{Settings, Threads, Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer};
use crate::sample::Sample;

/// Fibers that do nothing but yield.
pub struct Yields {
    fibers: u64,
    times: u64,
}

impl Yields {
    /// Creates a workload with `fibers` fibers.
    pub fn new(settings: &Settings, fibers: u64) -> Yields {
        Yields { fibers, times: if settings.quick { 200_000 } else { 2_000_000 } / fibers }
    }
}

impl Workload for Yields {
    fn title(&self) -> String {
        match self.fibers {
            1 => "one fiber yields, no other is ready".into(),
            fibers => format!("{fibers} fibers yield in turn"),
        }
    }

    fn unit(&self) -> &'static str {
        "ns/yield"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(1)
    }

    fn suits(&self, kind: Kind) -> bool {
        // A single thread would have no other thread to switch to.
        !matches!(kind, Kind::AnabranchSpawn | Kind::ParkingLot) && (kind != Kind::Std || self.fibers > 1)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let done = P::yields(pool, self.fibers, self.times);
        let expected = self.fibers * self.times;
        assert_eq!(done.answer, expected, "how often the fibers gave way");
        nanoseconds_each(done, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_yield() {
        everyone_does_it(&Yields { fibers: 1, times: 100 }, 1);
        everyone_does_it(&Yields { fibers: 2, times: 100 }, 1);
    }
}

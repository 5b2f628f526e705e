//! Spawns fibers that do nothing, all of them before the first join. Joins them one after the other, or by the end of
//! their scope.
//!
//! A tenth of them run first as a warm-up, so that the memory which later fibers reuse has been touched.

use super::{Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer, most_for_may};
use crate::sample::Sample;

/// Fibers that do nothing.
pub struct Spawn {
    count: u64,
}

impl Spawn {
    /// Creates a workload with `count` fibers.
    pub fn new(count: u64) -> Spawn {
        Spawn { count }
    }
}

impl Workload for Spawn {
    fn title(&self) -> String {
        let may = self.count.min(most_for_may::SPAWNED);
        format!("spawn {} empty fibers, then join them (may: {may}, {} at a time)", self.count, most_for_may::ALIVE)
    }

    fn unit(&self) -> &'static str {
        "ns/fiber"
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let count = self.count.min(P::MOST_SPAWNED);
        P::spawn(pool, count / 10);
        let done = P::spawn(pool, count);
        assert_eq!(done.answer, count, "how many fibers were joined");
        nanoseconds_each(done, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_spawn() {
        everyone_does_it(&Spawn::new(1000), 2);
    }
}

//! Spawns fibers that do nothing, all of them before the first is waited for, and joins them one after the other, or by
//! the end of their scope.
//!
//! A tenth of them first, so that memory which every fiber to come reuses has been touched.

use super::{Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer};
use crate::sample::Sample;

/// Fibers that do nothing.
pub struct Spawn {
    count: u64,
}

impl Spawn {
    /// `count` of them.
    pub fn new(count: u64) -> Spawn {
        Spawn { count }
    }
}

impl Workload for Spawn {
    fn title(&self) -> String {
        format!(
            "spawn {} empty fibers, then join them (may: {} at a time)",
            self.count,
            crate::fibers::peers::may::May::MOST
        )
    }

    fn unit(&self) -> &'static str {
        "ns/fiber"
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        P::spawn(pool, self.count / 10);
        let done = P::spawn(pool, self.count);
        assert_eq!(done.answer, self.count, "how many fibers were joined");
        nanoseconds_each(done, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn everyone_spawns() {
        everyone_does_it(&Spawn::new(1000), 2);
    }
}

//! Leaves that sleep, under one recursive join, in an idle pool.
//!
//! Sleeping leaves represent long leaves that do not fork. On any number of cores they show how far and how fast the
//! work spreads over the threads. 64 leaves of 20 ms on 16 threads take at least 80 ms.

use std::thread;
use std::time::Duration;

use super::coarse::{asleep, joined};
use super::{Threads, Workload};
use crate::peers::{Kind, Peer};
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Leaves that sleep.
pub struct Sleepers {
    leaves: u64,
    each: Duration,
    threads: usize,
}

impl Sleepers {
    /// Creates `leaves` leaves of `milliseconds` each, for a pool of `threads`.
    pub fn new(leaves: u64, milliseconds: u64, threads: usize) -> Sleepers {
        Sleepers { leaves, each: Duration::from_millis(milliseconds), threads }
    }
}

impl Workload for Sleepers {
    fn title(&self) -> String {
        let ideal = self.leaves.div_ceil(self.threads as u64) * self.each.as_millis() as u64;
        format!("{} leaves that sleep {:?}, idle pool (ideal {ideal} ms)", self.leaves, self.each)
    }

    fn unit(&self) -> &'static str {
        "ms"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(self.threads)
    }

    fn rounds(&self, asked: usize) -> usize {
        asked.div_ceil(2)
    }

    fn suits(&self, kind: Kind) -> bool {
        // The default pool has a different size than this workload requires.
        !matches!(kind, Kind::Hand | Kind::AnabranchOutside)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        asleep::<P>(pool);
        let each = self.each;
        let leaf = move |leaf: u64| {
            thread::sleep(each);
            leaf
        };
        let (sum, meter) = metered(|| P::enter(pool, |cx| joined::<P>(0, self.leaves, &leaf, cx)));
        assert_eq!(sum, self.leaves * (self.leaves - 1) / 2, "the sum of the leaves");
        Sample::per_unit(meter, 1.0, 1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::all_peers_agree;

    #[test]
    fn all_peers_wake_up() {
        all_peers_agree(&Sleepers::new(9, 2, 4), &[4]);
    }
}

//! The Fibonacci numbers by their definition, with one fiber per fork and no cut-off.

use super::{Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer, most_for_may};
use crate::sample::Sample;

/// Returns the `n`th Fibonacci number, by counting up.
fn expected(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// The workload `fib(n)`.
pub struct Fib {
    n: u32,
}

impl Fib {
    /// Creates the workload `fib(n)`.
    pub fn new(n: u32) -> Fib {
        Fib { n }
    }
}

/// Returns the number of forks. A call with n >= 2 forks once: forks(n) = 1 + forks(n - 1) + forks(n - 2) = fib(n + 1)
/// - 1.
fn forks(n: u32) -> u64 {
    expected(n + 1) - 1
}

impl Workload for Fib {
    fn title(&self) -> String {
        let may = self.n.min(most_for_may::FIB);
        format!("fib({}), a fiber for each of {} forks (may: fib({may}))", self.n, forks(self.n))
    }

    fn unit(&self) -> &'static str {
        "ns/fork"
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        P::fib(pool, 12);
        let n = self.n.min(P::MOST_FIB);
        let done = P::fib(pool, n);
        assert_eq!(done.answer, expected(n), "fib({n})");
        nanoseconds_each(done, forks(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_compute_same_number() {
        everyone_does_it(&Fib::new(15), 2);
    }
}

//! The Fibonacci numbers by their definition, one fiber a fork and no cutoff.

use super::{Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer};
use crate::sample::Sample;

/// The `n`th Fibonacci number, by counting up.
fn expected(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// `fib(n)`.
pub struct Fib {
    n: u32,
}

impl Fib {
    /// `fib(n)`.
    pub fn new(n: u32) -> Fib {
        Fib { n }
    }

    /// A call with n >= 2 forks once: forks(n) = 1 + forks(n - 1) + forks(n - 2) = fib(n + 1) - 1.
    fn forks(&self) -> u64 {
        expected(self.n + 1) - 1
    }
}

impl Workload for Fib {
    fn title(&self) -> String {
        format!("fib({}), a fiber for each of {} forks", self.n, self.forks())
    }

    fn unit(&self) -> &'static str {
        "ns/fork"
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        P::fib(pool, 12);
        let done = P::fib(pool, self.n);
        assert_eq!(done.answer, expected(self.n), "fib({})", self.n);
        nanoseconds_each(done, self.forks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn everyone_finds_the_same_number() {
        everyone_does_it(&Fib::new(15), 2);
    }
}

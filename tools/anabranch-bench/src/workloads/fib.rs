//! The Fibonacci numbers by their definition, with one fork per call and no cut-off.
//!
//! This is the oldest benchmark of work stealing (Cilk). It waits for no memory and computes almost nothing. So the
//! difference to plain recursion, divided by the number of forks, is the cost of a fork.

use super::Workload;
use crate::peers::Peer;
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Returns the `n`th Fibonacci number.
#[inline(never)]
pub fn fib<P: Peer>(n: u32, cx: &P::Cx<'_>) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = P::join(cx, |cx| fib::<P>(n - 1, cx), |cx| fib::<P>(n - 2, cx));
    a + b
}

/// Returns the `n`th Fibonacci number, by counting up.
fn expected(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// The workload `fib(n)`.
pub struct Fib {
    n: u32,
    forks: u64,
}

impl Fib {
    /// The usual value of [`Settings::fib`](super::Settings::fib): 39 million forks.
    pub const USUAL: u32 = 37;
    /// The value for `--quick`: 3.5 million forks.
    pub const QUICK: u32 = 32;

    /// Creates the workload `fib(n)`.
    pub fn new(n: u32) -> Fib {
        // A call with n >= 2 forks once: forks(n) = 1 + forks(n - 1) + forks(n - 2) = fib(n + 1) - 1.
        Fib { n, forks: (expected(n + 1) - 1).max(1) }
    }
}

impl Workload for Fib {
    fn title(&self) -> String {
        format!("fib({}) without cutoff, {} forks", self.n, self.forks)
    }

    fn unit(&self) -> &'static str {
        "ns/fork"
    }

    fn rounds(&self, asked: usize) -> usize {
        // It takes the longest of all workloads, and varies the least.
        asked.div_ceil(2)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        P::enter(pool, |cx| fib::<P>(16, cx));
        let n = std::hint::black_box(self.n);
        let (answer, meter) = metered(|| P::enter(pool, |cx| fib::<P>(n, cx)));
        assert_eq!(answer, expected(self.n), "fib({})", self.n);
        Sample::per_unit(meter, self.forks as f64, 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::all_peers_agree;

    #[test]
    fn forks_are_counted() {
        fn forks(n: u32) -> u64 {
            if n < 2 { 0 } else { 1 + forks(n - 1) + forks(n - 2) }
        }
        for n in 2..20 {
            assert_eq!(Fib::new(n).forks, forks(n));
        }
        assert_eq!(expected(10), 55);
    }

    #[test]
    fn all_peers_compute_same_number() {
        all_peers_agree(&Fib::new(18), &[1, 3]);
    }
}

//! Nested joins whose leaves take from 10 ns to 1 ms, to show the size from which forking pays.
//!
//! A balanced recursion over a power of two of leaves. For every size of a leaf, all leaves together take about 30 ms
//! on one thread, so that every pool has the time to wake up.

use std::time::Duration;

use super::work::{Spinner, spin};
use super::{Settings, Workload};
use crate::peers::Peer;
use crate::peers::plain::Plain;
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Spins `steps` steps in each of the `count` leaves from `first` on, and sums up the results.
#[inline(never)]
pub fn spin_leaves<P: Peer>(first: u64, count: u64, steps: u64, cx: &P::Cx<'_>) -> u64 {
    if count == 1 {
        return spin(first, steps);
    }
    let half = count / 2;
    let (a, b) = P::join(
        cx,
        |cx| spin_leaves::<P>(first, half, steps, cx),
        |cx| spin_leaves::<P>(first + half, count - half, steps, cx),
    );
    a.wrapping_add(b)
}

/// Leaves of one size under nested joins.
pub struct Leaves {
    nanoseconds: f64,
    count: u64,
    steps: u64,
    expected: u64,
}

impl Leaves {
    /// Creates as many leaves of `nanoseconds` as take about 30 ms together, or 15 ms with `--quick`.
    pub fn new(settings: &Settings, nanoseconds: f64) -> Leaves {
        let total = if settings.quick { 15e6 } else { 30e6 };
        Leaves::with_count(settings.spinner, nanoseconds, (total / nanoseconds) as u64)
    }

    fn in_microseconds(&self) -> bool {
        self.nanoseconds >= 10e3
    }

    fn with_count(spinner: Spinner, nanoseconds: f64, about: u64) -> Leaves {
        let count = about.next_power_of_two();
        let steps = spinner.steps(nanoseconds);
        Leaves { nanoseconds, count, steps, expected: spin_leaves::<Plain>(0, count, steps, &()) }
    }
}

impl Workload for Leaves {
    fn title(&self) -> String {
        let each = Duration::from_nanos(self.nanoseconds as u64);
        format!("{} leaves of {each:?} of CPU work under nested joins", self.count)
    }

    fn unit(&self) -> &'static str {
        if self.in_microseconds() { "us/leaf" } else { "ns/leaf" }
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        P::enter(pool, |cx| spin_leaves::<P>(0, 512, 1, cx));
        let count = std::hint::black_box(self.count);
        let (sum, meter) = metered(|| P::enter(pool, |cx| spin_leaves::<P>(0, count, self.steps, cx)));
        assert_eq!(sum, self.expected, "the sum of the leaves");
        Sample::per_unit(meter, self.count as f64, if self.in_microseconds() { 1e-6 } else { 1e-9 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::all_peers_agree;

    #[test]
    fn leaves_are_all_visited() {
        let one_by_one = (5..18).fold(0u64, |sum, seed| sum.wrapping_add(spin(seed, 9)));
        assert_eq!(spin_leaves::<Plain>(5, 13, 9, &()), one_by_one);
    }

    #[test]
    fn all_peers_visit_same_leaves() {
        let spinner = Spinner::with_speed(2.0);
        all_peers_agree(&Leaves::with_count(spinner, 10.0, 5000), &[1, 3]);
        all_peers_agree(&Leaves::with_count(spinner, 10_000.0, 20), &[1, 3]);
    }
}

//! A few long leaves of CPU work under one recursive join, in an idle pool.
//!
//! This is the simplest use of two cores, and one at which heartbeat schedulers fail. Two leaves of 50 ms on two
//! threads take 100 ms with a library that shares work only at the next fork of a running thread, because neither leaf
//! forks again.

use std::thread;
use std::time::Duration;

use super::work::spin;
use super::{Settings, Threads, Workload};
use crate::peers::Peer;
use crate::peers::plain::Plain;
use crate::sample::Sample;
use crate::stopwatch::metered;

/// Joins the leaves from `first` to `first + count`, and sums up the results of `leaf` for their numbers.
pub fn joined<P: Peer>(first: u64, count: u64, leaf: &(impl Fn(u64) -> u64 + Sync), cx: &P::Cx<'_>) -> u64 {
    if count == 1 {
        return leaf(first);
    }
    let half = count / 2;
    let (a, b) =
        P::join(cx, |cx| joined::<P>(first, half, leaf, cx), |cx| joined::<P>(first + half, count - half, leaf, cx));
    a.wrapping_add(b)
}

/// Lets the pool work a little and then fall asleep.
pub fn asleep<P: Peer>(pool: &P::Pool) {
    P::enter(pool, |cx| joined::<P>(0, 1024, &|leaf| spin(leaf, 100), cx));
    thread::sleep(Duration::from_millis(100));
}

/// Long leaves of CPU work.
pub struct Coarse {
    leaves: u64,
    milliseconds: u64,
    steps: u64,
    expected: u64,
}

impl Coarse {
    /// Creates `leaves` leaves of `milliseconds` each, for two threads.
    pub fn new(settings: &Settings, leaves: u64, milliseconds: u64) -> Coarse {
        let steps = settings.spinner.steps(milliseconds as f64 * 1e6);
        let expected = joined::<Plain>(0, leaves, &|leaf| spin(leaf, steps), &());
        Coarse { leaves, milliseconds, steps, expected }
    }
}

impl Workload for Coarse {
    fn title(&self) -> String {
        let ideal = self.leaves * self.milliseconds / 2;
        format!("{} leaves of {} ms of CPU work, idle pool (ideal {ideal} ms)", self.leaves, self.milliseconds)
    }

    fn unit(&self) -> &'static str {
        "ms"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(2)
    }

    fn rounds(&self, asked: usize) -> usize {
        asked.div_ceil(2)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        asleep::<P>(pool);
        let steps = self.steps;
        let leaf = move |leaf| spin(leaf, steps);
        let (sum, meter) = metered(|| P::enter(pool, |cx| joined::<P>(0, self.leaves, &leaf, cx)));
        assert_eq!(sum, self.expected, "the sum of the leaves");
        Sample::per_unit(meter, 1.0, 1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::{all_peers_agree, settings};

    #[test]
    fn leaves_are_numbered_from_left_to_right() {
        let seen = std::sync::Mutex::new(Vec::new());
        let leaf = |leaf| {
            seen.lock().unwrap().push(leaf);
            1u64 << leaf
        };
        assert_eq!(joined::<Plain>(2, 5, &leaf, &()), 0b111_1100);
        assert_eq!(seen.into_inner().unwrap(), [2, 3, 4, 5, 6]);
    }

    #[test]
    fn all_peers_finish_same_leaves() {
        all_peers_agree(&Coarse::new(&settings(), 2, 1), &[2]);
        all_peers_agree(&Coarse::new(&settings(), 8, 1), &[2]);
    }
}

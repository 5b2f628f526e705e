//! An idle pool, from 100 ms after its last work.
//!
//! An idle pool should cost nothing: no thread wakes up, and no CPU time passes. The figure is the number of context
//! switches of all threads of the process. Plain recursion, which has no pool, shows the cost of the sleep and of the
//! counting. `idle-handle` stays inside the pool meanwhile, like a program that enters once and then waits for input.

use std::thread;
use std::time::Duration;

use super::fib::fib;
use super::{Settings, Threads, Workload};
use crate::peers::Peer;
use crate::process::Switches;
use crate::sample::{Meter, Sample};
use crate::stopwatch::metered;

/// A pool without work.
pub struct Idle {
    quiet: Duration,
    inside: bool,
}

impl Idle {
    /// Idles for five seconds, or half a second with `--quick`; `inside` stays inside the pool.
    pub fn new(settings: &Settings, inside: bool) -> Idle {
        Idle { quiet: Duration::from_millis(if settings.quick { 500 } else { 5000 }), inside }
    }
}

fn rest(quiet: Duration) -> (u64, Meter) {
    thread::sleep(Duration::from_millis(100));
    let before = Switches::now();
    let ((), meter) = metered(|| thread::sleep(quiet));
    (Switches::now().since(&before), meter)
}

impl Workload for Idle {
    fn title(&self) -> String {
        let place = if self.inside { "inside the pool" } else { "outside" };
        format!("idle for {:?}, the caller waits {place}", self.quiet)
    }

    fn unit(&self) -> &'static str {
        "switches"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(2)
    }

    fn rounds(&self, _asked: usize) -> usize {
        1
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        // Some milliseconds of work, so that every thread has been awake.
        let quiet = self.quiet;
        let (switches, meter) = if self.inside {
            P::enter(pool, move |cx| {
                assert_eq!(fib::<P>(25, cx), 75_025);
                rest(quiet)
            })
        } else {
            assert_eq!(P::enter(pool, |cx| fib::<P>(25, cx)), 75_025);
            rest(quiet)
        };
        Sample { value: switches as f64, ..Sample::per_unit(meter, 1.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::all_peers_agree;

    #[test]
    fn all_peers_idle() {
        all_peers_agree(&Idle { quiet: Duration::from_millis(20), inside: false }, &[2]);
        all_peers_agree(&Idle { quiet: Duration::from_millis(20), inside: true }, &[2]);
    }
}

//! Enters a pool for one join of two empty closures, repeatedly, from a plain thread.
//!
//! This is the cost of a call to a library that uses fork-join inside and has no pool. There is no work to share, so
//! the best implementation wakes no thread and waits for none. The context switches show whether it woke a thread.

use std::hint::black_box;
use std::time::Duration;

use super::{Settings, Workload};
use crate::peers::Peer;
use crate::process::Switches;
use crate::sample::Sample;
use crate::stopwatch::repeated;

/// Joins of two empty closures.
pub struct Outermost {
    budget: Duration,
}

impl Outermost {
    /// Runs for 20 ms per sample, or 5 ms with `--quick`.
    pub fn new(settings: &Settings) -> Outermost {
        Outermost { budget: Duration::from_millis(if settings.quick { 5 } else { 20 }) }
    }
}

impl Workload for Outermost {
    fn title(&self) -> String {
        "outermost join of two empty closures from a plain thread".into()
    }

    fn unit(&self) -> &'static str {
        "ns/join"
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let before = Switches::now();
        let (total, calls, meter) = repeated(self.budget, || {
            let (a, b) = P::enter(pool, |cx| P::join(cx, |_| black_box(1), |_| black_box(2)));
            a + b
        });
        // This includes the switches of the warm-up, mostly a tenth of the total, so the figure is a little high.
        let switches = Switches::now().since(&before);
        assert_eq!(total, 3 * calls, "the sum of what the closures returned");
        Sample::per_unit(meter, calls as f64, 1e-9).with("switches/1000", switches as f64 * 1e3 / calls as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::{all_peers_agree, settings};

    #[test]
    fn all_peers_join() {
        all_peers_agree(&Outermost::new(&settings()), &[1, 3]);
    }
}

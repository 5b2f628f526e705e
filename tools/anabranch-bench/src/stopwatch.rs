//! The measurement of wall and CPU time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::process;
use crate::sample::Meter;

/// Measures from its start to its stop.
#[derive(Debug)]
pub struct Stopwatch {
    cpu: f64,
    start: Instant,
}

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Stopwatch {
        Stopwatch { cpu: process::cpu_seconds(), start: Instant::now() }
    }

    /// Stops it, and returns the measurement.
    pub fn stop(self) -> Meter {
        let wall = self.start.elapsed().as_secs_f64();
        Meter { wall, cpu: process::cpu_seconds() - self.cpu }
    }
}

/// Runs `f` and measures it.
pub fn metered<R>(f: impl FnOnce() -> R) -> (R, Meter) {
    let watch = Stopwatch::start();
    let result = f();
    (result, watch.stop())
}

/// Calls `f` repeatedly for about `budget`, after a warm-up of a tenth of that, and measures the calls after the
/// warm-up. Returns the wrapping sum of the results, the number of calls, and the measurement.
///
/// The number of calls is fixed before the clock starts, because a clock read may cost more than a call.
pub fn repeated(budget: Duration, mut f: impl FnMut() -> u64) -> (u64, u64, Meter) {
    let start = Instant::now();
    let mut warmed: u64 = 0;
    let mut batch: u64 = 1;
    while start.elapsed() < budget / 10 {
        for _ in 0..batch {
            black_box(f());
        }
        warmed += batch;
        batch *= 2;
    }
    // The last batch may have exceeded the tenth, so this counts the calls that were made.
    let seconds_a_call = start.elapsed().as_secs_f64() / warmed as f64;
    let calls = ((budget.as_secs_f64() / seconds_a_call) as u64).max(1);
    let (sum, meter) = metered(|| (0..calls).fold(0u64, |sum, _| sum.wrapping_add(f())));
    (sum, calls, meter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn sleep_takes_wall_time_and_no_cpu() {
        let ((), meter) = metered(|| std::thread::sleep(Duration::from_millis(20)));
        assert!(meter.wall >= 0.02);
        let sample = Sample::per_unit(meter, 2.0, 1e-3);
        assert!(sample.value >= 10.0);
        assert_eq!(sample.wall, meter.wall);
    }

    #[test]
    fn repeated_calls_are_all_counted() {
        let mut called = 0;
        let (sum, calls, meter) = repeated(Duration::from_millis(5), || {
            called += 1;
            3
        });
        assert_eq!(sum, 3 * calls);
        assert!(called > calls, "the warm-up calls too");
        assert!(meter.wall > 0.0);
    }

    #[test]
    fn call_longer_than_budget_is_made_once() {
        let (sum, calls, meter) = repeated(Duration::from_millis(1), || {
            std::thread::sleep(Duration::from_millis(5));
            1
        });
        assert_eq!((sum, calls), (1, 1));
        assert!(meter.wall >= 0.005);
    }
}

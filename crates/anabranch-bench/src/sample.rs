//! One sample: one measurement of a workload with one peer.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::process;

/// The result of one run of a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The main figure, in the workload's unit.
    pub value: f64,
    /// The duration of the measured part, in seconds.
    pub wall: f64,
    /// User and system time of all threads of the process during the measured part, in seconds.
    pub cpu: f64,
    /// The CPU time per unit, in the unit of the value; if the value is not a time, the whole CPU time in seconds.
    pub cpu_each: f64,
    /// Other figures, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, f64>,
}

impl Sample {
    /// Creates the sample whose value is the time per unit for `units`, counted in `unit_seconds` (1e-9 for
    /// nanoseconds).
    pub fn per_unit(meter: Meter, units: f64, unit_seconds: f64) -> Sample {
        let each = |seconds: f64| seconds / units / unit_seconds;
        let (value, cpu_each) = (each(meter.wall), each(meter.cpu));
        Sample { value, wall: meter.wall, cpu: meter.cpu, cpu_each, extra: BTreeMap::new() }
    }

    /// Adds another figure.
    pub fn with(mut self, name: &str, figure: f64) -> Sample {
        self.extra.insert(name.to_owned(), figure);
        self
    }
}

/// Wall and CPU time of a measured part, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Meter {
    /// The wall time.
    pub wall: f64,
    /// User and system time of all threads of the process.
    pub cpu: f64,
}

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

    #[test]
    fn further_figures_survive_the_pipe() {
        let sample = Sample::per_unit(Meter { wall: 1.0, cpu: 2.0 }, 1.0, 1.0).with("switches", 3.0);
        let text = serde_json::to_string(&sample).unwrap();
        let back: Sample = serde_json::from_str(&text).unwrap();
        assert_eq!(back.extra["switches"], 3.0);
        assert_eq!((back.value, back.wall, back.cpu), (1.0, 1.0, 2.0));
    }
}

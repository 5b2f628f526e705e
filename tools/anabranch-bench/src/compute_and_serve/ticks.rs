//! Timers beside a computation.

use std::time::{Duration, Instant};

use super::Kind;
use super::peers::{self, Beside, TICK, Tick, Way};
use super::work::Task;
use crate::sample::{Meter, Sample};

/// The fibers or tasks that sleep.
const TICKERS: usize = 4;

/// Measures the computation alone, the tickers alone, and both together. The value is the worst lateness in ms.
pub(super) fn sample(kind: Kind, threads: usize, way: Way, task: &Task, budget: Duration) -> Sample {
    let peer = peers::start(kind, threads);
    // The first call starts threads.
    peer.beside(way, Task::looping(100, 1), TICKERS);
    let alone = peer.beside(way, task.clone(), 0);
    let idle = peer.beside(Way::Nothing(budget), task.clone(), TICKERS);
    let both = peer.beside(way, task.clone(), TICKERS);
    // Before and after, in case the machine becomes slower or faster meanwhile.
    let again = peer.beside(way, task.clone(), 0);
    assert_eq!((alone.result, again.result), (both.result, both.result), "the computation is the same");
    let mean = |figure: fn(&Meter) -> f64| (figure(&alone.meter) + figure(&again.meter)) / 2.0;
    let lateness = lateness(&both);
    let cpu_apart = mean(|meter| meter.cpu) + idle.meter.cpu / idle.meter.wall * both.meter.wall;
    Sample {
        value: lateness.iter().copied().fold(0.0, f64::max),
        wall: both.meter.wall,
        cpu: both.meter.cpu,
        cpu_each: both.meter.cpu,
        extra: Default::default(),
    }
    .with("ticks/s", rate(&both))
    // A short sample may have no ticks at all.
    .with("t/idle", rate(&both) / rate(&idle).max(1.0))
    .with("wall/alone", both.meter.wall / mean(|meter| meter.wall))
    .with("cpu/apart", both.meter.cpu / cpu_apart)
}

/// Returns when the computation ended.
fn end(beside: &Beside) -> Instant {
    beside.start + Duration::from_secs_f64(beside.meter.wall)
}

/// Returns by how many milliseconds each sleep that overlaps the computation was too long.
fn lateness(beside: &Beside) -> Vec<f64> {
    let overlaps = |&&(from, to): &&Tick| to > beside.start && from < end(beside);
    let late = |&(from, to): &Tick| (to - from).saturating_sub(TICK).as_secs_f64() * 1e3;
    beside.ticks.iter().filter(overlaps).map(late).collect()
}

/// Returns how many sleeps of each ticker ended in a second of the computation.
fn rate(beside: &Beside) -> f64 {
    let during = |(_, to): &&Tick| (beside.start..=end(beside)).contains(to);
    beside.ticks.iter().filter(during).count() as f64 / TICKERS as f64 / beside.meter.wall
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_that_outlives_the_computation_is_late_but_not_counted() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let ticks = vec![(at(0), at(1)), (at(11), at(12)), (at(12), at(15)), (at(15), at(40)), (at(41), at(90))];
        let beside = Beside { start: at(10), meter: Meter { wall: 0.02, cpu: 0.0 }, result: 0, ticks };
        assert_eq!(lateness(&beside), [0.0, 2.0, 24.0]);
        assert_eq!(rate(&beside), 2.0 / 4.0 / 0.02);
    }
}

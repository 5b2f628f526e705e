//! Measuring one workload in this process.

use crate::{programs::ALL, refuse};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The time for which a workload is repeated, at least.
const BUDGET: Duration = Duration::from_millis(60);

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs a workload so many times, or for [`BUDGET`]. Prints the median wall time of a run, and its mean CPU time, in
/// seconds, and what it computed.
pub fn one(name: &str, runs: Option<usize>) {
    let found = ALL.iter().find(|(other, ..)| *other == name);
    let (_, _, make) = found.unwrap_or_else(|| refuse(&format!("there is no workload `{name}`")));
    let mut program = make();
    program.reset();
    let result = program.run();
    let (mut walls, mut cpu) = (Vec::new(), 0.0);
    let start = Instant::now();
    let is_enough = |done| runs.map_or_else(|| done >= 3 && start.elapsed() >= BUDGET, |runs| done >= runs);
    while !is_enough(walls.len()) {
        program.reset();
        let (cpu_before, before) = (cpu_seconds(), Instant::now());
        program.run();
        walls.push(before.elapsed().as_secs_f64());
        cpu += cpu_seconds() - cpu_before;
    }
    let mean_cpu = cpu / walls.len() as f64;
    walls.sort_by(f64::total_cmp);
    println!("{:e} {mean_cpu:e} {result}", walls[walls.len() / 2]);
}

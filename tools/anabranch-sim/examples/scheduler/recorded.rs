//! The recorded times of some scenarios. A line of the file has a name and a time in nanoseconds, with a tab between.

use crate::program::Scenario;
use std::{collections::HashMap, fmt::Write, fs, process::ExitCode, time::Duration};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/scheduler/times.tsv");

/// How much longer a program may take than recorded.
const MAX_RATIO: f64 = 1.02;

/// From this ratio on the file should be updated.
const GAIN: f64 = 0.98;

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Measures the scenarios, and writes the file.
pub fn record(scenarios: &[(String, Scenario, u64)]) {
    let mut text = String::new();
    for (name, scenario, seeds) in scenarios {
        let time = scenario.measure(*seeds);
        println!("{:>12.1}  {name}", micros(time));
        writeln!(text, "{name}\t{}", time.as_nanos()).expect("text");
    }
    fs::write(FILE, text).expect("the file of times is written");
}

/// Measures the scenarios, and compares them with the file.
pub fn check(scenarios: &[(String, Scenario, u64)]) -> ExitCode {
    let text = fs::read_to_string(FILE).expect("the file of times");
    let line = |line: &'_ str| {
        let (name, nanos) = line.split_once('\t')?;
        Some((name.to_owned(), Duration::from_nanos(nanos.parse().ok()?)))
    };
    let recorded: HashMap<_, _> = text.lines().filter_map(line).collect();
    let (mut losses, mut gains) = (0, 0);
    println!("{:>12} {:>12} {:>7}", "recorded, us", "now, us", "ratio");
    for (name, scenario, seeds) in scenarios {
        let now = scenario.measure(*seeds);
        let before = recorded.get(name).copied().unwrap_or_default();
        let ratio = now.div_duration_f64(before);
        let verdict = match ratio {
            ratio if ratio <= GAIN => "  FASTER",
            ratio if ratio <= MAX_RATIO => "",
            _ => "  SLOWER",
        };
        losses += usize::from(verdict == "  SLOWER");
        gains += usize::from(verdict == "  FASTER");
        println!("{:>12.1} {:>12.1} {ratio:>7.3}  {name}{verdict}", micros(before), micros(now));
    }
    if losses + gains > 0 {
        println!("\n{losses} programs take longer than recorded by more than 2%, and {gains} are as much faster.");
        println!("If the change is meant, record the new times: the head of `sim` in .ci/run has the command.");
    }
    if losses > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

//! Running two programs in turn, and the table of their times.

use crate::{
    positive,
    programs::{ALL, Grain},
    refuse,
};
use std::process::Command;

/// The wall and CPU seconds of a run of each of the two programs.
type Round = [(f64, f64); 2];

/// Compares two programs on the workloads that `arguments` name, or on all.
pub fn compare(programs: [&str; 2], arguments: &[&str]) {
    let (mut rounds, mut threads, mut names) = (5, vec![1, 2, 8, 32], Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| refuse(&format!("`{argument}` needs a value")));
        match *argument {
            "--rounds" => rounds = positive(value()),
            "--threads" => threads = value().split(',').map(positive).collect(),
            name if ALL.iter().any(|workload| workload.0 == name) => names.push(name),
            name => refuse(&format!("there is no workload `{name}`")),
        }
    }
    println!("| workload | threads | rayon-core (us) | drop-in (us) | times as fast (p10 to p90) | CPU time |");
    println!("|---|--:|--:|--:|--:|--:|");
    for threads in threads {
        let mut demos = Vec::new();
        for (name, grain, _) in &ALL {
            if !names.is_empty() && !names.contains(name) {
                continue;
            }
            let rounds: Vec<Round> = (0..rounds).map(|round| run_both(programs, round, name, threads)).collect();
            let wall = |i: usize| quantile(rounds.iter().map(|round| round[i].0), 0.5);
            let ratios = || rounds.iter().map(|round| round[0].0 / round[1].0);
            let cpu = quantile(rounds.iter().map(|round| round[1].1 / round[0].1), 0.5);
            let speed = quantile(ratios(), 0.5);
            if *grain == Grain::Demo {
                demos.push(speed);
            }
            println!(
                "| {name} | {threads} | {:.1} | {:.1} | {speed:.2} ({:.2} to {:.2}) | {cpu:.2} x |",
                wall(0) * 1e6,
                wall(1) * 1e6,
                quantile(ratios(), 0.1),
                quantile(ratios(), 0.9),
            );
        }
        if demos.len() > 1 {
            let mean = (demos.iter().map(|ratio| ratio.ln()).sum::<f64>() / demos.len() as f64).exp();
            println!("| geometric mean of rayon-demo's | {threads} | | | {mean:.2} | |");
        }
    }
}

/// Runs a workload with each program. Each comes first in half of the rounds.
fn run_both(programs: [&str; 2], round: usize, name: &str, threads: usize) -> Round {
    let mut results = Round::default();
    let first = round % 2;
    for program in [first, 1 - first] {
        results[program] = run(programs[program], name, threads);
    }
    results
}

/// Returns the wall and CPU seconds of a workload in a process of its own.
fn run(program: &str, name: &str, threads: usize) -> (f64, f64) {
    let mut command = Command::new(program);
    let output = command.args(["one", name]).env("RAYON_NUM_THREADS", threads.to_string()).output();
    let output = output.expect("the program can be run");
    let text = String::from_utf8(output.stdout).expect("the program prints text");
    let mut figures = text.split_whitespace().map(|figure| figure.parse::<f64>().expect("figures"));
    match (output.status.success(), figures.next(), figures.next()) {
        (true, Some(wall), Some(cpu)) => (wall, cpu),
        _ => panic!("{program} one {name} with {threads} threads: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Returns the value at a rank, from 0 to 1.
fn quantile(values: impl Iterator<Item = f64>, rank: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * rank).round() as usize]
}

//! How long programs of forks take on virtual cores.
//!
//! `table` prints the times of all programs on 1 to 64 cores of three machines, and how many times the bound of a
//! greedy scheduler that is. `validate` prints times beside those that were measured on 16 real cores. `check` compares
//! some programs with their recorded times, and fails if one takes longer by more than 2%. `record` writes these times
//! to the file, always with `--release`: another profile has other stack frames, and so other cache lines.

mod program;
mod recorded;

use anabranch_sim::{LineAllocator, Machine};
use program::{Program, Scenario};
use std::{process::ExitCode, time::Duration};

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn tree(leaves: u64) -> Program {
    Program::Tree { leaves, grain: Duration::from_nanos(10) }
}

const fn cycle(iteration: u64, gap: u64) -> Program {
    Program::Loop { count: 64, iteration: micros(iteration), gap: micros(gap) }
}

const NESTED: Program = Program::Nested { outer: 16, inner: 64, iteration: micros(10) };

const fn sort(merges: bool) -> Program {
    Program::Sort { items: 1_000_000, merges }
}

const fn fibers(gap: u64, from_outside: bool) -> Program {
    Program::Fibers { fibers: 400, computation: micros(200), gap: micros(gap), from_outside }
}

const BURST: Program = Program::Burst { fibers: 400, computation: micros(200) };

/// The seeds for each figure of the table, and of the validation.
const TABLE_SEEDS: u64 = 3;
const VALIDATION_SEEDS: u64 = 10;

/// Loops of 64 iterations on 16 cores of a virtual machine on Intel Xeons, by `docs/BENCHMARKS.md`: the iteration and
/// the gap, and the lower and the higher one of two medians, all in microseconds.
const REAL: [(u64, u64, u64, u64); 6] = [
    (20, 50, 165, 172),
    (20, 300, 265, 280),
    (20, 1_000, 318, 322),
    (50, 1_000, 449, 502),
    (100, 1_000, 681, 767),
    (50, 5_000, 499, 511),
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("table") => print_table(),
        Some("validate") => validate(),
        Some("check") => return recorded::check(&scenarios()),
        Some("record") => recorded::record(&scenarios()),
        _ => {
            eprintln!("usage: scheduler table|validate|check|record");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn print_table() {
    let cores = [1, 2, 4, 8, 16, 32, 64];
    let mut programs = vec![tree(1_000_000)];
    programs.extend([20, 100, 1_000].into_iter().flat_map(|t| [0, 50, 1_000, 5_000].map(|gap| cycle(t, gap))));
    programs.extend([NESTED, sort(false), sort(true), BURST]);
    programs.extend([0, 1_000].into_iter().flat_map(|gap| [false, true].map(|outside| fibers(gap, outside))));
    let small: fn(usize) -> Machine = Machine::small_vm;
    for (name, machine) in [("small VM", small), ("large VM", Machine::large_vm), ("server", Machine::server)] {
        let heads = cores.map(|cores| format!("{cores:>15}")).concat();
        println!("\n{name}: us, and times the greedy bound\n{:36}{heads}", "cores");
        for program in &programs {
            let cell = |cores| {
                let scenario = Scenario { program: *program, machine: machine(cores), threads: cores };
                let (time, greedy) = (scenario.measure(TABLE_SEEDS), scenario.greedy());
                format!("{:>10.1}{:>5.2}", time.as_secs_f64() * 1e6, time.div_duration_f64(greedy))
            };
            println!("{:36}{}", program.to_string(), cores.map(cell).concat());
        }
    }
}

fn validate() {
    println!("{:36}{:>10}{:>8}{:>8}", "us, on 16 cores", "real", "virtual", "ratio");
    for (iteration, gap, low, high) in REAL {
        let scenario = Scenario { program: cycle(iteration, gap), machine: Machine::large_vm(16), threads: 16 };
        let time = scenario.measure(VALIDATION_SEEDS).as_secs_f64() * 1e6;
        let ratio = time / low.midpoint(high) as f64;
        println!("{:36}{:>10}{time:>8.0}{ratio:>8.2}", scenario.program, format!("{low}..{high}"));
    }
}

/// The programs whose times are recorded, each with its number of seeds. Other seeds give other times, so there are
/// enough of them for a mean that varies by less than 1.5%.
fn scenarios() -> Vec<(String, Scenario, u64)> {
    let on = |name: &str, machine: Machine, threads: usize, program: Program, seeds| {
        let name = format!("{program}; {name}, {} cores, {threads} threads", machine.cores());
        (name, Scenario { program, machine, threads }, seeds)
    };
    let small = |threads, program, seeds| on("small VM", Machine::small_vm(2), threads, program, seeds);
    let large = |program, seeds| on("large VM", Machine::large_vm(16), 16, program, seeds);
    let server = |program, seeds| on("server", Machine::server(64), 64, program, seeds);
    vec![
        small(2, tree(200_000), 16),
        small(2, cycle(20, 50), 4),
        small(6, cycle(100, 0), 4),
        large(tree(200_000), 96),
        large(cycle(20, 0), 24),
        large(cycle(20, 1_000), 8),
        large(cycle(100, 50), 8),
        large(NESTED, 40),
        large(BURST, 40),
        large(fibers(1_000, false), 2),
        large(fibers(1_000, true), 2),
        large(cycle(1_000, 0), 4),
        large(sort(false), 40),
        server(cycle(100, 1_000), 6),
        server(NESTED, 40),
    ]
}

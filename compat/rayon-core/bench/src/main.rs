//! The workloads of rayon-demo, on unmodified rayon. See `run`.
//!
//! `rayon-demo one WORKLOAD` measures a workload in this process, and a number after it says how many runs. `rayon-demo
//! compare STOCK DROP-IN` lets two programs do that in turn, and prints a table.

mod compare;
mod measure;
mod programs;

#[path = "."]
mod workloads {
    #[path = "../../../../tools/anabranch-bench/src/workloads/work.rs"]
    #[allow(dead_code, reason = "nothing is calibrated here")]
    pub mod work;
    pub use work::spin;
}

/// What the ported programs use.
mod iterators {
    #[path = "../../../../../tools/anabranch-bench/src/iterators/input.rs"]
    #[allow(dead_code, reason = "one shape is enough here")]
    pub mod input;
    pub mod kind;
    #[path = "../../../../../tools/anabranch-bench/src/iterators/program.rs"]
    #[allow(dead_code, reason = "there are translations for other libraries too")]
    pub mod program;
}

/// The programs that the bench of Anabranch's iterators has too, with rayon.
#[path = "."]
mod ported {
    use ::rayon as library;
    #[path = "../../../../tools/anabranch-bench/src/iterators/programs/mod.rs"]
    #[allow(dead_code, reason = "not all of them are workloads here")]
    pub mod programs;
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["one", name] => measure::one(name, None),
        ["one", name, runs] => measure::one(name, Some(positive(runs))),
        ["compare", stock, drop_in, ref rest @ ..] => compare::compare([stock, drop_in], rest),
        _ => refuse("choose `one` or `compare`"),
    }
}

/// Parses a number, or ends the program.
fn positive(text: &str) -> usize {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.unwrap_or_else(|| refuse(&format!("`{text}` is not a whole number from 1")))
}

/// Ends the program because of bad arguments.
fn refuse(reason: &str) -> ! {
    eprintln!(
        "{reason}\nusage: rayon-demo one WORKLOAD [RUNS]\n       rayon-demo compare STOCK DROP-IN [--rounds N] [--threads N,M..] \
         [WORKLOAD..]\nworkloads: {}",
        programs::ALL.map(|(name, ..)| name).join(" ")
    );
    std::process::exit(2)
}

//! `anabranch bench`: the workloads of the benches, with tables for people and a file for scripts.

mod args;
#[cfg(target_os = "linux")]
mod choice;
#[cfg(target_os = "linux")]
mod history;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod table;

use crate::exit::Failure;

pub use args::Args;

/// Runs the chosen workloads and prints their results.
pub fn run(args: &Args) -> Result<(), Failure> {
    #[cfg(target_os = "linux")]
    return run::run(args);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = args;
        let why = "`anabranch bench` measures on Linux only; `anabranch compare` reads its results on every system";
        Err(Failure::Run(why.to_owned()))
    }
}

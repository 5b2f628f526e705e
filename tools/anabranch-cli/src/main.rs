//! The `anabranch` command.
//!
//! There is one module per subcommand. They share `exit` (how a run ends), `machine` (the machine and its free memory),
//! `output` (the destination of results), `progress`, `signals`, `table` (the style of tables), `units` and `values`
//! (of options).

#[cfg(feature = "full")]
mod bench;
mod cli;
#[cfg(feature = "full")]
mod compare;
mod exit;
#[cfg(feature = "full")]
mod full;
#[cfg(feature = "full")]
mod graph;
mod graph500;
mod machine;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
mod no_mpi;
mod output;
#[cfg(feature = "full")]
mod plan;
#[cfg(all(feature = "full", unix))]
mod predict;
mod progress;
#[cfg(feature = "full")]
mod proto;
#[cfg(feature = "full")]
mod report;
mod signals;
mod table;
#[cfg(feature = "full")]
mod trace;
mod units;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    let parsed = cli::parse();
    #[cfg(feature = "mpi")]
    let parsed = match parsed {
        Err(failure @ exit::Failure::Usage(_)) if mpi::is_requested() => Err(mpi::refuse(failure)),
        parsed => parsed,
    };
    match parsed.and_then(cli::Command::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

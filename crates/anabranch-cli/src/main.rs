//! The `anabranch` command.
//!
//! One subcommand a module. What they share stands beside them: `exit` (how a run ends), `machine` (what it runs on
//! and how much memory is left there), `output` (where results go), `progress`, `signals` and `units`.

mod cli;
mod exit;
mod graph500;
mod machine;
mod output;
mod progress;
mod proto;
mod signals;
mod units;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::parse().and_then(cli::Command::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

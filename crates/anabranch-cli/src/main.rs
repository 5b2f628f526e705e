//! The `anabranch` command.
//!
//! There is one module per subcommand. They share `exit` (how a run ends), `machine` (the machine and its free memory),
//! `output` (the destination of results), `progress`, `signals` and `units`.

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

//! The subcommands for graphs from files: `anabranch graph info`, `convert`, and the kernels of the GAP suite.

mod args;
mod columns;
mod convert;
mod info;
mod info_json;
mod kernels;
#[cfg(feature = "mpi")]
mod mpi;
mod observer;
mod report;
mod run;
mod source;

use crate::exit::Failure;

pub use args::{BcArgs, BfsArgs, CcArgs, PagerankArgs, SsspArgs, TrianglesArgs};
pub use convert::{Args as ConvertArgs, run as convert};
pub use kernels::{bc, bfs, cc, pagerank, sssp, triangles};

/// The arguments of `anabranch graph`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Describe a graph file
    Info(info::Args),
}

/// Runs a subcommand of `anabranch graph`.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Info(args) => info::run(args),
    }
}

//! The subcommands for graphs from files: `anabranch graph info`, `convert`, and the kernels.

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
mod searches;
mod source;

use crate::exit::Failure;

pub use args::{BcArgs, BfsArgs, CcArgs, KcoreArgs, PagerankArgs, SsspArgs, TrianglesArgs};
pub use convert::{Args as ConvertArgs, run as convert};
pub use kernels::{bc, cc, kcore, pagerank, scc, triangles};
pub use searches::{bfs, sssp};

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

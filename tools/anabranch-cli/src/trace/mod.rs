//! `anabranch explain` and `anabranch trace`: where the time of a trace went, what is in it, and the trace in the
//! format of other programs.

mod explain;
mod info;

use std::path::{Path, PathBuf};

use anabranch_trace::chrome;
use anabranch_trace::read::{ReadError, Trace};

use crate::exit::Failure;
use crate::output::{self, Target};
use crate::signals::Signals;

pub use explain::{Args as ExplainArgs, run as explain};

/// The arguments of `anabranch trace`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a trace in the JSON format of Chrome, which https://ui.perfetto.dev opens
    Export(ExportArgs),
    /// Summarise a trace
    Info(InfoArgs),
}

#[derive(clap::Args)]
struct ExportArgs {
    /// The trace
    trace: PathBuf,
    /// The file to write; "-" is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(clap::Args)]
struct InfoArgs {
    /// The trace
    trace: PathBuf,
}

/// Runs a subcommand of `anabranch trace`.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Export(args) => {
            let signals = Signals::install()?;
            let target = Target::open(&args.output, &signals)?;
            let trace = read(&args.trace)?;
            target.write_with(|out| chrome::export(&trace, out))
        }
        Command::Info(args) => output::to_stdout(&info::describe(&read(&args.trace)?)),
    }
}

/// Reads a trace from a file.
pub fn read(path: &Path) -> Result<Trace, Failure> {
    let refuse = |why: String| Failure::Run(format!("{}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    Trace::read(&bytes).map_err(|error| {
        let hint = match error {
            ReadError::Foreign => "; ANABRANCH_TRACE=FILE makes a program write one",
            ReadError::Version(_) => "; use the anabranch command of the version that the program uses",
            ReadError::Truncated { .. } => "; wait until the program has ended, or copy the file again",
            _ => "; copy the file again, or record a new trace",
        };
        refuse(format!("{error}{hint}"))
    })
}

/// Reads the trace of one worker that `--alone` names, to compare `trace` with it.
pub fn read_alone(path: &Path, trace: &Trace) -> Result<Trace, Failure> {
    let alone = read(path)?;
    let [program, other] = [trace, &alone].map(|trace| trace.meta.get("program").map_or("unknown", String::as_str));
    if program != other {
        return Err(Failure::Run(format!(
            "{}: a trace of the program {other:?} cannot be compared with one of {program:?}; record the same program \
             with ANABRANCH_NUM_THREADS=1",
            path.display()
        )));
    }
    Ok(alone)
}

//! `anabranch graph500`: a run of the benchmark, with its output for people and for scripts.

mod args;
mod checkpoint;
mod fit;
mod json;
#[cfg(feature = "mpi")]
mod mpi;
mod observer;
mod table;
#[cfg(feature = "mpi")]
mod traffic;

use std::time::SystemTime;

use graph500::{Built, Config, RunError, Spec, Techniques};

use crate::exit::{BUILD_ALL, Failure};
use crate::machine::{self, Machine};
use crate::output::{Target, to_stdout};
use crate::progress::Progress;
use crate::signals::Signals;
use crate::values::pool;

pub use args::Args;
use checkpoint::Checkpoint;

/// The results of one run.
struct Outcome<'a> {
    report: &'a graph500::Report,
    config: &'a Config,
    /// Whether tuples and graph come from a checkpoint.
    is_resumed: bool,
    plan_bytes: u64,
    peak_bytes: Option<u64>,
}

/// Runs the benchmark and prints its results.
///
/// All checks that can fail come before the first long step: of the options, the threads, the file for the results, and
/// the memory.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.mpi {
        #[cfg(feature = "mpi")]
        return mpi::run(args);
        #[cfg(not(feature = "mpi"))]
        return Err(crate::no_mpi::refuse());
    }
    if args.sssp && cfg!(not(feature = "full")) {
        return Err(Failure::Usage(format!("--sssp is not in this build: {BUILD_ALL}")));
    }
    let spec = spec(args)?;
    let techniques = args.without.iter().fold(Techniques::default(), |all, &technique| all.without(technique));
    let config =
        Config { spec, bfs: args.bfs, roots: args.roots, validate: !args.skip_validation, sssp: args.sssp, techniques };
    let threads = args.threads()?;

    let started = SystemTime::now();
    let signals = Signals::install()?;
    let file = args.json.as_deref().map(|path| Target::open(path, &signals)).transpose()?;
    let checkpoint = args.checkpoint.as_deref().map(|path| Checkpoint::open(path, &signals)).transpose()?;
    let is_resumed = checkpoint.as_ref().is_some_and(Checkpoint::is_read);
    let pool = pool(threads)?;

    let threads = pool.num_threads();
    let (report, plan_bytes) = pool.install(|| {
        let plan_bytes = fit::check(&config)?;
        let progress = Progress::start(observer::NAMES, &signals);
        let report = signals.watch(|| {
            let observer = observer::Watcher::new(&progress, &signals);
            let built = match checkpoint {
                Some(checkpoint) => checkpoint.built(&config.spec, &observer)?,
                None => Built::generate(&config.spec, techniques, &observer).map_err(failed)?,
            };
            graph500::run_built(&config, built, &observer).map_err(failed)
        });
        drop(progress);
        signals.check()?;
        Ok((report?, plan_bytes))
    })?;

    let peak_bytes = machine::peak(&machine::files);
    print(&Outcome { report: &report, config: &config, is_resumed, plan_bytes, peak_bytes }, threads, file, started, "")
}

/// Writes the results of a run to the file and to standard output, where `details` follow the table.
fn print(
    outcome: &Outcome<'_>,
    threads: usize,
    file: Option<Target>,
    started: SystemTime,
    details: &str,
) -> Result<(), Failure> {
    let on_stdout = file.as_ref().is_some_and(Target::is_stdout);
    // The file comes first: a closed standard output must not lose it. An unwritable file must not lose the table.
    let written = file.map_or(Ok(()), |file| {
        let machine = Machine::read(&machine::files);
        file.write(&json::text(outcome, threads, started, &machine))
    });
    let text = format!("{}\n{details}\n{}", table::text(outcome, threads, on_stdout), outcome.report.official());
    let printed = if on_stdout {
        text.lines().for_each(crate::exit::print_line);
        Ok(())
    } else {
        to_stdout(&text)
    };
    match (written, printed) {
        (Err(file), Err(_)) => Err(file),
        (written, printed) => written.and(printed),
    }
}

fn spec(args: &Args) -> Result<Spec, Failure> {
    Spec::new(args.scale, args.edge_factor, args.seed).map_err(|error| Failure::Usage(error.to_string()))
}

fn failed(error: RunError) -> Failure {
    Failure::Run(error.to_string())
}

//! The option `--mpi`: one run on all processes that `mpirun` has started.

use std::time::SystemTime;

use graph500::distributed::{self, Communicator, check_settings};
use graph500::{Config, Observer};
use graph500_mpi::Mpi;

use super::{Args, Outcome, fit, observer, traffic};
use crate::exit::Failure;
use crate::machine;
use crate::mpi::{self, agree};
use crate::output::Target;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::values::pool;

/// Runs the benchmark on all processes. Process 0 prints the results.
pub fn run(args: &Args) -> Result<(), Failure> {
    run_on(&mpi::start()?, args)
}

/// The resources that a process needs for the run.
struct Setup {
    config: Config,
    signals: Signals,
    pool: anabranch::Pool,
    file: Option<Target>,
}

fn run_on(mpi: &Mpi, args: &Args) -> Result<(), Failure> {
    let started = SystemTime::now();
    let is_first = mpi.process() == 0;
    let Setup { config, signals, pool, file } = agree(mpi, set_up(args, is_first))?;
    let spec = &config.spec;
    let text = |number: u64| number.to_string();
    let settings = check_settings(
        mpi,
        &[
            ("the version of anabranch", env!("CARGO_PKG_VERSION")),
            ("--scale", &text(spec.scale().into())),
            ("--edge-factor", &text(spec.edge_factor())),
            ("--roots", &text(args.roots as u64)),
            ("--seed", &text(spec.seed())),
            ("--skip-validation", if args.skip_validation { "given" } else { "absent" }),
        ],
    );
    agree(mpi, settings.map_err(super::failed))?;

    let here = mpi.processes_here() as u64;
    let threads = pool.num_threads();
    let result = pool.install(|| {
        let there = machine::available(&machine::files).map(|bytes| bytes / here);
        let fits = fit::check_process(&config, mpi.processes(), there, is_first);
        let plan_bytes = agree(mpi, fits)?;
        let progress = is_first.then(|| Progress::start(observer::NAMES, &signals));
        let watcher = progress.as_ref().map(|progress| observer::Watcher::new(progress, &signals));
        let observer: &dyn Observer = watcher.as_ref().map_or(&(), |watcher| watcher);
        let run = distributed::run(mpi, &config, observer);
        drop(progress);
        Ok((agree(mpi, run.map_err(super::failed))?, plan_bytes))
    });
    let (outcome, plan_bytes) = result?;
    let printed = if is_first {
        let details = if args.verbose { traffic::text(&outcome) } else { String::new() };
        let peak_bytes = machine::peak(&machine::files);
        let report = Outcome { report: &outcome.report, config: &config, is_resumed: false, plan_bytes, peak_bytes };
        super::print(&report, threads, file, started, &details)
    } else {
        Ok(())
    };
    agree(mpi, printed)
}

/// Sets up the run: everything that can fail before its first step.
fn set_up(args: &Args, is_first: bool) -> Result<Setup, Failure> {
    let spec = super::spec(args)?;
    let threads = args.threads()?;
    let signals = Signals::install()?;
    signals.be_quiet();
    let path = args.json.as_deref().filter(|_| is_first);
    let file = path.map(|path| Target::open(path, &signals)).transpose()?;
    let pool = pool(threads)?;
    let config = Config { roots: args.roots, validate: !args.skip_validation, ..Config::official(spec) };
    Ok(Setup { config, signals, pool, file })
}

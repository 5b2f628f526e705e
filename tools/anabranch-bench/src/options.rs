//! The command line and the main function that the benches share.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser};

use crate::bench::{Outcome, Peers, names, run, variants};
use crate::contest::{self, Listed, matches};
use crate::machine::Versions;
use crate::record::{Record, Settings};
use crate::report::{head, judgements, summary, table};
use crate::rounds::SEED;
use crate::target::MeanTarget;

/// Options of every bench.
#[derive(Args)]
pub struct Options {
    /// Workloads to run, separated by commas; a name may end in * [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub workload: Vec<String>,
    /// Peers to compare, separated by commas; a name may end in * [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PEER")]
    pub peers: Vec<String>,
    /// Numbers of threads [default: see the bench]
    #[arg(long, visible_alias = "workers", value_delimiter = ',', value_name = "N")]
    pub threads: Vec<usize>,
    /// Rounds; each runs every variant once [default: 9, or 3 with --quick]
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,
    /// Smaller and shorter, for a rough result within a minute
    #[arg(long)]
    pub quick: bool,
    /// Write every sample to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Passed by cargo
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// The duration of a sample, an option of some benches.
#[derive(Args)]
pub struct Budget {
    /// Approximate duration of a sample in milliseconds [default: see the bench]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=20_000))]
    pub budget: Option<u64>,
}

impl Budget {
    /// Returns the duration, or that of the bench.
    pub fn or(self, default: Duration) -> Duration {
        self.budget.map_or(default, Duration::from_millis)
    }
}

/// The command line of a bench with options `E` of its own.
#[derive(Parser)]
struct CommandLine<E: Args> {
    #[command(flatten)]
    common: Options,
    #[command(flatten)]
    own: E,
}

/// Reads the command line. Returns the common options, the chosen peers, and the options `E` of the bench itself. Exits
/// if the command line is wrong.
pub fn parse<K: Peers, S, E: Args>(about: &'static str, workloads: &[Listed<K, S>]) -> (Options, Vec<K>, E) {
    let mut command = CommandLine::<E>::command().about(about).after_help(help(workloads));
    let matches = command.get_matches_mut();
    let CommandLine { common, own } = CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let peers = match &common.peers[..] {
        [] => K::ALL.to_vec(),
        names => contest::chosen(names).unwrap_or_else(|text| command.error(ErrorKind::InvalidValue, text).exit()),
    };
    (common, peers, own)
}

/// The definition of a bench. The options choose what it runs.
pub struct Bench<'a, K: 'static, S> {
    /// The name of the bench.
    pub suite: &'a str,
    /// All workloads of the bench.
    pub workloads: &'a [Listed<K, S>],
    /// The sizes of the workloads.
    pub settings: S,
    /// The peers to measure.
    pub peers: Vec<K>,
    /// The default numbers of threads.
    pub threads: &'a [usize],
    /// The versions of the peers and the compiler.
    pub versions: Versions,
    /// The explanation of the columns of the tables.
    pub legend: &'a str,
    /// Targets across workloads: the first should take at most this many times as long as the second.
    pub across: &'a [(&'static str, &'static str, f64)],
    /// Targets of several workloads together.
    pub means: &'a [MeanTarget<K>],
    /// The measured time of one step of CPU work, if the bench has such work.
    pub nanoseconds_a_step: Option<f64>,
}

/// Returns the lines of `--help` below the list of options.
fn help<K: Peers, S>(workloads: &[Listed<K, S>]) -> String {
    let workloads: Vec<&str> = workloads.iter().map(|(name, _)| *name).collect();
    format!("Workloads: {}\nPeers: {}", workloads.join(", "), names::<K>())
}

impl Options {
    /// Runs the chosen workloads, prints the tables, and writes the JSON file.
    pub fn run<K: Peers, S>(self, bench: Bench<'_, K, S>) -> ExitCode {
        let start = Instant::now();
        let chosen = match chosen(bench.workloads, &self.workload) {
            Ok(chosen) => chosen,
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        };
        if self.threads.contains(&0) {
            eprintln!("a pool needs at least one thread");
            return ExitCode::from(2);
        }
        let threads = if self.threads.is_empty() { bench.threads } else { &self.threads };
        let rounds = self.rounds.unwrap_or(if self.quick { 3 } else { 9 }).max(1);

        let settings = Settings {
            threads: threads.to_vec(),
            samples: rounds,
            warm_up: 0,
            quick: self.quick,
            seed: SEED,
            nanoseconds_a_step: bench.nanoseconds_a_step,
        };
        let mut record = Record::begin(settings, &bench.versions);
        print!("{}", head(&record.machine, &bench.versions, bench.legend));
        let mut outcomes: Vec<Outcome<K>> = Vec::new();
        for (name, build) in chosen {
            // The data of a workload live only while it runs, because the process of each sample inherits all memory.
            let workload = build(&bench.settings);
            let variants = variants(&*workload, &bench.peers, threads);
            if variants.is_empty() {
                continue;
            }
            let outcome = run(name, &*workload, &variants, rounds);
            print!("{}", table(&outcome));
            outcomes.push(outcome);
        }
        print!("{}", summary(&outcomes, bench.across));
        print!("{}", judgements(&outcomes, bench.means));
        println!("\n{:.0} s in all", start.elapsed().as_secs_f64());

        if let Some(path) = self.json {
            record.workloads = outcomes.iter().map(|outcome| outcome.record(bench.suite)).collect();
            if let Err(error) = fs::write(&path, record.text()) {
                eprintln!("cannot write {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
        let failed = outcomes.iter().any(|outcome| outcome.failures().next().is_some());
        ExitCode::from(u8::from(failed))
    }
}

/// Returns the workloads with these names, or all if there are no names.
fn chosen<'a, K: Peers, S>(all: &'a [Listed<K, S>], names: &[String]) -> Result<Vec<&'a Listed<K, S>>, String> {
    if let Some(unknown) = names.iter().find(|wanted| !all.iter().any(|(name, _)| matches(wanted, name))) {
        return Err(format!("no workload is called `{unknown}`\n{}", help(all)));
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| matches(wanted, name));
    Ok(all.iter().filter(|(name, _)| wanted(name)).collect())
}

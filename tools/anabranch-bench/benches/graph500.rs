//! The bench of Graph500's kernel 2: `cargo bench -p anabranch-bench --bench graph500 -- --help`.
//!
//! Each sample is a process of its own that builds the graph and searches from 64 keys, in both protocols: *official*,
//! where a validation streams the tuples between two searches, and *warm*, where the searches follow each other.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anabranch_bench::machine::{Machine, Versions};
use anabranch_bench::report::head;
use anabranch_bench::stats::{Summary, median};
use clap::Parser;
use graph500::{BfsKind, Config, Spec, Technique, Techniques};

/// Compares the searches of Graph500 with each other, and with other programs that are here.
#[derive(Parser)]
struct Options {
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
    /// The number of rounds; in each, all programs take turns
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The scales: a graph has 2^scale vertices
    #[arg(long, value_delimiter = ',', default_value = "16,18,20")]
    scales: Vec<u32>,
    /// The numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Our searches: direction, color, sequential
    #[arg(long, value_delimiter = ',', default_value = "direction,color,sequential")]
    bfs: Vec<BfsKind>,
    /// The sources of the GAP benchmark suite, whose `bfs` is built there by `make`
    #[arg(long, value_name = "DIR")]
    gap: Option<PathBuf>,
    /// Another program that prints the official output, such as the reference or RIKEN's code, and how to start it:
    /// {scale} and {threads} are replaced, and OMP_NUM_THREADS is set
    #[arg(long, value_name = "NAME=COMMAND", value_parser = program)]
    peer: Vec<(String, String)>,
    /// Also our direction-optimising search without each of its techniques
    #[arg(long)]
    without: bool,
    /// Two rounds at scale 14
    #[arg(long)]
    quick: bool,
    /// Runs one sample of ours: the search, the scale, the number of threads, and a technique to leave out
    #[arg(long, hide = true, num_args = 3..=4)]
    sample: Vec<String>,
}

fn program(text: &str) -> Result<(String, String), String> {
    let (name, command) = text.split_once('=').ok_or("give NAME=COMMAND")?;
    Ok((name.to_owned(), command.to_owned()))
}

/// A program that is measured.
enum Contender {
    Ours(BfsKind, Option<Technique>),
    Gap(PathBuf),
    Other { name: String, command: String },
}

/// The figures of a run: GTEPS by protocol, construction in seconds, peak memory in MiB.
type Figures = BTreeMap<&'static str, f64>;

const OFFICIAL: &str = "official GTEPS";
const WARM: &str = "warm GTEPS";
const CONSTRUCTION: &str = "construction s";
const PEAK: &str = "peak MiB";

fn main() -> ExitCode {
    let mut options = Options::parse();
    if let [bfs, scale, threads, without @ ..] = &options.sample[..] {
        return end(sample(bfs, scale, threads, without));
    }
    if options.quick {
        (options.rounds, options.scales) = (2, vec![14]);
    }
    end(compare(&options))
}

fn end(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("graph500: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut contenders: Vec<Contender> = options.bfs.iter().map(|&bfs| Contender::Ours(bfs, None)).collect();
    if options.without {
        contenders.extend(Technique::ALL.map(|technique| Contender::Ours(BfsKind::Direction, Some(technique))));
    }
    let mut versions = Versions::of_ours();
    if let Some(sources) = &options.gap {
        check(Command::new("make").arg("-C").arg(sources).arg("bfs"))?;
        versions = versions.with("GAP", &commit(sources));
        contenders.push(Contender::Gap(sources.join("bfs")));
    }
    for (name, command) in &options.peer {
        contenders.push(Contender::Other { name: name.clone(), command: command.clone() });
    }
    let legend = format!(
        "Medians of {} rounds (least to most);\nafter the slash the median of the ratios to the first row in the same \
         round. GAP prints no edges, so all tuples\ncount for it, and it runs the warm protocol alone.",
        options.rounds
    );
    print!("{}", head(&Machine::look(), &versions, &legend));
    for &scale in &options.scales {
        for &threads in &options.threads {
            println!("\nscale {scale}, {threads} threads");
            let mut samples: Vec<Vec<Figures>> = contenders.iter().map(|_| Vec::new()).collect();
            for round in 0..options.rounds {
                for turn in 0..contenders.len() {
                    let index = (round + turn) % contenders.len();
                    samples[index].push(contenders[index].run(scale, threads)?);
                }
            }
            for (contender, figures) in contenders.iter().zip(&samples) {
                println!("  {:<19} {}", contender.name(), summary(figures, &samples[0]));
            }
        }
    }
    Ok(())
}

/// Returns the commit of the sources, or that it is not known.
fn commit(sources: &Path) -> String {
    let output = Command::new("git").arg("-C").arg(sources).args(["rev-parse", "--short", "HEAD"]).output();
    let known = output.ok().filter(|output| output.status.success());
    known.map_or("of an unknown commit".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Contender {
    fn name(&self) -> String {
        match self {
            Contender::Ours(_, Some(technique)) => format!("no {technique}"),
            Contender::Ours(bfs, None) => bfs.to_string(),
            Contender::Gap(_) => "GAP".to_owned(),
            Contender::Other { name, .. } => name.clone(),
        }
    }

    /// Runs one sample.
    fn run(&self, scale: u32, threads: usize) -> Result<Figures, Box<dyn Error>> {
        let mut command = match self {
            Contender::Ours(bfs, without) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["--sample", &bfs.to_string(), &scale.to_string(), &threads.to_string()]);
                command.args(without.map(Technique::name));
                command
            }
            Contender::Gap(binary) => {
                let mut command = Command::new(binary);
                command.args(["-g", &scale.to_string(), "-n", "64"]);
                command
            }
            Contender::Other { command: line, .. } => {
                let line = line.replace("{scale}", &scale.to_string()).replace("{threads}", &threads.to_string());
                let mut command = Command::new("sh");
                command.args(["-c", &line]);
                command
            }
        };
        let text = check(command.env("OMP_NUM_THREADS", threads.to_string()))?;
        let found = match self {
            Contender::Gap(_) => of_gap(&text, scale),
            _ => of_official(&text),
        };
        if found.is_empty() {
            return Err(format!("{} has printed no rate:\n{text}", self.name()).into());
        }
        Ok(found)
    }
}

/// Runs a command to its end. Returns what it has printed on its standard output.
fn check(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} has failed ({}): {error}", output.status).into())
}

/// Takes the figures from lines of the official output, and from those that a sample of ours adds.
fn of_official(text: &str) -> Figures {
    let names = [
        ("harmonic_mean_TEPS:", OFFICIAL, 1e9),
        ("warm_harmonic_mean_TEPS:", WARM, 1e9),
        ("construction_time:", CONSTRUCTION, 1.0),
        ("peak_bytes:", PEAK, f64::from(1 << 20)),
    ];
    let mut found = Figures::new();
    for line in text.lines().filter(|line| !line.starts_with("sssp")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (word, name, unit) in names {
            // Without its validation the reference knows no number of edges, and prints a rate that is no number.
            if words.contains(&word)
                && let Some(value) = words.last().and_then(|value| value.parse::<f64>().ok())
                && value.is_finite()
            {
                found.insert(name, value / unit);
            }
        }
    }
    found
}

/// Takes the figures from the output of GAP's `bfs`.
fn of_gap(text: &str, scale: u32) -> Figures {
    let values = |name: &str| -> Vec<f64> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        lines.filter_map(|value| value.trim().parse().ok()).collect()
    };
    let (trials, build) = (values("Trial Time:"), values("Build Time:"));
    let mut found = Figures::new();
    if !trials.is_empty() {
        let tuples = (16u64 << scale) as f64;
        found.insert(WARM, tuples * trials.len() as f64 / trials.iter().sum::<f64>() / 1e9);
    }
    if let Some(&seconds) = build.first() {
        found.insert(CONSTRUCTION, seconds);
    }
    found
}

/// Runs one sample of ours, and prints its figures.
fn sample(bfs: &str, scale: &str, threads: &str, without: &[String]) -> Result<(), Box<dyn Error>> {
    let spec = Spec::new(scale.parse()?, 16, 1)?;
    let mut techniques = Techniques::default();
    for name in without {
        techniques = techniques.without(name.parse()?);
    }
    let config = Config { bfs: bfs.parse()?, techniques, ..Config::official(spec) };
    let pool = anabranch::Pool::builder().threads(threads.parse()?).build()?;
    let report = pool.install(|| graph500::run(&config, &()))?;
    print!("{}", report.official());
    println!("warm_harmonic_mean_TEPS: {}", report.warm_teps().harmonic_mean);
    if let Some(bytes) = peak_bytes() {
        println!("peak_bytes: {bytes}");
    }
    Ok(())
}

/// Returns the peak resident memory of this process, where the system says it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Returns each figure with its spread, and its ratio to that of the first contender.
fn summary(rows: &[Figures], first: &[Figures]) -> String {
    let names = [OFFICIAL, WARM, CONSTRUCTION, PEAK].into_iter().filter(|name| rows[0].contains_key(name));
    let column = |name: &'static str| {
        let values: Vec<f64> = rows.iter().filter_map(|row| row.get(name).copied()).collect();
        let both = rows.iter().zip(first).filter_map(|(row, base)| Some(row.get(name)? / base.get(name)?));
        let ratio = median(&both.collect::<Vec<_>>()).map_or(String::new(), |ratio| format!(" /{ratio:.2}"));
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let Summary { min, median, .. } = Summary::of(&values).expect("the first row has this figure");
        format!("{name} {median:.3} ({min:.3} to {most:.3}){ratio}")
    };
    names.map(column).collect::<Vec<_>>().join("; ")
}

//! `anabranch compare`: what has changed from one result of `anabranch bench` to another.

mod changes;
mod table;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anabranch_bench::record::Record;
use changes::{Changes, Verdict};

use crate::exit::{Failure, print_message};
use crate::output::to_stdout;

/// The largest file that is read. A run of all workloads with a hundred samples takes a tenth of that.
const LARGEST: u64 = 256 << 20;

/// The arguments.
#[derive(clap::Args)]
pub struct Args {
    /// The result before a change
    #[arg(value_name = "A.json")]
    before: PathBuf,

    /// The result after it
    #[arg(value_name = "B.json")]
    after: PathBuf,

    /// Compare results of different machines, numbers of threads, sizes or builds too
    #[arg(long)]
    force: bool,

    /// Ignore changes of up to this many percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent, allow_negative_numbers = true)]
    tolerance: f64,
}

/// Compares both files. Fails with [`Failure::Regression`] if anabranch became slower.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let differences = differences(&before, &after);
    if !differences.is_empty() {
        let text = differences.join("; ");
        if !args.force {
            return Err(Failure::Run(format!("the results cannot be compared: {text} (--force compares them)")));
        }
        print_message(&format!("warning: {text}"));
    }
    for (path, record) in [(&args.before, &before), (&args.after, &after)] {
        if record.interrupted {
            print_message(&format!("warning: {} is the result of an interrupted run", path.display()));
        }
    }
    let changes = changes::compare(&before, &after, args.tolerance / 100.0);
    if changes.lines.is_empty() {
        let reasons = changes.left_out.join("; ");
        return Err(Failure::Run(format!("the results have nothing in common: {reasons}")));
    }
    to_stdout(&format!("{}\n{}\n", table::text(&changes), summary(&changes)))?;
    match changes.lines.iter().filter(|line| line.is_regression()).count() {
        0 => Ok(()),
        1 => Err(Failure::Regression("1 regression".to_owned())),
        count => Err(Failure::Regression(format!("{count} regressions"))),
    }
}

fn summary(changes: &Changes) -> String {
    let count = |is_it: fn(&Verdict) -> bool| changes.lines.iter().filter(|line| is_it(&line.verdict)).count();
    format!(
        "{} slower, {} faster, {} without a change that the samples show, {} failed, {} unknown",
        count(|verdict| *verdict == Verdict::Slower),
        count(|verdict| *verdict == Verdict::Faster),
        count(|verdict| *verdict == Verdict::Same),
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::Unknown(_))),
    )
}

fn read(path: &Path) -> Result<Record, Failure> {
    let refuse = |why: String| Failure::Run(format!("cannot read {}: {why}", path.display()));
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
        .map_err(|error| refuse(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(refuse("it is too large for a result".to_owned()));
    }
    Record::parse(&text).map_err(|refusal| refuse(refusal.to_string()))
}

/// Returns why the figures of the runs are not comparable.
fn differences(before: &Record, after: &Record) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, before: String, after: String| {
        if before != after {
            found.push(format!("the {what} differ: {before} and {after}"));
        }
    };
    let machine = |record: &Record| {
        let machine = &record.machine;
        let memory = crate::units::bytes(machine.memory);
        format!("{} CPUs {} ({}), {memory}, {}", machine.cpus, machine.cpu, machine.arch, machine.os)
    };
    check("machines", machine(before), machine(after));
    let threads = |record: &Record| {
        let threads: Vec<String> = record.settings.threads.iter().map(usize::to_string).collect();
        threads.join(",")
    };
    check("numbers of threads", threads(before), threads(after));
    let size = |record: &Record| if record.settings.quick { "quick" } else { "usual" }.to_owned();
    check("sizes", size(before), size(after));
    let build = |record: &Record| if record.build.optimised { "optimised" } else { "not optimised" }.to_owned();
    check("builds", build(before), build(after));
    found
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|percent| (0.0..=1000.0).contains(percent));
    percent.ok_or_else(|| "give a percentage from 0 to 1000".to_owned())
}

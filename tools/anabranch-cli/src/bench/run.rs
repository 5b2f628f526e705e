//! The course of a run: its checks, its samples, its results.

use anabranch_bench::measurer::{Measurer, Order};
use anabranch_bench::record::{Record, Settings};
use anabranch_bench::suite::Field;

use super::history::Addition;
use super::{Args, choice, measure, table};
use crate::exit::{Failure, print_line, print_message};
use crate::output::{Target, to_stdout};
use crate::signals::Signals;

/// Runs the chosen workloads and prints their results.
///
/// All checks that can fail come before the first sample: of the options, and of the files for the results.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.list {
        return to_stdout(&choice::list());
    }
    let workloads = choice::workloads(&args.workloads)?;
    let field = Field { peers: choice::peers(&args.peers, &workloads)?, threads: args.threads()? };
    let settings = Settings {
        threads: field.threads.clone(),
        samples: args.samples,
        warm_up: args.warm_up,
        quick: args.quick,
        seed: args.seed,
        nanoseconds_a_step: None,
    };
    let order = Order { workloads, field, quick: args.quick, rounds: args.samples };
    // Before any thread exists: the measuring process is a fork of this one.
    let measurer = Measurer::start(&order).map_err(|failure| Failure::Run(failure.to_string()))?;
    let signals = Signals::install()?;
    let file = args.json.as_deref().map(|path| Target::open(path, &signals)).transpose()?;
    let addition = args.history.as_deref().map(|directory| Addition::open(directory, &signals)).transpose()?;

    let (record, ended) = signals.watch(|| measure::run(measurer, &order, settings, &signals));
    let reported = if record.workloads.is_empty() { Ok(()) } else { report(&record, file, addition) };
    ended.and(reported)?;
    match failures(&record) {
        0 => Ok(()),
        count => Err(Failure::Run(format!("{count} of the contenders failed"))),
    }
}

/// Writes the files and prints the tables. The files come first: a closed standard output must not lose them. A file
/// that cannot be written must not lose the rest.
fn report(record: &Record, file: Option<Target>, addition: Option<Addition>) -> Result<(), Failure> {
    let on_stdout = file.as_ref().is_some_and(Target::is_stdout);
    let added = addition.map_or(Ok(()), |addition| {
        let path = addition.write(&stem(record), &record.text())?;
        print_message(&format!("added {}", path.display()));
        Ok(())
    });
    let written = file.map_or(Ok(()), |file| file.write(&record.text()));
    let text = table::text(record, on_stdout);
    let printed = if on_stdout {
        text.lines().for_each(print_line);
        Ok(())
    } else {
        to_stdout(&(text + "\n"))
    };
    written.and(added).and(printed)
}

/// Returns the name of the file in the history, without its ending. The alphabetical order of the names is
/// chronological.
fn stem(record: &Record) -> String {
    let date = record.date.replace(':', "");
    let commit = record.build.commit.as_deref().map_or("unknown", table::short);
    let modified = if record.build.modified { "-modified" } else { "" };
    format!("{date}-{commit}{modified}")
}

fn failures(record: &Record) -> usize {
    let series = record.workloads.iter().flat_map(|workload| &workload.series);
    series.filter(|series| series.failure.is_some()).count()
}

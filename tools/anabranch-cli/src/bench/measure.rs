//! The run: takes the samples of all workloads, and shows the progress.

use anabranch_bench::machine::Versions;
use anabranch_bench::measurer::{Answer, Measurer, Order, Prepared};
use anabranch_bench::record::{Record, Series, Settings, Workload};
use anabranch_bench::rounds::{self, Plan, Tally};

use super::choice::Name;
use crate::exit::Failure;
use crate::progress::Progress;
use crate::signals::Signals;

/// The units of progress of one workload. How many samples it takes is known only when it begins.
const WHOLE: u64 = 10_000;

/// Takes all samples. After a signal or a failure the record has the samples taken before.
pub fn run(
    mut measurer: Measurer,
    order: &Order,
    settings: Settings,
    signals: &Signals,
) -> (Record, Result<(), Failure>) {
    let mut record = Record::begin(settings, &versions());
    let suites = suites(&order.workloads);
    let progress = Progress::start(&suites, signals);
    let mut result = Ok(());
    for (phase, suite) in suites.iter().enumerate() {
        let workloads: Vec<usize> = (0..order.workloads.len()).filter(|&at| order.workloads[at].0 == *suite).collect();
        progress.begin(phase, WHOLE * workloads.len() as u64);
        let start = std::time::Instant::now();
        for index in workloads {
            let advance = |units| progress.advance(phase, units);
            result = one(&mut measurer, (order.workloads[index], index), &mut record, signals, advance);
            if result.is_err() {
                record.interrupted = true;
                return (record, result);
            }
        }
        progress.end(phase, start.elapsed());
    }
    (record, result)
}

/// Runs one workload, and adds it to the record if there is a sample.
fn one(
    measurer: &mut Measurer,
    (name, index): (Name, usize),
    record: &mut Record,
    signals: &Signals,
    advance: impl Fn(u64),
) -> Result<(), Failure> {
    let is_stopped = || signals.is_interrupted();
    let failed = |why: &dyn std::fmt::Display| Failure::Run(format!("{}/{}: {why}", name.0, name.1));
    let prepared = match measurer.prepare(index, &is_stopped).map_err(|failure| failed(&failure))? {
        Answer::Done(prepared) => prepared,
        Answer::Stopped => return signals.check(),
    };
    record.settings.nanoseconds_a_step = Some(prepared.nanoseconds_a_step);
    let Settings { warm_up, seed, .. } = record.settings;
    let plan = Plan { rounds: prepared.rounds, warm_up, seed };
    let samples = (prepared.contenders.len() * (plan.rounds + warm_up)).max(1) as u64;
    let (mut taken, mut failure) = (0, None);
    let tallies =
        rounds::take(prepared.contenders.len(), plan, |_, contender| match measurer.sample(contender, &is_stopped) {
            Ok(Answer::Done(sample)) => {
                advance(WHOLE * (taken + 1) / samples - WHOLE * taken / samples);
                taken += 1;
                Some(sample)
            }
            Ok(Answer::Stopped) => None,
            Err(error) => {
                failure = Some(failed(&error));
                None
            }
        });
    if tallies.iter().any(|tally| tally.failure.is_some() || tally.samples.iter().any(Option::is_some)) {
        record.workloads.push(workload(name, prepared, tallies));
    }
    failure.map_or_else(|| signals.check(), Err)
}

fn workload((suite, name): Name, prepared: Prepared, tallies: Vec<Tally>) -> Workload {
    let series = prepared.contenders.into_iter().zip(tallies).map(|(contender, tally)| Series {
        peer: contender.peer,
        threads: contender.threads,
        ours: contender.ours,
        baseline: contender.baseline,
        samples: tally.samples,
        failure: tally.failure,
        figures: None,
    });
    let workload = Workload {
        suite: suite.to_owned(),
        name: name.to_owned(),
        series: series.collect(),
        title: prepared.title,
        unit: prepared.unit,
        rounds: prepared.rounds,
        targets: Default::default(),
    };
    workload.with_figures()
}

fn versions() -> Versions {
    let libraries = if anabranch_bench::HAS_PEERS { Versions::of_all() } else { Versions::of_ours() };
    libraries.with("anabranch-cli", env!("CARGO_PKG_VERSION"))
}

/// Returns the suites of the workloads, each once.
fn suites(workloads: &[Name]) -> Vec<&'static str> {
    let mut suites: Vec<&str> = workloads.iter().map(|(suite, _)| *suite).collect();
    suites.dedup();
    suites
}

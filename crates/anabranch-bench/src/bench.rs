//! Runs workloads: every variant once a round, in a shuffled order, each sample in a process of its own.
//!
//! Rounds are interleaved because machines drift: a neighbour that comes and goes meets all variants alike, and a ratio
//! taken within a round is hardly touched. The order within a round is shuffled, from a fixed seed, so that no variant
//! always follows the same other one.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::isolate::{Failure, in_child};
use crate::peers::Kind;
use crate::sample::Sample;
use crate::stats::{Summary, median, median_ratio};
use crate::workloads::{AnyWorkload, Threads};

/// Longer than any sample that ends.
const LIMIT: Duration = Duration::from_secs(60);

/// A peer with a number of threads: one line of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The peer.
    pub peer: Kind,
    /// Its threads; `None` where the peer decides for itself.
    pub threads: Option<usize>,
}

/// All samples of a variant.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Whose samples they are.
    #[serde(flatten)]
    pub variant: Variant,
    /// One entry a round; `None` where there is no sample.
    pub samples: Vec<Option<Sample>>,
    /// Why samples are missing. A variant that failed is not tried again.
    pub failure: Option<String>,
}

/// All samples of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The workload's name on the command line.
    pub name: &'static str,
    /// What it does.
    pub title: String,
    /// The unit of the samples' values.
    pub unit: &'static str,
    /// How many rounds were run.
    pub rounds: usize,
    /// The variants, in the order of the report.
    pub series: Vec<Series>,
}

/// The figures of one line of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Whose figures they are.
    pub variant: Variant,
    /// The samples' values.
    pub value: Summary,
    /// How many times the value of plain recursion in the same round; the median of that.
    pub to_plain: Option<f64>,
    /// The same for the CPU time per value, which tells what was burnt to be that fast.
    pub cpu_to_plain: Option<f64>,
    /// Medians of the further figures.
    pub extra: Vec<(String, f64)>,
}

impl Outcome {
    /// Computes the line of each variant that has samples.
    pub fn lines(&self) -> Vec<Line> {
        let plain = self.series.iter().find(|series| series.variant.peer == Kind::Plain);
        self.series.iter().filter_map(|series| line(series, plain)).collect()
    }

    /// The variants that failed, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (Variant, &str)> {
        self.series.iter().filter_map(|series| Some((series.variant, series.failure.as_deref()?)))
    }
}

fn line(series: &Series, plain: Option<&Series>) -> Option<Line> {
    let column = |series: &Series, figure: fn(&Sample) -> f64| -> Vec<Option<f64>> {
        series.samples.iter().map(|sample| sample.as_ref().map(figure)).collect()
    };
    let ratio = |figure: fn(&Sample) -> f64| median_ratio(&column(series, figure), &column(plain?, figure));
    // Samples may differ in the amount of work (calls repeated for a given time), so CPU is taken per unit of it.
    let cpu_per_value: fn(&Sample) -> f64 = |sample| sample.cpu / sample.wall * sample.value;
    let names = series.samples.iter().flatten().next().map(|sample| sample.extra.keys());
    let extra = names.into_iter().flatten().filter_map(|name| {
        let figures: Vec<f64> =
            series.samples.iter().flatten().filter_map(|sample| sample.extra.get(name).copied()).collect();
        Some((name.clone(), median(&figures)?))
    });
    Some(Line {
        variant: series.variant,
        value: Summary::of(&series.samples.iter().flatten().map(|sample| sample.value).collect::<Vec<_>>())?,
        to_plain: ratio(|sample| sample.value),
        cpu_to_plain: ratio(cpu_per_value),
        extra: extra.collect(),
    })
}

/// The variants of a workload, in the order of the report.
pub fn variants(workload: &dyn AnyWorkload, peers: &[Kind], asked: &[usize]) -> Vec<Variant> {
    let fixed = match workload.threads() {
        Threads::Asked => asked.to_vec(),
        Threads::Fixed(threads) => vec![threads],
    };
    let mut variants = Vec::new();
    for peer in Kind::ALL.into_iter().filter(|peer| peers.contains(peer) && workload.suits(*peer)) {
        let threads = match peer {
            Kind::Plain => vec![Some(1)],
            Kind::AnabranchOutside => vec![None],
            _ => fixed.iter().copied().map(Some).collect(),
        };
        variants.extend(threads.into_iter().map(|threads| Variant { peer, threads }));
    }
    variants
}

/// Runs a workload with all `variants`.
pub fn run(name: &'static str, workload: &dyn AnyWorkload, variants: &[Variant], rounds: usize) -> Outcome {
    run_with(name, workload, variants, rounds, |variant| {
        in_child(LIMIT, || workload.sample_with(variant.peer, variant.threads.unwrap_or(0)))
    })
}

fn run_with(
    name: &'static str,
    workload: &dyn AnyWorkload,
    variants: &[Variant],
    rounds: usize,
    mut sample: impl FnMut(Variant) -> Result<Sample, Failure>,
) -> Outcome {
    let rounds = workload.rounds(rounds);
    let mut series: Vec<Series> = variants
        .iter()
        .map(|variant| Series { variant: *variant, samples: vec![None; rounds], failure: None })
        .collect();
    let mut random = fastrand::Rng::with_seed(0xf0_c1);
    let mut order: Vec<usize> = (0..series.len()).collect();
    let progress = Progress::new(name, rounds);
    for round in 0..rounds {
        random.shuffle(&mut order);
        for &index in &order {
            let series = &mut series[index];
            progress.show(round, series.variant);
            if series.failure.is_none() {
                match sample(series.variant) {
                    Ok(sample) => series.samples[round] = Some(sample),
                    Err(failure) => series.failure = Some(failure.to_string()),
                }
            }
        }
    }
    progress.clear();
    Outcome { name, title: workload.title(), unit: workload.unit(), rounds, series }
}

/// A line on the terminal that says where the bench is; nothing if nobody looks.
struct Progress {
    name: &'static str,
    rounds: usize,
    start: Instant,
    watched: bool,
}

impl Progress {
    fn new(name: &'static str, rounds: usize) -> Progress {
        Progress { name, rounds, start: Instant::now(), watched: io::stderr().is_terminal() }
    }

    fn show(&self, round: usize, variant: Variant) {
        self.print(format_args!(
            "{}: round {} of {}, {} s, {}",
            self.name,
            round + 1,
            self.rounds,
            self.start.elapsed().as_secs(),
            variant.peer,
        ));
    }

    fn clear(&self) {
        self.print(format_args!(""));
    }

    fn print(&self, text: std::fmt::Arguments<'_>) {
        if self.watched {
            let mut stderr = io::stderr();
            // A terminal that is gone is no reason to stop measuring.
            let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Meter;
    use crate::workloads::quicksort::Quicksort;
    use crate::workloads::sleepers::Sleepers;

    fn sample(wall: f64, cpu: f64) -> Sample {
        Sample::per_unit(Meter { wall, cpu }, 1.0, 1.0)
    }

    fn variant(peer: Kind, threads: usize) -> Variant {
        Variant { peer, threads: Some(threads) }
    }

    #[test]
    fn variants_are_peers_times_threads() {
        let found = variants(&Quicksort::new(10), &Kind::ALL, &[1, 4]);
        let expected = [
            variant(Kind::Plain, 1),
            variant(Kind::Anabranch, 1),
            variant(Kind::Anabranch, 4),
            Variant { peer: Kind::AnabranchOutside, threads: None },
            variant(Kind::Rayon, 1),
            variant(Kind::Rayon, 4),
            variant(Kind::Chili, 1),
            variant(Kind::Chili, 4),
            variant(Kind::Forte, 1),
            variant(Kind::Forte, 4),
        ];
        assert_eq!(found, expected);
        let found = variants(&Sleepers::new(4, 1, 3), &[Kind::Rayon, Kind::AnabranchOutside], &[1, 4]);
        assert_eq!(found, [variant(Kind::Rayon, 3)], "a workload may fix the threads and turn peers away");
    }

    #[test]
    fn every_variant_runs_once_a_round_in_another_order() {
        let all: Vec<Variant> = (1..=6).map(|threads| variant(Kind::Rayon, threads)).collect();
        let mut seen = Vec::new();
        let outcome = run_with("fib", &Quicksort::new(10), &all, 3, |variant| {
            seen.push(variant.threads.unwrap());
            Ok(sample(1.0, 1.0))
        });
        assert_eq!(outcome.rounds, 3);
        let rounds: Vec<Vec<usize>> = seen.chunks(6).map(<[usize]>::to_vec).collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [1, 2, 3, 4, 5, 6]);
        }
        assert_ne!(rounds[0], rounds[1]);
    }

    #[test]
    fn lines_relate_to_plain_recursion_in_the_same_round() {
        let pair = [variant(Kind::Plain, 1), variant(Kind::Rayon, 2)];
        let mut round = 0.0;
        let outcome = run_with("fib", &Quicksort::new(10), &pair, 3, |variant| {
            // Each pair of samples is slower than the one before.
            round += 0.5;
            let slow = f64::ceil(round);
            Ok(match variant.peer {
                Kind::Plain => sample(2.0 * slow, 2.0 * slow),
                _ => sample(slow, 1.5 * slow).with("switches", slow),
            })
        });
        let lines = outcome.lines();
        assert_eq!(lines[0].to_plain, Some(1.0));
        assert_eq!(lines[1].to_plain, Some(0.5));
        assert_eq!(lines[1].cpu_to_plain, Some(0.75));
        assert_eq!((lines[1].value.min, lines[1].value.median), (1.0, 2.0));
        assert_eq!(lines[1].extra, [("switches".to_owned(), 2.0)]);
    }

    #[test]
    fn a_variant_that_fails_is_reported_and_not_tried_again() {
        let pair = [variant(Kind::Plain, 1), variant(Kind::Chili, 2)];
        let mut tried = 0;
        let outcome = run_with("fib", &Quicksort::new(10), &pair, 4, |variant| match variant.peer {
            Kind::Plain => Ok(sample(1.0, 1.0)),
            _ => {
                tried += 1;
                Err(Failure::TimedOut(Duration::from_secs(60)))
            }
        });
        assert_eq!(tried, 1);
        assert_eq!(outcome.lines().len(), 1);
        let failures: Vec<_> = outcome.failures().collect();
        assert_eq!(failures, [(pair[1], "hung: no result after 60 s")]);
    }
}

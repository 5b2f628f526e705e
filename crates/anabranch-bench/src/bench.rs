//! Runs workloads: every variant once a round, in a shuffled order, each sample in a process of its own.
//!
//! Rounds are interleaved because machines drift: a neighbour that comes and goes meets all variants alike, and a ratio
//! taken within a round is hardly touched. The order within a round is shuffled, from a fixed seed, so that no variant
//! always follows the same other one.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::isolate::{Failure, in_child};
use crate::sample::Sample;
use crate::stats::{Summary, median, median_ratio};

/// Longer than any sample that ends.
const LIMIT: Duration = Duration::from_secs(60);

/// The peers of a bench.
pub trait Peers: Copy + Eq + fmt::Display + Serialize + 'static {
    /// All of them, in the order in which they are reported.
    const ALL: &'static [Self];

    /// The peer that the others are related to, if it takes part.
    const BASELINE: Self;

    /// The thread counts with which it is run where the workload wants these. `None`: it decides for itself.
    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        asked.iter().copied().map(Some).collect()
    }

    /// Whether it is one of several ways to use what is measured against the others.
    fn is_ours(self) -> bool {
        self == Self::BASELINE
    }

    /// How a number of threads is shown in its lines.
    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or_else(|| "dflt".into(), |threads| threads.to_string())
    }
}

/// The names of all peers, separated by commas.
pub fn names<K: Peers>() -> String {
    K::ALL.iter().map(K::to_string).collect::<Vec<_>>().join(", ")
}

/// The peer that is shown as `name`.
///
/// # Errors
/// If none is; the message lists them.
pub fn by_name<K: Peers>(name: &str) -> Result<K, String> {
    let found = K::ALL.iter().copied().find(|peer| peer.to_string() == name);
    found.ok_or_else(|| format!("no peer is called `{name}`; there are {}", names::<K>()))
}

/// The thread counts with which a workload is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Those that the user chose.
    Asked,
    /// This one, as the workload is about it.
    Fixed(usize),
}

/// A workload whose peer is chosen at run time.
pub trait AnyWorkload<K> {
    /// What it does, in a few words.
    fn title(&self) -> String;
    /// The unit of [`Sample::value`].
    fn unit(&self) -> &'static str;
    /// The thread counts with which it is run.
    fn threads(&self) -> Threads;
    /// How many rounds it is run when the user asks for `asked`.
    fn rounds(&self, asked: usize) -> usize;
    /// Whether `kind` can take part.
    fn suits(&self, kind: K) -> bool;
    /// Whether `kind` is one of those to be beaten; see [`Outcome::verdict`].
    fn is_rival(&self, _kind: K) -> bool {
        false
    }
    /// How much of the value of the best rival would be good.
    fn bar(&self) -> Option<f64> {
        None
    }
    /// How much more than the best rival's value would be good, in the workload's unit.
    fn most_above(&self) -> Option<f64> {
        None
    }
    /// Makes a pool of `threads` threads of the peer, and takes one sample there.
    fn sample_with(&self, kind: K, threads: usize) -> Sample;
}

/// A peer with a number of threads: one line of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant<K> {
    /// The peer.
    pub peer: K,
    /// Its threads; `None` where the peer decides for itself.
    pub threads: Option<usize>,
}

/// All samples of a variant.
#[derive(Clone, Debug, Serialize)]
pub struct Series<K> {
    /// Whose samples they are.
    #[serde(flatten)]
    pub variant: Variant<K>,
    /// One entry a round; `None` where there is no sample.
    pub samples: Vec<Option<Sample>>,
    /// Why samples are missing. A variant that failed is not tried again.
    pub failure: Option<String>,
    /// Whether it is one of those to be beaten.
    #[serde(skip)]
    pub is_rival: bool,
}

impl<K> Series<K> {
    /// A figure of each round.
    pub fn column(&self, figure: impl Fn(&Sample) -> f64) -> Vec<Option<f64>> {
        self.samples.iter().map(|sample| sample.as_ref().map(&figure)).collect()
    }
}

/// All samples of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome<K> {
    /// The workload's name on the command line.
    pub name: &'static str,
    /// What it does.
    pub title: String,
    /// The unit of the samples' values.
    pub unit: &'static str,
    /// How many rounds were run.
    pub rounds: usize,
    /// How much of the value of the best rival would be good, where something has been said about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    /// How much more than that would be good, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_above: Option<f64>,
    /// The variants, in the order of the report.
    pub series: Vec<Series<K>>,
}

/// The figures of one line of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Line<K> {
    /// Whose figures they are.
    pub variant: Variant<K>,
    /// The samples' values.
    pub value: Summary,
    /// How many times the value of the baseline in the same round; the median of that.
    pub to_baseline: Option<f64>,
    /// The same for the CPU time per value, which tells what was burnt to be that fast.
    pub cpu_to_baseline: Option<f64>,
    /// Medians of the further figures.
    pub extra: Vec<(String, f64)>,
}

impl<K: Peers> Outcome<K> {
    /// Computes the line of each variant that has samples.
    pub fn lines(&self) -> Vec<Line<K>> {
        // With as many threads if it ran with several, or else with those it has. Where the baseline cannot take part,
        // another way to use the same does.
        let all = |is_it: fn(K) -> bool| self.series.iter().filter(move |series| is_it(series.variant.peer));
        let mut baselines: Vec<_> = all(|peer| peer == K::BASELINE).collect();
        if baselines.is_empty() {
            let other = all(K::is_ours).next().map(|series| series.variant.peer);
            baselines = self.series.iter().filter(|series| Some(series.variant.peer) == other).collect();
        }
        let baseline = |series: &Series<K>| {
            let same = baselines.iter().find(|baseline| baseline.variant.threads == series.variant.threads);
            same.or(baselines.first()).copied()
        };
        self.series.iter().filter_map(|series| line(series, baseline(series))).collect()
    }

    /// The variants that failed, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (Variant<K>, &str)> {
        self.series.iter().filter_map(|series| Some((series.variant, series.failure.as_deref()?)))
    }
}

fn line<K: Peers>(series: &Series<K>, baseline: Option<&Series<K>>) -> Option<Line<K>> {
    let ratio = |figure: fn(&Sample) -> f64| median_ratio(&series.column(figure), &baseline?.column(figure));
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
        to_baseline: ratio(|sample| sample.value),
        cpu_to_baseline: ratio(cpu_per_value),
        extra: extra.collect(),
    })
}

/// The variants of a workload, in the order of the report.
pub fn variants<K: Peers>(workload: &dyn AnyWorkload<K>, peers: &[K], asked: &[usize]) -> Vec<Variant<K>> {
    let asked = match workload.threads() {
        Threads::Asked => asked,
        Threads::Fixed(threads) => &[threads],
    };
    let mut variants = Vec::new();
    for peer in K::ALL.iter().copied().filter(|peer| peers.contains(peer) && workload.suits(*peer)) {
        variants.extend(peer.threads(asked).into_iter().map(|threads| Variant { peer, threads }));
    }
    variants
}

/// Runs a workload with all `variants`.
pub fn run<K: Peers>(
    name: &'static str,
    workload: &dyn AnyWorkload<K>,
    variants: &[Variant<K>],
    rounds: usize,
) -> Outcome<K> {
    run_with(name, workload, variants, rounds, |variant| {
        in_child(LIMIT, || workload.sample_with(variant.peer, variant.threads.unwrap_or(0)))
    })
}

fn run_with<K: Peers>(
    name: &'static str,
    workload: &dyn AnyWorkload<K>,
    variants: &[Variant<K>],
    rounds: usize,
    mut sample: impl FnMut(Variant<K>) -> Result<Sample, Failure>,
) -> Outcome<K> {
    let rounds = workload.rounds(rounds);
    let mut series: Vec<Series<K>> = variants
        .iter()
        .map(|variant| Series {
            variant: *variant,
            samples: vec![None; rounds],
            failure: None,
            is_rival: !variant.peer.is_ours() && workload.is_rival(variant.peer),
        })
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
    Outcome {
        name,
        title: workload.title(),
        unit: workload.unit(),
        rounds,
        bar: workload.bar(),
        most_above: workload.most_above(),
        series,
    }
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

    fn show(&self, round: usize, variant: Variant<impl fmt::Display>) {
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

    fn print(&self, text: fmt::Arguments<'_>) {
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
    use crate::peers::Kind;
    use crate::sample::Meter;
    use crate::workloads::quicksort::Quicksort;
    use crate::workloads::sleepers::Sleepers;

    fn sample(wall: f64, cpu: f64) -> Sample {
        Sample::per_unit(Meter { wall, cpu }, 1.0, 1.0)
    }

    fn variant(peer: Kind, threads: usize) -> Variant<Kind> {
        Variant { peer, threads: Some(threads) }
    }

    #[test]
    fn variants_are_peers_times_threads() {
        let found = variants(&Quicksort::new(10), Kind::ALL, &[1, 4]);
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
        let all: Vec<Variant<Kind>> = (1..=6).map(|threads| variant(Kind::Rayon, threads)).collect();
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
        assert_eq!(lines[0].to_baseline, Some(1.0));
        assert_eq!(lines[1].to_baseline, Some(0.5));
        assert_eq!(lines[1].cpu_to_baseline, Some(0.75));
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

//! Runs workloads: every variant once per round, in a shuffled order, each sample in its own process.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

pub use crate::contest::{AnyWorkload, Peers, Threads, by_name, names};
use crate::isolate::{Failure, LIMIT, in_child};
pub use crate::outcome::{Line, Outcome, Series, Variant};
use crate::rounds::{self, Plan, Tally};
use crate::sample::Sample;

/// Returns the variants of a workload, in the order of the report.
pub fn variants<K: Peers>(workload: &dyn AnyWorkload<K>, peers: &[K], asked: &[usize]) -> Vec<Variant<K>> {
    let asked = match workload.threads() {
        Threads::Asked => asked,
        Threads::Fixed(threads) => &[threads],
        Threads::Several(threads) => threads,
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
    let progress = Progress::new(name, rounds);
    let tally = rounds::take(variants.len(), Plan { rounds, warm_up: 0, seed: rounds::SEED }, |round, index| {
        progress.show(round.unwrap_or(0), variants[index]);
        Some(sample(variants[index]).map_err(|failure| failure.to_string()))
    });
    progress.clear();
    Outcome {
        name,
        title: workload.title(),
        unit: workload.unit(),
        rounds,
        bar: workload.bar(),
        most_above: workload.most_above(),
        targets: workload.targets(),
        series: variants.iter().zip(tally).map(|(variant, tally)| series(workload, *variant, tally)).collect(),
    }
}

fn series<K: Peers>(workload: &dyn AnyWorkload<K>, variant: Variant<K>, tally: Tally) -> Series<K> {
    let is_rival = !variant.peer.is_ours() && workload.is_rival(variant.peer);
    Series { variant, samples: tally.samples, failure: tally.failure, is_rival }
}

/// A progress line on the terminal; nothing if standard error is not a terminal.
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
            // A closed terminal does not stop the measurement.
            let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::confidence::Estimate;
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
        let ratio = |estimate: &Option<Estimate>| estimate.map(|estimate| estimate.value);
        assert_eq!(ratio(&lines[0].figures.to_baseline), Some(1.0));
        assert_eq!(ratio(&lines[1].figures.to_baseline), Some(0.5));
        assert_eq!(ratio(&lines[1].figures.cpu_to_baseline), Some(0.75));
        let value = &lines[1].figures.value;
        assert_eq!((value.min, value.median), (1.0, 2.0));
        assert_eq!(lines[1].figures.extra["switches"], 2.0);
    }

    #[test]
    fn failing_variant_is_reported_and_not_repeated() {
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

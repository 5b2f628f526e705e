//! The comparison of a run's figures with the targets.

use std::fmt;

use serde::Serialize;

use crate::contest::Peers;
use crate::outcome::{Outcome, Series, Variant};
use crate::stats::{median, median_ratio};
use crate::target::{Limit, MeanTarget};

/// Whether a variant has reached a target.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement<K> {
    /// The judged variant; `None` for a target of several workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant<K>>,
    /// The target in words.
    pub target: String,
    /// The figure for each limit, in the order of the limits. A limit whose other peer did not run has none.
    pub figures: Vec<Option<f64>>,
    /// The figures in words.
    pub found: String,
    /// Whether one of the limits was kept; `None` if none of them has a figure.
    pub is_met: Option<bool>,
}

impl<K: Peers> Outcome<K> {
    /// Judges each variant of anabranch by each target.
    pub fn judgements(&self) -> Vec<Judgement<K>> {
        let ours = || self.series.iter().filter(|series| series.variant.peer.is_ours());
        let mut judgements = Vec::new();
        for target in &self.targets {
            let suits = |series: &&Series<K>| target.threads.is_none() || series.variant.threads == target.threads;
            for series in ours().filter(suits) {
                let found: Vec<_> = target.limits.iter().map(|limit| self.figure(series, limit)).collect();
                let figures: Vec<Option<f64>> =
                    found.iter().map(|found| found.as_ref().map(|(figure, _)| *figure)).collect();
                let is_kept = |(limit, figure): (&Limit<K>, &Option<f64>)| Some((*figure)? <= limit.most());
                let kept: Vec<bool> = target.limits.iter().zip(&figures).filter_map(is_kept).collect();
                let words: Vec<String> = found.into_iter().flatten().map(|(_, words)| words).collect();
                judgements.push(Judgement {
                    variant: Some(series.variant),
                    target: target.text.clone(),
                    figures,
                    found: words.join(", "),
                    is_met: (!kept.is_empty()).then(|| kept.contains(&true)),
                });
            }
        }
        judgements
    }

    /// Returns the figure that a limit refers to, and the figure in words.
    fn figure(&self, ours: &Series<K>, limit: &Limit<K>) -> Option<(f64, String)> {
        let value = |series: &Series<K>| series.column(|sample| sample.value);
        let middle = |series| median(&value(series).into_iter().flatten().collect::<Vec<_>>());
        match *limit {
            Limit::Ratio { to, threads, .. } => {
                let ratio = median_ratio(&value(ours), &value(self.other(ours, to, threads)?))?;
                Some((ratio, format!("{ratio:.3} x {}", named(to, threads))))
            }
            Limit::Above { to, .. } => {
                let above = middle(ours)? - middle(self.other(ours, to, None)?)?;
                Some((above, format!("{above:+.1} {}", self.unit)))
            }
            Limit::Value { .. } => {
                let own = middle(ours)?;
                Some((own, format!("{own:.1} {}", self.unit)))
            }
        }
    }

    /// Returns the series of `peer` with this number of threads, or with that of `ours`, or the only one.
    fn other(&self, ours: &Series<K>, peer: K, threads: Option<usize>) -> Option<&Series<K>> {
        let mut all = self.series.iter().filter(|series| series.variant.peer == peer);
        match threads {
            Some(_) => all.find(|series| series.variant.threads == threads),
            None => {
                let all: Vec<_> = all.collect();
                let same = all.iter().find(|series| series.variant.threads == ours.variant.threads);
                same.or(if all.len() == 1 { all.first() } else { None }).copied()
            }
        }
    }
}

fn named<K: Peers>(peer: K, threads: Option<usize>) -> String {
    threads.map_or_else(|| peer.to_string(), |threads| format!("{peer} ({threads})"))
}

impl<K> Limit<K> {
    fn most(&self) -> f64 {
        match self {
            Limit::Ratio { most, .. } | Limit::Above { most, .. } | Limit::Value { most } => *most,
        }
    }
}

/// Judges all workloads of `target` together, by their variants with the most threads. Returns `None` if one of the
/// workloads is missing, or has no ratio.
pub fn mean<K: Peers>(target: &MeanTarget<K>, outcomes: &[Outcome<K>]) -> Option<Judgement<K>> {
    let mut logarithms = 0.0;
    for name in target.workloads {
        let outcome = outcomes.iter().find(|outcome| outcome.name == *name)?;
        let ours = outcome.series.iter().filter(|series| series.variant.peer.is_ours());
        let ours = ours.max_by_key(|series| series.variant.threads)?;
        let limit = Limit::Ratio { to: target.to, threads: None, most: target.most };
        logarithms += outcome.figure(ours, &limit)?.0.ln();
    }
    let mean = (logarithms / target.workloads.len() as f64).exp();
    Some(Judgement {
        variant: None,
        target: target.text.to_owned(),
        figures: vec![Some(mean)],
        found: format!("{mean:.3} x {}", target.to),
        is_met: Some(mean <= target.most),
    })
}

impl<K: Peers> fmt::Display for Judgement<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.is_met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "not measured",
        };
        let name = self.variant.map_or_else(String::new, |variant| {
            let threads = variant.peer.threads_shown(variant.threads);
            format!("{} ({threads}) ", variant.peer)
        });
        write!(f, "{verdict:<7} {name}{}", self.target)?;
        if self.found.is_empty() { Ok(()) } else { write!(f, ": {}", self.found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Kind;
    use crate::sample::{Meter, Sample};
    use crate::target::Target;

    fn outcome(targets: Vec<Target<Kind>>) -> Outcome<Kind> {
        let series = |peer, threads, values: &[f64]| Series {
            variant: Variant { peer, threads: Some(threads) },
            samples: values
                .iter()
                .map(|wall| Some(Sample::per_unit(Meter { wall: *wall, cpu: 0.0 }, 1.0, 1.0)))
                .collect(),
            failure: None,
            is_rival: false,
        };
        // The only peer of this kind that counts as anabranch is the baseline.
        Outcome {
            name: "test",
            title: "a test".into(),
            unit: "ms",
            rounds: 3,
            bar: None,
            most_above: None,
            targets,
            series: vec![
                series(Kind::Plain, 2, &[10.0, 20.0, 10.0]),
                series(Kind::Plain, 32, &[11.0, 21.0, 11.0]),
                series(Kind::Rayon, 2, &[20.0, 40.0, 20.0]),
                series(Kind::Rayon, 32, &[5.0, 5.0, 5.0]),
                series(Kind::Hand, 7, &[9.0, 9.0, 9.0]),
            ],
        }
    }

    fn judged(target: Target<Kind>) -> Vec<(Option<bool>, String)> {
        outcome(vec![target]).judgements().into_iter().map(|one| (one.is_met, one.found)).collect()
    }

    #[test]
    fn ratios_relate_to_the_peer_with_as_many_threads() {
        let limit = Limit::Ratio { to: Kind::Rayon, threads: None, most: 1.0 };
        let found = judged(Target::new("not behind", limit));
        assert_eq!(found, [(Some(true), "0.500 x rayon".to_owned()), (Some(false), "2.200 x rayon".to_owned())]);
        let limit = Limit::Ratio { to: Kind::Plain, threads: Some(2), most: 1.1 };
        let found = judged(Target::new("own 2 threads", limit).with_threads(32));
        assert_eq!(found, [(Some(true), "1.100 x plain (2)".to_owned())]);
    }

    #[test]
    fn one_limit_of_several_suffices() {
        let ratio = |most| Limit::Ratio { to: Kind::Rayon, threads: Some(2), most };
        let hand = |most| Limit::Above { to: Kind::Hand, most };
        let is_met = |target: Target<Kind>| judged(target.with_threads(2))[0].0;
        assert_eq!(is_met(Target::new("", ratio(0.4)).or(hand(1.0))), Some(true));
        assert_eq!(is_met(Target::new("", ratio(0.5)).or(hand(0.9))), Some(true));
        assert_eq!(is_met(Target::new("", ratio(0.4)).or(hand(0.9))), Some(false));
    }

    #[test]
    fn a_peer_that_did_not_run_leaves_the_target_open() {
        let limit = Limit::Ratio { to: Kind::Forte, threads: None, most: 1.0 };
        let judgements = outcome(vec![Target::new("as fast as forte", limit)]).judgements();
        assert_eq!(judgements[0].is_met, None);
        assert_eq!(judgements[0].to_string(), "not measured plain (-) as fast as forte");
        let value = outcome(vec![Target::new("at most 10 ms", Limit::Value { most: 10.0 })]).judgements();
        assert_eq!(value[0].to_string(), "met     plain (-) at most 10 ms: 10.0 ms");
    }

    #[test]
    fn means_are_geometric() {
        let (one, mut other) = (outcome(Vec::new()), outcome(Vec::new()));
        other.name = "other";
        other.series[1].samples.iter_mut().flatten().for_each(|sample| sample.value *= 4.0);
        let mut target = MeanTarget { text: "", workloads: &["test", "other"], to: Kind::Rayon, most: 4.4 };
        let both = [one, other];
        let judgement = mean(&target, &both).unwrap();
        assert!((judgement.figures[0].unwrap() - 4.4).abs() < 1e-9, "the root of 2.2 times 8.8: {judgement:?}");
        target.workloads = &["test", "missing"];
        assert!(mean(&target, &both).is_none());
    }
}

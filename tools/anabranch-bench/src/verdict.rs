//! The comparison of anabranch with the best rival.

use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::bench::{Outcome, Peers, Variant};
use crate::stats::{median, median_ratio};

/// The best rival of a workload, and the variants of anabranch.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict<K> {
    /// The rival with the lowest median, for any number of threads.
    pub best: Variant<K>,
    /// Its median.
    pub median: f64,
    /// The target: a share of that median.
    pub bar: Option<f64>,
    /// The target: the most by which the value may exceed that median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_above: Option<f64>,
    /// Each variant of anabranch, and the difference of its median to that of the best.
    #[serde(skip)]
    pub above: Vec<f64>,
    /// Each variant of anabranch, and the median ratio of its value to that of the best in the same round.
    pub ours: Vec<(Variant<K>, f64)>,
}

impl<K: Peers> Outcome<K> {
    /// Compares with the best rival. Returns `None` if there is no rival, or no variant of anabranch.
    pub fn verdict(&self) -> Option<Verdict<K>> {
        let values = |series: &crate::bench::Series<K>| series.column(|sample| sample.value);
        let medians = self.series.iter().filter(|series| series.is_rival).filter_map(|series| {
            let values: Vec<f64> = values(series).into_iter().flatten().collect();
            Some((series, median(&values)?))
        });
        let (best, value) = medians.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let ours = self.series.iter().filter(|series| series.variant.peer.is_ours());
        let ratios = ours.filter_map(|series| {
            let own = median(&values(series).into_iter().flatten().collect::<Vec<_>>())?;
            Some(((series.variant, median_ratio(&values(series), &values(best))?), own - value))
        });
        let (ours, above): (Vec<_>, Vec<_>) = ratios.unzip();
        let (bar, most_above) = (self.bar, self.most_above);
        (!ours.is_empty()).then_some(Verdict { best: best.variant, median: value, bar, most_above, above, ours })
    }
}

impl<K: Peers> fmt::Display for Verdict<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |variant: Variant<K>| match variant.threads {
            Some(threads) => format!("{} ({threads})", variant.peer),
            None => variant.peer.to_string(),
        };
        let mut text = format!("best peer {} {:.1}", name(self.best), self.median);
        if let Some(bar) = self.bar {
            write!(text, ", bar {bar:.2}")?;
        }
        if let Some(most) = self.most_above {
            write!(text, ", bar {most:+.0}")?;
        }
        text.push(':');
        for ((variant, ratio), above) in self.ours.iter().zip(&self.above) {
            write!(text, " {} {ratio:.2}", name(*variant))?;
            if self.most_above.is_some() {
                write!(text, " {above:+.1}")?;
            }
            if self.bar.is_some_and(|bar| *ratio <= bar) || self.most_above.is_some_and(|most| *above <= most) {
                text.push('*');
            }
        }
        f.pad(&text)
    }
}

/// Returns the ratio of the times of two workloads, for each variant of anabranch in both.
pub fn across<K: Peers>(one: &Outcome<K>, other: &Outcome<K>) -> Vec<(Variant<K>, f64)> {
    let ours = one.series.iter().filter(|series| series.variant.peer.is_ours());
    ours.filter_map(|series| {
        let same = other.series.iter().find(|same| same.variant == series.variant)?;
        let value = |series: &crate::bench::Series<K>| {
            median(&series.column(|sample| sample.value).into_iter().flatten().collect::<Vec<_>>())
        };
        Some((series.variant, value(series)? / value(same)?))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Series;
    use crate::peers::Kind;
    use crate::sample::{Meter, Sample};

    fn outcome(bar: Option<f64>) -> Outcome<Kind> {
        let series = |peer, values: &[f64], is_rival| Series {
            variant: Variant { peer, threads: Some(2) },
            samples: values
                .iter()
                .map(|wall| Some(Sample::per_unit(Meter { wall: *wall, cpu: 0.0 }, 1.0, 1.0)))
                .collect(),
            failure: None,
            is_rival,
        };
        Outcome {
            name: "test",
            title: "a test".into(),
            unit: "s",
            rounds: 3,
            bar,
            most_above: None,
            targets: Vec::new(),
            series: vec![
                series(Kind::Plain, &[1.0, 2.0, 1.0], false),
                series(Kind::Rayon, &[2.0, 4.0, 2.0], true),
                series(Kind::Chili, &[3.0, 3.0, 3.0], true),
                // The fastest of all, but not a rival.
                series(Kind::Forte, &[0.1, 0.1, 0.1], false),
            ],
        }
    }

    #[test]
    fn verdict_compares_with_best_rival() {
        let verdict = outcome(Some(0.5)).verdict().unwrap();
        assert_eq!((verdict.best.peer, verdict.median), (Kind::Rayon, 2.0));
        assert_eq!(verdict.ours, [(Variant { peer: Kind::Plain, threads: Some(2) }, 0.5)]);
        assert_eq!(verdict.to_string(), "best peer rayon (2) 2.0, bar 0.50: plain (2) 0.50*");
    }

    #[test]
    fn bar_may_be_difference() {
        let mut outcome = outcome(None);
        outcome.most_above = Some(-1.0);
        assert_eq!(outcome.verdict().unwrap().to_string(), "best peer rayon (2) 2.0, bar -1: plain (2) 0.50 -1.0*");
        outcome.most_above = Some(-1.5);
        assert!(outcome.verdict().unwrap().to_string().ends_with("plain (2) 0.50 -1.0"));
    }

    #[test]
    fn no_verdict_without_rival() {
        let mut outcome = outcome(None);
        outcome.series.retain(|series| !series.is_rival);
        assert!(outcome.verdict().is_none());
    }

    #[test]
    fn workloads_are_compared_by_their_medians() {
        let (one, mut other) = (outcome(None), outcome(None));
        other.series[0].samples.reverse();
        other.series[0].samples.truncate(1);
        assert_eq!(across(&one, &other), [(Variant { peer: Kind::Plain, threads: Some(2) }, 1.0)]);
    }
}

//! The outcome of a workload: the samples of each peer, and the figures computed from them.

use serde::{Deserialize, Serialize};

use crate::contest::Peers;
use crate::sample::Sample;
use crate::stats::{Summary, median, median_ratio};
use crate::target::Target;

/// A peer with a number of threads: one line of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant<K> {
    /// The peer.
    pub peer: K,
    /// Its threads, or `None` if the peer decides.
    pub threads: Option<usize>,
}

/// All samples of a variant.
#[derive(Clone, Debug, Serialize)]
pub struct Series<K> {
    /// The variant of the samples.
    #[serde(flatten)]
    pub variant: Variant<K>,
    /// One entry per round; `None` if there is no sample.
    pub samples: Vec<Option<Sample>>,
    /// Why samples are missing. A variant that failed does not run again.
    pub failure: Option<String>,
    /// Whether the target refers to this variant.
    #[serde(skip)]
    pub is_rival: bool,
}

impl<K> Series<K> {
    /// Returns a figure of each round.
    pub fn column(&self, figure: impl Fn(&Sample) -> f64) -> Vec<Option<f64>> {
        self.samples.iter().map(|sample| sample.as_ref().map(&figure)).collect()
    }
}

/// All samples of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome<K> {
    /// The workload's name on the command line.
    pub name: &'static str,
    /// A short description.
    pub title: String,
    /// The unit of the samples' values.
    pub unit: &'static str,
    /// The number of rounds.
    pub rounds: usize,
    /// The target: a share of the best rival's value, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    /// The target: the most by which the value may exceed the best rival's, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_above: Option<f64>,
    /// The targets that are judged one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target<K>>,
    /// The variants, in the order of the report.
    pub series: Vec<Series<K>>,
}

/// The figures of one line of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Line<K> {
    /// The variant of the line.
    pub variant: Variant<K>,
    /// The values of the samples.
    pub value: Summary,
    /// The median of the ratio to the baseline's value in the same round.
    pub to_baseline: Option<f64>,
    /// The median of the CPU time of each unit, in the unit of the value; in seconds if the value is not a time.
    pub cpu: f64,
    /// The median of the ratio to the baseline's CPU time in the same round. It shows the cost of the speed.
    pub cpu_to_baseline: Option<f64>,
    /// Medians of the other figures.
    pub extra: Vec<(String, f64)>,
}

impl<K: Peers> Outcome<K> {
    /// Computes the line of each variant with samples.
    pub fn lines(&self) -> Vec<Line<K>> {
        // The baseline with the same number of threads if it ran with several, otherwise with its own number. If the
        // baseline cannot take part, another variant of the same library replaces it.
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

    /// Returns the variants that failed, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (Variant<K>, &str)> {
        self.series.iter().filter_map(|series| Some((series.variant, series.failure.as_deref()?)))
    }
}

fn line<K: Peers>(series: &Series<K>, baseline: Option<&Series<K>>) -> Option<Line<K>> {
    let ratio = |figure: fn(&Sample) -> f64| median_ratio(&series.column(figure), &baseline?.column(figure));
    // Samples may differ in the amount of work (calls repeated for a given time), so CPU time is per unit.
    let cpu_each: fn(&Sample) -> f64 = |sample| sample.cpu_each;
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
        cpu: median(&series.samples.iter().flatten().map(cpu_each).collect::<Vec<_>>())?,
        cpu_to_baseline: ratio(cpu_each),
        extra: extra.collect(),
    })
}

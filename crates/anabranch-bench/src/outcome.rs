//! What came of a workload: the samples of each peer, and the figures that are made of them.

use serde::{Deserialize, Serialize};

use crate::contest::Peers;
use crate::sample::Sample;
use crate::stats::{Summary, median, median_ratio};

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
    /// The median of the CPU time of each unit, in the unit of the value; in seconds where that is not a time.
    pub cpu: f64,
    /// The same as `to_baseline` for the CPU time, which tells what was burnt to be that fast.
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

//! The outcome of a workload: the samples of each peer, and the figures computed from them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contest::{self, Peers};
use crate::figures::{self, Figures};
use crate::record;
use crate::sample::Sample;
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
#[derive(Clone, Debug)]
pub struct Series<K> {
    /// The variant of the samples.
    pub variant: Variant<K>,
    /// One entry per round; `None` if there is no sample.
    pub samples: Vec<Option<Sample>>,
    /// Why samples are missing. A variant that failed does not run again.
    pub failure: Option<String>,
    /// Whether the target refers to this variant.
    pub is_rival: bool,
}

impl<K> Series<K> {
    /// Returns a figure of each round.
    pub fn column(&self, figure: impl Fn(&Sample) -> f64) -> Vec<Option<f64>> {
        figures::column(&self.samples, figure)
    }
}

/// All samples of a workload.
#[derive(Clone, Debug)]
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
    pub bar: Option<f64>,
    /// The target: the most by which the value may exceed the best rival's, if there is one.
    pub most_above: Option<f64>,
    /// The targets that are judged one by one.
    pub targets: Vec<Target<K>>,
    /// The variants, in the order of the report.
    pub series: Vec<Series<K>>,
}

/// One line of a table.
#[derive(Clone, Debug)]
pub struct Line<K> {
    /// The variant of the line.
    pub variant: Variant<K>,
    /// Its figures.
    pub figures: Figures,
}

impl<K: Peers> Outcome<K> {
    /// Computes the line of each variant with samples.
    pub fn lines(&self) -> Vec<Line<K>> {
        let series = self.record("").series.into_iter().zip(&self.series);
        series.filter_map(|(record, series)| Some(Line { variant: series.variant, figures: record.figures? })).collect()
    }

    /// Returns the workload as part of a result file.
    pub fn record(&self, suite: &str) -> record::Workload {
        let baseline = contest::baseline(self.series.iter().map(|series| series.variant.peer));
        let series = |series: &Series<K>| record::Series {
            peer: series.variant.peer.to_string(),
            threads: series.variant.threads,
            ours: series.variant.peer.is_of_anabranch(),
            baseline: Some(series.variant.peer) == baseline,
            samples: series.samples.clone(),
            failure: series.failure.clone(),
            figures: None,
        };
        let workload = record::Workload {
            suite: suite.to_owned(),
            name: self.name.to_owned(),
            title: self.title.clone(),
            unit: self.unit.to_owned(),
            rounds: self.rounds,
            series: self.series.iter().map(series).collect(),
            targets: self.judged(),
        };
        workload.with_figures()
    }

    /// Returns the targets and how they were met, without those that do not exist.
    fn judged(&self) -> Map<String, Value> {
        let value = |value: Result<Value, _>| value.expect("a target is plain data");
        let all = [
            ("bar", value(serde_json::to_value(self.bar))),
            ("most_above", value(serde_json::to_value(self.most_above))),
            ("targets", value(serde_json::to_value(&self.targets))),
            ("verdict", value(serde_json::to_value(self.verdict()))),
            ("judgements", value(serde_json::to_value(self.judgements()))),
        ];
        let exists = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
        all.into_iter().filter(|(_, value)| exists(value)).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the variants that failed, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (Variant<K>, &str)> {
        self.series.iter().filter_map(|series| Some((series.variant, series.failure.as_deref()?)))
    }
}

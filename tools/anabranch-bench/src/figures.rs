//! The figures that are computed from the samples of a series: those of a line of a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::confidence::{self, Estimate};
use crate::sample::Sample;
use crate::stats::{self, Summary};

/// The figures of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The number of samples, and their quantiles.
    #[serde(flatten)]
    pub value: Summary,
    /// The confidence interval of the median.
    pub interval: Estimate,
    /// The median of the ratio to the baseline's value in the same round, with its interval.
    pub to_baseline: Option<Estimate>,
    /// The median of the CPU time of each unit, in the unit of the value; in seconds if the value is not a time.
    pub cpu: f64,
    /// The median of the ratio to the baseline's CPU time in the same round. It shows the cost of the speed.
    pub cpu_to_baseline: Option<Estimate>,
    /// Medians of the other figures.
    pub extra: BTreeMap<String, f64>,
}

impl Figures {
    /// Computes the figures from one entry per round, and the same rounds of the baseline if it took part. Returns
    /// `None` if there are no samples.
    pub fn of(samples: &[Option<Sample>], baseline: Option<&[Option<Sample>]>) -> Option<Figures> {
        let ratio = |figure: fn(&Sample) -> f64| {
            confidence::median_ratio(&column(samples, figure), &column(baseline?, figure), confidence::USUAL)
        };
        // Samples may differ in the amount of work (calls repeated for a given time), so CPU time is per unit.
        let cpu_each: fn(&Sample) -> f64 = |sample| sample.cpu_each;
        let taken = || samples.iter().flatten();
        let values: Vec<f64> = taken().map(|sample| sample.value).collect();
        let names = taken().next().map(|sample| sample.extra.keys());
        let extra = names.into_iter().flatten().filter_map(|name| {
            let figures: Vec<f64> = taken().filter_map(|sample| sample.extra.get(name).copied()).collect();
            Some((name.clone(), stats::median(&figures)?))
        });
        Some(Figures {
            value: Summary::of(&values)?,
            interval: confidence::median(&values, confidence::USUAL)?,
            to_baseline: ratio(|sample| sample.value),
            cpu: stats::median(&taken().map(cpu_each).collect::<Vec<_>>())?,
            cpu_to_baseline: ratio(cpu_each),
            extra: extra.collect(),
        })
    }
}

/// Returns a figure of each round.
pub fn column(samples: &[Option<Sample>], figure: impl Fn(&Sample) -> f64) -> Vec<Option<f64>> {
    samples.iter().map(|sample| sample.as_ref().map(&figure)).collect()
}

//! Order statistics of a few samples.
//!
//! A shared machine disturbs samples upwards and in bursts, so this module computes no means. Medians and percentiles
//! represent the usual case, the minimum represents the undisturbed one. A ratio to a baseline is taken within each
//! round, where both sides had the same disturbance, and then its median over the rounds.

use serde::{Deserialize, Serialize};

/// The summary of one series of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of samples.
    pub samples: usize,
    /// The smallest sample.
    pub min: f64,
    /// A tenth of the samples are at most this.
    pub p10: f64,
    /// Half of the samples are at most this.
    pub median: f64,
    /// Nine tenths of the samples are at most this.
    pub p90: f64,
}

impl Summary {
    /// Summarises `samples`, or returns `None` if there are none.
    ///
    /// ```
    /// use anabranch_bench::stats::Summary;
    ///
    /// let summary = Summary::of(&[3.0, 1.0, 2.0]).unwrap();
    /// assert_eq!((summary.min, summary.median), (1.0, 2.0));
    /// ```
    pub fn of(samples: &[f64]) -> Option<Summary> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Summary {
            samples: sorted.len(),
            min: *sorted.first()?,
            p10: percentile(&sorted, 0.1),
            median: percentile(&sorted, 0.5),
            p90: percentile(&sorted, 0.9),
        })
    }
}

/// Returns the quantile `p` of the `sorted` samples, interpolated between the two nearest ranks.
///
/// # Panics
/// Panics if `sorted` is empty or `p` is not within `0.0..=1.0`.
pub fn percentile(sorted: &[f64], p: f64) -> f64 {
    assert!(!sorted.is_empty(), "a percentile needs a sample");
    assert!((0.0..=1.0).contains(&p), "a percentile is a share of one");
    let rank = p * (sorted.len() - 1) as f64;
    let below = rank.floor() as usize;
    let above = rank.ceil() as usize;
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

/// Returns the median of `samples`, or `None` if there are none.
pub fn median(samples: &[f64]) -> Option<f64> {
    Summary::of(samples).map(|summary| summary.median)
}

/// Returns the median over the rounds of `value / baseline`, over the rounds that have both.
///
/// Both slices have one entry per round. A round with a baseline of zero is skipped.
pub fn median_ratio(values: &[Option<f64>], baselines: &[Option<f64>]) -> Option<f64> {
    median(&ratios(values, baselines))
}

/// Returns `value / baseline` of each round that has both, and whose baseline is not zero.
pub fn ratios(values: &[Option<f64>], baselines: &[Option<f64>]) -> Vec<f64> {
    let rounds = values.iter().zip(baselines);
    rounds.filter_map(|(value, baseline)| Some((*value)? / (*baseline).filter(|b| *b != 0.0)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let sorted = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!(percentile(&sorted, 0.0), 10.0);
        assert_eq!(percentile(&sorted, 0.1), 14.0);
        assert_eq!(percentile(&sorted, 0.5), 30.0);
        assert_eq!(percentile(&sorted, 0.9), 46.0);
        assert_eq!(percentile(&sorted, 1.0), 50.0);
        assert_eq!(percentile(&[7.0], 0.9), 7.0);
    }

    #[test]
    fn summary_sorts_first() {
        let summary = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(summary, Summary { samples: 5, min: 1.0, p10: 1.4, median: 3.0, p90: 4.6 });
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn ratios_are_taken_within_rounds() {
        // The machine was four times slower in the second round: the ratio of medians would hide the factor of two.
        let values = [Some(2.0), Some(8.0), Some(2.0)];
        let baselines = [Some(1.0), Some(4.0), Some(1.0)];
        assert_eq!(median_ratio(&values, &baselines), Some(2.0));
    }

    #[test]
    fn ratios_leave_out_rounds_without_a_partner() {
        let values = [Some(3.0), None, Some(10.0), Some(6.0)];
        let baselines = [Some(1.0), Some(1.0), None, Some(0.0)];
        assert_eq!(median_ratio(&values, &baselines), Some(3.0));
        assert_eq!(median_ratio(&[None], &[Some(1.0)]), None);
    }
}

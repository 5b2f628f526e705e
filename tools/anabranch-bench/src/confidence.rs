//! Confidence intervals from ranks. They assume nothing about the shape of the distribution.
//!
//! - The interval of a median is bounded by two order statistics, at equal distances from the ends. The number of
//!   samples below the true median is binomial with probability 1/2, so the coverage is exact. It is stored beside the
//!   interval, because a few samples cannot reach 95%: five reach 93.75%.
//! - The interval of the ratio of two independent runs is that of the Wilcoxon rank-sum test (Hodges and Lehmann). All
//!   ratios of a value of the one run to a value of the other are sorted. The estimate is their median. The interval is
//!   bounded by two of them, at the rank that the exact distribution of the test's statistic gives.

use serde::{Deserialize, Serialize};

use crate::stats::percentile;

/// The confidence of intervals where the caller does not choose another.
pub const USUAL: f64 = 0.95;

/// The size of a run up to which the distribution of the rank-sum statistic is computed exactly.
const EXACT: usize = 40;

/// A figure with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimated figure.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The probability that the interval contains the true figure. One sample has none: 0.
    pub confidence: f64,
}

/// Returns the median of `samples` with the shortest symmetric interval of at least `confidence`, or the range of all
/// samples if they are too few for that. Returns `None` if there are no samples.
///
/// It takes time O(n log n).
///
/// ```
/// use anabranch_bench::confidence::median;
///
/// let estimate = median(&[5.0, 1.0, 4.0, 2.0, 3.0], 0.95).unwrap();
/// assert_eq!((estimate.value, estimate.low, estimate.high), (3.0, 1.0, 5.0));
/// assert_eq!(estimate.confidence, 0.9375);
/// ```
pub fn median(samples: &[f64], confidence: f64) -> Option<Estimate> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    if count == 0 {
        return None;
    }
    // The probability that at most `rank` of the samples are below the true median.
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let mut below = logarithm.exp();
    let mut rank = 0;
    while rank + 1 < count.div_ceil(2) {
        let next = logarithm + ((count - rank) as f64 / (rank + 1) as f64).ln();
        if 2.0 * (below + next.exp()) > 1.0 - confidence {
            break;
        }
        (rank, below, logarithm) = (rank + 1, below + next.exp(), next);
    }
    Some(Estimate {
        value: percentile(&sorted, 0.5),
        low: sorted[rank],
        high: sorted[count - 1 - rank],
        confidence: (1.0 - 2.0 * below).max(0.0),
    })
}

/// Returns the median over the rounds of `value / baseline`, with its interval, over the rounds that have both.
///
/// Both slices have one entry per round. A round with a baseline of zero is skipped.
pub fn median_ratio(values: &[Option<f64>], baselines: &[Option<f64>], confidence: f64) -> Option<Estimate> {
    median(&crate::stats::ratios(values, baselines), confidence)
}

/// Returns how many times as large the values of `after` are as those of `before`, with an interval of at least
/// `confidence`. The runs are independent.
///
/// Returns `None` if the samples are too few for this confidence, or one of them is negative: see [`can_tell`]. Two
/// zeros have the ratio 1, and a positive number is infinitely many times as large as zero.
///
/// It takes time O(m n log(m n)) for runs of `m` and `n` samples.
///
/// ```
/// use anabranch_bench::confidence::ratio;
///
/// let before = [10.0, 11.0, 10.5, 10.2, 10.7, 10.4];
/// let after = before.map(|value| 2.0 * value);
/// let change = ratio(&before, &after, 0.95).unwrap();
/// assert!(change.low > 1.8 && change.high < 2.2);
/// assert!((change.value - 2.0).abs() < 0.05);
/// ```
pub fn ratio(before: &[f64], after: &[f64], confidence: f64) -> Option<Estimate> {
    let (rank, covered) = rank_sum_bound(before.len(), after.len(), confidence)?;
    if before.iter().chain(after).any(|value| value.is_nan() || *value < 0.0) {
        return None;
    }
    let one = |after: f64, before: f64| if after == before { 1.0 } else { after / before };
    let mut ratios: Vec<f64> =
        after.iter().flat_map(|after| before.iter().map(move |before| one(*after, *before))).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
    // One of the two is infinite if a zero became positive.
    let value = Some((middle.0 * middle.1).sqrt()).filter(|value| value.is_finite()).unwrap_or(middle.1);
    Some(Estimate { value, low: ratios[rank], high: ratios[ratios.len() - 1 - rank], confidence: covered })
}

/// Returns whether runs of `before` and `after` samples can have an interval of this confidence.
pub fn can_tell(before: usize, after: usize, confidence: f64) -> bool {
    rank_sum_bound(before, after, confidence).is_some()
}

/// Returns the index of the lower bound in the sorted ratios, and the coverage. Returns `None` if not even the range
/// of all ratios covers enough.
fn rank_sum_bound(before: usize, after: usize, confidence: f64) -> Option<(usize, f64)> {
    if before == 0 || after == 0 {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    let below = if before.max(after) <= EXACT { exact_tail(before, after) } else { normal_tail(before, after) };
    // The bound with index `rank` is wrong if the statistic is at most `rank`.
    let fit = below.iter().take_while(|probability| **probability <= tail).count();
    let rank = fit.checked_sub(1)?;
    Some((rank, 1.0 - 2.0 * below[rank]))
}

/// Returns the probability that the rank-sum statistic of two equal distributions is at most its index, for the lower
/// half of its range.
///
/// The number of arrangements with the statistic `u` follows from the last element: if it belongs to the first sample,
/// all elements of the second sample are before it.
fn exact_tail(m: usize, n: usize) -> Vec<f64> {
    let most = m * n;
    // The row of one size of the first sample: for each size of the second, the counts by statistic.
    let mut row = vec![vec![0.0; most + 1]; n + 1];
    row.iter_mut().for_each(|counts| counts[0] = 1.0);
    for _ in 0..m {
        for second in 1..=n {
            let (done, rest) = row.split_at_mut(second);
            let counts = &mut rest[0];
            // In place: `counts` still is that of the smaller first sample.
            counts.rotate_right(second);
            counts[..second].fill(0.0);
            counts.iter_mut().zip(&done[second - 1]).for_each(|(count, other)| *count += other);
        }
    }
    let all: f64 = row[n].iter().sum();
    running_sum(row[n][..=most / 2].iter().map(|count| count / all))
}

/// Like [`exact_tail`], by the normal distribution with the same mean and variance.
fn normal_tail(m: usize, n: usize) -> Vec<f64> {
    let (m, n) = (m as f64, n as f64);
    let (mean, deviation) = (m * n / 2.0, (m * n * (m + n + 1.0) / 12.0).sqrt());
    (0..=mean as usize).map(|u| standard_normal((u as f64 + 0.5 - mean) / deviation)).collect()
}

/// Returns the distribution function of the standard normal distribution at `z <= 0`, by Simpson's rule.
fn standard_normal(z: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let (from, steps) = (z.min(0.0) - 10.0, 400);
    let width = (z - from) / f64::from(steps);
    let weight = |step| if step == 0 || step == steps { 1.0 } else { f64::from(2 + 2 * (step % 2)) };
    (0..=steps).map(|step| weight(step) * density(from + f64::from(step) * width)).sum::<f64>() * width / 3.0
}

fn running_sum(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values
        .scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
    }

    #[test]
    fn median_interval_has_binomial_coverage() {
        // From tables of the sign test: (samples, index of the lower end, coverage).
        for (count, rank, coverage) in
            [(1, 0, 0.0), (2, 0, 0.5), (5, 0, 0.9375), (6, 0, 0.96875), (9, 1, 0.9609), (20, 5, 0.9586)]
        {
            let samples: Vec<f64> = (0..count).rev().map(f64::from).collect();
            let estimate = median(&samples, USUAL).unwrap();
            close(estimate.confidence, coverage);
            assert_eq!((estimate.low, estimate.high), (f64::from(rank), f64::from(count - 1 - rank)), "{count}");
        }
        assert_eq!(median(&[], USUAL), None);
    }

    #[test]
    fn median_interval_of_many_samples_does_not_underflow() {
        let samples: Vec<f64> = (0..4000).map(f64::from).collect();
        let estimate = median(&samples, USUAL).unwrap();
        assert!(estimate.confidence >= 0.95 && estimate.confidence < 0.96, "{estimate:?}");
        // The normal approximation: 1.96 times half of the root of the number.
        assert!((estimate.high - estimate.low - 124.0).abs() < 4.0, "{estimate:?}");
    }

    #[test]
    fn rank_sum_distribution_is_that_of_the_tables() {
        // Critical values of the Mann-Whitney test, two-sided 5%: the largest statistic that rejects.
        for (m, n, critical) in [(4, 4, 0), (5, 5, 2), (6, 6, 5), (5, 8, 6), (9, 9, 17), (20, 20, 127)] {
            let (rank, coverage) = rank_sum_bound(m, n, 0.95).unwrap();
            assert_eq!(rank, critical, "{m} and {n}");
            assert!((0.95..0.98).contains(&coverage), "{coverage}");
        }
        assert_eq!(rank_sum_bound(3, 3, 0.95), None, "1 of 20 arrangements at each end");
        assert!(can_tell(4, 4, 0.95) && !can_tell(4, 4, 0.99) && !can_tell(0, 9, 0.5));
    }

    #[test]
    fn normal_distribution_continues_the_exact_one() {
        let (exact, normal) = (exact_tail(EXACT, EXACT), normal_tail(EXACT, EXACT));
        for u in [300, 500, 598, 700, 800] {
            assert!((exact[u] - normal[u]).abs() < 1e-3, "{u}: {} and {}", exact[u], normal[u]);
        }
        close(standard_normal(-1.959_964), 0.025);
        let (rank, _) = rank_sum_bound(41, 41, 0.95).unwrap();
        assert!((600..660).contains(&rank), "{rank}");
    }

    #[test]
    fn interval_contains_one_for_equal_runs() {
        let run = [1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98];
        let estimate = ratio(&run, &run, USUAL).unwrap();
        assert!(estimate.low < 1.0 && estimate.high > 1.0, "{estimate:?}");
        close(estimate.value, 1.0);
    }

    #[test]
    fn zeros_and_negative_values_have_defined_ratios() {
        let zeros = [0.0; 5];
        let estimate = ratio(&zeros, &zeros, USUAL).unwrap();
        assert_eq!((estimate.low, estimate.value, estimate.high), (1.0, 1.0, 1.0));
        assert_eq!(ratio(&zeros, &[3.0; 5], USUAL).unwrap().low, f64::INFINITY);
        assert_eq!(ratio(&[3.0; 5], &zeros, USUAL).unwrap().high, 0.0);
        assert_eq!(ratio(&[-1.0; 5], &[1.0; 5], USUAL), None);
    }
}

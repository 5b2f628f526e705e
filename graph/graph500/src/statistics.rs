//! Quartiles, means and deviations, as the benchmark defines them.
//!
//! **Quartiles** of n sorted samples x: the mean of `x[(n - 1) / 4]` and `x[n / 4]`, of `x[(n - 1)
//! / 2]` and `x[n / 2]`, and the first one's mirror image, with integer division.
//!
//! **Deviation** is the sample deviation, with n - 1. For one sample it is reported as 0, where the formula has 0 / 0.
//!
//! **Rates** have a harmonic mean: n edges divided by the sum of their times. Its standard error is
//! `sd(1/x) / (mean(1/x)^2 sqrt(n - 1))` (Norris, *The Standard Errors of the Geometric and Harmonic Means*, 1940), and
//! 0 for one sample.

/// Seven figures that describe a list of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The smallest sample.
    pub min: f64,
    /// A quarter of the samples are below.
    pub first_quartile: f64,
    /// Half of the samples are below.
    pub median: f64,
    /// Three quarters of the samples are below.
    pub third_quartile: f64,
    /// The largest sample.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation with n - 1; 0 for a single sample.
    pub stddev: f64,
}

impl Summary {
    /// Summarises `samples`, in any order. All values are zero if there are none.
    ///
    /// ```
    /// let summary = graph500::Summary::of(&[4.0, 1.0, 3.0, 2.0]);
    /// assert_eq!((summary.min, summary.first_quartile, summary.median), (1.0, 1.5, 2.5));
    /// assert_eq!((summary.third_quartile, summary.max, summary.mean), (3.5, 4.0, 2.5));
    /// ```
    pub fn of(samples: &[f64]) -> Summary {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if n == 0 {
            return Summary::default();
        }
        let mean = sorted.iter().sum::<f64>() / n as f64;
        let squares: f64 = sorted.iter().map(|x| (x - mean) * (x - mean)).sum();
        let between = |a: usize, b: usize| (sorted[a] + sorted[b]) * 0.5;
        Summary {
            min: sorted[0],
            first_quartile: between((n - 1) / 4, n / 4),
            median: between((n - 1) / 2, n / 2),
            third_quartile: between(n - 1 - (n - 1) / 4, n - 1 - n / 4),
            max: sorted[n - 1],
            mean,
            stddev: if n == 1 { 0.0 } else { (squares / (n - 1) as f64).sqrt() },
        }
    }
}

/// Seven figures that describe a list of rates, here traversed edges per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TepsSummary {
    /// The lowest rate.
    pub min: f64,
    /// A quarter of the rates are below.
    pub first_quartile: f64,
    /// Half of the rates are below.
    pub median: f64,
    /// Three quarters of the rates are below.
    pub third_quartile: f64,
    /// The highest rate.
    pub max: f64,
    /// The harmonic mean.
    pub harmonic_mean: f64,
    /// The standard error of the harmonic mean; 0 for a single rate.
    pub harmonic_stddev: f64,
}

impl TepsSummary {
    /// Summarises rates, given as their reciprocals, the times per edge. All values are zero if there are none.
    ///
    /// As in the reference code, the quartiles are reciprocals of the times' quartiles.
    pub fn of_seconds_per_edge(times: &[f64]) -> TepsSummary {
        if times.is_empty() {
            return TepsSummary::default();
        }
        let times_summary = Summary::of(times);
        let error = times_summary.stddev / (times_summary.mean * times_summary.mean);
        TepsSummary {
            min: 1.0 / times_summary.max,
            first_quartile: 1.0 / times_summary.third_quartile,
            median: 1.0 / times_summary.median,
            third_quartile: 1.0 / times_summary.first_quartile,
            max: 1.0 / times_summary.min,
            harmonic_mean: 1.0 / times_summary.mean,
            harmonic_stddev: if times.len() == 1 { 0.0 } else { error / ((times.len() - 1) as f64).sqrt() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn five_samples_by_hand() {
        let s = Summary::of(&[10.0, 2.0, 8.0, 4.0, 6.0]);
        // x[1], x[2], x[3]: with n - 1 divisible by four, the two places of each quartile coincide.
        assert_eq!((s.min, s.first_quartile, s.median, s.third_quartile, s.max), (2.0, 4.0, 6.0, 8.0, 10.0));
        // Squares 16 + 4 + 0 + 4 + 16 = 40, over 4.
        assert_eq!((s.mean, s.stddev), (6.0, 10f64.sqrt()));
    }

    #[test]
    fn seven_samples_by_hand() {
        let s = Summary::of(&[1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0]);
        // n = 7: (x[1] + x[1]) / 2, (x[3] + x[3]) / 2, (x[5] + x[5]) / 2.
        assert_eq!((s.first_quartile, s.median, s.third_quartile), (2.0, 5.0, 13.0));
        let s = Summary::of(&[1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0]);
        // n = 8: (x[1] + x[2]) / 2, (x[3] + x[4]) / 2, (x[6] + x[5]) / 2.
        assert_eq!((s.first_quartile, s.median, s.third_quartile), (2.5, 6.5, 17.0));
    }

    #[test]
    fn one_and_two_samples_have_no_nan() {
        let s = Summary::of(&[3.0]);
        assert_eq!((s.min, s.first_quartile, s.median, s.third_quartile, s.max), (3.0, 3.0, 3.0, 3.0, 3.0));
        assert_eq!((s.mean, s.stddev), (3.0, 0.0));
        let s = Summary::of(&[3.0, 1.0]);
        assert_eq!((s.min, s.first_quartile, s.median, s.third_quartile, s.max), (1.0, 1.0, 2.0, 3.0, 3.0));
        assert_eq!((s.mean, s.stddev), (2.0, 2f64.sqrt()));
        let t = TepsSummary::of_seconds_per_edge(&[0.5]);
        assert_eq!((t.min, t.max, t.harmonic_mean, t.harmonic_stddev), (2.0, 2.0, 2.0, 0.0));
    }

    #[test]
    fn rates_by_hand() {
        // Rates 1, 2, 4: times 1, 1/2, 1/4; harmonic mean 3 / 1.75.
        let t = TepsSummary::of_seconds_per_edge(&[1.0, 0.5, 0.25]);
        assert_eq!((t.min, t.median, t.max), (1.0, 2.0, 4.0));
        assert!(close(t.harmonic_mean, 12.0 / 7.0));
        // Mean 7/12, deviations 5/12, -1/12, -4/12: variance (42/144) / 2 = 7/48.
        let expected = (7.0f64 / 48.0).sqrt() * (144.0 / 49.0) / 2f64.sqrt();
        assert!(close(t.harmonic_stddev, expected));
        let two = TepsSummary::of_seconds_per_edge(&[1.0, 0.5]);
        // Mean 3/4, variance 1/8, n - 1 = 1.
        assert!(close(two.harmonic_stddev, (0.125f64).sqrt() * 16.0 / 9.0));
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(Summary::of(&[]), Summary::default());
        assert_eq!(TepsSummary::of_seconds_per_edge(&[]), TepsSummary::default());
    }
}

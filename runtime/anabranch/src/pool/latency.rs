//! Histograms of delays, with buckets whose bounds are powers of two. A thread adds to its own histogram with plain
//! stores.

use crate::pool::counter::Counter;
use std::{fmt, ops::Range, time::Duration};

/// The number of buckets.
const BUCKETS: usize = 32;

/// The first bucket has the delays below two to this power, in nanoseconds: about a microsecond. Each further bucket
/// ends at twice the end of the one before, and the last one has no end. It begins at 18 minutes.
const FIRST_BITS: u32 = 10;

/// Returns the bucket of a delay in nanoseconds.
fn bucket(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.leading_zeros();
    (bits.saturating_sub(FIRST_BITS) as usize).min(BUCKETS - 1)
}

/// Returns the shortest delay of a bucket, in nanoseconds.
fn lower_bound(bucket: usize) -> u64 {
    if bucket == 0 { 0 } else { 1 << (FIRST_BITS as usize + bucket - 1) }
}

/// Returns the end of a bucket in nanoseconds, which is not in it.
fn upper_bound(bucket: usize) -> u64 {
    if bucket == BUCKETS - 1 { u64::MAX } else { lower_bound(bucket + 1) }
}

/// The histogram of one thread.
pub(crate) struct LatencyCounters {
    buckets: [Counter; BUCKETS],
    max: Counter,
}

impl LatencyCounters {
    pub(crate) const fn new() -> Self {
        Self { buckets: [const { Counter::new() }; BUCKETS], max: Counter::new() }
    }

    /// Counts a delay in nanoseconds. Only one thread at a time calls this, as for [`Counter::add`].
    pub(crate) fn record(&self, nanos: u64) {
        if nanos > self.max.get() {
            self.max.set(nanos);
        }
        self.buckets[bucket(nanos)].add(1);
    }

    pub(crate) fn read(&self) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        for (count, counter) in histogram.counts.iter_mut().zip(&self.buckets) {
            *count = counter.get();
        }
        // The thread may have counted a delay after the maximum was read.
        let last = histogram.counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        histogram.max = self.max.get().max(lower_bound(last));
        histogram
    }
}

/// A histogram of delays. The bounds of its buckets are powers of two, in nanoseconds. See
/// [`WorkerStats::timer_lateness`](crate::pool::WorkerStats::timer_lateness).
///
/// ```
/// use std::time::Duration;
///
/// let pool = anabranch::Pool::builder().threads(1).build()?;
/// pool.run(|cx| {
///     cx.scope(|s| {
///         s.spawn(|cx| cx.sleep(Duration::from_millis(1)));
///         s.spawn(|_| std::thread::sleep(Duration::from_millis(5)));  // keeps the thread
///     })
/// });
/// let late = pool.stats().total().timer_lateness;
/// println!("{late}");     // such as: 1, p50 4.1ms, p99 4.1ms, max 4.1ms
/// for (range, count) in late.buckets().filter(|&(_, count)| count > 0) {
///     println!("{count} of {range:?}");
/// }
/// assert_eq!(late.count(), late.buckets().map(|(_, count)| count).sum::<u64>());
/// assert!(late.quantile(0.5) <= late.max());
/// # Ok::<(), anabranch::pool::BuildError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct LatencyHistogram {
    counts: [u64; BUCKETS],
    max: u64,
}

impl LatencyHistogram {
    /// Returns the number of delays.
    ///
    /// ```
    /// assert_eq!(anabranch::pool::LatencyHistogram::default().count(), 0);
    /// ```
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the longest delay. This is exact. Returns zero if there are no delays.
    ///
    /// ```
    /// assert!(anabranch::pool::LatencyHistogram::default().max().is_zero());
    /// ```
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// Returns an upper bound of the `q` quantile, such as the median for 0.5: the end of the bucket that has the
    /// quantile, or the longest delay if that is less. Above a microsecond, the bound is at most twice the quantile.
    /// Returns zero if there are no delays. `q` is clamped to the range from 0 to 1.
    ///
    /// ```
    /// let late = anabranch::pool::stats().total().timer_lateness;
    /// assert!(late.quantile(0.5) <= late.quantile(0.99) && late.quantile(1.0) == late.max());
    /// ```
    pub fn quantile(&self, q: f64) -> Duration {
        let count = self.count();
        let rank = ((q.clamp(0.0, 1.0) * count as f64).ceil() as u64).clamp(u64::from(count > 0), count);
        let mut seen = 0;
        let reaches = |&of_bucket: &u64| {
            seen += of_bucket;
            seen >= rank
        };
        let bucket = self.counts.iter().position(reaches).unwrap_or(BUCKETS - 1);
        Duration::from_nanos(upper_bound(bucket).min(self.max))
    }

    /// Returns the buckets in ascending order, each with its range and the number of delays in it. The first range
    /// begins at zero, and the last range ends at the longest possible duration.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let late = anabranch::pool::stats().total().timer_lateness;
    /// // Timers that were late by 8 ms or more.
    /// let long = late.buckets().filter(|(range, _)| range.start >= Duration::from_millis(8));
    /// println!("{} of {}", long.map(|(_, count)| count).sum::<u64>(), late.count());
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (Range<Duration>, u64)> + '_ {
        self.counts.iter().enumerate().map(|(bucket, &count)| {
            let end = if bucket == BUCKETS - 1 { Duration::MAX } else { Duration::from_nanos(upper_bound(bucket)) };
            (Duration::from_nanos(lower_bound(bucket))..end, count)
        })
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.max = self.max.max(other.max);
    }
}

/// Writes the count, two quantiles and the maximum.
impl fmt::Display for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, high, max) = (self.quantile(0.5), self.quantile(0.99), self.max());
        write!(f, "{}, p50 {median:.1?}, p99 {high:.1?}, max {max:.1?}", self.count())
    }
}

/// Writes the same as [`Display`](fmt::Display).
impl fmt::Debug for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LatencyHistogram({self})")
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn histogram(delays: &[u64]) -> LatencyHistogram {
        let counters = LatencyCounters::new();
        delays.iter().for_each(|&delay| counters.record(delay));
        counters.read()
    }

    #[test]
    fn buckets_are_adjacent_and_have_the_delays_of_their_range() {
        let all: Vec<_> = LatencyHistogram::default().buckets().collect();
        assert_eq!((all.len(), all[0].0.start, all[BUCKETS - 1].0.end), (BUCKETS, Duration::ZERO, Duration::MAX));
        assert!(all.windows(2).all(|pair| pair[0].0.end == pair[1].0.start));
        for delay in [0, 1, 1023, 1024, 1025, 2047, 2048, 1 << 39, (1 << 40) - 1, 1 << 40, u64::MAX] {
            let histogram = histogram(&[delay]);
            let counted: Vec<_> = histogram.buckets().filter(|&(_, count)| count > 0).collect();
            let [(range, 1)] = &counted[..] else { panic!("{delay}: {counted:?}") };
            assert!(range.contains(&Duration::from_nanos(delay)), "{delay} is not in {range:?}");
        }
    }

    #[test]
    fn quantiles_are_upper_bounds_and_at_most_the_maximum() {
        let delays: Vec<u64> = (1..=1000).map(|i| i * 1_000).collect();
        let late = histogram(&delays);
        assert_eq!((late.count(), late.max()), (1000, Duration::from_millis(1)));
        for (q, exact) in [(0.0, 1_000), (0.001, 1_000), (0.25, 250_000), (0.5, 500_000), (0.99, 990_000)] {
            let bound = late.quantile(q).as_nanos() as u64;
            assert!((exact..=2 * exact).contains(&bound), "{q}: {bound}");
        }
        assert_eq!((late.quantile(1.0), late.quantile(7.0)), (late.max(), late.max()));
        assert_eq!(late.quantile(f64::NAN), late.quantile(0.0));
    }

    #[test]
    fn histogram_without_delays_is_zero() {
        let none = histogram(&[]);
        assert_eq!(none, LatencyHistogram::default());
        assert_eq!((none.count(), none.max(), none.quantile(0.5)), (0, Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn sum_has_the_counts_of_both_and_the_larger_maximum() {
        let mut sum = histogram(&[5, 3_000]);
        sum.add(&histogram(&[4_000, 70_000]));
        assert_eq!(sum, histogram(&[5, 3_000, 4_000, 70_000]));
        assert_eq!(sum.to_string(), "4, p50 4.1µs, p99 70.0µs, max 70.0µs");
    }
}

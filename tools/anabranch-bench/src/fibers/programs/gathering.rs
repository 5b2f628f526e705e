//! A gathering: fibers that start one after the other, wait for an event, and compute when it comes.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The steps of the computation of a fiber. They take some 200 us.
const STEPS: u64 = 200_000;

/// The fibers of a sample.
pub struct Gathering {
    count: u64,
    interval: Duration,
    arrived: AtomicU64,
    /// How many fibers computed on each thread.
    places: Mutex<HashMap<ThreadId, u64>>,
    /// When the event came, and when the last fiber was ready.
    times: Mutex<(Option<Instant>, Option<Instant>)>,
}

impl Gathering {
    /// Creates a gathering of `count` fibers, which start at this interval.
    pub fn new(count: u64, interval: Duration) -> Gathering {
        let (arrived, places, times) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        Gathering { count, interval, arrived, places, times }
    }

    /// Returns the number of fibers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the time from one start to the next.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Records that a fiber is about to wait.
    pub fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether all fibers wait.
    pub fn is_complete(&self) -> bool {
        self.arrived.load(Ordering::Relaxed) == self.count
    }

    /// Returns whether all fibers have computed.
    ///
    /// # Panics
    /// Panics if a thread has panicked in a gathering.
    pub fn is_over(&self) -> bool {
        self.places.lock().unwrap().values().sum::<u64>() == self.count
    }

    /// Records that the event comes now.
    ///
    /// # Panics
    /// Panics if a thread has panicked in a gathering.
    pub fn begin(&self) {
        self.times.lock().unwrap().0 = Some(Instant::now());
    }

    /// Computes, on the thread of a fiber after the event.
    ///
    /// # Panics
    /// Panics if a thread has panicked in a gathering.
    pub fn compute(&self) {
        compute();
        self.times.lock().unwrap().1 = Some(Instant::now());
        *self.places.lock().unwrap().entry(thread::current().id()).or_default() += 1;
    }

    /// Returns the share of the thread that computed for the most fibers, as a multiple of the mean over `threads`, and
    /// the speed of the computation as a multiple of that of one thread, which it measures.
    ///
    /// # Panics
    /// Panics if not all fibers have computed.
    pub fn figures(&self, threads: usize) -> (f64, f64) {
        let places = self.places.lock().unwrap();
        assert_eq!(places.values().sum::<u64>(), self.count, "how many computed");
        let most = *places.values().max().expect("some computed");
        let (begin, end) = *self.times.lock().unwrap();
        let took = end.expect("the end") - begin.expect("the event");
        let start = Instant::now();
        (0..self.count).for_each(|_| compute());
        let alone = start.elapsed();
        (most as f64 * threads as f64 / self.count as f64, alone.as_secs_f64() / took.as_secs_f64())
    }
}

fn compute() {
    let sum = (0..STEPS).fold(1u64, |sum, step| black_box(sum).wrapping_mul(step | 1));
    black_box(sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_that_computes_all_is_told() {
        let gathering = Gathering::new(4, Duration::ZERO);
        (0..4).for_each(|_| gathering.arrive());
        assert!(gathering.is_complete());
        gathering.begin();
        (0..4).for_each(|_| gathering.compute());
        let (most, speed) = gathering.figures(2);
        assert_eq!(most, 2.0);
        assert!(speed > 0.0);
    }
}

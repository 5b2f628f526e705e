//! Alarms: when each is due, and how late and in which order they ring.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::fibers::done::Done;
use crate::stats::percentile;

/// The alarms of a sample.
pub struct Alarms {
    start: Instant,
    lead: Duration,
    spread: Duration,
    /// The due time of each, after `start`.
    delays: Vec<Duration>,
    /// The lateness of each, in nanoseconds.
    late: Vec<AtomicU64>,
    /// The sequence number of each.
    sequence: Vec<AtomicU32>,
    rung: AtomicUsize,
    elsewhere: Mutex<Option<Done>>,
}

/// An alarm.
#[derive(Clone, Copy)]
pub struct Alarm<'a> {
    alarms: &'a Alarms,
    index: usize,
}

impl Alarms {
    /// Creates `count` alarms, the first due after `lead`, the last after `lead + spread`.
    pub fn new(count: u64, lead: Duration, spread: Duration) -> Alarms {
        let mut delays: Vec<Duration> = (0..count).map(|n| lead + spread.mul_f64(n as f64 / count as f64)).collect();
        fastrand::Rng::with_seed(0xa1a).shuffle(&mut delays);
        Alarms {
            start: Instant::now(),
            lead,
            spread,
            delays,
            late: (0..count).map(|_| AtomicU64::new(0)).collect(),
            sequence: (0..count).map(|_| AtomicU32::new(0)).collect(),
            rung: AtomicUsize::new(0),
            elsewhere: Mutex::new(None),
        }
    }

    /// Returns the number of alarms.
    pub fn len(&self) -> u64 {
        self.delays.len() as u64
    }

    /// Returns whether there are no alarms.
    pub fn is_empty(&self) -> bool {
        self.delays.is_empty()
    }

    /// Returns the time from the start to the first alarm.
    pub fn lead(&self) -> Duration {
        self.lead
    }

    /// Returns the time from the first alarm to the last.
    pub fn spread(&self) -> Duration {
        self.spread
    }

    /// Returns an alarm.
    ///
    /// # Panics
    /// Panics if there are not that many.
    pub fn get(&self, index: u64) -> Alarm<'_> {
        assert!(index < self.len(), "there are {} alarms", self.len());
        Alarm { alarms: self, index: index as usize }
    }

    /// Returns all alarms.
    pub fn iter(&self) -> impl Iterator<Item = Alarm<'_>> {
        (0..self.delays.len()).map(|index| Alarm { alarms: self, index })
    }

    /// Stores the result of another process.
    pub fn were_heard(&self, done: Done) {
        assert_eq!(done.answer, self.len(), "how many alarms rang");
        *self.elsewhere.lock().unwrap() = Some(done);
    }

    /// Returns the result of another process, if there is one.
    ///
    /// # Panics
    /// Panics if a thread has panicked while it stored the result.
    pub fn take_result(&self) -> Option<Done> {
        self.elsewhere.lock().unwrap().take()
    }

    /// Computes the figures.
    ///
    /// # Panics
    /// Panics if not all alarms have rung.
    pub fn figures(&self) -> BTreeMap<String, f64> {
        assert_eq!(self.rung.load(Ordering::Relaxed), self.delays.len(), "how many alarms rang");
        let mut late: Vec<f64> = self.late.iter().map(|late| late.load(Ordering::Relaxed) as f64 / 1e3).collect();
        late.sort_by(f64::total_cmp);
        let due: Vec<Duration> =
            self.sequence.iter().map(|index| self.delays[index.load(Ordering::Relaxed) as usize]).collect();
        let swapped = due.windows(2).filter(|pair| pair[0] > pair[1]).count();
        BTreeMap::from([
            ("p50".into(), percentile(&late, 0.5)),
            ("p99".into(), percentile(&late, 0.99)),
            ("max".into(), percentile(&late, 1.0)),
            ("swapped".into(), swapped as f64 * 1e3 / due.len() as f64),
        ])
    }
}

impl Alarm<'_> {
    /// Returns when it is due.
    pub fn due(self) -> Instant {
        self.alarms.start + self.alarms.delays[self.index]
    }

    /// Records that the alarm rings.
    pub fn ring(self) {
        let late = Instant::now().saturating_duration_since(self.due()).as_nanos() as u64;
        let turn = self.alarms.rung.fetch_add(1, Ordering::Relaxed);
        self.alarms.sequence[turn].store(self.index as u32, Ordering::Relaxed);
        self.alarms.late[self.index].store(late, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_lateness_are_computed() {
        let alarms = Alarms::new(3, Duration::ZERO, Duration::from_millis(3));
        let mut by_time: Vec<_> = alarms.iter().collect();
        by_time.sort_by_key(|alarm| alarm.due());
        std::thread::sleep(Duration::from_millis(4));
        [by_time[1], by_time[0], by_time[2]].into_iter().for_each(Alarm::ring);
        let figures = alarms.figures();
        assert_eq!(figures["swapped"], 1e3 / 3.0);
        assert!(figures["p50"] >= 2000.0, "{figures:?}");
    }
}

//! A crowd of sleeping fibers, and the memory that they take.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::fibers::done::Done;
use crate::process::Memory;
use crate::sample::Meter;

/// Fibers that sleep until the same time.
pub struct Crowd {
    count: u64,
    start: Instant,
    nap: Duration,
    entered: AtomicU64,
    left: AtomicU64,
    seen: Mutex<Option<BTreeMap<String, f64>>>,
    elsewhere: Mutex<Option<Meter>>,
}

impl Crowd {
    /// Creates `count` fibers that sleep for `nap`.
    pub fn new(count: u64, nap: Duration) -> Crowd {
        let (entered, left) = (AtomicU64::new(0), AtomicU64::new(0));
        Crowd { count, start: Instant::now(), nap, entered, left, seen: Mutex::new(None), elsewhere: Mutex::new(None) }
    }

    /// Returns the number of fibers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the time from the start to the wake-up.
    pub fn nap(&self) -> Duration {
        self.nap
    }

    /// Returns the time of the wake-up.
    pub fn wakes(&self) -> Instant {
        self.start + self.nap
    }

    /// Records that a fiber is about to sleep.
    pub fn enter(&self) {
        self.entered.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a fiber has slept.
    pub fn leave(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// Stores the result of another process.
    pub fn was_seen(&self, done: Done) {
        self.left.store(done.answer, Ordering::Relaxed);
        *self.seen.lock().unwrap() = Some(done.figures);
        *self.elsewhere.lock().unwrap() = Some(done.meter);
    }

    /// Waits until all fibers sleep, and reads the memory.
    pub fn watch(&self, before: Memory) {
        while self.entered.load(Ordering::Relaxed) < self.count {
            if Instant::now() > self.wakes() {
                // The fibers were too slow, or are in another process.
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        // The last fiber has reported that it is about to sleep.
        thread::sleep(Duration::from_millis(30));
        let asleep_after = self.start.elapsed();
        let now = Memory::now();
        if Instant::now() < self.wakes() && self.left.load(Ordering::Relaxed) == 0 {
            let mut figures = now.each_since(before, self.count);
            figures.insert("asleep s".into(), asleep_after.as_secs_f64());
            *self.seen.lock().unwrap() = Some(figures);
        }
    }

    /// Returns the figures of the memory, and the measurement of another process if there is one.
    ///
    /// # Panics
    /// Panics if not all fibers have woken up, or if the first woke up before all were asleep.
    pub fn figures(&self) -> (BTreeMap<String, f64>, Option<Meter>) {
        assert_eq!(self.left.load(Ordering::Relaxed), self.count, "how many woke up");
        let seen = self.seen.lock().unwrap().take();
        let figures = seen.expect("when the first woke up not all were asleep yet");
        (figures, self.elsewhere.lock().unwrap().take())
    }
}

//! A very large number of sleeping fibers, and their memory.
//!
//! Each fiber reports that it has started, and sleeps until a common time. A separate thread waits until all have
//! started, reads the memory of the process, and checks that no fiber has woken up yet. The figure is the added
//! resident memory per fiber. All fibers have to end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::Workload;
use crate::fibers::peers::may::May;
use crate::fibers::peers::{Done, Kind, Peer};
use crate::process::Memory;
use crate::sample::{Meter, Sample, metered};

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
    fn new(count: u64, nap: Duration) -> Crowd {
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
    fn watch(&self, before: Memory) {
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
}

/// Sleeping fibers.
pub struct Asleep {
    count: u64,
    nap: Duration,
}

impl Asleep {
    /// Creates a workload with `count` fibers, which wake up `milliseconds` after the start.
    pub fn new(count: u64, milliseconds: u64) -> Asleep {
        Asleep { count, nap: Duration::from_millis(milliseconds) }
    }
}

impl Workload for Asleep {
    fn title(&self) -> String {
        format!("{} fibers asleep at once (may: {}): resident bytes each", self.count, self.count.min(May::MOST))
    }

    fn unit(&self) -> &'static str {
        "bytes"
    }

    fn rounds(&self, asked: usize) -> usize {
        asked.div_ceil(5)
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::AnabranchSpawn | Kind::Executor | Kind::Std | Kind::ParkingLot)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let crowd = Arc::new(Crowd::new(self.count.min(P::MOST), self.nap));
        let before = Memory::now();
        let watcher = Arc::clone(&crowd);
        let watcher = thread::spawn(move || watcher.watch(before));
        let ((), meter) = metered(|| P::asleep(pool, &crowd));
        watcher.join().expect("watching does not panic");
        assert_eq!(crowd.left.load(Ordering::Relaxed), crowd.count, "how many woke up");
        let meter = crowd.elsewhere.lock().unwrap().take().unwrap_or(meter);
        let seen = crowd.seen.lock().unwrap().take();
        let mut figures = seen.expect("when the first woke up not all were asleep yet");
        let value = figures.remove("resident").expect("memory is resident");
        let sample = Sample { value, ..Sample::per_unit(meter, 1.0, 1.0) };
        let sample = figures.iter().fold(sample, |sample, (name, figure)| sample.with(name, *figure));
        sample.with("end s", meter.wall - self.nap.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn everyone_sleeps() {
        everyone_does_it(&Asleep::new(100, 500), 2);
    }
}

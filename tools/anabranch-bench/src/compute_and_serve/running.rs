//! The number of threads of a process that could run at a time.
//!
//! A pool of N threads should keep N threads busy. More of them share the processors, and each takes longer. Linux adds
//! up, for each thread, the time on a processor and the time in which it could run and waited for a processor
//! (`/proc/PID/task/TID/schedstat`). Their sum over all threads, divided by the time that has passed, is the mean. A
//! thread also counts while it is preempted after its last piece of work, when it only has to park.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

/// The time between two looks at the threads. A thread that ends loses what it did since the last one.
const PERIOD: Duration = Duration::from_millis(20);

/// A thread that watches the threads of another process.
#[derive(Debug)]
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Sampler {
    /// Starts to watch.
    pub fn start(process: Pid) -> Sampler {
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (start, mut times) = (Instant::now(), runnable_times(process));
            let before: u64 = times.values().sum();
            let mut passed = Duration::ZERO;
            while !until.load(Relaxed) {
                thread::sleep(PERIOD);
                let now = runnable_times(process);
                if !now.is_empty() {
                    passed = start.elapsed();
                    times.extend(now);
                }
            }
            let runnable = times.values().sum::<u64>().saturating_sub(before);
            if passed.is_zero() { 0.0 } else { runnable as f64 / passed.as_nanos() as f64 }
        });
        Sampler { stop, thread }
    }

    /// Stops, and returns the mean number of threads that could run.
    ///
    /// # Panics
    /// Panics if the thread of the sampler has panicked.
    pub fn stop(self) -> f64 {
        self.stop.store(true, Relaxed);
        self.thread.join().expect("the sampler does not panic")
    }
}

/// Returns the time for which each thread of a process has run or waited for a processor, in nanoseconds.
fn runnable_times(process: Pid) -> HashMap<u32, u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| {
            let thread = task.file_name().to_str()?.parse().ok()?;
            Some((thread, runnable_time(&fs::read_to_string(task.path().join("schedstat")).ok()?)?))
        })
        .collect()
}

fn runnable_time(schedstat: &str) -> Option<u64> {
    let mut fields = schedstat.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
    Some(fields.next()?? + fields.next()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_on_processor_and_time_before_it_count() {
        assert_eq!(runnable_time("1500 200 7\n"), Some(1700));
        assert_eq!(runnable_time("1500"), None);
    }

    #[test]
    fn thread_that_computes_is_counted() {
        let before: u64 = runnable_times(Pid::this()).values().sum();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {}
        assert!(runnable_times(Pid::this()).values().sum::<u64>() > before);
    }
}

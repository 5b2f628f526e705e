//! The number of threads of a process that could run at a time.
//!
//! A pool of N threads should keep N threads busy. More of them share the processors, and each takes longer. So a
//! thread of another process reads the states of all threads every 5 ms, and counts those that run or wait for a
//! processor (state `R`).

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::unistd::Pid;

use crate::process;

/// The time between two samples.
const PERIOD: Duration = Duration::from_millis(5);

/// A thread that samples the threads of another process.
#[derive(Debug)]
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Sampler {
    /// Starts to sample.
    pub fn start(process: Pid) -> Sampler {
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            // A sampler that waits for a processor would sample only when the others have given one up. Without the
            // permission for this the counts are too small.
            process::raise_priority();
            let (mut sum, mut samples) = (0, 0);
            while !until.load(Relaxed) {
                sum += count(process);
                samples += 1;
                thread::sleep(PERIOD);
            }
            sum as f64 / f64::from(samples.max(1))
        });
        Sampler { stop, thread }
    }

    /// Stops, and returns the mean of the samples.
    ///
    /// # Panics
    /// Panics if the thread of the sampler has panicked.
    pub fn stop(self) -> f64 {
        self.stop.store(true, Relaxed);
        self.thread.join().expect("the sampler does not panic")
    }
}

/// Returns the number of threads of a process that run or could run now.
pub fn count(process: Pid) -> usize {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.filter(|task| fs::read_to_string(task.path().join("stat")).is_ok_and(|stat| is_running(&stat))).count()
}

fn is_running(stat: &str) -> bool {
    // The name of the thread may hold any characters.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_comes_after_the_last_bracket() {
        assert!(is_running("17 (a) S (b) R 1 17 17 0 -1 4194304"));
        assert!(!is_running("17 (R) S 1 17 17 0 -1 4194304"));
    }

    #[test]
    fn thread_that_counts_is_running() {
        assert!(count(Pid::this()) >= 1);
    }
}

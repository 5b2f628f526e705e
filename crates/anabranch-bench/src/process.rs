//! What the operating system knows of this process: its CPU time, its threads and how often they were switched.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;

use nix::sys::resource::{UsageWho, getrusage};

/// User and system time of this process so far, all threads together, in seconds.
pub fn cpu_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("getrusage of the own process cannot fail");
    let user = usage.user_time();
    let system = usage.system_time();
    (user.tv_sec() + system.tv_sec()) as f64 + (user.tv_usec() + system.tv_usec()) as f64 * 1e-6
}

/// How many threads this process has.
pub fn thread_count() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The context switches, voluntary and involuntary, of each thread of this process at one moment.
#[derive(Clone, Debug)]
pub struct Switches(HashMap<OsString, u64>);

impl Switches {
    /// Those up to now, of the threads that live now.
    pub fn now() -> Switches {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        // A thread may end between the listing and the reading: then it has no file any more and counts nothing.
        let read =
            tasks.filter_map(|task| Some((task.file_name(), fs::read_to_string(task.path().join("status")).ok()?)));
        Switches(read.map(|(thread, status)| (thread, switches_in(&status))).collect())
    }

    /// How many there were since `before`, in the threads that live now.
    pub fn since(&self, before: &Switches) -> u64 {
        let until = |thread| before.0.get(thread).copied().unwrap_or(0);
        // The number of a thread that has ended may have been given to another one, which starts at zero.
        self.0.iter().map(|(thread, count)| count.saturating_sub(until(thread))).sum()
    }
}

fn switches_in(status: &str) -> u64 {
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(key, _)| matches!(*key, "voluntary_ctxt_switches" | "nonvoluntary_ctxt_switches"))
        .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn both_kinds_of_switches_are_added() {
        let status = "Name:\tx\nThreads:\t3\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!(switches_in(status), 157);
    }

    #[test]
    fn a_sleep_is_a_switch() {
        let before = Switches::now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(Switches::now().since(&before) > 0);
    }

    #[test]
    fn threads_that_ended_take_nothing_away() {
        let switches = |counts: &[(&str, u64)]| {
            Switches(counts.iter().map(|(thread, count)| (OsString::from(thread), *count)).collect())
        };
        let before = switches(&[("1", 10), ("2", 500), ("3", 40)]);
        let now = switches(&[("1", 13), ("3", 4), ("4", 2)]);
        assert_eq!(now.since(&before), 5);
    }

    #[test]
    fn a_spin_costs_cpu() {
        let before = cpu_seconds();
        let start = Instant::now();
        while cpu_seconds() < before + 0.01 {
            assert!(start.elapsed() < Duration::from_secs(20), "no CPU time was counted");
        }
    }

    #[test]
    fn a_thread_is_counted() {
        assert!(thread_count() >= 1);
    }
}

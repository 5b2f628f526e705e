//! The operating system's data of this process: its CPU time, its threads and their context switches.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;

use nix::sys::resource::{UsageWho, getrusage};

/// Returns the user and system time of this process so far, all threads together, in seconds.
pub fn cpu_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("getrusage of the own process cannot fail");
    let user = usage.user_time();
    let system = usage.system_time();
    (user.tv_sec() + system.tv_sec()) as f64 + (user.tv_usec() + system.tv_usec()) as f64 * 1e-6
}

/// Returns the number of threads of this process.
pub fn thread_count() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The context switches, voluntary and involuntary, of each thread of this process at one moment.
#[derive(Clone, Debug)]
pub struct Switches(HashMap<OsString, u64>);

impl Switches {
    /// Reads the current counts of all live threads.
    pub fn now() -> Switches {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        // A thread may end between the listing and the read. It then has no file, and counts as zero.
        let read =
            tasks.filter_map(|task| Some((task.file_name(), fs::read_to_string(task.path().join("status")).ok()?)));
        Switches(read.map(|(thread, status)| (thread, switches_in(&status))).collect())
    }

    /// Returns the number of switches since `before`, in the threads that live now.
    pub fn since(&self, before: &Switches) -> u64 {
        let until = |thread| before.0.get(thread).copied().unwrap_or(0);
        // A new thread may have the number of one that has ended; its count starts at zero.
        self.0.iter().map(|(thread, count)| count.saturating_sub(until(thread))).sum()
    }
}

/// The memory of this process at one moment, in bytes, and its number of mappings.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    resident: u64,
    peak: u64,
    tables: u64,
    address: u64,
    mappings: u64,
}

impl Memory {
    /// Reads the current values.
    pub fn now() -> Memory {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |key| bytes_in(&status, key).unwrap_or(0);
        Memory {
            resident: bytes("VmRSS"),
            peak: bytes("VmHWM"),
            tables: bytes("VmPTE"),
            address: bytes("VmSize"),
            mappings: fs::read("/proc/self/maps").map_or(0, |maps| maps.iter().filter(|byte| **byte == b'\n').count())
                as u64,
        }
    }

    /// Returns the memory added since `before`, for each of `count`; `mappings` is the total.
    pub fn each_since(self, before: Memory, count: u64) -> BTreeMap<String, f64> {
        let each = |now: u64, before: u64| (now as f64 - before as f64) / count as f64;
        BTreeMap::from([
            ("resident".to_owned(), each(self.resident, before.resident)),
            ("peak".to_owned(), each(self.peak, before.peak)),
            ("tables".to_owned(), each(self.tables, before.tables)),
            ("address".to_owned(), each(self.address, before.address)),
            ("mappings".to_owned(), self.mappings as f64),
        ])
    }
}

/// Returns the bytes of the heap that the allocator has given out, if it can report them.
#[cfg(target_env = "gnu")]
pub fn heap_bytes() -> Option<u64> {
    // SAFETY: it only reads the allocator's counters.
    let info = unsafe { nix::libc::mallinfo2() };
    Some((info.uordblks + info.hblkhd) as u64)
}

/// Returns the bytes of the heap that the allocator has given out, if it can report them.
#[cfg(not(target_env = "gnu"))]
pub fn heap_bytes() -> Option<u64> {
    None
}

fn bytes_in(status: &str, key: &str) -> Option<u64> {
    let (_, value) = status.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| *name == key)?;
    value.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
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
    fn memory_that_is_touched_is_resident() {
        assert_eq!(bytes_in("VmPTE:\t      12 kB\nVmRSS:\t    2048 kB\n", "VmRSS"), Some(2048 * 1024));
        let before = Memory::now();
        let touched = std::hint::black_box(vec![1u8; 16 << 20]);
        let each = Memory::now().each_since(before, touched.len() as u64);
        // Other tests free memory meanwhile, but less than this.
        assert!(each["resident"] > 0.5 && each["address"] > 0.5, "{each:?}");
        assert!(each["mappings"] >= 1.0);
    }

    #[test]
    fn sleep_counts_as_switch() {
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
    fn spin_takes_cpu_time() {
        let before = cpu_seconds();
        let start = Instant::now();
        while cpu_seconds() < before + 0.01 {
            assert!(start.elapsed() < Duration::from_secs(20), "no CPU time was counted");
        }
    }

    #[test]
    fn thread_is_counted() {
        assert!(thread_count() >= 1);
    }
}

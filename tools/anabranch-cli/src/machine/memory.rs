//! The memory that this process can still allocate, and its peak so far.
//!
//! The former is the smallest of three numbers: the memory that the kernel can provide without swapping
//! (`MemAvailable`), the memory that the control group of the process and all groups above it still allow, and the
//! addresses that the limit of the address space (`RLIMIT_AS`, `ulimit -v`) still allows.

use super::{Files, cgroup};

/// Returns the number of bytes that this process can still allocate, or `None` if the system does not report it.
pub fn available(files: Files<'_>) -> Option<u64> {
    let machine = files("/proc/meminfo").and_then(|text| kib_field(&text, "MemAvailable:"));
    [machine, cgroup::available(files), address_space(files)].into_iter().flatten().min()
}

/// Returns what the limit of the address space leaves, or `None` without a limit.
fn address_space(files: Files<'_>) -> Option<u64> {
    let limits = files("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // The first column is the soft limit, which applies: a number of bytes, or "unlimited".
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = kib_field(&files("/proc/self/status")?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

/// Returns the peak memory of this process in bytes, or `None` if the system does not report it.
pub fn peak(files: Files<'_>) -> Option<u64> {
    kib_field(&files("/proc/self/status")?, "VmHWM:")
}

/// Returns the value of a field in bytes. The kernel writes `kB` and means KiB.
pub fn kib_field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24731708 kB\nMemFree:         1000000 kB\nMemAvailable:   20000000 kB\n\
                           HugePages_Total:       0\n";

    #[test]
    fn fields_in_kib_are_read_as_bytes() {
        assert_eq!(kib_field(MEMINFO, "MemAvailable:"), Some(20_000_000 * 1024));
        assert_eq!(kib_field(MEMINFO, "HugePages_Total:"), None, "a count, not kB");
        assert_eq!(kib_field(MEMINFO, "Absent:"), None);
        assert_eq!(kib_field("VmHWM:\t    5120 kB\n", "VmHWM:"), Some(5120 * 1024));
    }

    #[test]
    fn available_is_smaller_of_machine_and_group() {
        let with_limit = |limit: &'static str| {
            move |path: &str| {
                let text = match path {
                    "/proc/meminfo" => MEMINFO,
                    "/proc/self/cgroup" => "0::/job\n",
                    "/proc/self/mountinfo" => "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                    "/sys/fs/cgroup/job/memory.max" => limit,
                    "/sys/fs/cgroup/job/memory.current" => "1000\n",
                    _ => return None,
                };
                Some(text.to_owned())
            }
        };
        assert_eq!(available(&with_limit("max\n")), Some(20_000_000 * 1024));
        assert_eq!(available(&with_limit("5000\n")), Some(4000));
        assert_eq!(available(&with_limit("99999999999999\n")), Some(20_000_000 * 1024));
        assert_eq!(available(&|_| None), None, "without these files the memory is unknown");
    }

    #[test]
    fn address_space_limit_counts_what_is_used() {
        let with_limit = |limit: &'static str| {
            move |path: &str| {
                let text = match path {
                    "/proc/meminfo" => MEMINFO,
                    "/proc/self/limits" => limit,
                    "/proc/self/status" => "Name:\tx\nVmSize:\t    1000 kB\nVmHWM:\t     500 kB\n",
                    _ => return None,
                };
                Some(text.to_owned())
            }
        };
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             7                    7                    bytes     \n\
                      Max address space         2048000              unlimited            bytes     \n";
        assert_eq!(available(&with_limit(limits)), Some(1_024_000));
        let below = "Max address space         1                    1                    bytes\n";
        assert_eq!(available(&with_limit(below)), Some(0));
        for none in
            ["Max address space         unlimited            unlimited            bytes\n", "", "Max address space"]
        {
            assert_eq!(available(&with_limit(none)), Some(20_000_000 * 1024), "{none}");
        }
    }

    #[test]
    fn linux_reports_available_memory() {
        let available = available(&super::super::files);
        assert_eq!(available.is_some(), cfg!(target_os = "linux"));
        assert!(available.is_none_or(|bytes| bytes > 0));
    }
}

//! The memory limits of control groups.
//!
//! `/proc/self/cgroup` names the process's group in each hierarchy. `/proc/self/mountinfo` names the mount point of a
//! hierarchy, and which of its groups is the root of the mount (in a container the two paths need not match). From the
//! process's group up to that root, every group may have a limit. Version 2 has it in `memory.max` beside
//! `memory.current`, version 1 in `memory.limit_in_bytes` beside `memory.usage_in_bytes`. Usage includes the page cache
//! of files, which the kernel drops at the limit. So this module subtracts that part (`active_file` and `inactive_file`
//! of `memory.stat`).

use super::Files;

/// A mounted hierarchy that can limit memory.
struct Mount {
    version: Version,
    /// The group at the top of the mount.
    root: String,
    /// The mount point.
    point: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    One,
    Two,
}

/// Returns the least memory that any group from this process's upwards leaves, or `None` if no group has a limit.
pub fn available(files: Files<'_>) -> Option<u64> {
    let groups = files("/proc/self/cgroup")?;
    let mounts = files("/proc/self/mountinfo")?;
    mounts
        .lines()
        .filter_map(mount)
        .filter_map(|mount| {
            let group = group(&groups, mount.version)?;
            directories(&mount, group).into_iter().filter_map(|path| left(files, &path, mount.version)).min()
        })
        .min()
}

/// Parses one line of `mountinfo`: `id parent device root point options [tags..] - type source options`.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let mut after = after.split(' ');
    let version = match after.next()? {
        "cgroup2" => Version::Two,
        "cgroup" if after.nth(1)?.split(',').any(|option| option == "memory") => Version::One,
        _ => return None,
    };
    Some(Mount { version, root: before.next()?.to_owned(), point: before.next()?.to_owned() })
}

/// Returns the group of this process. The lines are `number:controllers:path`, without controllers in version 2.
fn group(groups: &str, version: Version) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        let ours = match version {
            Version::One => controllers.split(',').any(|controller| controller == "memory"),
            Version::Two => controllers.is_empty(),
        };
        parts.next().filter(|_| ours)
    })
}

/// Returns the directories from this process's group up to the mount. A group outside of the mount counts as its root.
fn directories(mount: &Mount, group: &str) -> Vec<String> {
    let root = mount.root.trim_end_matches('/');
    let below = match group.strip_prefix(root) {
        Some(below) if below.is_empty() || below.starts_with('/') => below.trim_end_matches('/'),
        _ => "",
    };
    let below = if below.split('/').any(|part| part == "..") { "" } else { below };
    let point = mount.point.trim_end_matches('/');
    let mut directories = vec![format!("{point}{below}")];
    let mut rest = below;
    while let Some(end) = rest.rfind('/') {
        rest = &rest[..end];
        directories.push(format!("{point}{rest}"));
    }
    directories
}

/// Returns what the limit of one group leaves, or `None` if it has none.
fn left(files: Files<'_>, directory: &str, version: Version) -> Option<u64> {
    let (limit, usage, cache) = match version {
        Version::One => {
            ("memory.limit_in_bytes", "memory.usage_in_bytes", ["total_active_file", "total_inactive_file"])
        }
        Version::Two => ("memory.max", "memory.current", ["active_file", "inactive_file"]),
    };
    let number = |name: &str| files(&format!("{directory}/{name}"))?.trim().parse::<u64>().ok();
    // "max" is not a number. Version 1 encodes "no limit" as a number larger than any machine, which min() never
    // chooses.
    let limit = number(limit)?;
    let usage = number(usage)?;
    let stat = files(&format!("{directory}/memory.stat")).unwrap_or_default();
    let cached: u64 = stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| cache.contains(name))
        .filter_map(|(_, value)| value.trim().parse::<u64>().ok())
        .sum();
    Some(limit.saturating_sub(usage.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn available_in(texts: &[(&str, &str)]) -> Option<u64> {
        let texts: HashMap<String, String> =
            texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        available(&|path| texts.get(path).cloned())
    }

    const MOUNT_2: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
                           30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const MOUNT_1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
                           34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                           35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

    #[test]
    fn version_2_takes_the_tightest_group_up_to_the_root() {
        let base = "/sys/fs/cgroup";
        let group = "0::/user.slice/job.scope\n";
        let texts = [
            ("/proc/self/cgroup", group),
            ("/proc/self/mountinfo", MOUNT_2),
            (&format!("{base}/user.slice/job.scope/memory.max"), "max\n"),
            (&format!("{base}/user.slice/job.scope/memory.current"), "500\n"),
            (&format!("{base}/user.slice/memory.max"), "10000\n"),
            (&format!("{base}/user.slice/memory.current"), "4000\n"),
            (&format!("{base}/user.slice/memory.stat"), "anon 1000\nactive_file 700\ninactive_file 300\nfile 1200\n"),
        ];
        assert_eq!(available_in(&texts), Some(7000), "10000 - (4000 - 700 - 300)");
        assert_eq!(available_in(&texts[..4]), None, "no group with a limit");
    }

    #[test]
    fn version_1_reads_its_own_hierarchy() {
        let texts = [
            ("/proc/self/cgroup", "4:cpu:/other\n3:memory:/a/b\n0::/\n"),
            ("/proc/self/mountinfo", MOUNT_1),
            ("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "100\n"),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000\n"),
            ("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2000\n"),
            (
                "/sys/fs/cgroup/memory/a/memory.stat",
                "inactive_file 9\ntotal_inactive_file 400\ntotal_active_file 100\n",
            ),
            ("/sys/fs/cgroup/cpu/other/memory.limit_in_bytes", "1\n"),
            ("/sys/fs/cgroup/cpu/other/memory.usage_in_bytes", "0\n"),
        ];
        assert_eq!(available_in(&texts), Some(3500));
    }

    #[test]
    fn container_sees_its_group_at_root_of_mount() {
        let mount = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let limit = ("/sys/fs/cgroup/memory.max", "8000");
        let usage = ("/sys/fs/cgroup/memory.current", "1000");
        for group in ["0::/docker/abc\n", "0::/\n", "0::/../outside\n", "0::/docker/abcdef\n"] {
            let texts = [("/proc/self/cgroup", group), ("/proc/self/mountinfo", mount), limit, usage];
            assert_eq!(available_in(&texts), Some(7000), "{group}");
        }
        let below = [
            ("/proc/self/cgroup", "0::/docker/abc/in\n"),
            ("/proc/self/mountinfo", mount),
            limit,
            usage,
            ("/sys/fs/cgroup/in/memory.max", "3000"),
            ("/sys/fs/cgroup/in/memory.current", "2500"),
        ];
        assert_eq!(available_in(&below), Some(500));
    }

    #[test]
    fn group_over_limit_leaves_nothing() {
        let texts = [
            ("/proc/self/cgroup", "0::/\n"),
            ("/proc/self/mountinfo", MOUNT_2),
            ("/sys/fs/cgroup/memory.max", "100"),
            ("/sys/fs/cgroup/memory.current", "200"),
        ];
        assert_eq!(available_in(&texts), Some(0));
    }

    #[test]
    fn malformed_limit_is_ignored() {
        assert_eq!(available_in(&[]), None);
        assert_eq!(available_in(&[("/proc/self/cgroup", "::"), ("/proc/self/mountinfo", "- - -\nx")]), None);
    }
}

//! Pinned threads, spare threads among them: each is bound to one core.

use super::blocked_workers::chain_of_receivers;
use crate::common::{LONG, at_rest, sum_to, watchdog};
use anabranch::Pool;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    thread,
};

/// The cores that each thread of this process may use whose name begins with `prefix`, by its number.
fn cores_of(prefix: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let Ok(status) = std::fs::read_to_string(task.unwrap().path().join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap();
        if let Some(number) = field("Name:").strip_prefix(prefix) {
            found.push((number.parse().unwrap(), field("Cpus_allowed_list:").to_owned()));
        }
    }
    found.sort_unstable();
    found
}

/// The numbers in a list such as `0-2,5`.
fn allowed(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        low.parse().unwrap()..=high.parse().unwrap()
    };
    list.split(',').flat_map(range).collect()
}

fn own_cores() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    allowed(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim())
}

#[test]
fn pinned_threads_take_cores_in_turn() {
    watchdog(LONG, || {
        let cores = own_cores();
        let pool = Pool::builder().threads(5).thread_name(|i| format!("pin-{i}")).pin_threads(true).build().unwrap();
        let expected: Vec<_> = (0..5).map(|i| (i, cores[i % cores.len()].to_string())).collect();
        assert_eq!(cores_of("pin-"), expected);
        assert_eq!(pool.install(own_cores), cores, "guests are left alone");
        assert_eq!(pool.install(|| sum_to(1000)), 500_500);
        let free = Pool::builder().threads(2).thread_name(|i| format!("free-{i}")).build().unwrap();
        assert!(cores_of("free-").iter().all(|(_, list)| allowed(list) == cores));
        drop(free);
    });
}

/// A spare inherits the one core of the thread that starts it, and must not take that for all there are.
#[test]
fn pinned_spares_use_several_cores() {
    fn own_cores() -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
    }
    watchdog(LONG, || {
        if thread::available_parallelism().unwrap().get() == 1 {
            return;
        }
        let cores = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&cores);
        let note = move |i| sink.lock().unwrap().push((i, own_cores()));
        let pool = Pool::builder().threads(2).pin_threads(true).on_start(note).build().unwrap();
        at_rest(&pool);
        pool.install(chain_of_receivers);
        at_rest(&pool);
        let cores = cores.lock().unwrap();
        let of_spares: HashSet<_> = cores.iter().filter(|(i, _)| *i >= 2).map(|(_, list)| list).collect();
        assert!(of_spares.len() > 1, "all spares on one core: {cores:?}");
    });
}

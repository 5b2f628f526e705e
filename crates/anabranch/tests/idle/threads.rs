//! A pool without work does not wake up. Measured by the context switches that the system records.

#![cfg(target_os = "linux")]

use crate::common::{self};
use anabranch::Pool;
use std::{fs, thread, time::Duration};

/// The context switches, wanted or not, of the threads of this process whose name begins with `prefix`.
fn switches(prefix: &str) -> Vec<u64> {
    let mut counts = Vec::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let Ok(status) = fs::read_to_string(task.unwrap().path().join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if field("Name:").is_some_and(|name| name.starts_with(prefix)) {
            let number = |name| field(name).unwrap().parse::<u64>().unwrap();
            counts.push(number("voluntary_ctxt_switches:") + number("nonvoluntary_ctxt_switches:"));
        }
    }
    counts.sort_unstable();
    counts
}

/// Waits until the threads of the pool, which has no work, wake up no more. The time until all are asleep depends on
/// the system, so only the watchdog limits it.
fn until_quiet(prefix: &str) {
    loop {
        thread::sleep(Duration::from_millis(200));
        let before = switches(prefix);
        // Spares, if a loaded machine made any, have to be quiet too.
        assert!(before.len() >= 4);
        thread::sleep(Duration::from_secs(1));
        if switches(prefix) == before {
            return;
        }
    }
}

#[test]
fn pool_without_work_causes_no_wakeups() {
    common::watchdog(common::LONG, || {
        let pool = Pool::builder().threads(4).thread_name(|i| format!("quiet-{i}")).build().unwrap();
        until_quiet("quiet-");
        assert_eq!(pool.install(|| common::sum_to(100_000)), 5_000_050_000);
        pool.broadcast(|_| common::sum_to(1000));
        until_quiet("quiet-");
        assert_eq!(pool.install(|| common::sum_to(1000)), 500_500, "and it still wakes for work");
    });
}

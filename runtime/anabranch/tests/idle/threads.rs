//! A pool without work does not wake up. Measured by the context switches that the system records.

#![cfg(target_os = "linux")]

use crate::{common, switches};
use anabranch::Pool;
use std::time::Duration;

/// Waits until the threads of the pool, which has no work, wake up no more.
fn until_quiet(prefix: &str) {
    switches::until_quiet(prefix, 4, Duration::from_millis(200), Duration::from_secs(1));
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

//! The workloads of the bench of kernels: each peer computes the same.

#![cfg(target_os = "linux")]

use anabranch_bench::contest::Peers;
use workloads::{ALL, Kind, Settings};

#[path = "../benches/kernels/workloads/mod.rs"]
mod workloads;

/// Each workload checks its results before it is measured.
#[test]
fn peers_agree() {
    for (name, build) in &ALL {
        let workload = build(&Settings::new(true));
        for kind in Kind::ALL {
            for threads in [1, 3] {
                let sample = workload.sample_with(*kind, threads);
                assert!(sample.value.is_finite() && sample.value > 0.0, "{name}, {kind}: {}", sample.value);
            }
        }
    }
}

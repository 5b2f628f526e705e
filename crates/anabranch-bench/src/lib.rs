//! Fork-join, fibers and messages measured side by side: anabranch, its peers and plain recursion.
//!
//! `cargo bench -p anabranch-bench --bench fork_join -- --help` tells how to run the one, `--bench fibers`,
//! `--bench messages` and `--bench pipes` the others, which live in [`fibers`], [`messages`] and [`pipes`] and are run
//! by the same harness. A *workload* (one file each in [`workloads`]) is written once against the trait
//! [`peers::Peer`], which each library implements in a file of its own. [`mod@bench`] runs every combination of peer
//! and thread count once a round, in a shuffled order, each in a process of its own ([`isolate`]), and [`report`]
//! prints medians, minima, spreads and ratios to plain recursion in the same round.
//!
//! # Reading the figures
//!
//! Absolute times move with the machine and its other users, so compare ratios within a run, and look at the minimum
//! beside the median. A few workloads are some twenty instructions a node (the tree of 1,000 nodes, `fib`): where the
//! linker happens to put them moves them by up to a quarter, always the same way within one build. Differences of that
//! size are settled by counting instructions, which the example `count_forks` is for.
//!
//! It runs on Linux, whose `/proc` tells how often threads were switched.
#![cfg(target_os = "linux")]

pub mod bench;
pub mod chart;
pub mod contest;
pub mod crew;
pub mod fibers;
pub mod isolate;
#[cfg(test)]
mod lock;
pub mod machine;
pub mod messages;
pub mod options;
pub mod outcome;
pub mod peers;
pub mod pipes;
pub mod process;
pub mod report;
pub mod sample;
pub mod stats;
pub mod verdict;
pub mod workloads;

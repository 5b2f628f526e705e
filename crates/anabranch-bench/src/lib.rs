//! Fork-join, fibers and messages measured side by side: anabranch, its peers and plain recursion.
//!
//! `cargo bench -p anabranch-bench --bench fork_join -- --help` lists the options of that bench. `--bench iterators`,
//! `--bench fibers`, `--bench messages` and `--bench pipes` are the others. Their code is in [`iterators`], [`fibers`],
//! [`messages`] and [`pipes`], and the same harness runs them. A *workload* (one file each in [`workloads`]) is written
//! once against the trait [`peers::Peer`], which each library implements in a separate file. [`mod@bench`] runs every
//! combination of peer and thread count once per round, in a shuffled order, each in its own process ([`isolate`]).
//! [`report`] prints medians, minima, spreads, and ratios to plain recursion in the same round.
//!
//! # Reading the figures
//!
//! Absolute times vary with the machine and its other users. So compare ratios within a run, and the minima beside the
//! medians. A few workloads are some twenty instructions per node (the tree of 1,000 nodes, `fib`). The placement of
//! their code by the linker changes their time by up to a quarter, always the same way within one build. To decide
//! differences of that size, count instructions with the example `count_forks`.
//!
//! The benches run on Linux, whose `/proc` reports the context switches of threads.
#![cfg(target_os = "linux")]

pub mod bench;
pub mod chart;
pub mod compiler;
pub mod contest;
pub mod crew;
pub mod fibers;
pub mod isolate;
pub mod iterators;
pub mod judgement;
#[cfg(test)]
mod lock;
pub mod machine;
pub mod messages;
pub mod net;
pub mod options;
pub mod outcome;
pub mod peers;
pub mod pipes;
pub mod process;
pub mod report;
pub mod sample;
pub mod stats;
pub mod target;
pub mod verdict;
pub mod workloads;

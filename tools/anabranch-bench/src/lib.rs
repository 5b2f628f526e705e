//! Fork-join, fibers and messages measured side by side: anabranch, its peers and plain recursion.
//!
//! `cargo bench -p anabranch-bench --bench fork_join -- --help` lists the options of that bench. `--bench iterators`,
//! `--bench fibers`, `--bench messages`, `--bench pipes`, `--bench net` and `--bench compute_and_serve` are the others.
//! Their code is in [`iterators`], [`fibers`], [`messages`], [`pipes`], [`net`] and [`compute_and_serve`], and the same
//! harness runs them. A *workload* (one
//! file each in [`workloads`]) is written once against the trait [`peers::Peer`], which each library implements in a
//! separate file. [`mod@bench`] runs every combination of peer and thread count once per round, in a shuffled order,
//! each in its own process ([`isolate`]). [`report`] prints medians, minima, spreads, and ratios to plain recursion in
//! the same round.
//!
//! # Reading the figures
//!
//! Absolute times vary with the machine and its other users. So compare ratios within a run, and the minima beside the
//! medians. A few workloads are some twenty instructions per node (the tree of 1,000 nodes, `fib`). The placement of
//! their code by the linker changes their time by up to a quarter, always the same way within one build. To decide
//! differences of that size, count instructions with the example `count_forks`.
//!
//! The samples are taken on Linux, whose `/proc` reports the context switches of threads. The modules for results
//! ([`record`], [`figures`], [`confidence`], [`stats`], [`rounds`]) exist on every system.
//!
//! # Features
//! - `peers`: the other libraries. Without it there are anabranch, plain code and threads of std.
//! - `harness`: the command line of the benches.
//!
//! Both are on by default. The command line `anabranch bench` uses this crate without them.

#[cfg(target_os = "linux")]
pub mod bench;
#[cfg(target_os = "linux")]
pub mod compiler;
#[cfg(target_os = "linux")]
pub mod compute_and_serve;
pub mod confidence;
#[cfg(target_os = "linux")]
pub mod contest;
#[cfg(target_os = "linux")]
pub mod crew;
#[cfg(target_os = "linux")]
pub mod fibers;
pub mod figures;
#[cfg(target_os = "linux")]
pub mod isolate;
#[cfg(target_os = "linux")]
pub mod iterators;
#[cfg(target_os = "linux")]
pub mod judgement;
#[cfg(test)]
mod lock;
pub mod machine;
#[cfg(target_os = "linux")]
pub mod measurer;
#[cfg(target_os = "linux")]
pub mod messages;
#[cfg(target_os = "linux")]
pub mod net;
#[cfg(all(target_os = "linux", feature = "harness"))]
pub mod options;
#[cfg(target_os = "linux")]
pub mod outcome;
#[cfg(target_os = "linux")]
pub mod peers;
#[cfg(target_os = "linux")]
pub mod pipes;
#[cfg(target_os = "linux")]
pub mod process;
pub mod program;
pub mod record;
#[cfg(target_os = "linux")]
pub mod report;
pub mod rounds;
pub mod sample;
pub mod stats;
#[cfg(target_os = "linux")]
pub mod stopwatch;
#[cfg(target_os = "linux")]
pub mod suite;
#[cfg(target_os = "linux")]
pub mod target;
#[cfg(target_os = "linux")]
pub mod verdict;
#[cfg(target_os = "linux")]
pub mod workloads;

/// Whether the other libraries were compiled in.
pub const HAS_PEERS: bool = cfg!(feature = "peers");

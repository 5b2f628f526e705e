//! The tests of the program: they run the real binary as a child process.

mod bad_input;
#[cfg(target_os = "linux")]
mod bench;
mod checkpoint;
mod common;
mod compare;
mod graph;
mod graph_files;
#[cfg(unix)]
mod interruption;
mod plan;
#[cfg(unix)]
mod predict;
mod progress;
mod proto;
mod report;
mod results;
mod trace;

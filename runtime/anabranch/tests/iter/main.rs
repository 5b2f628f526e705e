//! The tests of the parallel iterators. They are a program of their own, because chains of generic adapters take long
//! to compile, and a change of other modules need not wait for them.

#![cfg(all(not(loom), not(shuttle), not(miri)))]

mod agree;
mod chain;
mod collect;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod cuts;
mod ends;
mod harness;
mod indexed;
mod indexed_ends;
mod items;
mod loops;
mod panics;
mod prefix_scan;
mod random_chains;
mod sort;
mod sources;
mod wrong_sources;

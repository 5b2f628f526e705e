//! One worker pool for parallel and concurrent programs.
//!
//! An *anabranch* is an arm of a river that leaves the main channel and joins it again downstream. So does the work here.
//!
//! - [`join`] runs two closures, in parallel if a thread is idle. A fork that nobody takes costs about a nanosecond, so
//!   recursion needs no cut-off.
//! - [`par_for_each`], [`par_map`] and [`par_reduce`] run over slices, ranges, [`chunks`] and pairs of them. They are cut
//!   only when another thread asks for work, so there is no grain size to choose.
//! - [`scope`] spawns any number of tasks that borrow from their parent, which waits for all of them.
//! - [`Pool`] is for those who want threads of their own; everybody else uses the default pool without a word about it.
//!
//! ```
//! struct Node {
//!     value: u64,
//!     children: Option<Box<(Node, Node)>>,
//! }
//!
//! fn sum(node: &Node) -> u64 {
//!     let Some(children) = &node.children else { return node.value };
//!     let (left, right) = anabranch::join(|| sum(&children.0), || sum(&children.1));
//!     node.value + left + right
//! }
//!
//! let leaf = |value| Node { value, children: None };
//! let root = Node { value: 1, children: Some(Box::new((leaf(2), leaf(3)))) };
//! assert_eq!(sum(&root), 6);
//! ```
//!
//! # What may be relied on
//! - All that is forked or spawned has ended when the call that made it returns, also when something panics. A panic
//!   reaches the caller once; no work, no value and no payload is leaked.
//! - A thread that waits in a [`join`] or a [`scope`] runs only pieces of what it waits for. A lock held across them is
//!   never met again by unrelated work on the same stack.
//! - A pool of T threads lets T threads work at a time. An idle pool sleeps: nothing ticks.

#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod channel;
#[cfg(not(loom))]
mod cx;
#[cfg(all(unix, not(loom)))]
mod fiber;
#[cfg(not(loom))]
mod iter;
#[cfg(not(loom))]
mod join;
#[cfg(all(test, loom))]
mod models;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
mod pool;
#[cfg(not(loom))]
mod scope;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod sys;
#[cfg(not(loom))]
pub mod time;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod wait;

#[cfg(not(loom))]
pub use crate::{
    cx::{
        Canceller, FiberInfo, FiberScope, FiberState, Interval, JoinError, JoinHandle, Racers, ScopedHandle, Service,
        Spawner, TimedOut, fibers, run, spawn, spawn_async, spawn_service,
    },
    iter::{Chunks, ChunksMut, Splittable, chunks, chunks_mut, par_for_each, par_map, par_reduce},
    join::join,
    pool::{BuildError, Builder, Pool, Stats, WorkerStats, current_num_threads},
    scope::{Scope, scope},
    wait::{Cancelled, Cx, FiberLocal, WaitError},
};

/// The readme's example has to compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

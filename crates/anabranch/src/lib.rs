//! One worker pool for parallel and concurrent programs.
//!
//! An *anabranch* is an arm of a river that leaves the main channel and joins it again downstream. So does the work here.
//!
//! - [`join`] runs two closures, in parallel if a thread is idle. A fork that nobody takes costs about a nanosecond, so
//!   recursion needs no cut-off.
//! - [`par_for_each`], [`par_map`] and [`par_reduce`] run over slices, ranges, [`chunks`] and pairs of them. They are cut
//!   only when another thread asks for work, so there is no grain size to choose.
//! - [`scope`] spawns any number of tasks that borrow from their parent, which waits for all of them.
//! - [`run`] and [`spawn`] give out a [`Cx`], the permission to wait. With it [fibers](spawn) wait for each other, for time,
//!   for locks ([`sync`]) and for futures ([`Cx::block_on`]), a million of them if need be, inside parallel code too:
//!   [`Cx::join`], [`Cx::try_join`], [`Cx::scope`], [`Cx::race`], [`Cx::map`], [`Cx::timeout`].
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
//! ```
//! use anabranch::WaitError;
//! use std::time::Duration;
//!
//! let replies = anabranch::run(|cx| {
//!     cx.timeout(Duration::from_secs(60), |cx| {
//!         cx.map(100, 1..=3u64, |cx, server| {
//!             cx.sleep(Duration::from_millis(server))?; // ask the server
//!             Ok(server * 10)
//!         })
//!     })
//! });
//! assert_eq!(replies, Ok::<_, WaitError>(vec![10, 20, 30]));
//! ```
//!
//! # Compute or wait
//! Two kinds of code, told apart by one argument. *Compute* takes no token: [`join`], [`scope`], the loops. It never leaves
//! its stack for something unrelated. *Waiting* takes a `&Cx`: on a fiber it suspends the fiber and lets others run, on a
//! plain thread it parks the thread, and when its scope is cancelled it returns [`Cancelled`]. [`Cx`] says what remains the
//! user's duty.
//!
//! # What may be relied on
//! - All that is forked or spawned has ended when the call that made it returns, also when something panics. A panic
//!   reaches the caller once; no work, no value and no payload is leaked.
//! - A thread that waits in a [`join`] or a [`scope`] runs only pieces of what it waits for. A lock held across them is
//!   never met again by unrelated work on the same stack.
//! - A fiber that has begun stays on its thread. What is spawned in a [`Cx::scope`] has ended when the scope returns, and a
//!   panic or an error in one cancels the others first.
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
#[cfg(doctest)]
mod misuse;
#[cfg(all(test, loom))]
mod models;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
mod pool;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod proto;
#[cfg(not(loom))]
mod scope;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod sync;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod sys;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
pub mod time;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod wait;

#[cfg(not(loom))]
pub use crate::{
    cx::{
        Canceller, FiberInfo, FiberScope, FiberState, Interval, JoinError, JoinHandle, Racers, ScopedHandle, Service,
        SleepAsync, Spawner, fibers, run, sleep_async, spawn, spawn_async, spawn_service,
    },
    iter::{Chunks, ChunksMut, Splittable, chunks, chunks_mut, par_for_each, par_map, par_reduce},
    join::join,
    pool::{BuildError, Builder, Pool, Stats, WorkerStats, current_num_threads},
    scope::{Scope, scope},
    wait::{Cancelled, Cx, FiberLocal, TimedOut, WaitError},
};

#[cfg(all(not(loom), feature = "macros"))]
pub use anabranch_macros::proto;

#[cfg(shuttle)]
#[doc(hidden)]
pub use crate::sys::{
    chance::{Odds, set_odds},
    unwind::{catch_unwind, panicking, resume_unwind},
};

/// The readme's example has to compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

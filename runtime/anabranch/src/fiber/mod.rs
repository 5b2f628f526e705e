//! Fibers beyond [`spawn`](crate::spawn): scopes, sets, races, supervision, services, and lists of fibers.
//!
//! A fiber is a function that may wait, on a stack of its own. [`spawn`](crate::spawn) and the methods of
//! [`Cx`](crate::Cx) start fibers, and this module has the types that they return or accept:
//!
//! - [`Cx::scope`](crate::Cx::scope) passes a [`FiberScope`] to its closure, and
//!   [`Cx::try_scope`](crate::Cx::try_scope) a [`TryScope`]. A scope returns [`ScopedHandle`]s, and its fibers can use
//!   a [`Spawner`] or [`TrySpawner`].
//! - A [`JoinSet`] of a scope returns results in the order in which the fibers end, as do the [`Arrivals`] of
//!   [`Cx::map_unordered`](crate::Cx::map_unordered).
//! - [`Racers`] and [`FallibleRacers`] are the arguments of [`Cx::race`](crate::Cx::race) and
//!   [`Cx::race_ok`](crate::Cx::race_ok).
//! - [`Cx::supervise`](crate::Cx::supervise) restarts fibers that panic, as a [`Supervision`] says.
//! - [`spawn_service`] starts a fiber that answers requests.
//! - A [`FiberLocal`] is a fiber's own value. A [`CancelHandle`] cancels a fiber. An [`Interval`] ticks.
//! - [`fibers`] and [`report_all`] show where each fiber waits, and for what.
//!
//! ```
//! use anabranch::{JoinError, fiber::JoinSet};
//!
//! let sum = anabranch::run(|cx| {
//!     cx.scope(|s| {
//!         let mut squares: JoinSet<'_, '_, u32> = s.join_set();
//!         for number in [1, 2, 3] {
//!             squares.spawn(move |_| number * number);
//!         }
//!         let mut sum = 0;
//!         while let Some(square) = squares.join_next(s)? {
//!             sum += square;
//!         }
//!         Ok::<_, JoinError>(sum)
//!     })
//! });
//! assert_eq!(sum.unwrap(), 14);
//! ```
//!
//! On systems that are neither Unix nor Windows there are no fibers, and this module has only [`CancelHandle`],
//! [`FiberLocal`] and [`Interval`].

// The private modules are the fibers of a worker: `switch` leaves one stack for another, `stack` allocates stacks, and
// `scheduler` runs the fibers. On Windows stacks are those of corosensei.

pub(crate) mod kick;
pub(crate) mod locals;
pub(crate) mod placed;
mod queue_age;
pub(crate) mod ready;
pub(crate) mod run_queue;
pub(crate) mod shutdown;
pub(crate) mod task_alloc;
mod task_region;

cfg_if! {
    if #[cfg(not(loom))] {
        pub(crate) mod blocked_detector;
        pub(crate) mod context;
        #[expect(clippy::module_inception, reason = "the fiber itself, beside its parts")]
        pub(crate) mod fiber;
        pub(crate) mod fibers;
        mod idle_stacks;
        mod jobs;
        pub(crate) mod limits;
        pub(crate) mod own_store;
        pub(crate) mod placement;
        pub(crate) mod ready_queue;
        mod scheduler;
        pub(crate) mod stack;
        mod stack_trace;
        pub(crate) mod status;
        pub(crate) mod steal_policy;
        mod suspend;
        pub(crate) mod task;
    }
}

#[cfg(all(target_arch = "x86_64", unix, not(anabranch_portable_switch)))]
pub(crate) mod switch;
#[cfg(not(all(target_arch = "x86_64", unix, not(anabranch_portable_switch))))]
#[path = "no_switch.rs"]
pub(crate) mod switch;

#[cfg(not(loom))]
pub use crate::cx::{CancelHandle, FiberLocal, Interval};
#[cfg(all(any(unix, windows), not(loom)))]
pub use crate::{
    channel::service::{Service, spawn_service},
    cx::{
        Arrivals, FallibleRacers, FiberScope, JoinSet, Joining, Racers, Restart, ScopedHandle, SleepAsync, Spawner,
        Supervision, Supervisor, TryScope, TrySpawner, fibers, report_all, report_all_with_stacks, sleep_async,
    },
};

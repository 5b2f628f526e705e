//! Fibers: functions on stacks of their own, which a worker switches between.
//!
//! [`switch`] leaves one stack for another, [`stack`] allocates stacks, and `scheduler` runs a worker's
//! fibers. On Windows stacks are those of corosensei. Where no stack can be left, as on WebAssembly, there are no
//! fibers.

#[cfg(not(loom))]
pub(crate) mod blocked_detector;
#[cfg(not(loom))]
pub(crate) mod context;
#[cfg(not(loom))]
#[expect(clippy::module_inception, reason = "the fiber itself, beside its parts")]
pub(crate) mod fiber;
#[cfg(not(loom))]
pub(crate) mod fibers;
#[cfg(not(loom))]
mod idle_stacks;
#[cfg(not(loom))]
mod jobs;
pub(crate) mod kick;
#[cfg(not(loom))]
pub(crate) mod limits;
pub(crate) mod locals;
#[cfg(not(loom))]
pub(crate) mod own_store;
pub(crate) mod placed;
#[cfg(not(loom))]
pub(crate) mod placement;
mod queue_age;
pub(crate) mod ready;
#[cfg(not(loom))]
pub(crate) mod ready_queue;
pub(crate) mod run_queue;
#[cfg(not(loom))]
mod scheduler;
pub(crate) mod shutdown;
#[cfg(not(loom))]
pub(crate) mod stack;
#[cfg(not(loom))]
mod stack_trace;
#[cfg(not(loom))]
pub(crate) mod status;
#[cfg(not(loom))]
pub(crate) mod steal_policy;
#[cfg(not(loom))]
mod suspend;
#[cfg(all(target_arch = "x86_64", unix, not(anabranch_portable_switch)))]
pub(crate) mod switch;
#[cfg(not(all(target_arch = "x86_64", unix, not(anabranch_portable_switch))))]
#[path = "no_switch.rs"]
pub(crate) mod switch;
#[cfg(not(loom))]
pub(crate) mod task;
pub(crate) mod task_alloc;
mod task_region;

//! Fibers: functions on stacks of their own, which a worker switches between.
//!
//! [`switch`] leaves one stack for another, [`stack`] allocates stacks, and `scheduler` runs a worker's
//! fibers. On Windows stacks are those of corosensei. Where no stack can be left, as on WebAssembly, there are no
//! fibers.

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

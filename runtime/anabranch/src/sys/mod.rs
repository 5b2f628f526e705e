//! The interface to the operating system and the standard library, in one place, so that the model checkers can replace
//! it.

pub(crate) mod asymmetric_fence;
pub(crate) mod carrier;
#[cfg(shuttle)]
pub(crate) mod chance;
#[cfg(not(loom))]
pub(crate) mod channel;
pub(crate) mod clock;
pub(crate) mod diagnostics;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
pub(crate) mod exit;
pub(crate) mod free_list;
#[cfg(all(unix, not(loom)))]
pub(crate) mod memory;
#[cfg(not(any(unix, loom)))]
#[path = "no_mappings.rs"]
pub(crate) mod memory;
pub(crate) mod moment;
pub(crate) mod parker;
pub(crate) mod poller;
pub(crate) mod prefetch;
#[cfg(not(loom))]
pub(crate) mod report_signal;
pub(crate) mod slice;
pub(crate) mod spin;
pub(crate) mod sync;
pub(crate) mod thread;
#[cfg(not(loom))]
pub(crate) mod thread_stack;
pub(crate) mod unwind;

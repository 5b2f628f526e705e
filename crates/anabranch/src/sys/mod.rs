//! What the runtime needs of the operating system and of the standard library, in one place, so that the model checkers
//! can stand in for it.

#[cfg(all(unix, not(loom)))]
pub(crate) mod alternate_stack;
pub(crate) mod barrier;
pub(crate) mod bias;
pub(crate) mod biased_lock;
pub(crate) mod blocks;
#[cfg(shuttle)]
pub(crate) mod chance;
pub(crate) mod clock;
pub(crate) mod diagnostics;
#[cfg(all(unix, not(loom)))]
pub(crate) mod memory;
#[cfg(not(any(unix, loom)))]
#[path = "no_mappings.rs"]
pub(crate) mod memory;
pub(crate) mod parker;
pub(crate) mod prefetch;
pub(crate) mod record;
pub(crate) mod sides;
pub(crate) mod spin;
#[cfg(all(target_arch = "x86_64", unix, not(anabranch_portable_switch)))]
pub(crate) mod switch;
#[cfg(not(all(target_arch = "x86_64", unix, not(anabranch_portable_switch))))]
#[path = "no_switch.rs"]
pub(crate) mod switch;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod unwind;

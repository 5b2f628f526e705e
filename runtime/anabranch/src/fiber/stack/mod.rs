//! Stacks for fibers, and what happens when one overflows.

#[cfg(all(unix, not(loom)))]
mod alternate;
#[cfg(all(test, unix))]
mod child;
pub(crate) mod config;
pub(crate) mod error;

#[cfg(unix)]
mod mappings;
#[cfg(unix)]
pub(crate) mod overflow;
#[cfg(unix)]
pub(crate) mod pool;
#[cfg(unix)]
mod slab;

#[cfg(windows)]
#[path = "windows.rs"]
pub(crate) mod pool;

#[cfg(not(unix))]
#[path = "no_overflow.rs"]
pub(crate) mod overflow;

#[cfg(not(any(unix, windows)))]
#[path = "unsupported.rs"]
pub(crate) mod pool;

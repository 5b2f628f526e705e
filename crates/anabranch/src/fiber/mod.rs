//! What fibers run on: stacks, the switch between them, and what happens when one overflows.
//!
//! `stack_error <- mappings <- slab <- stack`, `overflow <- stack`. On Windows stacks are those of corosensei; where no stack can be
//! left, as on WebAssembly, there are no fibers.

#[cfg(all(test, unix))]
mod child;
mod stack_config;
mod stack_error;

#[cfg(any(unix, windows))]
pub(crate) mod context;

#[cfg(unix)]
mod mappings;
#[cfg(unix)]
pub(crate) mod overflow;
#[cfg(unix)]
mod slab;
#[cfg(unix)]
pub(crate) mod stack;

#[cfg(windows)]
#[path = "windows_stack.rs"]
pub(crate) mod stack;

#[cfg(not(unix))]
#[path = "no_overflow.rs"]
pub(crate) mod overflow;

#[cfg(not(any(unix, windows)))]
mod absent;
#[cfg(not(any(unix, windows)))]
pub(crate) use self::absent::{context, stack};

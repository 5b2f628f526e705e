//! Where the pages of task blocks come from.

#[cfg(any(loom, miri))]
mod heap;
#[cfg(not(any(loom, miri)))]
mod mapped;

#[cfg(any(loom, miri))]
pub(crate) use self::heap::{give_back, take};
#[cfg(not(any(loom, miri)))]
pub(crate) use self::mapped::{give_back, take};

/// The size of a page, and what its address is a multiple of.
pub(crate) const PAGE: usize = if cfg!(loom) { 4 << 10 } else { 64 << 10 };

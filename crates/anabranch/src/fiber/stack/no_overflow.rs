//! In the place of the handler of overflows, where the system reports them by itself or there are no fibers.

use std::{io, ptr};

/// Nothing has to be known of a fiber.
pub(crate) struct Guarded;

impl Guarded {
    pub(crate) fn set_name(&mut self, _: Option<&str>) {}
}

/// # Safety
/// None is needed: nothing is kept.
#[inline]
pub(crate) unsafe fn set_current(_: *const Guarded) -> *const Guarded {
    ptr::null()
}

/// Nothing has to be done.
pub(crate) fn ensure_alternate_stack() -> io::Result<()> {
    Ok(())
}

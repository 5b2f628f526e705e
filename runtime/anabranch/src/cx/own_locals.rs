//! The fiber-local values of code that has no fiber of its own: of a `run`, and of the second half of a join that runs
//! in place.

use crate::{fiber::locals::Locals, fork::scope::report, sys::unwind::catch_unwind};
use std::{ops::Deref, panic::AssertUnwindSafe};

/// Values that are dropped with this. A panic of their destructors goes to the panic handler, as that of a fiber's
/// values does.
pub(super) struct OwnLocals(Locals);

impl OwnLocals {
    pub(super) fn new() -> Self {
        Self(Locals::new())
    }
}

impl Deref for OwnLocals {
    type Target = Locals;

    fn deref(&self) -> &Locals {
        &self.0
    }
}

impl Drop for OwnLocals {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_empty() {
            clear(&self.0);
        }
    }
}

#[cold]
fn clear(locals: &Locals) {
    // If the drop of one value panics, the loop drops the others.
    while let Err(panic) = catch_unwind(AssertUnwindSafe(|| locals.clear())) {
        report(panic);
    }
}

//! Dropping many values, any of which may panic.
//!
//! The first panic continues once all values have been dropped. Later panics are contained. If the thread already
//! unwinds, all panics are contained, because a second panic that leaves a destructor would abort the process. Their
//! panic hooks have already reported them.

use crate::sys::unwind::{catch_unwind, panicking, resume_unwind};
use std::{any::Any, mem, panic::AssertUnwindSafe};

/// A panic that has yet to continue. The remaining work is done before.
#[must_use]
pub(super) struct Dropped(Option<Box<dyn Any + Send>>);

/// Drops all values that `next` returns.
pub(super) fn drop_all<V>(mut next: impl FnMut() -> Option<V>) -> Dropped {
    let mut first = None;
    while let Some(value) = next() {
        if !mem::needs_drop::<V>() {
            continue;
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
            match first {
                None => first = Some(panic),
                Some(_) => contain(panic),
            }
        }
    }
    Dropped(first)
}

/// Drops the payload of a panic, which may panic itself.
fn contain(panic: Box<dyn Any + Send>) {
    mem::forget(catch_unwind(AssertUnwindSafe(|| drop(panic))));
}

impl Dropped {
    /// Resumes the first panic, unless the thread already unwinds.
    pub(super) fn finish(self) {
        if let Some(panic) = self.0 {
            if panicking() {
                contain(panic);
            } else {
                resume_unwind(panic);
            }
        }
    }
}

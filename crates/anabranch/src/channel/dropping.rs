//! Dropping many values, any of which may panic.
//!
//! The first panic goes on when all values have been dropped. Those that follow it are contained, as is each of them
//! where the thread unwinds already: a second panic that leaves a destructor would abort the process. Their hooks have
//! reported them.

use crate::sys::unwind::{catch_unwind, panicking, resume_unwind};
use std::{any::Any, mem, panic::AssertUnwindSafe};

/// A panic that has yet to go on. What remains to be done comes before.
#[must_use]
pub(super) struct Dropped(Option<Box<dyn Any + Send>>);

/// Drops all that comes.
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

/// The payload of a panic may panic when it is dropped.
fn contain(panic: Box<dyn Any + Send>) {
    mem::forget(catch_unwind(AssertUnwindSafe(|| drop(panic))));
}

impl Dropped {
    /// Lets the first panic go on, if that is possible.
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

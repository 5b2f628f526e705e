//! The values of fiber-local variables.

use std::{any::Any, cell::UnsafeCell, ptr};

/// The values of one fiber.
pub(crate) struct Locals {
    /// By the address of the `FiberLocal`. A fiber has few, and a boxed value stays where it is until the fiber ends.
    values: UnsafeCell<Vec<(*const (), Box<dyn Any>)>>,
}

impl Locals {
    pub(crate) const fn new() -> Self {
        Self { values: UnsafeCell::new(Vec::new()) }
    }

    pub(crate) fn find(&self, key: *const ()) -> Option<&dyn Any> {
        // SAFETY: only the fiber's thread calls this, as a `Cx` is not `Sync`. No reference to the list is kept while
        // other code runs, and the boxes stay until `clear`.
        let values = unsafe { &*self.values.get() };
        values.iter().find(|(of, _)| ptr::eq(*of, key)).map(|(_, value)| &**value)
    }

    /// Adds a value. If the key has a value already, `find` returns the earlier one, and both stay.
    pub(crate) fn add(&self, key: *const (), value: Box<dyn Any>) {
        // SAFETY: only the fiber's thread calls this, as a `Cx` is not `Sync`, and no reference to the list is kept
        // while other code runs.
        unsafe { (*self.values.get()).push((key, value)) };
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // SAFETY: only the fiber's thread calls this, and no reference to the list is kept while other code runs.
        unsafe { (*self.values.get()).is_empty() }
    }

    /// Drops all values, the newest first. The fiber has ended, so no references to them are left.
    #[inline]
    pub(crate) fn clear(&self) {
        if !self.is_empty() {
            self.drop_all();
        }
    }

    #[cold]
    fn drop_all(&self) {
        loop {
            // SAFETY: only the fiber's thread calls this. The reference to the list ends before the value, which is out
            // of the list, is dropped.
            let value = unsafe { (*self.values.get()).pop() };
            if value.is_none() {
                return;
            }
        }
    }
}

impl Drop for Locals {
    #[inline]
    fn drop(&mut self) {
        self.clear();
    }
}

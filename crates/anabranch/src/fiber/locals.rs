//! Values that each fiber has for itself.

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
        // SAFETY: only the fiber's thread comes here, as a `Cx` is not `Sync`, and no reference to the list is kept
        // while anything else runs; the boxes stay until `clear`.
        let values = unsafe { &*self.values.get() };
        values.iter().find(|(of, _)| ptr::eq(*of, key)).map(|(_, value)| &**value)
    }

    /// Adds a value. If the key has one already, that one is found, and both stay.
    pub(crate) fn add(&self, key: *const (), value: Box<dyn Any>) {
        // SAFETY: as in `find`.
        unsafe { (*self.values.get()).push((key, value)) };
    }

    /// Drops them all, the newest first. The fiber has ended: nobody holds a reference.
    #[inline]
    pub(crate) fn clear(&self) {
        // SAFETY: as in `find`.
        if unsafe { !(*self.values.get()).is_empty() } {
            self.drop_all();
        }
    }

    #[cold]
    fn drop_all(&self) {
        loop {
            // SAFETY: as in `find`; a value that is dropped is in the list no more.
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

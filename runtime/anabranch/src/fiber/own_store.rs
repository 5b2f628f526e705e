//! The store of a worker for the blocks of its fibers. The first spawn creates it. Only the worker's thread accesses
//! it.

use crate::fiber::task_alloc::Store;
use std::{cell::Cell, ptr};

/// See the [module](self).
pub(crate) struct OwnStore(Cell<*mut Store>);

impl OwnStore {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(ptr::null_mut()))
    }

    /// Returns the store, or null.
    #[inline]
    pub(crate) fn get(&self) -> *const Store {
        self.0.get()
    }

    /// Returns the store. Creates it if there is none.
    #[inline]
    pub(crate) fn open(&self) -> *const Store {
        if self.0.get().is_null() {
            self.0.set(Store::new());
        }
        self.0.get()
    }
}

impl Drop for OwnStore {
    fn drop(&mut self) {
        let store = self.0.get();
        if !store.is_null() {
            // SAFETY: no thread holds the worker entry any more, and none will hold it again, so this is the last use
            // by the owner.
            unsafe { Store::leave(store) };
        }
    }
}

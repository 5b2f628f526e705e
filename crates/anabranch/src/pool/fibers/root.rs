//! The scope of a fiber that no parent waits for: whoever closes the pool cancels it.
//!
//! | word    | meaning                               | left by                             |
//! |---------|---------------------------------------|-------------------------------------|
//! | null    | no such fiber runs on this block      | `set` -> the scope                  |
//! | a scope | one does                              | `clear` -> null, `cancel` -> BUSY   |
//! | BUSY    | the scope is being cancelled          | `cancel` -> the scope               |
//!
//! A fiber does not clear what is busy, so a scope that can be found is alive. None is passed over: who closes writes a flag
//! and then looks here, and a fiber writes its scope here and then looks at the flag, with a full fence between the two on both
//! sides (see `Registry::close`).
//!
//! Orderings: `set` releases the scope, `cancel` acquires it and releases it again, and `clear` acquires that.

use crate::{
    sys::sync::{AtomicPtr, Ordering, const_unless_loom, spin_while},
    wait::cancel::CancelScope,
};
use std::ptr;

const BUSY: *mut CancelScope = ptr::without_provenance_mut(1);

/// See the [module](self).
pub(crate) struct Root(AtomicPtr<CancelScope>);

impl Root {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicPtr::new(ptr::null_mut()))
        }
    }

    /// For the fiber: `scope` stays until it is cleared.
    pub(crate) fn set(&self, scope: &CancelScope) {
        self.0.store(ptr::from_ref(scope).cast_mut(), Ordering::Release);
    }

    /// For the fiber: the scope that was set may end afterwards.
    pub(crate) fn clear(&self, scope: &CancelScope) {
        let own = ptr::from_ref(scope).cast_mut();
        let clear = || self.0.compare_exchange(own, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed);
        // Failing, somebody cancels it just now.
        spin_while(|| clear().is_err());
    }

    /// Cancels the scope, if there is one. From any thread.
    pub(crate) fn cancel(&self) {
        let root = self.0.load(Ordering::Relaxed);
        if !root.is_null()
            && root != BUSY
            && self.0.compare_exchange(root, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            // SAFETY: the fiber does not clear what is busy, and the scope stays until it is cleared.
            unsafe { (*root).cancel() };
            self.0.store(root, Ordering::Release);
        }
    }
}

//! The values that the models send.

use loom::cell::UnsafeCell;

/// A value that loom tracks. loom reports an unordered access, and a value that is not dropped.
pub(super) struct Parcel(loom::sync::Arc<UnsafeCell<u32>>);

// SAFETY: loom reports a hand-over to another thread that is not ordered.
unsafe impl Send for Parcel {}
// SAFETY: loom reports accesses by two threads that are not ordered.
unsafe impl Sync for Parcel {}

impl Parcel {
    pub(super) fn new(value: u32) -> Self {
        let parcel = Self(loom::sync::Arc::new(UnsafeCell::new(0)));
        // SAFETY: the parcel is new, so no other thread has it.
        parcel.0.with_mut(|place| unsafe { *place = value });
        parcel
    }

    pub(super) fn open(self) -> u32 {
        // SAFETY: `self` is the only handle of the parcel; loom reports other accesses that are unordered.
        self.0.with(|place| unsafe { *place })
    }

    /// Returns the value to one of many readers.
    pub(super) fn look(&self) -> u32 {
        // SAFETY: the value is written in `new` only; loom reports unordered accesses.
        self.0.with(|place| unsafe { *place })
    }
}

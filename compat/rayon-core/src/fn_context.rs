//! What the closures of `join_context` are told.

use std::marker::PhantomData;

/// Tells a closure of [`join_context`](crate::join_context) how it was called.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Neither `Send` nor `Sync`, as in rayon.
    _marker: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    pub(crate) fn new(migrated: bool) -> Self {
        Self { migrated, _marker: PhantomData }
    }

    /// Returns `true` if another thread runs the closure than the one that called
    /// [`join_context`](crate::join_context), or if that call came from outside of any pool.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

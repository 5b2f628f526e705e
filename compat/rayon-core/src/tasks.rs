//! An Anabranch scope without the lifetime of the call that waits for it.
//!
//! In rayon, `Scope<'scope>` has one lifetime, that of what its jobs borrow. `anabranch::Scope<'s, 'scope>` has a
//! second, that of the scope itself, so that the compiler can check its use. This module erases it. The callers of its
//! unsafe functions, `scope` and `scope_fifo`, are the only other places with `unsafe` code.

use anabranch::pool::PoolId;
use std::{marker::PhantomData, ptr::NonNull};

/// A reference to a scope, for as long as its body or one of its tasks runs.
pub(crate) struct Tasks<'scope> {
    scope: NonNull<anabranch::Scope<'static, 'static>>,
    /// The pool that runs the tasks.
    pub(crate) pool: PoolId,
    /// Invariant, as the scope is: neither a shorter nor a longer lifetime may take its place.
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

// SAFETY: this stands for a shared reference, and `anabranch::Scope` is `Sync`, which `is_sync` checks.
unsafe impl Send for Tasks<'_> {}
// SAFETY: the same.
unsafe impl Sync for Tasks<'_> {}

const fn is_sync<T: Sync>() {}
const _: () = is_sync::<anabranch::Scope<'static, 'static>>();

impl<'scope> Tasks<'scope> {
    /// # Safety
    /// The result, and its copies, are used only before the call that made the scope returns: in its body, and in tasks
    /// of the scope.
    pub(crate) unsafe fn new<'s>(scope: &'s anabranch::Scope<'s, 'scope>, pool: PoolId) -> Self {
        Self { scope: NonNull::from(scope).cast(), pool, marker: PhantomData }
    }

    /// # Safety
    /// As for [`new`](Self::new).
    pub(crate) unsafe fn copy(&self) -> Self {
        Self { scope: self.scope, pool: self.pool, marker: PhantomData }
    }

    /// Spawns a task into the scope.
    pub(crate) fn spawn(&self, task: impl FnOnce() + Send + 'scope) {
        self.scope().spawn(task);
    }

    /// Spawns a task on each of the pool's own threads.
    pub(crate) fn spawn_broadcast(&self, task: impl Fn(usize) + Send + Sync + 'scope) {
        self.scope().spawn_broadcast(task);
    }

    /// A task lives for `'scope`, which is longer than `'s`. The scope waits for it in any case.
    fn scope<'s>(&'s self) -> &'s anabranch::Scope<'s, 'scope> {
        // SAFETY: `new` and `copy` promise that the scope has not ended, so it is alive and can take tasks. Only its
        // lifetimes change, to ones in which it is alive: `'s` lies within the use of `self`.
        unsafe { self.scope.cast().as_ref() }
    }
}

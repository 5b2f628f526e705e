//! The scope of a fiber that no parent waits for: the thread that closes the pool cancels it.
//!
//! Pools close once, and fibers end all the time. So a fiber only stores its scope, and clears it when it ends. Both
//! sides have a fence, of a kind that costs the frequent side nothing (see `sys::asymmetric_fence`):
//!
//! | a fiber begins     | a fiber ends                                    | the pool closes                         |
//! |--------------------|-------------------------------------------------|-----------------------------------------|
//! | writes its scope   | writes that there is none                       | writes `has_begun`                      |
//! | fence              | fence                                           | fence                                   |
//! | reads `has_begun`: if so it cancels its scope itself | reads `has_begun`: if so it waits for `has_looked` | cancels the scopes that are written down, then writes `has_looked` |
//!
//! No fiber is missed: either the fiber reads that closing has begun, or the closing thread finds its scope. And a
//! scope that the closing thread finds is alive: either it finds none, or the fiber waits until `has_looked` is set.
//!
//! Orderings: `set` releases the scope and the closing thread acquires it. `has_looked` releases what that thread did
//! with the scope, and the fiber acquires that before it ends the scope.

use crate::{
    sys::{
        asymmetric_fence::Fence,
        sync::{AtomicBool, AtomicPtr, Ordering, const_unless_loom, spin_while},
    },
    wait::cancel::CancelScope,
};
use std::ptr;

/// See the [module](self).
pub(crate) struct Root(AtomicPtr<CancelScope>);

/// The end of a pool, as its fibers see it.
pub(crate) struct Closing {
    has_begun: AtomicBool,
    has_looked: AtomicBool,
    has_ended: AtomicBool,
    fence: Fence,
}

impl Root {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicPtr::new(ptr::null_mut()))
        }
    }

    /// Stores the scope, for the fiber. `scope` must stay alive until `clear`.
    #[inline]
    pub(crate) fn set(&self, scope: &CancelScope, closing: &Closing) {
        self.0.store(ptr::from_ref(scope).cast_mut(), Ordering::Release);
        closing.fence.frequent();
        if closing.has_begun() {
            scope.cancel();
        }
    }

    /// Clears the scope, for the fiber. The scope may end afterwards.
    #[inline]
    pub(crate) fn clear(&self, closing: &Closing) {
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
        closing.fence.frequent();
        if closing.has_begun() {
            spin_while(|| !closing.has_looked.load(Ordering::Acquire));
        }
    }

    /// Cancels the scope, if there is one.
    ///
    /// # Safety
    /// Called within [`Closing::close`], for a fiber of this pool.
    pub(crate) unsafe fn cancel(&self) {
        // SAFETY: the fiber waits in `clear` until `Closing::close`, which calls this, has set `has_looked`. It keeps
        // the scope alive until then.
        if let Some(scope) = unsafe { self.0.load(Ordering::Acquire).as_ref() } {
            scope.cancel();
        }
    }
}

impl Closing {
    pub(crate) fn new(fence: Fence) -> Self {
        Self {
            has_begun: AtomicBool::new(false),
            has_looked: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            fence,
        }
    }

    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Closes the pool, once: `look` calls [`Root::cancel`] for every fiber.
    pub(crate) fn close(&self, look: impl FnOnce()) {
        self.has_begun.store(true, Ordering::Release);
        self.fence.rare();
        look();
        self.has_looked.store(true, Ordering::Release);
    }

    /// Records that all threads of the pool have ended, so that nothing runs what is enqueued from now on.
    #[cfg(not(loom))]
    pub(crate) fn note_end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }
}

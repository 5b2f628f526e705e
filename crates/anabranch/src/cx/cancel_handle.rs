//! Handles that cancel.

use crate::{
    cx::Cx,
    sys::sync::{AtomicBool, Mutex, Ordering, lock},
    wait::cancel::CancelScope,
};
use std::{fmt, sync::Arc};

/// Cancels a scope, from any thread. Made by [`Cx::cancellable`] and
/// [`JoinHandle::cancel_handle`](crate::JoinHandle::cancel_handle).
///
/// It may outlive the scope; it then does nothing.
#[derive(Clone)]
#[doc(alias = "Canceller")]
#[doc(alias = "CancellationToken")]
#[doc(alias = "AbortHandle")]
pub struct CancelHandle(Arc<dyn Cancel>);

/// The target of a [`CancelHandle`].
pub(super) trait Cancel: Send + Sync {
    fn cancel(&self);

    fn is_cancelled(&self) -> bool;
}

impl CancelHandle {
    pub(super) fn new(target: impl Cancel + 'static) -> Self {
        Self(Arc::new(target))
    }

    /// Cancels the scope: all current and future waits in it return [`Cancelled`](crate::Cancelled). Does not wait for
    /// their end. Linear in the number of scopes below that have waited.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns whether the scope has been cancelled, in any way, even if it has ended. Ignores deadlines.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelHandle").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// A pointer to a scope, for as long as the scope lives.
struct Target {
    scope: Mutex<*const CancelScope>,
    /// Whether the scope was cancelled when it ended; guarded by the lock.
    was_cancelled: AtomicBool,
}

// SAFETY: a scope may be shared, and `Forget` clears the pointer, under the lock, before the scope ends.
unsafe impl Send for Target {}
// SAFETY: a scope may be shared, and `Forget` clears the pointer, under the lock, before the scope ends.
unsafe impl Sync for Target {}

impl Cancel for Arc<Target> {
    fn cancel(&self) {
        // The lock keeps the scope from ending meanwhile.
        let scope = lock(&self.scope);
        // SAFETY: the lock is held, and `Forget` takes it to clear the pointer before the scope ends.
        if let Some(scope) = unsafe { scope.as_ref() } {
            scope.cancel();
        }
    }

    fn is_cancelled(&self) -> bool {
        let scope = lock(&self.scope);
        // SAFETY: the lock is held, and `Forget` takes it to clear the pointer before the scope ends.
        unsafe { scope.as_ref() }.map_or_else(|| self.was_cancelled.load(Ordering::Relaxed), CancelScope::is_cancelled)
    }
}

/// Clears the target's pointer when the body returns or unwinds.
struct Forget<'a>(&'a Target);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let mut scope = lock(&self.0.scope);
        // SAFETY: the scope is alive until this has cleared the pointer.
        let was_cancelled = unsafe { (**scope).is_cancelled() };
        self.0.was_cancelled.store(was_cancelled, Ordering::Relaxed);
        *scope = std::ptr::null();
    }
}

impl Cx<'_> {
    /// Runs `body` in a new scope, which the [`CancelHandle`] cancels.
    ///
    /// ```
    /// use anabranch::Cancelled;
    /// use std::{thread, time::Duration};
    ///
    /// let slept = anabranch::run(|cx| {
    ///     cx.cancellable(|cx, handle| {
    ///         thread::spawn(move || handle.cancel());
    ///         cx.sleep(Duration::from_secs(3600))
    ///     })
    /// });
    /// assert_eq!(slept, Err(Cancelled));
    /// ```
    pub fn cancellable<R>(&self, body: impl FnOnce(&Cx<'_>, CancelHandle) -> R) -> R {
        // SAFETY: this scope and the waiter of this `Cx` outlive the call, and the new scope does not move.
        let scope = unsafe { CancelScope::below(self.scope, self.waiter_address(), false) };
        let target = Arc::new(Target { scope: Mutex::new(&raw const scope), was_cancelled: AtomicBool::new(false) });
        let _forget = Forget(&target);
        let handle = CancelHandle::new(Arc::clone(&target));
        body(&self.within(&scope, self.deadline, self.locals), handle)
    }

    /// Names the fiber, for [`Pool::fibers`](crate::Pool::fibers) and for the message about a stack that overflows. Has
    /// no effect on a plain thread.
    ///
    /// ```
    /// anabranch::spawn(|cx| cx.set_name("acceptor"));
    /// ```
    #[track_caller]
    pub fn set_name(&self, name: &str) {
        self.check_stack();
        self.owner.set_name(Arc::from(name));
    }
}

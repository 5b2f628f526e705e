//! Handles that cancel.

use crate::{
    cx::Cx,
    sys::sync::{Mutex, lock},
    wait::cancel::CancelScope,
};
use std::{fmt, ptr, sync::Arc};

/// Cancels a scope, from any thread. Created by [`Cx::cancellable`],
/// [`JoinHandle::cancel_handle`](crate::JoinHandle::cancel_handle) and
/// [`JoinSet::spawn`](crate::fiber::JoinSet::spawn).
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

    pub(super) fn of(target: Arc<Target>) -> Self {
        Self(target)
    }

    /// Cancels the scope: all current and future waits in it return [`Cancelled`](crate::Cancelled). Does not wait for
    /// their end. Takes time linear in the number of nested scopes that have waited.
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

/// A scope that may begin later, and that handles cancel for as long as it lives.
pub(super) struct Target(Mutex<Aim>);

struct Aim {
    /// Null before the scope begins, and after its end.
    scope: *const CancelScope,
    /// Whether the scope was cancelled before it began, or had been when it ended.
    is_cancelled: bool,
    has_ended: bool,
}

// SAFETY: a scope may be shared, and `Forget` clears the pointer, under the lock, before the scope ends.
unsafe impl Send for Aim {}

impl Target {
    /// Creates a target for a scope that begins later.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Aim { scope: ptr::null(), is_cancelled: false, has_ended: false })))
    }

    /// Runs `body` in a new scope below that of the `Cx`, which is the target until `body` returns or unwinds. Called
    /// once.
    pub(super) fn run<R>(&self, cx: &Cx<'_>, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        // SAFETY: the scope and the waiter of the `Cx` outlive the call, and the new scope does not move.
        let scope = unsafe { CancelScope::below(cx.scope, cx.waiter_address(), false) };
        {
            let mut aim = lock(&self.0);
            aim.scope = &raw const scope;
            if aim.is_cancelled {
                scope.cancel();
            }
        }
        let _forget = Forget(self);
        body(&cx.within(&scope, cx.deadline, cx.locals))
    }
}

impl Cancel for Target {
    fn cancel(&self) {
        // The lock keeps the scope from ending meanwhile.
        let mut aim = lock(&self.0);
        // SAFETY: the lock is held, and `Forget` takes it to clear the pointer before the scope ends.
        match unsafe { aim.scope.as_ref() } {
            Some(scope) => scope.cancel(),
            None if aim.has_ended => {}
            None => aim.is_cancelled = true,
        }
    }

    fn is_cancelled(&self) -> bool {
        let aim = lock(&self.0);
        // SAFETY: the lock is held, and `Forget` takes it to clear the pointer before the scope ends.
        unsafe { aim.scope.as_ref() }.map_or(aim.is_cancelled, CancelScope::is_cancelled)
    }
}

/// Clears the target's pointer when the body returns or unwinds.
struct Forget<'a>(&'a Target);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let mut aim = lock(&self.0.0);
        // SAFETY: the scope is alive until this has cleared the pointer.
        aim.is_cancelled = unsafe { (*aim.scope).is_cancelled() };
        aim.scope = ptr::null();
        aim.has_ended = true;
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
        let target = Target::new();
        let handle = CancelHandle::of(Arc::clone(&target));
        target.run(self, |cx| body(cx, handle))
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

//! Handles that cancel.

use crate::{
    sys::sync::{Mutex, lock},
    wait::{Cx, cancel::CancelScope},
};
use std::{fmt, sync::Arc};

/// Cancels a scope, from anywhere. Made by [`Cx::cancellable`] and [`JoinHandle::canceller`](crate::JoinHandle::canceller).
///
/// It can be kept for longer than the scope; then it does nothing.
#[derive(Clone)]
pub struct Canceller(Arc<dyn Fn() + Send + Sync>);

impl Canceller {
    pub(super) fn new(cancel: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(cancel))
    }

    /// Cancels the scope: all waits in it return [`Cancelled`](crate::Cancelled), those that go on and those to come. Nobody is
    /// waited for. Linear in the number of scopes below that have waited.
    pub fn cancel(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}

/// A scope for as long as it is there.
struct Target(Mutex<*const CancelScope>);

// SAFETY: a scope is made for sharing, and is not touched after its end: see `Forget`.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    fn cancel(&self) {
        // The lock keeps the scope from ending meanwhile.
        let scope = lock(&self.0);
        // SAFETY: `Forget` clears it before the scope ends.
        if let Some(scope) = unsafe { scope.as_ref() } {
            scope.cancel();
        }
    }
}

/// Makes the target forget its scope, however the body ends.
struct Forget<'a>(&'a Target);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) = std::ptr::null();
    }
}

impl Cx<'_> {
    /// Runs `body` in a scope of its own, which the [`Canceller`] cancels.
    ///
    /// ```
    /// use anabranch::Cancelled;
    /// use std::{thread, time::Duration};
    ///
    /// let slept = anabranch::run(|cx| {
    ///     cx.cancellable(|cx, canceller| {
    ///         thread::spawn(move || canceller.cancel());
    ///         cx.sleep(Duration::from_secs(3600))
    ///     })
    /// });
    /// assert_eq!(slept, Err(Cancelled));
    /// ```
    pub fn cancellable<R>(&self, body: impl FnOnce(&Cx<'_>, Canceller) -> R) -> R {
        // SAFETY: this scope and the strand outlive the call, and the new scope stays where it is.
        let scope = unsafe { CancelScope::below(self.scope, self.strand.waiter(), false) };
        let target = Arc::new(Target(Mutex::new(&raw const scope)));
        let _forget = Forget(&target);
        let canceller = Canceller::new({
            let target = Arc::clone(&target);
            move || target.cancel()
        });
        body(&Cx::new(self.strand, &scope, self.deadline, self.locals), canceller)
    }

    /// Names the fiber, for [`Pool::fibers`](crate::Pool::fibers) and for the message about a stack that overflows. Without
    /// effect on a plain thread.
    ///
    /// ```
    /// anabranch::spawn(|cx| cx.set_name("acceptor"));
    /// ```
    pub fn set_name(&self, name: &str) {
        self.strand.set_name(Arc::from(name));
    }
}

//! Waiting from async code: the same places, behind a future.
//!
//! The waiter of a future is on the heap, kept by the future and by whoever is just waking it. A future that is dropped ends
//! its wait from within; if a place was faster, what it handed over is given to `Handed`, which passes it on.

use crate::{
    sys::{
        sync::{Arc, Mutex, lock},
        unwind::catch_unwind,
    },
    wait::{
        place::Place,
        slot::{Slot, SlotWait},
        waiter::{Kind, Outcome, Waiter},
    },
};
use std::{
    marker::PhantomPinned,
    mem,
    ops::Deref,
    panic::AssertUnwindSafe,
    pin::Pin,
    ptr,
    task::{Context, Poll, Waker},
};

#[repr(C)]
struct AsyncWaiter {
    /// First, so that its address is the address of the whole.
    waiter: Waiter,
    waker: Mutex<Option<Waker>>,
}

static KIND: Kind = Kind::in_arc::<AsyncWaiter>(wake);

/// # Safety
/// The waiter was retained.
unsafe fn wake(waiter: *const Waiter) {
    // SAFETY: the waiter of this kind is the first field of an `AsyncWaiter` in an `Arc`, by `AsyncWait::new`.
    let shared = unsafe { Arc::from_raw(waiter.cast::<AsyncWaiter>()) };
    let waker = lock(&shared.waker).take();
    drop(shared);
    if let Some(waker) = waker {
        contain(|| waker.wake());
    }
}

/// Runs a stranger's code for somebody who is not to be unwound by it: a worker between two pieces of work, or one with others
/// still to wake. The panic has been reported by its hook; its payload may panic when it is dropped.
fn contain(code: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
        mem::forget(catch_unwind(AssertUnwindSafe(|| drop(panic))));
    }
}

impl AsyncWaiter {
    /// What a waker does when it is cloned or dropped is not to be done under the lock.
    fn set_waker(&self, waker: &Waker) {
        // Between the two looks it can only be taken, by one who wakes: then this is not the last poll.
        let is_kept = lock(&self.waker).as_ref().is_some_and(|kept| kept.will_wake(waker));
        if !is_kept {
            let new = waker.clone();
            let old = lock(&self.waker).replace(new);
            drop(old);
        }
    }
}

/// A place that may hand something over when it decides, which must not be lost.
pub(crate) trait Handed: Place {
    /// The place has decided this wait, and nobody will take what it handed over: passes it on.
    fn pass_on(&self);
}

/// An event hands nothing over.
impl<S: Deref<Target = Slot>> Handed for SlotWait<S> {
    fn pass_on(&self) {}
}

/// A wait at one place, for the futures of this crate to poll.
pub(crate) struct AsyncWait<P: Handed> {
    shared: Arc<AsyncWaiter>,
    place: P,
    is_registered: bool,
    _pinned: PhantomPinned,
}

impl<P: Handed> AsyncWait<P> {
    pub(crate) fn new(place: P) -> Self {
        let shared = Arc::new(AsyncWaiter { waiter: Waiter::new(&KIND), waker: Mutex::new(None) });
        Self { shared, place, is_registered: false, _pinned: PhantomPinned }
    }

    pub(crate) fn place(&self) -> &P {
        &self.place
    }

    /// Waits. After `Ready` the caller tries again, unless the place has handed it what it wanted.
    pub(crate) fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        let waiter = &this.shared.waiter;
        this.shared.set_waker(context.waker());
        if !this.is_registered {
            waiter.arm(ptr::null());
            // SAFETY: armed; the place is pinned with the future, whose end unregisters it.
            if !unsafe { this.place.register(waiter, 0) } {
                // Nobody else knows of this wait.
                let is_over = waiter.disarm();
                debug_assert!(is_over);
                return Poll::Ready(());
            }
            this.is_registered = true;
        }
        if waiter.outcome().is_none() {
            // Whoever decides from here on finds the waker.
            return Poll::Pending;
        }
        this.is_registered = false;
        // SAFETY: registered, and decided by the one place there is.
        unsafe { this.place.unregister(true) };
        Poll::Ready(())
    }
}

impl<P: Handed> Drop for AsyncWait<P> {
    fn drop(&mut self) {
        if !self.is_registered {
            return;
        }
        let was_first = self.shared.waiter.decide_for_itself(Outcome::Cancelled);
        // SAFETY: registered, and the wait has ended.
        unsafe { self.place.unregister(!was_first) };
        if !was_first {
            self.place.pass_on();
        }
    }
}

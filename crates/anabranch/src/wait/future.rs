//! Waiting from async code: the same places, behind a future.
//!
//! The waiter of a future is on the heap, kept by the future and by whoever is just waking it. A future that is dropped ends
//! its wait from within; if a place was faster, what it handed over is given to `Handed`, which passes it on.

use crate::{
    sys::sync::{Mutex, lock},
    wait::{
        place::Place,
        slot::{Slot, SlotWait},
        waiter::{Kind, Outcome, Waiter},
    },
};
use std::{
    marker::PhantomPinned,
    ops::Deref,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

#[repr(C)]
struct AsyncWaiter {
    /// First, so that its address is the address of the whole.
    waiter: Waiter,
    waker: Mutex<Option<Waker>>,
}

static KIND: Kind = Kind {
    // SAFETY (all three): the waiter of this kind is the first field of an `AsyncWaiter` in an `Arc`, by `AsyncWait::new`;
    // whoever calls has the right to, by the contract of `Kind`.
    retain: |waiter| unsafe { Arc::increment_strong_count(waiter.cast::<AsyncWaiter>()) },
    wake: |waiter| {
        // SAFETY: as above.
        let shared = unsafe { Arc::from_raw(waiter.cast::<AsyncWaiter>()) };
        let waker = lock(&shared.waker).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    },
    release: |waiter| unsafe { drop(Arc::from_raw(waiter.cast::<AsyncWaiter>())) },
};

impl AsyncWaiter {
    fn set_waker(&self, waker: &Waker) {
        let mut kept = lock(&self.waker);
        if !kept.as_ref().is_some_and(|kept| kept.will_wake(waker)) {
            let old = kept.replace(waker.clone());
            // What a waker does when it is dropped is not to be done under the lock.
            drop(kept);
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
            waiter.arm(0);
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

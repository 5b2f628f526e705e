//! Waiting from async code: the same places, behind a future.
//!
//! The waiter of a future is on the heap, kept by the future and by whoever is just waking it. A future that is dropped
//! ends its wait from within; if a place was faster, what it handed over is the place's to pass on, which ends then.

use crate::{
    sys::{
        sync::{Arc, Mutex, lock},
        unwind::catch_unwind,
    },
    wait::{
        current_stack::apart,
        waitable::Place,
        waiter::{Kind, Outcome, Waiter},
    },
};
use std::{
    cell::Cell,
    marker::PhantomPinned,
    mem,
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

static KIND: Kind = Kind::in_arc::<AsyncWaiter>(wake, 0, false);

/// # Safety
/// The waiter was retained.
unsafe fn wake(waiter: *const Waiter) {
    // SAFETY: the waiter of this kind is the first field of an `AsyncWaiter` in an `Arc`, by `AsyncTurn::poll`.
    let shared = unsafe { Arc::from_raw(waiter.cast::<AsyncWaiter>()) };
    let waker = lock(&shared.waker).take();
    // The future may be gone, and have been polled with another waker just before: that is dropped here.
    contain(|| drop(shared));
    if let Some(waker) = waker {
        contain(|| waker.wake());
    }
}

/// Runs a stranger's code for somebody who is not to be unwound by it: a worker between two pieces of work, or one with
/// others still to wake. The panic has been reported by its hook; its payload may panic when it is dropped. Nor may it
/// wait: whoever runs it may be in the middle of a wait of its own.
fn contain(code: impl FnOnce()) {
    apart(|| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
            mem::forget(catch_unwind(AssertUnwindSafe(|| drop(panic))));
        }
    });
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

/// How many futures in a row may be ready at once before their task lets others run.
const BUDGET: u32 = 128;

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(BUDGET) };
}

/// The checkpoint of async code: now and then a future that could be ready at once lets the other tasks of its thread
/// run first. Otherwise a loop over a channel that is always full would starve them.
pub(crate) fn poll_pause(context: &mut Context<'_>) -> Poll<()> {
    // What other tasks have used of it would be known to the checkers of schedules, from one execution to the next.
    if cfg!(any(loom, shuttle)) {
        return Poll::Ready(());
    }
    match LEFT.get().checked_sub(1) {
        Some(left) => {
            LEFT.set(left);
            Poll::Ready(())
        }
        None => {
            LEFT.set(BUDGET);
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

/// Waits from async code, one after the other, each at any number of places at once. The places are the owner's.
///
/// The waiter is made when first there is something to wait for.
pub(crate) struct AsyncTurn {
    shared: Option<Arc<AsyncWaiter>>,
    /// How many of the places have the address. Zero: there is no wait.
    registered: usize,
}

impl AsyncTurn {
    pub(crate) const fn new() -> Self {
        Self { shared: None, registered: 0 }
    }

    /// Whether a wait goes on, or has ended and nobody has looked.
    pub(crate) fn is_waiting(&self) -> bool {
        self.registered > 0
    }

    /// Waits at `count` places until the first decides: `Ready` with its number, to be attempted first. Without any
    /// place it waits for ever.
    ///
    /// # Safety
    /// From `Pending` on until `Ready`, or until `leave`, the places stay where they are, and are those of the next
    /// call.
    pub(crate) unsafe fn poll<'p, P: Place + ?Sized + 'p>(
        &mut self,
        count: usize,
        place: impl Fn(usize) -> &'p P,
        context: &mut Context<'_>,
    ) -> Poll<usize> {
        let new = || Arc::new(AsyncWaiter { waiter: Waiter::new(&KIND), waker: Mutex::new(None) });
        let shared = self.shared.get_or_insert_with(new);
        shared.set_waker(context.waker());
        let waiter = &shared.waiter;
        if self.registered == 0 {
            if count == 0 {
                return Poll::Pending;
            }
            waiter.arm(ptr::null());
            // Of the whole, not of its first field: whoever wakes it has to find the rest.
            let address = Arc::as_ptr(shared).cast();
            for index in 0..count {
                // SAFETY: armed; unregistered when the wait has ended, by the caller's word.
                if !unsafe { place(index).register(address, index as u32) } {
                    // What has been decided meanwhile comes before: it may have been handed over.
                    let decided = if waiter.disarm() { None } else { decided(waiter) };
                    // SAFETY: those that have the address, which stay where they are for as long as this takes.
                    unsafe { self.unregister(place, decided) };
                    return Poll::Ready(decided.unwrap_or(index));
                }
                self.registered += 1;
            }
        }
        let Some(index) = decided(waiter) else {
            // Whoever decides from here on finds the waker.
            LEFT.set(BUDGET);
            return Poll::Pending;
        };
        // SAFETY: as above.
        unsafe { self.unregister(place, Some(index)) };
        Poll::Ready(index)
    }

    /// Ends the wait, if there is one. The place that was faster, if one was: what it handed over is to be passed on.
    ///
    /// # Safety
    /// The places are those of the last `poll`.
    pub(crate) unsafe fn leave<'p, P: Place + ?Sized + 'p>(&mut self, place: impl Fn(usize) -> &'p P) -> Option<usize> {
        if self.registered == 0 {
            return None;
        }
        let waiter = &self.shared.as_ref().expect("whoever waits has a waiter").waiter;
        let decided = if waiter.decide_for_itself(Outcome::Cancelled) { None } else { decided(waiter) };
        // SAFETY: the caller's word, and the wait has ended.
        unsafe { self.unregister(place, decided) };
        decided
    }

    /// # Safety
    /// The wait has ended, and these are its places.
    unsafe fn unregister<'p, P: Place + ?Sized + 'p>(
        &mut self,
        place: impl Fn(usize) -> &'p P,
        decided: Option<usize>,
    ) {
        for index in (0..mem::take(&mut self.registered)).rev() {
            // SAFETY: registered, and the wait has ended.
            unsafe { place(index).unregister(decided == Some(index)) };
        }
    }
}

/// Which place has ended the wait.
fn decided(waiter: &Waiter) -> Option<usize> {
    match waiter.outcome()? {
        Outcome::Ready(index) => Some(index as usize),
        Outcome::Cancelled | Outcome::TimedOut => unreachable!("a future that goes on is ended by its places alone"),
    }
}

/// A wait at one place, for the futures of this crate to poll.
pub(crate) struct AsyncWait<P: Place> {
    turn: AsyncTurn,
    place: P,
    _pinned: PhantomPinned,
}

impl<P: Place> AsyncWait<P> {
    pub(crate) fn new(place: P) -> Self {
        Self { turn: AsyncTurn::new(), place, _pinned: PhantomPinned }
    }

    pub(crate) fn place(&self) -> &P {
        &self.place
    }

    /// Waits. After `Ready` the caller tries again, unless the place has handed it what it wanted.
    pub(crate) fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        let place = &this.place;
        // SAFETY: the place is pinned with the future, whose end leaves.
        unsafe { this.turn.poll(1, |_| place, context) }.map(|_| ())
    }
}

impl<P: Place> Drop for AsyncWait<P> {
    fn drop(&mut self) {
        let place = &self.place;
        // SAFETY: that of `poll`.
        unsafe { self.turn.leave(|_| place) };
    }
}

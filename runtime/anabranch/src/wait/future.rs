//! Waiting from async code: the same waitables, behind a future.
//!
//! The waiter of a future is on the heap. The future and each thread that is waking it keep it alive. A future that is
//! dropped ends its wait from within. If a waitable was faster, the waitable passes on what it handed over when it is
//! dropped.

use crate::{
    sys::{
        sync::{Arc, Mutex, lock},
        unwind::catch_unwind,
    },
    wait::{
        current_stack::apart,
        waitable::{Armed, Ended, Waitable},
        waiter::{Kind, Selected, Waiter},
    },
};
use std::{
    cell::Cell,
    future::poll_fn,
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
/// The waiter was retained for this call.
unsafe fn wake(waiter: *const Waiter) {
    // SAFETY: only `AsyncTurn::poll` makes waiters of this kind, each the first field of an `AsyncWaiter` in an `Arc`.
    // The caller has retained it.
    let shared = unsafe { Arc::from_raw(waiter.cast::<AsyncWaiter>()) };
    let waker = lock(&shared.waker).take();
    // The future may be gone, and may have stored another waker since: that is dropped here.
    contain(|| drop(shared));
    if let Some(waker) = waker {
        contain(|| waker.wake());
    }
}

/// Runs foreign code, and catches its panics: the calling worker may be between two jobs, or may have other waiters to
/// wake. The panic hook has reported the panic; the payload may panic when it is dropped. The code must not wait, since
/// the caller may be in the middle of a wait of its own.
pub(crate) fn contain(code: impl FnOnce()) {
    apart(|| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
            mem::forget(catch_unwind(AssertUnwindSafe(|| drop(panic))));
        }
    });
}

impl AsyncWaiter {
    /// Stores the waker of the task. Clones and drops wakers outside of the lock, as these run foreign code.
    fn set_waker(&self, waker: &Waker) {
        // Between the two locks the waker can only be taken, by a thread that wakes: then this is not the last poll.
        let is_kept = lock(&self.waker).as_ref().is_some_and(|kept| kept.will_wake(waker));
        if !is_kept {
            let new = waker.clone();
            let old = lock(&self.waker).replace(new);
            drop(old);
        }
    }
}

/// How many operations a task completes in one poll before it lets others run.
const BUDGET: u32 = 128;

/// The budget of the task that this thread polls. As in tokio, every operation in async code counts against it, whether
/// the operation waits or not. Otherwise a loop over a free lock would starve the other tasks of its thread.
#[derive(Clone, Copy)]
struct Budget {
    /// How many operations may still complete.
    left: u32,
    /// How many polls were refused since the budget was used up.
    refused: u32,
    /// Whether [`poll_task`] runs. It fills the budget at each poll of a task, so until then the budget stays used up.
    /// Polls by another executor are not known, so there the budget is full again after one refusal.
    is_in_task: bool,
}

impl Budget {
    const fn full(is_in_task: bool) -> Self {
        Self { left: BUDGET, refused: 0, is_in_task }
    }

    /// Returns whether an operation may be polled. If not, its task lets others run first.
    ///
    /// The number of refusals is limited, because another fiber may poll with this thread's budget while a task waits
    /// in the middle of its poll.
    fn admits(&mut self) -> bool {
        if self.left > 0 {
            return true;
        }
        self.refused += 1;
        if !self.is_in_task || self.refused == BUDGET {
            *self = Self::full(self.is_in_task);
        }
        false
    }

    /// Records the outcome of an operation that was polled.
    fn record(&mut self, is_ready: bool) {
        if is_ready {
            self.left = self.left.saturating_sub(1);
        } else if !self.is_in_task {
            // Most likely the task waits for this.
            *self = Self::full(false);
        }
    }
}

thread_local! {
    static PRESENT: Cell<Budget> = const { Cell::new(Budget::full(false)) };
}

/// Polls a task, with a full budget.
pub(crate) fn poll_task<F: Future>(task: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
    /// Also if the task panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            PRESENT.set(Budget::full(false));
        }
    }
    PRESENT.set(Budget::full(true));
    let _end = End;
    task.poll(context)
}

/// Polls an operation with `poll`, and counts it against the budget of the task once it is ready. If the budget is used
/// up, returns `Pending` without a poll, and wakes the task.
pub(crate) fn poll_counted<R>(context: &mut Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> Poll<R>) -> Poll<R> {
    // Under the model checkers the budget would carry over from one execution to the next.
    if cfg!(any(loom, shuttle)) {
        return poll(context);
    }
    let mut budget = PRESENT.get();
    let is_admitted = budget.admits();
    PRESENT.set(budget);
    if !is_admitted {
        context.waker().wake_by_ref();
        return Poll::Pending;
    }
    let polled = poll(context);
    // The poll may have run other fibers of this thread.
    let mut budget = PRESENT.get();
    budget.record(polled.is_ready());
    PRESENT.set(budget);
    polled
}

/// Counts an operation that is ready at once.
pub(crate) async fn count_ready() {
    poll_fn(|context| poll_counted(context, |_| Poll::Ready(()))).await;
}

/// A sequence of waits from async code, each for any number of waitables at once. The owner keeps the waitables.
///
/// The waiter is allocated by the first `poll`.
pub(crate) struct AsyncTurn {
    shared: Option<Arc<AsyncWaiter>>,
    /// How many of the waitables have the address. Zero if there is no wait.
    registered: usize,
}

impl AsyncTurn {
    pub(crate) const fn new() -> Self {
        Self { shared: None, registered: 0 }
    }

    /// Returns whether a wait continues, or has ended without a `poll` since.
    pub(crate) fn is_waiting(&self) -> bool {
        self.registered > 0
    }

    /// Waits for `count` waitables until the first ends the wait. Returns `Ready` with its index, which the caller
    /// attempts first. With a `count` of zero it waits for ever.
    ///
    /// # Safety
    /// From `Pending` on until `Ready`, or until `leave`, the waitables stay where they are, and the next call passes
    /// the same ones.
    pub(crate) unsafe fn poll<'p, P: Waitable + ?Sized + 'p>(
        &mut self,
        count: usize,
        waitable: impl Fn(usize) -> &'p P,
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
            // Derived from a pointer to the whole and not to its first field, since `wake` accesses the rest by it.
            let address = Arc::as_ptr(shared).cast();
            for index in 0..count {
                // SAFETY: the waiter is armed, and the caller keeps the waitables in place until the wait has ended and
                // `unregister` has run.
                if !waitable(index).register(unsafe { Armed::new(address, index as u32) }) {
                    // A waitable that ended the wait meanwhile takes precedence: something may have been handed over.
                    let selected = if waiter.disarm() { None } else { selected(waiter) };
                    // SAFETY: the wait has ended. `registered` counts the waitables that have the address, and the
                    // caller keeps them in place.
                    unsafe { self.unregister(waitable, selected) };
                    return Poll::Ready(selected.unwrap_or(index));
                }
                self.registered += 1;
            }
        }
        let Some(index) = selected(waiter) else {
            // A thread that ends the wait from here on finds the waker.
            return Poll::Pending;
        };
        // SAFETY: the wait has ended. The caller has kept the waitables in place since they were registered.
        unsafe { self.unregister(waitable, Some(index)) };
        Poll::Ready(index)
    }

    /// Ends the wait, if there is one. Returns the index of the waitable that had ended it before, if one had: what
    /// that handed over is to be passed on.
    ///
    /// # Safety
    /// The waitables are those of the last `poll`.
    pub(crate) unsafe fn leave<'p, P: Waitable + ?Sized + 'p>(
        &mut self,
        waitable: impl Fn(usize) -> &'p P,
    ) -> Option<usize> {
        if self.registered == 0 {
            return None;
        }
        let waiter = &self.shared.as_ref().expect("whoever waits has a waiter").waiter;
        let selected = if waiter.select_itself(Selected::Cancelled) { None } else { selected(waiter) };
        // SAFETY: the wait has ended, and the caller passes the waitables of the last `poll`.
        unsafe { self.unregister(waitable, selected) };
        selected
    }

    /// # Safety
    /// The wait has ended, and these are its waitables.
    unsafe fn unregister<'p, P: Waitable + ?Sized + 'p>(
        &mut self,
        waitable: impl Fn(usize) -> &'p P,
        selected: Option<usize>,
    ) {
        for index in (0..mem::take(&mut self.registered)).rev() {
            // SAFETY: the waitables below `registered` have the address, and the wait has ended.
            waitable(index).unregister(unsafe { Ended::new(selected == Some(index)) });
        }
    }
}

/// Returns the index of the waitable that has ended the wait.
fn selected(waiter: &Waiter) -> Option<usize> {
    match waiter.selected()? {
        Selected::Ready(index) => Some(index as usize),
        Selected::Cancelled | Selected::TimedOut => unreachable!("only waitables end the wait of a future"),
    }
}

/// A wait for one waitable, for the futures of this crate to poll.
pub(crate) struct AsyncWait<P: Waitable> {
    turn: AsyncTurn,
    waitable: P,
    _pinned: PhantomPinned,
}

impl<P: Waitable> AsyncWait<P> {
    pub(crate) fn new(waitable: P) -> Self {
        Self { turn: AsyncTurn::new(), waitable, _pinned: PhantomPinned }
    }

    pub(crate) fn waitable(&self) -> &P {
        &self.waitable
    }

    /// Returns whether a wait continues, or has ended without a `poll` since.
    pub(crate) fn is_waiting(&self) -> bool {
        self.turn.is_waiting()
    }

    /// Waits. After `Ready` the caller attempts again, unless the waitable has handed it what it wanted.
    pub(crate) fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out of `this`.
        let this = unsafe { self.get_unchecked_mut() };
        let waitable = &this.waitable;
        // SAFETY: the waitable is pinned with this future, whose `Drop` calls `leave`.
        unsafe { this.turn.poll(1, |_| waitable, context) }.map(|_| ())
    }
}

impl<P: Waitable> Drop for AsyncWait<P> {
    fn drop(&mut self) {
        let waitable = &self.waitable;
        // SAFETY: this is the waitable that `poll` passes.
        unsafe { self.turn.leave(|_| waitable) };
    }
}

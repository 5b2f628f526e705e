//! Condition variables: waiting for a change of what a mutex guards.
//!
//! A wait joins the queue and then unlocks the mutex. So whoever changes the value with the lock held, and notifies
//! then or later, finds it in the queue. `has_waiters` is a copy of "the queue is not empty", written under the lock of
//! the queue and read without it, so that it costs next to nothing to notify nobody. It is written while the mutex is
//! locked, by who begins to wait; who has locked the mutex after that therefore sees it, and who has locked it before
//! has changed the value before the waiter looked. Nothing else is asked of its ordering.
//!
//! With a `Cx` the lock is taken again whatever is cancelled, so that the guard is always one. An async wait takes the
//! guard, and gives it back when it has it again: a future that is dropped meanwhile has none to give back. If it had
//! been notified it notifies another one.

use super::{
    limit::Limit,
    mutex::{Mutex, MutexGuard},
    rounds::{Rounds, wake_round},
};
use crate::{
    cx::{
        attempt::{Attempt, wait_async_for},
        cx::{Cx, happened},
    },
    sys::{
        sync::{AtomicBool, Mutex as StdMutex, Ordering, const_unless_loom, lock},
        unwind::{catch_unwind, resume_unwind},
    },
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        queue::{Entry, Wakes},
        suspend::WaitReason,
        waitable::Place,
        waiter::Waiter,
    },
};
use std::{
    any::Any,
    cell::Cell,
    fmt, mem,
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

/// Waits until what a [`Mutex`] guards has changed.
///
/// As with all condition variables a wait may end without a notification: look at the value, and wait again. The
/// [`wait_while`](Self::wait_while) family does so. [`Monitor`](super::Monitor) is a value that notifies by itself.
///
/// ```
/// use anabranch::sync::{Condvar, Mutex};
///
/// let (queue, filled) = (Mutex::new(Vec::new()), Condvar::new());
/// anabranch::run(|cx| {
///     let (got, ()) = cx.join(
///         |cx| {
///             let mut queue = queue.lock(cx)?;
///             filled.wait_while(cx, &mut queue, |queue| queue.is_empty())?;
///             Ok::<_, anabranch::Cancelled>(queue.pop())
///         },
///         |cx| {
///             queue.lock(cx).unwrap().push("letter");
///             filled.notify_one();
///         },
///     );
///     assert_eq!(got, Ok(Some("letter")));
/// });
/// ```
pub struct Condvar {
    has_waiters: AtomicBool,
    queue: StdMutex<Rounds>,
}

impl Condvar {
    const_unless_loom! {
        /// One that nobody waits for.
        pub fn new() -> Self {
            Self { has_waiters: AtomicBool::new(false), queue: StdMutex::new(Rounds::new()) }
        }
    }

    /// Wakes one of those who wait, the one that has waited for longest. Without effect where nobody does.
    pub fn notify_one(&self) {
        if !self.has_waiters.load(Ordering::Relaxed) {
            return;
        }
        let wake = {
            let mut rounds = lock(&self.queue);
            let wake = rounds.decide_first();
            self.show(&rounds);
            wake
        };
        if let Some(wake) = wake {
            wake.wake();
        }
    }

    /// Wakes all who wait at this time.
    pub fn notify_all(&self) {
        if !self.has_waiters.load(Ordering::Relaxed) {
            return;
        }
        let mut wakes = Wakes::new();
        let decide_some = |rounds: &mut Rounds, round, wakes: &mut Wakes| {
            rounds.decide_some(round, wakes);
            self.show(rounds);
        };
        let round = {
            let mut rounds = lock(&self.queue);
            let round = rounds.end();
            decide_some(&mut rounds, round, &mut wakes);
            round
        };
        wake_round(wakes, &self.queue, |rounds, wakes| decide_some(rounds, round, wakes));
    }

    fn show(&self, rounds: &Rounds) {
        self.has_waiters.store(!rounds.is_empty(), Ordering::Relaxed);
    }

    /// Unlocks the mutex, waits to be notified, and locks it again.
    ///
    /// # Errors
    /// When the scope was cancelled. The mutex is locked then as well, and was waited for if need be.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, cx: &Cx<'_>, guard: &mut MutexGuard<'_, T>) -> Result<(), Cancelled> {
        cx.checkpoint()?;
        self.wait_to(cx, guard, NEVER, WaitReason::new(&"Condvar::wait")).map_err(|_| Cancelled)
    }

    /// As [`wait`](Self::wait), but no longer than until then.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up. The mutex is locked then as well.
    #[track_caller]
    pub fn wait_deadline<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        instant: Instant,
    ) -> Result<(), WaitError> {
        cx.checkpoint()?;
        self.wait_to(cx, guard, Limit::Until(instant).tick(cx), WaitReason::new(&"Condvar::wait"))
    }

    /// As [`wait`](Self::wait), but no longer than this.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up. The mutex is locked then as well.
    #[track_caller]
    pub fn wait_timeout<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> Result<(), WaitError> {
        cx.checkpoint()?;
        self.wait_to(cx, guard, Limit::For(timeout).tick(cx), WaitReason::new(&"Condvar::wait"))
    }

    /// Waits for as long as `condition` holds. It is looked at first, and then after each notification.
    ///
    /// # Errors
    /// When the scope was cancelled. The mutex is locked then as well.
    #[track_caller]
    pub fn wait_while<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> Result<(), Cancelled> {
        cx.checkpoint()?;
        self.wait_while_to(cx, guard, condition, NEVER, WaitReason::new(&"Condvar::wait")).map_err(|_| Cancelled)
    }

    /// As [`wait_while`](Self::wait_while), but no longer than until then.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up. The mutex is locked then as well.
    #[track_caller]
    pub fn wait_while_deadline<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
        instant: Instant,
    ) -> Result<(), WaitError> {
        cx.checkpoint()?;
        self.wait_while_to(cx, guard, condition, Limit::Until(instant).tick(cx), WaitReason::new(&"Condvar::wait"))
    }

    /// As [`wait_while`](Self::wait_while), but no longer than this, all in all.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up. The mutex is locked then as well.
    ///
    /// ```
    /// use anabranch::{WaitError, sync::{Condvar, Mutex}};
    /// use std::time::Duration;
    ///
    /// let (count, changed) = (Mutex::new(0), Condvar::new());
    /// anabranch::run(|cx| {
    ///     let mut count = count.lock(cx).unwrap();
    ///     let late = changed.wait_while_timeout(cx, &mut count, |count| *count == 0, Duration::from_millis(1));
    ///     assert_eq!((late, *count), (Err(WaitError::TimedOut), 0));
    /// });
    /// ```
    #[track_caller]
    pub fn wait_while_timeout<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
        timeout: Duration,
    ) -> Result<(), WaitError> {
        cx.checkpoint()?;
        self.wait_while_to(cx, guard, condition, Limit::For(timeout).tick(cx), WaitReason::new(&"Condvar::wait"))
    }

    pub(super) fn wait_while_to<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        deadline: u64,
        reason: WaitReason,
    ) -> Result<(), WaitError> {
        while condition(guard) {
            self.wait_to(cx, guard, deadline, reason)?;
        }
        Ok(())
    }

    fn wait_to<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        deadline: u64,
        reason: WaitReason,
    ) -> Result<(), WaitError> {
        // SAFETY: it is dropped by the wait, and then `Relock` gets the lock again before the caller's guard is used;
        // or else `Relock` forgets it.
        let place = CondvarWait::new(self, unsafe { MutexGuard::twin(guard) });
        let relock = Relock { place: &place, mutex: MutexGuard::mutex(guard), cx, reason };
        let outcome = cx.wait(&place, deadline, reason);
        drop(relock);
        place.attempt();
        happened(outcome)
    }

    /// As [`wait`](Self::wait), for async code. The future may be dropped at any time; the mutex is unlocked then.
    ///
    /// ```
    /// use anabranch::sync::{Condvar, Mutex};
    ///
    /// async fn pop(queue: &Mutex<Vec<u32>>, filled: &Condvar) -> u32 {
    ///     let mut guard = queue.lock_async().await;
    ///     loop {
    ///         match guard.pop() {
    ///             Some(item) => return item,
    ///             None => guard = filled.wait_async(guard).await,
    ///         }
    ///     }
    /// }
    /// # let (queue, filled) = (Mutex::new(vec![]), Condvar::new());
    /// # anabranch::run(|cx| {
    /// #     cx.join(
    /// #         |cx| assert_eq!(cx.block_on(pop(&queue, &filled)), Ok(1)),
    /// #         |cx| { queue.lock(cx).unwrap().push(1); filled.notify_one(); },
    /// #     );
    /// # });
    /// ```
    pub async fn wait_async<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = MutexGuard::mutex(&guard);
        wait_async_for(CondvarWait::new(self, guard)).await;
        let notified = Notified(self);
        let guard = mutex.lock_async().await;
        mem::forget(notified);
        guard
    }

    /// As [`wait_while`](Self::wait_while), for async code. The future may be dropped at any time.
    pub async fn wait_while_async<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self.wait_async(guard).await;
        }
        guard
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

/// A notification that was received, and is another's if it is dropped.
struct Notified<'a>(&'a Condvar);

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// One strand's wait.
struct CondvarWait<'a, 'm, T: ?Sized> {
    condvar: &'a Condvar,
    /// Until the wait has begun. Dropping it unlocks.
    guard: Cell<Option<MutexGuard<'m, T>>>,
    entry: Entry<u64>,
    notified: Cell<Option<Notified<'a>>>,
    /// That of a foreign waker, which was called to hand on the mutex when it could not be let through.
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

impl<'a, 'm, T: ?Sized> CondvarWait<'a, 'm, T> {
    fn new(condvar: &'a Condvar, guard: MutexGuard<'m, T>) -> Self {
        Self {
            condvar,
            guard: Cell::new(Some(guard)),
            entry: Entry::new(0),
            notified: Cell::new(None),
            panic: Cell::new(None),
        }
    }
}

impl<T: ?Sized> Attempt for CondvarWait<'_, '_, T> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        self.notified.take().map(mem::forget)
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by a notification, under the lock of the queue.
unsafe impl<T: ?Sized> Place for CondvarWait<'_, '_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        {
            let mut rounds = lock(&self.condvar.queue);
            // SAFETY: the entry is this strand's, and not in the queue, by the contract of `Place`. It stays where it
            // is, and the waiter armed, until `unregister`.
            unsafe { rounds.join(&self.entry, waiter, ticket) };
            self.condvar.show(&rounds);
        }
        // From here on the entry is in the queue, and an unwinding would end it there.
        let guard = AssertUnwindSafe(self.guard.take());
        self.panic.set(catch_unwind(|| drop({ guard }.0)).err());
        true
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            self.notified.set(Some(Notified(self.condvar)));
            return;
        }
        let mut rounds = lock(&self.condvar.queue);
        // SAFETY: joined this queue in `register`.
        if unsafe { rounds.leave(&self.entry) } {
            self.condvar.show(&rounds);
        }
    }
}

/// Sees to it that the caller's guard is one again, however the wait ends.
struct Relock<'a, 'b, 'c, 'm, T: ?Sized> {
    place: &'a CondvarWait<'c, 'm, T>,
    mutex: &'m Mutex<T>,
    cx: &'a Cx<'b>,
    reason: WaitReason,
}

impl<T: ?Sized> Drop for Relock<'_, '_, '_, '_, T> {
    fn drop(&mut self) {
        match self.place.guard.take() {
            // The wait did not begin, and the mutex is locked: this guard is the caller's twin.
            Some(guard) => mem::forget(guard),
            None => self.mutex.lock_again(self.cx, self.reason),
        }
    }
}

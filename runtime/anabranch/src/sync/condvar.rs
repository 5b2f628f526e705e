//! Condition variables: waiting for a change of the value that a mutex guards.
//!
//! A wait joins the queue and then unlocks the mutex. So a thread that changes the value with the lock held, and
//! notifies during or after that, finds the waiter in the queue. `has_waiters` is a copy of "the queue is not empty".
//! It is written under the lock of the queue and read without it, so a notification without waiters costs almost
//! nothing. A waiter writes it while it holds the mutex. A thread that locks the mutex later therefore sees the write;
//! a thread that locked it earlier changed the value before the waiter looked. No other ordering is needed.
//!
//! With a `Cx` the mutex is locked again even after a cancellation, so the guard stays valid. An async wait takes the
//! guard and returns it once the mutex is locked again. A future that is dropped meanwhile has no guard to return. If
//! it was notified, it notifies another waiter.

use super::{
    mutex::{Mutex, MutexGuard},
    rounds::{Rounds, wake_round},
};
use crate::{
    cx::{attempt::Attempt, cx::Cx, operation::OperationFuture, wait::happened},
    sys::{
        sync::{AtomicBool, Mutex as StdMutex, Ordering, const_unless_loom, lock},
        unwind::{catch_unwind, resume_unwind},
    },
    time::NEVER,
    wait::{
        Cancelled,
        future::count_ready,
        queue::{Entry, Wakes},
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{any::Any, cell::Cell, fmt, mem, panic::AssertUnwindSafe};

/// Waits until the value that a [`Mutex`] guards has changed.
///
/// As with all condition variables, a wait may end without a notification: check the value and wait again. The
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
        /// Creates a condition variable without waiters.
        pub fn new() -> Self {
            Self { has_waiters: AtomicBool::new(false), queue: StdMutex::new(Rounds::new()) }
        }
    }

    /// Wakes the waiter that has waited longest. Has no effect if there is no waiter.
    pub fn notify_one(&self) {
        if !self.has_waiters.load(Ordering::Relaxed) {
            return;
        }
        let wake = {
            let mut rounds = lock(&self.queue);
            let wake = rounds.select_first();
            self.show(&rounds);
            wake
        };
        if let Some(wake) = wake {
            wake.wake();
        }
    }

    /// Wakes all present waiters.
    pub fn notify_all(&self) {
        if !self.has_waiters.load(Ordering::Relaxed) {
            return;
        }
        let mut wakes = Wakes::new();
        let select_some = |rounds: &mut Rounds, round, wakes: &mut Wakes| {
            rounds.select_some(round, wakes);
            self.show(rounds);
        };
        let round = {
            let mut rounds = lock(&self.queue);
            let round = rounds.end();
            select_some(&mut rounds, round, &mut wakes);
            round
        };
        wake_round(wakes, &self.queue, |rounds, wakes| select_some(rounds, round, wakes));
    }

    fn show(&self, rounds: &Rounds) {
        self.has_waiters.store(!rounds.is_empty(), Ordering::Relaxed);
    }

    /// Unlocks the mutex, waits to be notified, and locks it again.
    ///
    /// [`Cx::timeout`](crate::Cx::timeout) limits the time.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled. The mutex is locked again in that case too, even if locking has to
    /// wait.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, cx: &Cx<'_>, guard: &mut MutexGuard<'_, T>) -> Result<(), Cancelled> {
        cx.checkpoint()?;
        self.wait_for(cx, guard, WaitReason::new(&"Condvar::wait"))
    }

    /// Waits while `condition` holds. Checks it first, and again after each notification.
    ///
    /// [`Cx::timeout`](crate::Cx::timeout) limits the time.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled. The mutex is locked then as well.
    ///
    /// ```
    /// use anabranch::{WaitError, sync::{Condvar, Mutex}};
    /// use std::time::Duration;
    ///
    /// let (count, changed) = (Mutex::new(0), Condvar::new());
    /// anabranch::run(|cx| {
    ///     let mut count = count.lock(cx).unwrap();
    ///     let late = cx.timeout(Duration::from_millis(1), |cx| {
    ///         changed.wait_while(cx, &mut count, |count| *count == 0)?;
    ///         Ok::<_, WaitError>(())
    ///     });
    ///     assert_eq!((late, *count), (Err(WaitError::TimedOut), 0));
    /// });
    /// ```
    #[track_caller]
    pub fn wait_while<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> Result<(), Cancelled> {
        cx.checkpoint()?;
        self.wait_while_for(cx, guard, condition, WaitReason::new(&"Condvar::wait"))
    }

    pub(super) fn wait_while_for<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        reason: WaitReason,
    ) -> Result<(), Cancelled> {
        while condition(guard) {
            self.wait_for(cx, guard, reason)?;
        }
        Ok(())
    }

    fn wait_for<T: ?Sized>(
        &self,
        cx: &Cx<'_>,
        guard: &mut MutexGuard<'_, T>,
        reason: WaitReason,
    ) -> Result<(), Cancelled> {
        // SAFETY: the wait drops this twin, which unlocks, and then `Relock` locks again before the caller uses its
        // guard. If the wait did not begin, `Relock` forgets the twin.
        let waitable = CondvarWait::new(self, unsafe { MutexGuard::twin(guard) });
        let relock = Relock { waitable: &waitable, mutex: MutexGuard::mutex(guard), cx, reason };
        let outcome = cx.wait(&waitable, NEVER, reason);
        drop(relock);
        waitable.attempt();
        happened(outcome).map_err(|_| Cancelled)
    }

    /// Like [`wait`](Self::wait), for async code. The future may be dropped at any time; the mutex is then unlocked.
    ///
    /// ```
    /// use anabranch::sync::{Condvar, Mutex};
    ///
    /// async fn pop(queue: &Mutex<Vec<u32>>, filled: &Condvar) -> u32 {
    ///     let mut guard = queue.locking().await;
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
        OperationFuture::new(CondvarWait::new(self, guard)).await;
        let notified = Notified(self);
        let guard = mutex.locking().await;
        mem::forget(notified);
        guard
    }

    /// Like [`wait_while`](Self::wait_while), for async code. The future may be dropped at any time.
    pub async fn wait_while_async<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        count_ready().await;
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

/// A received notification. Dropping it passes it to another waiter.
struct Notified<'a>(&'a Condvar);

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// The wait of one fiber or thread.
struct CondvarWait<'a, 'm, T: ?Sized> {
    condvar: &'a Condvar,
    /// `None` once the wait has begun. Dropping the guard unlocks the mutex.
    guard: Cell<Option<MutexGuard<'m, T>>>,
    entry: Entry<u64>,
    notified: Cell<Option<Notified<'a>>>,
    /// The panic of a foreign waker that was called while unlocking, kept until it can unwind.
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
unsafe impl<T: ?Sized> Waitable for CondvarWait<'_, '_, T> {
    fn register(&self, armed: Armed) -> bool {
        {
            let mut rounds = lock(&self.condvar.queue);
            rounds.join(&self.entry, armed);
            self.condvar.show(&rounds);
        }
        // From here on the entry is in the queue, so a panic must not unwind past it.
        let guard = AssertUnwindSafe(self.guard.take());
        self.panic.set(catch_unwind(|| drop({ guard }.0)).err());
        true
    }

    fn unregister(&self, ended: Ended) {
        if ended.is_selected() {
            self.notified.set(Some(Notified(self.condvar)));
            return;
        }
        let mut rounds = lock(&self.condvar.queue);
        if rounds.leave(&self.entry, ended) {
            self.condvar.show(&rounds);
        }
    }
}

/// Makes the caller's guard valid again, however the wait ends.
struct Relock<'a, 'b, 'c, 'm, T: ?Sized> {
    waitable: &'a CondvarWait<'c, 'm, T>,
    mutex: &'m Mutex<T>,
    cx: &'a Cx<'b>,
    reason: WaitReason,
}

impl<T: ?Sized> Drop for Relock<'_, '_, '_, '_, T> {
    fn drop(&mut self) {
        match self.waitable.guard.take() {
            // The wait did not begin and the mutex is still locked: this guard is the twin of the caller's.
            Some(guard) => mem::forget(guard),
            None => self.mutex.lock_again(self.cx, self.reason),
        }
    }
}

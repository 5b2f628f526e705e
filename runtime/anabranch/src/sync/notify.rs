//! A wake-up for one waiter, which is kept if there is no waiter, or for all waiters.
//!
//! One lock guards the queue, the number of the present round, and the kept wake-up. A wake-up for one waiter that ends
//! a wait without being received (its future was dropped) is passed on to the next waiter, or kept. A wake-up for all
//! ends with its waiter: the other waiters got one, too. A waiter joins the present round, and `notify_waiters` ends
//! the waits of that round and of earlier ones, so the lock may be released between two batches.
//!
//! A wait remembers the round in which it was created, and completes as soon as that round ends. So a wait that has not
//! joined the queue yet counts as well. The number of the round is read without the lock. Reading acquires, and the end
//! of a round releases. So a thread that finds a later round also sees everything that happened before the call that
//! ended the earlier one.

use crate::{
    cx::{
        Cx,
        attempt::{Attempt, wait_without_deadline},
    },
    sys::sync::{AtomicU64, Mutex, Ordering, const_unless_loom, lock},
    wait::{
        Cancelled,
        queue::{Entry, Queue, Wakes},
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{cell::Cell, fmt};

/// A wake-up. [`notify_one`](Self::notify_one) wakes one waiter, or the next waiter to arrive.
///
/// It signals that something may have changed, but not what, so a waiter has to check for itself. For an event that
/// stays, use [`Event`](super::Event); for wake-ups that add up, a [`Semaphore`](super::Semaphore).
///
/// ```
/// use anabranch::sync::{Mutex, Notify};
/// use std::collections::VecDeque;
///
/// let (queue, filled) = (Mutex::new(VecDeque::new()), Notify::new());
/// anabranch::run(|cx| {
///     let take = |cx: &anabranch::Cx<'_>| loop {
///         if let Some(value) = queue.lock(cx)?.pop_front() {
///             return Ok::<u32, anabranch::Cancelled>(value);
///         }
///         filled.notified(cx)?;
///     };
///     let (taken, ()) = cx.join(take, |cx| {
///         queue.lock(cx).unwrap().push_back(1);
///         filled.notify_one();
///     });
///     assert_eq!(taken, Ok(1));
/// });
/// ```
pub struct Notify {
    /// The number of the present round. Changed under the lock.
    round: AtomicU64,
    state: Mutex<State>,
}

struct State {
    queue: Queue<Turn>,
    /// Whether a wake-up is kept for the next waiter.
    is_kept: bool,
}

/// A waiter in the queue.
struct Turn {
    round: u64,
    /// Whether the wake-up that ended the wait was for this waiter alone.
    is_alone: bool,
}

impl Notify {
    const_unless_loom! {
        /// Creates a `Notify` without a kept wake-up.
        pub fn new() -> Self {
            Self { round: AtomicU64::new(0), state: Mutex::new(State { queue: Queue::new(), is_kept: false }) }
        }
    }

    /// Wakes the waiter that has waited longest. If there is none, keeps the wake-up for the next waiter. At most one
    /// is kept.
    ///
    /// ```
    /// let notify = anabranch::sync::Notify::new();
    /// notify.notify_one();
    /// notify.notify_one();
    /// assert!(notify.try_notified() && !notify.try_notified());
    /// ```
    pub fn notify_one(&self) {
        let mut state = lock(&self.state);
        let wake = state.queue.select_first(|turn| turn.is_alone = true);
        state.is_kept |= wake.is_none();
        drop(state);
        if let Some(wake) = wake {
            wake.wake();
        }
    }

    /// Wakes all waiters. Keeps nothing for later waiters.
    ///
    /// A wait counts as a waiter from its creation, as in tokio: the operation [`notifying`](Self::notifying) is woken
    /// even if nothing waits for it yet. So create the operation first, then check the condition, and then wait.
    ///
    /// ```
    /// use anabranch::{Operation, sync::Notify};
    ///
    /// let notify = Notify::new();
    /// anabranch::run(|cx| {
    ///     let mut changed = notify.notifying();
    ///     notify.notify_waiters();
    ///     changed.wait(cx).unwrap();
    /// });
    /// ```
    pub fn notify_waiters(&self) {
        let ended = {
            let _state = lock(&self.state);
            self.round.fetch_add(1, Ordering::Release)
        };
        loop {
            let mut wakes = Wakes::new();
            let mut state = lock(&self.state);
            while !wakes.is_full() && state.queue.first().is_some_and(|turn| turn.round <= ended) {
                wakes.push(state.queue.select_head(|turn| turn.is_alone = false));
            }
            drop(state);
            let is_full = wakes.is_full();
            wakes.wake_all();
            if !is_full {
                return;
            }
        }
    }

    /// Waits for a wake-up. Returns at once if one is kept. [`notifying`](Self::notifying) has all other forms of this
    /// wait.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    #[track_caller]
    pub fn notified(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        cx.checkpoint()?;
        wait_without_deadline(cx, &self.notifying(), WaitReason::new(&"Notify::notified"))
    }

    /// Takes the kept wake-up. Returns whether there was one.
    pub fn try_notified(&self) -> bool {
        std::mem::take(&mut lock(&self.state).is_kept)
    }

    /// Returns [`notified`](Self::notified) as an [operation](crate::Operation): for a time limit, for async code, for
    /// threads without a [`Cx`], and for [`select!`](crate::select).
    ///
    /// It completes on each [`notify_waiters`](Self::notify_waiters) since its creation, or since it completed last,
    /// and on [`notify_one`](Self::notify_one) while it waits. If it is dropped, it passes on the wake-up that it was
    /// just given.
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, sync::Notify};
    /// use std::time::Duration;
    ///
    /// async fn changes(notify: &Notify, count: u32) {
    ///     for _ in 0..count {
    ///         notify.notifying().await;
    ///     }
    /// }
    ///
    /// let notify = Notify::new();
    /// anabranch::run(|cx| {
    ///     let late = notify.notifying().timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(late, Err(WaitError::TimedOut));
    ///     notify.notify_one();
    ///     cx.block_on(changes(&notify, 1)).unwrap();
    /// });
    /// ```
    pub fn notifying(&self) -> Notifying<'_> {
        Notifying {
            notify: self,
            since: Cell::new(self.round()),
            entry: Entry::new(Turn { round: 0, is_alone: false }),
            woken: Cell::new(Woken::Not),
        }
    }

    fn round(&self) -> u64 {
        self.round.load(Ordering::Acquire)
    }
}

/// Waiting for a [`Notify`], as an operation. Created by [`Notify::notifying`].
pub struct Notifying<'a> {
    notify: &'a Notify,
    /// The round in which the wait was created, or completed last.
    since: Cell<u64>,
    entry: Entry<Turn>,
    woken: Cell<Woken>,
}

/// How the last wait ended, if no attempt has followed.
#[derive(Clone, Copy)]
enum Woken {
    Not,
    Alone,
    WithAll,
}

impl Attempt for Notifying<'_> {
    type Output = ();

    const NAME: &'static &'static str = &"Notify::notified";

    fn attempt(&self) -> Option<()> {
        let round = self.notify.round();
        let is_over = match self.woken.replace(Woken::Not) {
            Woken::Not => round != self.since.get() || self.notify.try_notified(),
            Woken::Alone | Woken::WithAll => true,
        };
        is_over.then(|| self.since.set(round))
    }

    fn pass_on(&self) {
        if let Woken::Alone = self.woken.replace(Woken::Not) {
            self.notify.notify_one();
        }
    }
}

crate::cx::operation::into_future!(Notifying<'_>;);

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock.
unsafe impl Waitable for Notifying<'_> {
    fn register(&self, mut armed: Armed) -> bool {
        let mut state = lock(&self.notify.state);
        let round = self.since.get();
        if state.is_kept || round != self.notify.round() {
            return false;
        }
        self.entry.with_armed(&mut armed, |turn| turn.round = round);
        state.queue.push_back(&self.entry, armed);
        true
    }

    fn unregister(&self, mut ended: Ended) {
        if ended.is_selected() {
            let is_alone = self.entry.with_selected(&mut ended, |turn| turn.is_alone);
            self.woken.set(if is_alone { Woken::Alone } else { Woken::WithAll });
        } else {
            lock(&self.notify.state).queue.remove(&self.entry, ended);
        }
    }
}

impl Drop for Notifying<'_> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

impl fmt::Debug for Notifying<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifying").finish_non_exhaustive()
    }
}

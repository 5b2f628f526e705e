//! An event that any number of fibers and threads can wait for.
//!
//! | bit     | meaning                | set by                                             | cleared by                             |
//! |---------|------------------------|----------------------------------------------------|----------------------------------------|
//! | SET     | the event has happened | `set`; while there are waiters, under the lock     | `reset`                                |
//! | WAITERS | the queue is not empty | a waiter that joins, unless SET, under the lock    | emptying the queue, under the lock     |
//!
//! `set` ends the waits of exactly the waiters in the queue. It ends the present round, and a waiter that comes after a
//! `reset` belongs to a later round. The queue is in the order of rounds, so the lock may be released between two
//! batches of wake-ups.
//!
//! Orderings: `set` releases the word, even if the event was set before. A thread that finds SET acquires it. A woken
//! thread acquires the word of its own waiter.

use super::rounds::{Rounds, wake_round};
use crate::{
    cx::{
        Cx,
        attempt::{Attempt, wait_without_deadline},
    },
    sys::sync::{AtomicU8, Mutex, Ordering, const_unless_loom, lock},
    wait::{
        Cancelled,
        queue::{Entry, Wakes},
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{cell::Cell, fmt};

const SET: u8 = 1;
const WAITERS: u8 = 2;

/// An event that any number of fibers and threads can wait for. It can be reset and set again.
///
/// ```
/// use anabranch::sync::Event;
///
/// let ready = Event::new();
/// anabranch::run(|cx| {
///     cx.scope(|s| {
///         for _ in 0..3 {
///             s.spawn(|cx| ready.wait(cx));
///         }
///         ready.set();
///     });
///     assert!(ready.is_set());
/// });
/// ```
pub struct Event {
    word: AtomicU8,
    queue: Mutex<Rounds>,
}

impl Event {
    const_unless_loom! {
        /// Creates an event that is not set.
        pub fn new() -> Self {
            Self { word: AtomicU8::new(0), queue: Mutex::new(Rounds::new()) }
        }
    }

    /// Returns whether the event is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.word.load(Ordering::Acquire) & SET != 0
    }

    /// Sets the event: wakes all waiters, and later waits return at once. Takes time linear in the number of waiters.
    pub fn set(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        // An event that is already set is written all the same, so a thread that finds it set sees what came before
        // this call.
        while word & WAITERS == 0 {
            match self.word.compare_exchange_weak(word, word | SET, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
        let mut wakes = Wakes::new();
        let round = {
            let mut rounds = lock(&self.queue);
            self.word.fetch_or(SET, Ordering::Release);
            let round = rounds.end();
            self.select_some(&mut rounds, round, &mut wakes);
            round
        };
        wake_round(wakes, &self.queue, |rounds, wakes| self.select_some(rounds, round, wakes));
    }

    fn select_some(&self, rounds: &mut Rounds, round: u64, wakes: &mut Wakes) {
        rounds.select_some(round, wakes);
        if rounds.is_empty() {
            self.word.fetch_and(!WAITERS, Ordering::Relaxed);
        }
    }

    /// Resets the event. Waiters that were already woken continue.
    ///
    /// ```
    /// let event = anabranch::sync::Event::new();
    /// event.set();
    /// event.reset();
    /// assert!(!event.is_set());
    /// ```
    pub fn reset(&self) {
        self.word.fetch_and(!SET, Ordering::Acquire);
    }

    /// Blocks until the event is set. [`waiting`](Self::waiting) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled, even if the event is set.
    #[inline]
    #[track_caller]
    pub fn wait(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        cx.checkpoint()?;
        if self.is_set() {
            return Ok(());
        }
        wait_without_deadline(cx, &EventWait::new(self), WaitReason::new(&"Event::wait"))
    }
}

impl Default for Event {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("is_set", &self.is_set()).finish()
    }
}

/// The wait of one fiber or thread for an event.
pub(super) struct EventWait<'a> {
    event: &'a Event,
    entry: Entry<u64>,
    was_woken: Cell<bool>,
}

impl<'a> EventWait<'a> {
    pub(super) fn new(event: &'a Event) -> Self {
        Self { event, entry: Entry::new(0), was_woken: Cell::new(false) }
    }
}

impl Attempt for EventWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        (self.was_woken.take() || self.event.is_set()).then_some(())
    }

    /// The wake-up is forgotten: the event may be reset before the next wait.
    fn pass_on(&self) {
        self.was_woken.set(false);
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `Rounds::select_some`, under the lock of the queue.
unsafe impl Waitable for EventWait<'_> {
    fn register(&self, armed: Armed) -> bool {
        let mut rounds = lock(&self.event.queue);
        // WAITERS may be set in vain by a waiter that finds SET. It is then cleared at once.
        if self.event.word.fetch_or(WAITERS, Ordering::Relaxed) & SET != 0 {
            if rounds.is_empty() {
                self.event.word.fetch_and(!WAITERS, Ordering::Relaxed);
            }
            return false;
        }
        rounds.join(&self.entry, armed);
        true
    }

    fn unregister(&self, ended: Ended) {
        if ended.is_selected() {
            self.was_woken.set(true);
            return;
        }
        let mut rounds = lock(&self.event.queue);
        if rounds.leave(&self.entry, ended) && rounds.is_empty() {
            self.event.word.fetch_and(!WAITERS, Ordering::Relaxed);
        }
    }
}

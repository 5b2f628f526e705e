//! The lock in a [`Mutex`](super::Mutex), without what it guards.
//!
//! The idea. One word, of which the uncontended lock and unlock are one CAS each. Whoever finds it locked leaves an entry in a
//! queue, which has a small lock of its own, and waits. As in parking_lot (A. d'Antras) and in Go's `sync.Mutex`, an unlock
//! does not hand the lock over: it wakes the first in the queue, who has to compete with those who are running already. That
//! is what makes a contended lock fast, since whoever runs goes on running. While one is on its way nobody else is woken,
//! so the others lock and unlock without the queue. It would starve who waits, if it went on for ever: who was woken and
//! came too late is the first in the queue again, and if it has been coming too late for longer than `PATIENCE` the next
//! unlock does hand over, and the lock stays locked meanwhile.
//!
//! | bit     | meaning                                                            | set by              | cleared by               |
//! |---------|--------------------------------------------------------------------|---------------------|--------------------------|
//! | LOCKED  | somebody has the lock                                              | lock                | unlock, unless it hands over |
//! | WAITERS | the queue is not empty                                             | who joins the queue | who empties it           |
//! | WOKEN   | one was taken off the queue and woken, and has neither locked nor joined again | unlock  | that one, when it does   |
//!
//! WAITERS changes under the lock of the queue alone. So does WOKEN, but that the woken one clears it when it locks, for which
//! LOCKED has to be clear. Therefore who has the lock of the queue and finds, or owns, a LOCKED with WAITERS and without WOKEN
//! may simply store the next word: nobody can change it.
//!
//! Why nobody is forgotten: an unlock that finds WAITERS wakes somebody, or finds WOKEN. Whoever has WOKEN either locks, and is
//! the next to unlock; or joins the queue again, and clears WOKEN only together with finding LOCKED, so whoever has
//! that lock will find WAITERS without WOKEN; or gives up, and then passes WOKEN on to the next in the queue.
//!
//! Orderings: unlocking releases and locking acquires the word, or, where the lock is handed over, the waiter's own word. All
//! other changes are read-modify-writes, or stores by who has the lock, so they do not come between the two.

use crate::{
    sys::{
        clock::Instant,
        sync::{AtomicU8, Mutex, Ordering, const_unless_loom, hint, lock},
    },
    wait::{
        attempt::Attempt,
        place::Place,
        queue::{Entry, Queue},
        waiter::{Waiter, Wake},
    },
};
use std::{cell::Cell, time::Duration};

const LOCKED: u8 = 1;
const WAITERS: u8 = 2;
const WOKEN: u8 = 4;

/// For how long a waiter may be overtaken.
const PATIENCE: Duration = Duration::from_millis(1);

/// How many times who finds the lock locked looks again before it waits, after pauses that double.
const LOOKS: u32 = if cfg!(loom) { 0 } else { 4 };

/// See the [module](self).
pub(crate) struct RawMutex {
    word: AtomicU8,
    queue: Mutex<Queue<Turn>>,
}

/// What the queue knows of one who waits.
struct Turn {
    wants_hand_over: bool,
    state: State,
}

/// What one who wants the lock has been given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Nothing,
    /// WOKEN.
    Woken,
    /// The lock.
    Locked,
}

impl RawMutex {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { word: AtomicU8::new(0), queue: Mutex::new(Queue::new()) }
        }
    }

    /// Locks, if the lock is free and nobody has been waiting for it.
    #[inline]
    pub(crate) fn try_lock_at_once(&self) -> bool {
        self.word.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Locks, if the lock is free.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.try_lock_at_once() || self.try_lock_as(State::Nothing)
    }

    fn try_lock_as(&self, state: State) -> bool {
        let own = if state == State::Woken { WOKEN } else { 0 };
        let mut word = self.word.load(Ordering::Relaxed);
        while word & LOCKED == 0 {
            let next = (word | LOCKED) & !own;
            match self.word.compare_exchange_weak(word, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
        false
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOCKED != 0
    }

    /// # Safety
    /// The caller has the lock.
    #[inline]
    pub(crate) unsafe fn unlock(&self) {
        if self.word.compare_exchange(LOCKED, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_slowly();
        }
    }

    #[cold]
    fn unlock_slowly(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & (WAITERS | WOKEN) != WAITERS {
            match self.word.compare_exchange_weak(word, word & !LOCKED, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
        if let Some(wake) = self.unlock_for_next(&mut lock(&self.queue)) {
            wake.wake();
        }
    }

    /// Unlocks and chooses who is to be woken, or hands the lock over.
    fn unlock_for_next(&self, queue: &mut Queue<Turn>) -> Option<Wake> {
        let mut is_handed_over = false;
        let next = queue.decide_first(|turn| {
            is_handed_over = turn.wants_hand_over;
            turn.state = if is_handed_over { State::Locked } else { State::Woken };
        });
        let given = match next {
            None => 0,
            Some(_) if is_handed_over => LOCKED,
            Some(_) => WOKEN,
        };
        self.word.store(given | rest(queue), Ordering::Release);
        next
    }

    /// Who has WOKEN will not lock: the next in the queue has it.
    fn pass_on(&self) {
        let next = {
            let mut queue = lock(&self.queue);
            let next = queue.decide_first(|turn| turn.state = State::Woken);
            let kept = if next.is_some() { WOKEN } else { 0 };
            self.word.fetch_and(LOCKED | kept | rest(&queue), Ordering::Relaxed);
            next
        };
        if let Some(wake) = next {
            wake.wake();
        }
    }
}

/// What the word has to say of the queue.
fn rest(queue: &Queue<Turn>) -> u8 {
    if queue.is_empty() { 0 } else { WAITERS }
}

/// One strand's wish for the lock.
pub(crate) struct LockWait<'a> {
    mutex: &'a RawMutex,
    entry: Entry<Turn>,
    state: Cell<State>,
    /// When it first was woken and came too late.
    late_since: Cell<Option<Instant>>,
}

impl<'a> LockWait<'a> {
    pub(crate) fn new(mutex: &'a RawMutex) -> Self {
        let turn = Turn { wants_hand_over: false, state: State::Nothing };
        Self { mutex, entry: Entry::new(turn), state: Cell::new(State::Nothing), late_since: Cell::new(None) }
    }

    /// Looks for a moment whether the lock becomes free. In vain if others wait already.
    fn spin(&self) {
        for round in 0..LOOKS {
            let word = self.mutex.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 || word & WAITERS != 0 && self.state.get() != State::Woken {
                return;
            }
            for _ in 0..1 << round {
                hint::spin_loop();
            }
        }
    }

    /// Whether it has come too late for too long. For one that was woken.
    fn has_lost_patience(&self) -> bool {
        // The model has no clock: there patience ends at once.
        if cfg!(loom) {
            return true;
        }
        match self.late_since.get() {
            Some(since) => since.elapsed() > PATIENCE,
            None => {
                self.late_since.set(Some(Instant::now()));
                false
            }
        }
    }
}

impl Attempt for LockWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        if self.state.get() != State::Locked {
            self.spin();
            if !self.mutex.try_lock_as(self.state.get()) {
                return None;
            }
        }
        self.state.set(State::Nothing);
        self.late_since.set(None);
        Some(())
    }

    fn pass_on(&self) {
        match self.state.replace(State::Nothing) {
            State::Nothing => {}
            State::Woken => self.mutex.pass_on(),
            // SAFETY: it was handed over to this one, who does not want it any more.
            State::Locked => unsafe { self.mutex.unlock() },
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `decide_first`, under the lock of the queue.
unsafe impl Place for LockWait<'_> {
    fn is_lock(&self) -> bool {
        true
    }

    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        let was_woken = self.state.get() == State::Woken;
        let wants_hand_over = was_woken && self.has_lost_patience();
        let mut queue = lock(&self.mutex.queue);
        let own = if was_woken { WOKEN } else { 0 };
        let mut word = self.mutex.word.load(Ordering::Relaxed);
        loop {
            if word & LOCKED == 0 {
                return false;
            }
            let next = (word | WAITERS) & !own;
            match self.mutex.word.compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(found) => word = found,
            }
        }
        self.state.set(State::Nothing);
        // SAFETY: the entry is this strand's, and not in the queue, by the contract of `Place`. It stays where it is, and the
        // waiter armed, until `unregister`.
        unsafe {
            self.entry.with(|turn| *turn = Turn { wants_hand_over, state: State::Nothing });
            if was_woken {
                queue.push_front(&self.entry, waiter, ticket);
            } else {
                queue.push_back(&self.entry, waiter, ticket);
            }
        }
        true
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            // SAFETY: decided from the queue.
            self.state.set(unsafe { self.entry.with(|turn| turn.state) });
            return;
        }
        let mut queue = lock(&self.mutex.queue);
        // SAFETY: pushed to this queue by `register`.
        if unsafe { queue.remove(&self.entry) } {
            self.mutex.word.fetch_and(LOCKED | WOKEN | rest(&queue), Ordering::Relaxed);
        }
    }
}

impl Drop for LockWait<'_> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

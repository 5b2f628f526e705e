//! A waiter: one word for whoever waits, be it a parked thread, a suspended fiber or an async task.
//!
//! The idea. Each thread or fiber that may wait owns one [`Waiter`] for all the waits of its life, one after the other.
//! A wait *arms* the word, and then leaves its address in any number of places: the queue of a lock, a channel, the
//! scope that may be cancelled, a timer. Each of these may want to end the wait; the first whose CAS *decides* the word
//! has done so, and only that one wakes the waiter. So whoever hands something over knows at once whether it was
//! received, and has to pass on nothing that a cancelled waiter did not take.
//!
//! | word          | meaning                                        | left by                                            |
//! |---------------|------------------------------------------------|----------------------------------------------------|
//! | IDLE          | no wait                                        | the owner arms -> WAITING                          |
//! | WAITING scope | a wait in the scope of this address, 0 in none | anybody decides -> DECIDED; the owner -> IDLE      |
//! | DECIDED what  | over; the owner was or will be woken, once     | the owner arms -> WAITING                          |
//! | HERE          | as WAITING, but for the owner's thread alone   | that thread decides -> DECIDED; the owner -> IDLE  |
//! | STANDING      | whoever is given the address may wake, once    | nobody                                             |
//!
//! *Here* is for a fiber that waits at one place which nobody but its own thread uses, as far as is known. Nothing need
//! be atomic then, neither to leave the address nor to decide. If somebody else comes to the place all the same, or
//! cancels the scope, he does not touch the word: he *kicks* the fiber, by its worker, which ends the wait for it to
//! look again. So a kick says no more than that there may be a reason to look, and one that comes late, in another
//! wait, makes that one look for nothing. Whoever cancels kicks a fiber also if he does not see it wait: it may be just
//! about to, without a fence.
//!
//! A *standing* waiter is for what waits at one place at a time, in no scope and without a deadline: then there is
//! nobody else who might decide, and the word is only read. Its owner takes the address out of the place, or is woken
//! by it.
//!
//! Who keeps what alive. The address of a waiter is given out only together with a place that can take it back. A place
//! that ends a wait decides *before* it lets go of the address (under its lock, or while its word says that it is
//! busy), and the owner does not leave a wait before it has taken its address out of every place. So a word that can be
//! reached is the word of this very wait. After the decision the place may only wake. A fiber cannot go on before that;
//! a thread or a task might, so for these the decision keeps what is needed for waking alive (see [`Kind::keep`]).
//!
//! Orderings: deciding releases, and the owner acquires the word when it finds it decided, also when it finds so
//! because it would have ended the wait itself: what the place did before (a value put down, a lock handed over) is
//! visible afterwards. Arming releases and deciding acquires: whoever wakes comes after all that the owner did before.
//! (For a place that follows from how it got the address; a scope knows the address from earlier.) Arming is a plain
//! store: nobody else writes the word while there is no wait. A scope may look at any time, and what it sees is ordered
//! by fences, see [`cancel`](crate::wait::cancel); if it decides a wait that is not the one that it saw, that is in the
//! same scope and goes the same way. Others read HERE only to leave the word alone; a kick carries what they did to its
//! thread.

use crate::{
    sys::sync::{Arc, AtomicU64, Ordering},
    wait::{current_stack::Stack, spin_wait::Patience},
};
use std::{cell::Cell, mem::ManuallyDrop};

const IDLE: u64 = 0;
const WAITING: u64 = 1;
const DECIDED: u64 = 2;
const STANDING: u64 = 3;
const HERE: u64 = 4;
const TAG: u64 = 7;
const SHIFT: u32 = 3;

/// How many waits in a row may find at once what they want before the strand lets others run.
pub(crate) const BUDGET: u32 = if cfg!(shuttle) { 4 } else { 128 };

/// How a wait ends whose owner is to look again. Its place has not decided it, and may still have the address.
pub(crate) const HAILED: Outcome = Outcome::Ready(u32::MAX);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The scope was cancelled, or its deadline has passed.
    Cancelled,
    /// The deadline of the operation has passed.
    TimedOut,
    /// A place decided: the one that was given this ticket.
    Ready(u32),
}

impl Outcome {
    #[inline]
    const fn encode(self) -> u64 {
        let number = match self {
            Self::Cancelled => 0,
            Self::TimedOut => 1,
            Self::Ready(ticket) => ticket as u64 + 2,
        };
        number << SHIFT | DECIDED
    }

    #[inline]
    fn decode(word: u64) -> Self {
        match word >> SHIFT {
            0 => Self::Cancelled,
            1 => Self::TimedOut,
            ticket => Self::Ready((ticket - 2) as u32),
        }
    }
}

/// How the waiters of one kind are woken.
pub(crate) struct Kind {
    /// Wakes the waiter and gives back what was kept for it.
    pub(crate) wake: unsafe fn(*const Waiter),
    /// For waiters that go on, and may be gone, as soon as they find themselves decided.
    pub(crate) keep: Option<Keep>,
    /// How often it is worth to look again before a wait: nothing else could use the thread meanwhile.
    pub(crate) looks: u32,
    /// Whether an attempt follows each wait that a place has ended, as on a fiber or a thread. A future may be dropped
    /// instead, and a member of a set may never be asked.
    pub(crate) resumes: bool,
    /// For waiters that may wait [here](self).
    pub(crate) home: Option<Home>,
}

/// Where a waiter is at home: on one thread, which can be kicked.
pub(crate) struct Home {
    /// Whether that is the calling thread. It may say no when it is.
    pub(crate) is_here: unsafe fn(*const Waiter) -> bool,
    /// Sees to it that [`Waiter::answer`] is called there, after all that the caller did before.
    pub(crate) kick: unsafe fn(*const Waiter),
}

/// How what [`Kind::wake`] needs is kept alive.
pub(crate) struct Keep {
    /// Called while the waiter is known to be alive.
    retain: unsafe fn(*const Waiter),
    /// Gives it back without waking.
    release: unsafe fn(*const Waiter),
}

impl Kind {
    /// The kind of waiters that are the first field of a `T` in an [`Arc`], which is kept for waking.
    pub(crate) const fn in_arc<T>(wake: unsafe fn(*const Waiter), looks: u32, resumes: bool) -> Self {
        unsafe fn retain<T>(waiter: *const Waiter) {
            // SAFETY: the first field of a `T` in an `Arc`, which is alive.
            unsafe { Arc::increment_strong_count(waiter.cast::<T>()) }
        }
        unsafe fn release<T>(waiter: *const Waiter) {
            // SAFETY: as above, and retained.
            unsafe { drop(Arc::from_raw(waiter.cast::<T>())) }
        }
        Self { wake, keep: Some(Keep { retain: retain::<T>, release: release::<T> }), looks, resumes, home: None }
    }
}

/// See the [module](self).
pub(crate) struct Waiter {
    word: AtomicU64,
    kind: &'static Kind,
    /// The owner's: how many waits may still succeed at once.
    budget: Cell<u32>,
    /// The owner's, too.
    patience: Patience,
    /// On which stack the owner may wait.
    stack: Cell<Stack>,
}

// SAFETY: budget, patience and stack are the owner's alone, the rest is made to be shared.
unsafe impl Send for Waiter {}
// SAFETY: as above.
unsafe impl Sync for Waiter {}

impl Waiter {
    pub(crate) fn new(kind: &'static Kind) -> Self {
        Self {
            word: AtomicU64::new(IDLE),
            kind,
            budget: Cell::new(BUDGET),
            patience: Patience::new(),
            stack: Cell::new(Stack::THREAD),
        }
    }

    /// A standing one: see the [module](self). It is never armed, and is alive until it has been woken or taken out.
    pub(crate) fn standing(kind: &'static Kind) -> Self {
        Self {
            word: AtomicU64::new(STANDING),
            kind,
            budget: Cell::new(0),
            patience: Patience::new(),
            stack: Cell::new(Stack::THREAD),
        }
    }

    // ---- the owner ----

    /// See [`Kind::looks`].
    #[inline]
    pub(crate) fn looks(&self) -> u32 {
        self.kind.looks
    }

    /// See [`Kind::resumes`].
    #[inline]
    pub(crate) fn resumes(&self) -> bool {
        self.kind.resumes
    }

    /// How many waits in a row may still find at once what they want.
    #[inline]
    pub(crate) fn budget(&self) -> &Cell<u32> {
        &self.budget
    }

    /// What it has learned about those that it waits for.
    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// On which stack it may wait; the thread's own if nothing else was said.
    #[inline(always)]
    pub(crate) fn stack(&self) -> Stack {
        self.stack.get()
    }

    /// From here on it waits on this stack.
    pub(crate) fn bind_to(&self, stack: Stack) {
        self.stack.set(stack);
    }

    /// Begins a wait in the scope of this address, or in one that nobody can cancel if it is null.
    #[inline]
    pub(crate) fn arm(&self, scope: *const ()) {
        debug_assert!(!self.is_waiting(), "a strand waits for one thing at a time");
        self.word.store(waiting(scope), Ordering::Release);
    }

    /// Whether it may wait here.
    #[inline]
    pub(crate) fn has_home(&self) -> bool {
        self.kind.home.is_some()
    }

    /// As [`arm`](Self::arm), for a wait here.
    #[inline]
    pub(crate) fn arm_here(&self) {
        debug_assert!(!self.is_waiting(), "a strand waits for one thing at a time");
        self.word.store(HERE, Ordering::Relaxed);
    }

    /// Ends a wait here of which nobody has heard.
    #[inline]
    pub(crate) fn disarm_here(&self) {
        self.word.store(IDLE, Ordering::Relaxed);
    }

    /// Whether the wait was ended by its place, with the ticket 0.
    #[inline]
    pub(crate) fn was_told(&self) -> bool {
        self.word.load(Ordering::Acquire) == const { Outcome::Ready(0).encode() }
    }

    /// Ends the wait from within. `false`: it has been decided, and the owner must take the wake-up that comes with it.
    #[must_use]
    #[inline]
    pub(crate) fn disarm(&self) -> bool {
        self.end(IDLE)
    }

    /// As [`disarm`](Self::disarm), but leaves an outcome.
    #[must_use]
    pub(crate) fn decide_for_itself(&self, outcome: Outcome) -> bool {
        self.end(outcome.encode())
    }

    #[inline]
    fn end(&self, next: u64) -> bool {
        let word = self.word.load(Ordering::Acquire);
        word & TAG == WAITING && self.word.compare_exchange(word, next, Ordering::Relaxed, Ordering::Acquire).is_ok()
    }

    /// How the wait ended; `None` while it lasts.
    #[inline]
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let word = self.word.load(Ordering::Acquire);
        (word & TAG == DECIDED).then(|| Outcome::decode(word))
    }

    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.word.load(Ordering::Relaxed) & TAG, WAITING | HERE)
    }

    // ---- its thread ----

    /// Ends a wait here, or that of a standing waiter: the waits that are ended without an update. `None`: it is
    /// another, or has ended.
    ///
    /// # Safety
    /// As for [`decide`](Self::decide), and if it waits here this is its thread.
    #[inline]
    #[must_use]
    pub(crate) unsafe fn decide_here(this: *const Self, outcome: Outcome) -> Option<Wake> {
        // SAFETY: the caller's word.
        unsafe {
            let word = (*this).word.load(Ordering::Relaxed);
            if word == HERE {
                (*this).word.store(outcome.encode(), Ordering::Relaxed);
            } else if word != STANDING {
                return None;
            }
            Some(Wake { waiter: this, kind: (*this).kind })
        }
    }

    /// Somebody has kicked: it is to look, if it waits here.
    ///
    /// # Safety
    /// The waiter is alive, has a home, and this is its thread.
    pub(crate) unsafe fn answer(this: *const Self) {
        // SAFETY: the caller's word.
        if let Some(wake) = unsafe { Self::decide_here(this, HAILED) } {
            wake.wake();
        }
    }

    // ---- everybody ----

    /// Ends the wait, unless it has ended. `None`: it has, and another decided; or its owner was kicked, and will see
    /// for itself.
    ///
    /// # Safety
    /// The waiter is registered in a place that the caller holds.
    #[inline]
    #[must_use]
    pub(crate) unsafe fn decide(this: *const Self, outcome: Outcome) -> Option<Wake> {
        // SAFETY: the place has the address, so the waiter is alive.
        unsafe {
            let word = (*this).word.load(Ordering::Relaxed);
            match word & TAG {
                WAITING => Self::decide_from(this, word, outcome),
                HERE => Self::decide_or_hail(this, outcome),
                STANDING => Some(Wake { waiter: this, kind: (*this).kind }),
                _ => None,
            }
        }
    }

    /// Ends the wait if it is in the scope of this address, and in no other.
    ///
    /// # Safety
    /// The waiter is alive: the caller holds the tree of the scope.
    #[must_use]
    pub(crate) unsafe fn cancel(this: *const Self, scope: *const ()) -> Option<Wake> {
        // SAFETY: the caller's word.
        unsafe {
            let word = (*this).word.load(Ordering::Relaxed);
            if word == waiting(scope)
                && let Some(wake) = Self::decide_from(this, word, Outcome::Cancelled)
            {
                return Some(wake);
            }
            // It waits here, or is about to; or in another scope, where it looks for nothing.
            if (*this).has_home() { Self::decide_or_hail(this, HAILED) } else { None }
        }
    }

    /// Ends a wait here, or lets its thread do so.
    ///
    /// # Safety
    /// The waiter is alive, and has a home.
    #[cold]
    unsafe fn decide_or_hail(this: *const Self, outcome: Outcome) -> Option<Wake> {
        // SAFETY: the caller's word; if it is not at home here the word is not touched.
        unsafe {
            let home = (*this).kind.home.as_ref().expect("who waits here has a home");
            if (home.is_here)(this) {
                return Self::decide_here(this, outcome);
            }
            (home.kick)(this);
            None
        }
    }

    /// # Safety
    /// As for the callers; `word` was found in the waiter, which waits.
    #[inline]
    unsafe fn decide_from(this: *const Self, word: u64, outcome: Outcome) -> Option<Wake> {
        // SAFETY: alive by the caller's word until the CAS, and afterwards because it is kept or does not go on.
        unsafe {
            let kind = (*this).kind;
            if let Some(keep) = &kind.keep {
                (keep.retain)(this);
            }
            // Within one wait the word changes once, so a failure means that another was first.
            let decided =
                (*this).word.compare_exchange(word, outcome.encode(), Ordering::AcqRel, Ordering::Relaxed).is_ok();
            if !decided && let Some(keep) = &kind.keep {
                (keep.release)(this);
            }
            if decided { Some(Wake { waiter: this, kind }) } else { None }
        }
    }
}

/// The word of a wait in the scope of this address.
#[inline]
fn waiting(scope: *const ()) -> u64 {
    debug_assert_eq!(scope.addr() as u64 & TAG, 0, "scopes are aligned");
    scope.addr() as u64 | WAITING
}

/// A decided waiter that has yet to be woken.
#[must_use]
pub(crate) struct Wake {
    waiter: *const Waiter,
    kind: &'static Kind,
}

// SAFETY: waking is what other threads do to a waiter.
unsafe impl Send for Wake {}

impl Wake {
    /// Wakes it. This may run the waker of an async task, so no lock may be held.
    #[inline]
    pub(crate) fn wake(self) {
        // The waker of a task may panic, and must not be called again by the unwinding.
        let this = ManuallyDrop::new(self);
        // SAFETY: decided by whoever made this, and kept since.
        unsafe { (this.kind.wake)(this.waiter) }
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        // Not waking would leave somebody asleep for ever.
        // SAFETY: as in `wake`.
        unsafe { (self.kind.wake)(self.waiter) }
    }
}

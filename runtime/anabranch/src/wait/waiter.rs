//! A waiter: the state word of a parked thread, a suspended fiber or an async task.
//!
//! The idea. Each thread or fiber that may wait owns one [`Waiter`] for all the waits of its life, one after the other.
//! A wait *arms* the word, and then registers its address at any number of waitables: the queue of a lock, a channel,
//! the scope that may be cancelled, a timer. Each of these may end the wait. The one whose CAS changes the word first
//! is *selected*, and only that one wakes the waiter. So a thread that hands something over knows at once whether it
//! was received. It never has to pass on what a cancelled waiter did not take.
//!
//! | word          | meaning                                        | left by                                            |
//! |---------------|------------------------------------------------|----------------------------------------------------|
//! | IDLE          | no wait                                        | the owner arms -> WAITING                          |
//! | WAITING scope | a wait in the scope of this address, 0 in none | any thread -> SELECTED; the owner -> IDLE          |
//! | SELECTED what | over; the owner was or will be woken, once     | the owner arms -> WAITING                          |
//! | LOCAL         | as WAITING, but for the owner's thread alone   | that thread -> SELECTED; the owner -> IDLE         |
//! | PERSISTENT    | the holder of the address may wake, once       | nothing                                            |
//!
//! A *local* wait is that of a fiber for one waitable which, as far as is known, only its own thread uses. Then neither
//! the registration nor the selection need be atomic. If another thread uses the waitable all the same, or cancels the
//! scope, it does not write the word. It *kicks* the fiber: the fiber's worker ends the wait, and the fiber attempts
//! again. So a kick only says that there may be a reason to attempt. A late kick, in another wait, causes one attempt
//! in vain. A canceller kicks a fiber even if it does not see the fiber wait: the fiber may be about to, without a
//! fence.
//!
//! A *persistent* waiter waits for one waitable at a time, in no scope and without a deadline. Then only that waitable
//! can end the wait, and the word is only read. Its owner removes the address from the waitable, or is woken by it.
//!
//! Lifetimes. The address of a waiter is only registered at waitables that can remove it. A waitable that ends a wait
//! selects the waiter *before* it drops the address, under its lock or while its word is busy. The owner does not leave
//! a wait before it has removed its address from every waitable. So a word that can be reached is the word of this very
//! wait. After the selection the waitable may only wake. A fiber cannot continue before that. A thread or a task might,
//! so for these the selection retains what is needed for waking (see [`Kind::keep`]).
//!
//! Orderings: the change to SELECTED releases, and the owner acquires the word when it finds it so. It also acquires
//! when it finds that out by a failed attempt to end the wait itself. So what the waitable did before (a value stored,
//! a lock handed over) is visible afterwards. Arming releases and the change to SELECTED acquires: a wake-up happens
//! after all that the owner did before. (For a waitable that follows from how it got the address; a scope knows the
//! address from earlier.) Arming is a plain store: no other thread writes the word while there is no wait. A scope may
//! read the word at any time, and fences order what it sees, see [`cancel`](crate::wait::cancel). If it ends another
//! wait than the one that it saw, that wait is in the same scope, and ends in the same way. Other threads that read
//! LOCAL do not write the word; a kick carries what they did to the waiter's thread.

use crate::{
    sys::sync::{Arc, AtomicU64, Ordering},
    wait::{current_stack::Stack, spin_wait::SpinWait},
};
use std::{cell::Cell, mem::ManuallyDrop};

const IDLE: u64 = 0;
const WAITING: u64 = 1;
const SELECTED: u64 = 2;
const PERSISTENT: u64 = 3;
const LOCAL: u64 = 4;
const TAG: u64 = 7;
const SHIFT: u32 = 3;

/// How many operations in a row may succeed without a wait before the fiber or thread lets others run.
pub(crate) const BUDGET: u32 = if cfg!(shuttle) { 4 } else { 128 };

/// The outcome of a wait whose owner is to attempt again. Its waitable has not selected it, and may still hold the
/// address.
pub(crate) const KICKED: Selected = Selected::Ready(u32::MAX);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selected {
    /// The scope was cancelled, or its deadline has passed.
    Cancelled,
    /// The deadline of the operation has passed.
    TimedOut,
    /// A waitable ended it: the one that was given this ticket.
    Ready(u32),
}

impl Selected {
    #[inline]
    const fn encode(self) -> u64 {
        let number = match self {
            Self::Cancelled => 0,
            Self::TimedOut => 1,
            Self::Ready(ticket) => ticket as u64 + 2,
        };
        number << SHIFT | SELECTED
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
    /// Wakes the waiter and releases what was retained for it.
    pub(crate) wake: unsafe fn(*const Waiter),
    /// For waiters that continue, and may be gone, as soon as they find themselves selected.
    pub(crate) keep: Option<Keep>,
    /// How often the owner attempts again before a wait. Above 0 only if nothing else could use the thread meanwhile.
    pub(crate) spins: u32,
    /// Whether an attempt follows each wait that a waitable has ended, as on a fiber or a thread. A future may be
    /// dropped instead, and a member of a set may never be attempted.
    pub(crate) resumes: bool,
    /// Whether the owner had better be woken for room, and send itself, than have its value moved into the room. So it
    /// is for a thread, which costs far more to wake than to run: once woken it sends many values.
    pub(crate) retries: bool,
    /// For waiters that may wait [locally](self).
    pub(crate) home: Option<Home>,
}

/// Where a waiter is at home: on one thread, which can be kicked.
pub(crate) struct Home {
    /// Returns whether that is the calling thread. May return `false` when it is.
    pub(crate) is_local: unsafe fn(*const Waiter) -> bool,
    /// Makes that thread call [`Waiter::answer`], after all that the caller did before.
    pub(crate) kick: unsafe fn(*const Waiter),
}

/// How what [`Kind::wake`] needs is kept alive.
pub(crate) struct Keep {
    /// Called while the waiter is known to be alive.
    retain: unsafe fn(*const Waiter),
    /// Releases it without waking.
    release: unsafe fn(*const Waiter),
}

impl Kind {
    /// Returns the kind of waiters that are the first field of a `T` in an [`Arc`], which is retained for waking.
    pub(crate) const fn in_arc<T>(wake: unsafe fn(*const Waiter), spins: u32, resumes: bool) -> Self {
        unsafe fn retain<T>(waiter: *const Waiter) {
            // SAFETY: the waiter is the first field of a `T` in an `Arc`. `retain` is called only while the waiter is
            // alive.
            unsafe { Arc::increment_strong_count(waiter.cast::<T>()) }
        }
        unsafe fn release<T>(waiter: *const Waiter) {
            // SAFETY: the waiter is the first field of a `T` in an `Arc`, whose count `retain` has incremented for this
            // call.
            unsafe { drop(Arc::from_raw(waiter.cast::<T>())) }
        }
        Self {
            wake,
            keep: Some(Keep { retain: retain::<T>, release: release::<T> }),
            spins,
            resumes,
            retries: false,
            home: None,
        }
    }
}

/// See the [module](self).
pub(crate) struct Waiter {
    word: AtomicU64,
    kind: &'static Kind,
    /// How many operations may still succeed without a wait. Only the owner accesses it.
    budget: Cell<u32>,
    /// Only the owner accesses it.
    spin_wait: SpinWait,
    /// On which stack the owner may wait. Only the owner accesses it.
    stack: Cell<Stack>,
}

// SAFETY: only the owner accesses budget, spin_wait and stack. The word is atomic, and the kind is immutable.
unsafe impl Send for Waiter {}
// SAFETY: only the owner accesses budget, spin_wait and stack. The word is atomic, and the kind is immutable.
unsafe impl Sync for Waiter {}

impl Waiter {
    pub(crate) fn new(kind: &'static Kind) -> Self {
        Self {
            word: AtomicU64::new(IDLE),
            kind,
            budget: Cell::new(BUDGET),
            spin_wait: SpinWait::new(),
            stack: Cell::new(Stack::THREAD),
        }
    }

    /// Creates a persistent waiter: see the [module](self). It is never armed, and is alive until it has been woken or
    /// removed.
    pub(crate) fn persistent(kind: &'static Kind) -> Self {
        Self {
            word: AtomicU64::new(PERSISTENT),
            kind,
            budget: Cell::new(0),
            spin_wait: SpinWait::new(),
            stack: Cell::new(Stack::THREAD),
        }
    }

    // ---- the owner ----

    /// See [`Kind::spins`].
    #[inline]
    pub(crate) fn spins(&self) -> u32 {
        self.kind.spins
    }

    /// See [`Kind::resumes`].
    #[inline]
    pub(crate) fn resumes(&self) -> bool {
        self.kind.resumes
    }

    /// See [`Kind::retries`].
    #[inline]
    pub(crate) fn retries(&self) -> bool {
        self.kind.retries
    }

    /// Returns how many operations in a row may still succeed without a wait.
    #[inline]
    pub(crate) fn budget(&self) -> &Cell<u32> {
        &self.budget
    }

    /// Returns what the owner has learned about the threads that it waits for.
    pub(crate) fn spin_wait(&self) -> &SpinWait {
        &self.spin_wait
    }

    /// Returns on which stack the owner may wait: the thread's own unless [`bind_to`](Self::bind_to) was called.
    #[inline(always)]
    pub(crate) fn stack(&self) -> Stack {
        self.stack.get()
    }

    /// Sets the stack on which the owner waits from now on.
    pub(crate) fn bind_to(&self, stack: Stack) {
        self.stack.set(stack);
    }

    /// Begins a wait in the scope of this address. If it is null, no scope can cancel the wait.
    #[inline]
    pub(crate) fn arm(&self, scope: *const ()) {
        debug_assert!(!self.is_waiting(), "a fiber or thread waits for one thing at a time");
        self.word.store(waiting(scope), Ordering::Release);
    }

    /// Returns whether it may wait [locally](self).
    #[inline]
    pub(crate) fn has_home(&self) -> bool {
        self.kind.home.is_some()
    }

    /// Begins a [local wait](self).
    #[inline]
    pub(crate) fn arm_local(&self) {
        debug_assert!(!self.is_waiting(), "a fiber or thread waits for one thing at a time");
        self.word.store(LOCAL, Ordering::Relaxed);
    }

    /// Ends a [local wait](self) whose address is registered nowhere.
    #[inline]
    pub(crate) fn disarm_local(&self) {
        self.word.store(IDLE, Ordering::Relaxed);
    }

    /// Returns whether a waitable has ended the wait, with the ticket 0.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.word.load(Ordering::Acquire) == const { Selected::Ready(0).encode() }
    }

    /// Ends the wait from within. Returns `false` if it has been selected: the owner must consume the wake-up that
    /// follows.
    #[must_use]
    #[inline]
    pub(crate) fn disarm(&self) -> bool {
        self.end(IDLE)
    }

    /// Ends the wait from within, as [`disarm`](Self::disarm) does, but stores an outcome.
    #[must_use]
    pub(crate) fn select_itself(&self, outcome: Selected) -> bool {
        self.end(outcome.encode())
    }

    #[inline]
    fn end(&self, next: u64) -> bool {
        let word = self.word.load(Ordering::Acquire);
        word & TAG == WAITING && self.word.compare_exchange(word, next, Ordering::Relaxed, Ordering::Acquire).is_ok()
    }

    /// Returns how the wait ended, or `None` while it lasts.
    #[inline]
    pub(crate) fn selected(&self) -> Option<Selected> {
        let word = self.word.load(Ordering::Acquire);
        (word & TAG == SELECTED).then(|| Selected::decode(word))
    }

    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.word.load(Ordering::Relaxed) & TAG, WAITING | LOCAL)
    }

    // ---- its thread ----

    /// Ends a [local wait](self), or that of a persistent waiter: the waits that end without an atomic update. Returns
    /// `None` if the wait is another, or has ended.
    ///
    /// # Safety
    /// The waiter is alive, as for [`try_select`](Self::try_select). If it waits locally, this is its thread.
    #[inline]
    #[must_use]
    pub(crate) unsafe fn select_local(this: *const Self, outcome: Selected) -> Option<Wake> {
        // SAFETY: the caller keeps the waiter alive. If it waits locally, this is its thread, so no other thread writes
        // the word.
        unsafe {
            let word = (*this).word.load(Ordering::Relaxed);
            if word == LOCAL {
                (*this).word.store(outcome.encode(), Ordering::Relaxed);
            } else if word != PERSISTENT {
                return None;
            }
            Some(Wake { waiter: this, kind: (*this).kind })
        }
    }

    /// Answers a kick: ends the wait, if it is one [locally](self), so that the owner attempts again.
    ///
    /// # Safety
    /// The waiter is alive, has a home, and this is its thread.
    pub(crate) unsafe fn answer(this: *const Self) {
        // SAFETY: the caller keeps the waiter alive, and runs on its thread.
        if let Some(wake) = unsafe { Self::select_local(this, KICKED) } {
            wake.wake();
        }
    }

    // ---- any thread ----

    /// Ends the wait, unless it has ended. Returns `None` if another thread has selected it, or if the owner was kicked
    /// and will attempt again.
    ///
    /// # Safety
    /// The waiter is registered at a waitable that the caller holds, so it is alive.
    #[inline]
    #[must_use]
    pub(crate) unsafe fn try_select(this: *const Self, outcome: Selected) -> Option<Wake> {
        // SAFETY: the waitable that the caller holds has the address, so the waiter is alive.
        unsafe {
            let word = (*this).word.load(Ordering::Relaxed);
            match word & TAG {
                WAITING => Self::try_select_from(this, word, outcome),
                LOCAL => Self::select_or_kick(this, outcome),
                PERSISTENT => Some(Wake { waiter: this, kind: (*this).kind }),
                _ => None,
            }
        }
    }

    /// Ends the wait if it is in the scope of this address, and in no other.
    ///
    /// # Safety
    /// The waiter is alive: the caller holds the lock of its scope, under which a waiter is detached.
    #[must_use]
    pub(crate) unsafe fn cancel(this: *const Self, scope: *const ()) -> Option<Wake> {
        // SAFETY: the caller holds the lock of the scope, so the waiter is alive.
        unsafe {
            let word = (*this).word.load(Ordering::Relaxed);
            if word == waiting(scope)
                && let Some(wake) = Self::try_select_from(this, word, Selected::Cancelled)
            {
                return Some(wake);
            }
            // It waits locally, or is about to. Or it waits in another scope, where the kick makes it attempt in vain.
            if (*this).has_home() { Self::select_or_kick(this, KICKED) } else { None }
        }
    }

    /// Ends a [local wait](self), or kicks its thread, which ends it.
    ///
    /// # Safety
    /// The waiter is alive, and has a home.
    #[cold]
    unsafe fn select_or_kick(this: *const Self, outcome: Selected) -> Option<Wake> {
        // SAFETY: the caller keeps the waiter alive. `select_local` runs only if this is the waiter's thread; otherwise
        // only `kick` uses the waiter.
        unsafe {
            let home = (*this).kind.home.as_ref().expect("a waiter that waits locally has a home");
            if (home.is_local)(this) {
                return Self::select_local(this, outcome);
            }
            (home.kick)(this);
            None
        }
    }

    /// # Safety
    /// The waiter is alive until it is selected. `word` was read from the waiter while it waited.
    #[inline]
    unsafe fn try_select_from(this: *const Self, word: u64, outcome: Selected) -> Option<Wake> {
        // SAFETY: the caller keeps the waiter alive until the CAS. After a successful CAS it stays alive: `keep` has
        // retained it, or its fiber does not continue before it is woken.
        unsafe {
            let kind = (*this).kind;
            if let Some(keep) = &kind.keep {
                (keep.retain)(this);
            }
            // Within one wait the word changes once, so a failure means that another thread was first.
            let is_selected =
                (*this).word.compare_exchange(word, outcome.encode(), Ordering::AcqRel, Ordering::Relaxed).is_ok();
            if !is_selected && let Some(keep) = &kind.keep {
                (keep.release)(this);
            }
            if is_selected { Some(Wake { waiter: this, kind }) } else { None }
        }
    }
}

/// Returns the word of a wait in the scope of this address.
#[inline]
fn waiting(scope: *const ()) -> u64 {
    debug_assert_eq!(scope.addr() as u64 & TAG, 0, "scopes are aligned");
    scope.addr() as u64 | WAITING
}

/// A selected waiter that has yet to be woken.
#[must_use]
pub(crate) struct Wake {
    waiter: *const Waiter,
    kind: &'static Kind,
}

// SAFETY: the selection keeps the waiter alive until it is woken, and `Kind::wake` may be called on any thread.
unsafe impl Send for Wake {}

impl Wake {
    /// Wakes it. This may run the waker of an async task, so no lock may be held.
    #[inline]
    pub(crate) fn wake(self) {
        // The waker of a task may panic, and must not be called again by the unwinding.
        let this = ManuallyDrop::new(self);
        // SAFETY: a `Wake` exists only for a selected waiter, which stays alive until this call. It is called once, as
        // `this` is not dropped.
        unsafe { (this.kind.wake)(this.waiter) }
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        // A waiter that is selected but not woken would sleep for ever.
        // SAFETY: a `Wake` exists only for a selected waiter, which stays alive until this call. It was not called
        // before, as `wake` does not drop.
        unsafe { (self.kind.wake)(self.waiter) }
    }
}

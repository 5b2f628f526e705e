//! Cancel scopes: the tree along which cancellation spreads.
//!
//! Each [`CancelScope`] has a flag that is set once. A fiber or thread that checks for cancellation reads the flag. One
//! that is about to suspend arms its waiter first and reads the flag then. A canceller sets the flag first and reads
//! the waiter then. One of the two sees the other, so no wait of a cancelled scope continues. This is Dekker's pattern,
//! with a full fence on each side. On x86 both are free: the canceller sets the flag by a read-modify-write, and the
//! waiting side registers its address by another one, between arming and reading the flag.
//!
//! Most scopes end without a wait in them, so until the first wait a scope costs nothing but its few fields. It is
//! *enlisted* with its parent at the first wait in it or below it. Until then its cancellation is read from its
//! ancestors.
//!
//! | `state`             | meaning                                            | left by                                          |
//! |---------------------|----------------------------------------------------|--------------------------------------------------|
//! | new                 | no waits here or below; is cancelled if its parent is | first wait -> ENLISTED, and FLAGGED if its parent is; `cancel` -> FLAGGED |
//! | FLAGGED             | cancelled; no waits here or below                  | first wait -> ENLISTED FLAGGED                   |
//! | ENLISTED            | in its parent's list, which passes a cancellation on | `cancel`, of this scope or of one above -> ENLISTED FLAGGED |
//! | ENLISTED FLAGGED    | cancelled                                          | nothing                                          |
//!
//! Each scope has a lock. It guards the list of the scope's children (`first_child` of the scope, `previous` and `next`
//! of the children), and its waiter. A scope is enlisted, and ends, under the lock of its *parent*, so only siblings
//! contend for a lock, and the scopes of different fibers do not.
//!
//! | C, a child of P, is enlisted                     | P is cancelled                                       | C ends            |
//! |--------------------------------------------------|------------------------------------------------------|-------------------|
//! | 1. takes the lock of P                           | a. takes the lock of P                               | i. takes the lock of P |
//! | 2. sets ENLISTED, and FLAGGED if P has it, at once | b. sets FLAGGED, and looks at the waiter of P      | ii. unlinks C     |
//! | 3. links C                                       | c. does a to d with each child that is linked, while it holds the lock of P | iii. gives it back |
//! | 4. gives the lock back                           | d. gives the lock back                               |                   |
//!
//! No scope is missed: if 1 comes before a, C is linked at c; if not, P is FLAGGED at 2. A scope is enlisted after its
//! parent, and nothing is below a scope that is not enlisted. So a scope that gets its flag in 2 has no child to pass
//! it on to. The locks order two cancellers. So when `cancel` returns, all scopes below are cancelled, by either of
//! them. Another fiber or thread may enlist a scope, by a wait below it. A thread that sees ENLISTED sees the flag that
//! came with it, since both are set at once.
//!
//! Lifetimes: a scope ends after the scopes below it, and is unlinked under its parent's lock. A canceller holds all
//! locks from the scope that it cancels, which its caller keeps alive, down to the scope that it visits. So every scope
//! that it reaches is alive. So are the waiters, which outlive their scopes, or are detached under the lock of the
//! scope (`detach`). Locks are taken downwards only, so there is no deadlock.
//!
//! A wait belongs to the scope in which it was begun, whose address is in the waiter's word. A fiber or thread may have
//! several scopes at a time that are not nested, each with the same waiter. No canceller reads the waiter of a scope
//! before it is enlisted.
//!
//! A *shielded* scope gets no cancellation from above: it is ENLISTED from the beginning, and in no list.
//!
//! Orderings: setting a flag releases and finding it set acquires, so what the canceller did before is visible.
//! Enlisting acquires the parent's flag by the lock and releases its copy. A canceller acquires ENLISTED, with which
//! the waiter of a root is released. `state` is changed by read-modify-writes alone, so each releases what those before
//! it did. The waiter's own orderings, or the locks, cover the rest.
//!
//! A scope is TIMED, from beginning to end, if there is a deadline for what is done in it. That is for
//! [`is_plainly_active`](CancelScope::is_plainly_active), which returns `false` then, and costs other scopes
//! nothing.

use crate::{
    sys::sync::{AtomicU8, Cell, Mutex, MutexGuard, Ordering, fence_after_update, lock},
    wait::waiter::Waiter,
};
use std::{marker::PhantomPinned, ptr};

/// The scope was cancelled.
const FLAGGED: u8 = 1;
/// The scope is cancelled together with the scopes above. A shielded scope, and a root that was made with its waiter,
/// have this bit from the beginning: they get no cancellation from above.
const ENLISTED: u8 = 2;
/// There is a deadline.
const TIMED: u8 = 4;

/// See the [module](self). Aligned on 32-bit systems too: a waiter keeps a tag in the low bits of its address.
#[repr(align(8))]
pub(crate) struct CancelScope {
    /// [`FLAGGED`], [`ENLISTED`], [`TIMED`].
    state: AtomicU8,
    is_shielded: bool,
    /// Null in a root.
    parent: *const CancelScope,
    /// Guards the waiter and the list of the children.
    lock: Mutex<()>,
    /// The waiter of this scope, or null while there is none. Once the scope is enlisted the lock guards it; before
    /// that only the creator of the scope accesses it.
    waiter: Cell<*const Waiter>,
    first_child: Cell<*const CancelScope>,
    /// The siblings, guarded by the lock of the parent.
    previous: Cell<*const CancelScope>,
    next: Cell<*const CancelScope>,
    _pinned: PhantomPinned,
}

// SAFETY: `parent` outlives the scope and does not change. The state is atomic. The locks of the scope and of its
// parent guard the rest once the scope is enlisted; before that only its creator accesses the rest.
unsafe impl Send for CancelScope {}
// SAFETY: `parent` outlives the scope and does not change. The state is atomic. The locks of the scope and of its
// parent guard the rest once the scope is enlisted; before that only its creator accesses the rest.
unsafe impl Sync for CancelScope {}

impl CancelScope {
    /// Creates the root of a tree. `waiter` waits in it, until its end.
    pub(crate) fn root(waiter: *const Waiter) -> Self {
        Self::new(ptr::null(), waiter, ENLISTED)
    }

    /// Creates the root of a tree whose waiter is set later. See `attach`.
    pub(crate) fn unattached() -> Self {
        Self::new(ptr::null(), ptr::null(), 0)
    }

    /// Creates a scope below `parent`. It has the deadline of `parent` unless it is shielded.
    ///
    /// # Safety
    /// `parent` and `waiter` outlive it, and it does not move once it is used.
    pub(crate) unsafe fn below(parent: &CancelScope, waiter: *const Waiter, is_shielded: bool) -> Self {
        let state = if is_shielded { ENLISTED } else { parent.state.load(Ordering::Relaxed) & TIMED };
        Self::new(parent, waiter, state)
    }

    /// Creates a scope below `parent`, with a deadline.
    ///
    /// # Safety
    /// As for [`below`](Self::below).
    pub(crate) unsafe fn timed_below(parent: &CancelScope, waiter: *const Waiter) -> Self {
        Self::new(parent, waiter, TIMED)
    }

    fn new(parent: *const CancelScope, waiter: *const Waiter, state: u8) -> Self {
        Self {
            state: AtomicU8::new(state),
            // Also a root, which has no scope above.
            is_shielded: state == ENLISTED,
            parent,
            lock: Mutex::new(()),
            waiter: Cell::new(waiter),
            first_child: Cell::new(ptr::null()),
            previous: Cell::new(ptr::null()),
            next: Cell::new(ptr::null()),
            _pinned: PhantomPinned,
        }
    }

    fn parent(&self) -> Option<&Self> {
        // SAFETY: null, or a parent, which outlives its children.
        unsafe { self.parent.as_ref() }
    }

    /// Returns whether one load shows that the scope is not cancelled and has no deadline. If `false`, the caller has
    /// to check.
    #[inline]
    pub(crate) fn is_plainly_active(&self) -> bool {
        self.state.load(Ordering::Acquire) == ENLISTED
    }

    /// Returns the address by which the waiter's word identifies the scope of a wait.
    #[inline]
    pub(crate) fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// Returns the flag alone. For an enlisted scope that is the whole answer.
    #[inline]
    pub(crate) fn is_flagged(&self) -> bool {
        self.state.load(Ordering::Acquire) & FLAGGED != 0
    }

    /// Returns whether this scope, or one above up to a shield, was cancelled. Constant for one that has waited;
    /// otherwise linear in the number of scopes above that have not.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        let mut scope = self;
        loop {
            let state = scope.state.load(Ordering::Acquire);
            if state & (FLAGGED | ENLISTED) != 0 {
                return state & FLAGGED != 0;
            }
            match scope.parent() {
                Some(parent) => scope = parent,
                None => return false,
            }
        }
    }

    /// Returns whether there is a shield between this scope and the root.
    #[cold]
    pub(crate) fn is_behind_a_shield(&self) -> bool {
        let mut scope = self;
        while let Some(parent) = scope.parent() {
            if scope.is_shielded {
                return true;
            }
            scope = parent;
        }
        false
    }

    /// Returns whether the scope has been enlisted. The flag is in the same word: a thread that sees ENLISTED also sees
    /// the flag when it reads it.
    #[inline]
    fn is_enlisted(&self) -> bool {
        self.state.load(Ordering::Relaxed) & ENLISTED != 0
    }

    /// Enlists the scope and those above it, so that their cancellation reaches it.
    #[inline]
    pub(crate) fn enlist(&self) {
        if !self.is_enlisted() {
            self.enlist_all();
        }
    }

    #[cold]
    fn enlist_all(&self) {
        // From the top down: each scope copies the flag of its parent. Most often the parent is enlisted, and the path
        // is empty.
        let mut path = Vec::new();
        let mut scope = self;
        while let Some(parent) = scope.parent()
            && !parent.is_enlisted()
        {
            path.push(scope);
            scope = parent;
        }
        scope.enlist_below_parent();
        path.into_iter().rev().for_each(Self::enlist_below_parent);
    }

    /// Enlists the scope, whose parent, if there is one, is enlisted.
    fn enlist_below_parent(&self) {
        let Some(parent) = self.parent() else {
            self.state.fetch_or(ENLISTED, Ordering::Release);
            return;
        };
        let _siblings = lock(&parent.lock);
        let flag = parent.state.load(Ordering::Relaxed) & FLAGGED; // set under this lock
        let is_enlisted = self.state.fetch_or(ENLISTED | flag, Ordering::Release) & ENLISTED != 0;
        // Another thread may have enlisted it first.
        if !is_enlisted {
            let first = parent.first_child.replace(self);
            self.next.set(first);
            // SAFETY: `first` is in the list, whose lock is held, so it is alive: a scope is unlinked under that lock
            // before it ends.
            if let Some(first) = unsafe { first.as_ref() } {
                first.previous.set(self);
            }
        }
    }

    /// Cancels this scope and all below it, up to shields. Linear in the number of scopes below that have waited.
    pub(crate) fn cancel(&self) {
        let Some(_own) = self.flag() else { return };
        // The locks of the scopes between this one and the children that are visited.
        let mut held = Vec::new();
        let mut scope = self;
        // Depth first, by the links: a deep tree must not need a deep stack.
        // SAFETY: the lock of `scope`, the parent of the visited children, is held. So all linked children are alive.
        unsafe {
            let mut child = scope.first_child.get();
            loop {
                if let Some(next) = child.as_ref() {
                    match next.flag() {
                        Some(guard) if !next.first_child.get().is_null() => {
                            held.push(guard);
                            scope = next;
                            child = scope.first_child.get();
                        }
                        _ => child = next.next.get(),
                    }
                } else if held.pop().is_some() {
                    child = scope.next.get();
                    scope = &*scope.parent;
                } else {
                    return;
                }
            }
        }
    }

    /// Takes the lock, sets the flag, and ends the wait that may be continuing. Returns `None` if the flag was set
    /// before.
    fn flag(&self) -> Option<MutexGuard<'_, ()>> {
        let guard = lock(&self.lock);
        let before = self.state.fetch_or(FLAGGED, Ordering::AcqRel);
        if before & FLAGGED != 0 {
            return None;
        }
        if before & ENLISTED == 0 {
            return Some(guard);
        }
        fence_after_update();
        let waiter = self.waiter.get();
        if !waiter.is_null() {
            // SAFETY: the waiter outlives the scope unless `detach` removes it, which takes the lock that is held here.
            // Only threads and fibers wait in scopes, so the wake-up runs no foreign code.
            if let Some(wake) = unsafe { Waiter::cancel(waiter, self.address()) } {
                wake.wake();
            }
        }
        Some(guard)
    }

    /// Sets the waiter of this root, which was made without.
    ///
    /// # Safety
    /// Called once, before there is a scope below it or a wait in it. `waiter` stays alive until `detach`.
    pub(crate) unsafe fn attach(&self, waiter: *const Waiter) {
        self.waiter.set(waiter);
    }

    /// Removes the waiter of this root: there are no more waits in it.
    pub(crate) fn detach(&self) {
        // The fibers or threads that enlisted it waited in it or below, and have ended.
        if self.is_enlisted() {
            let _own = lock(&self.lock);
            self.waiter.set(ptr::null());
        }
    }

    /// Removes the scope from the list of the parent.
    #[cold]
    fn delist(&self, parent: &Self) {
        let _siblings = lock(&parent.lock);
        debug_assert!(self.first_child.get().is_null(), "a scope ends after those below it");
        let (previous, next) = (self.previous.get(), self.next.get());
        // SAFETY: both are in the list, whose lock is held, so they are alive: a scope is unlinked under that lock
        // before it ends.
        unsafe {
            match previous.as_ref() {
                Some(previous) => previous.next.set(next),
                None => parent.first_child.set(next),
            }
            if let Some(next) = next.as_ref() {
                next.previous.set(previous);
            }
        }
    }
}

impl Drop for CancelScope {
    #[inline]
    fn drop(&mut self) {
        // A scope that was never waited in is in no list, and neither is one that gets no cancellation from above. The
        // fibers or threads that enlisted it waited in it or below, and have ended.
        if self.is_enlisted()
            && !self.is_shielded
            && let Some(parent) = self.parent()
        {
            self.delist(parent);
        }
    }
}

//! Cancel scopes: the tree along which cancellation spreads.
//!
//! The idea. Each [`CancelScope`] has a flag that is set once. Whoever asks whether it is cancelled reads the flag; whoever is
//! about to suspend arms its waiter first and reads the flag then, and whoever cancels sets the flag first and looks at the
//! waiters then. One of the two sees the other, so no wait of a cancelled scope goes on. This is Dekker's pattern, with a full
//! fence on each side. That of the waiting side is free on x86: between arming and reading the flag it leaves its address in a
//! place, by some read-modify-write.
//!
//! Most scopes live and end without ever waiting, so a scope costs nothing but its few fields until it does: it is *enlisted*
//! with its parent at the first wait in it or below it. Until then its cancellation is read off its ancestors: the flag of a
//! scope that is not enlisted is that of its parent. Enlisting copies the parent's flag under the lock of the tree, and
//! cancelling goes down the tree under the same lock, so none is passed over. Another strand may enlist a scope, by a wait
//! below it; the flag is copied with the same store. Nobody
//! looks at the waiter of a scope before it is enlisted, so a spawned fiber that never waits takes no lock: the root of its tree
//! is enlisted by its first wait like any other scope.
//!
//! A wait is in the scope in which it was begun, and the waiter's word says which: a strand may have several scopes at a time
//! that are not one inside the other, each with the same waiter.
//!
//! A *shielded* scope hears nothing from above.
//!
//! Who keeps what alive: a scope ends after the scopes below it, and leaves the tree by its `Drop`, under the lock. So all that
//! can be reached under the lock is alive. The lock is that of the root.
//!
//! Orderings: setting a flag releases and finding it set acquires, so what the canceller did before is visible. Enlisting
//! releases the flag that it copied. The rest is the waiter's, as above, or guarded by the lock.

use crate::{
    sys::sync::{AtomicU8, Cell, Mutex, Ordering, full_fence, lock},
    wait::waiter::Waiter,
};
use std::{marker::PhantomPinned, ptr};

/// The scope was cancelled.
const FLAGGED: u8 = 1;
/// The scope hears when those above are cancelled. Also, from the beginning, a shielded scope and a root that was made with
/// its waiter: these have nothing to hear from above.
const ENLISTED: u8 = 2;

/// The place of a scope in its tree, guarded by the lock of the tree.
struct Links {
    first_child: Cell<*const CancelScope>,
    previous: Cell<*const CancelScope>,
    next: Cell<*const CancelScope>,
    /// What `state` is, which is written and not read by those who hold the lock. (Also for the models: loom tries another order of two
    /// accesses to an atomic only where the later one is the last of its thread, so a load before a store would hide a reader.)
    state: Cell<u8>,
    /// Who waits in this scope; null while nobody can. Guarded only once the scope is enlisted, before that its maker's.
    waiter: Cell<*const Waiter>,
}

/// See the [module](self). Aligned on 32-bit systems too: a waiter keeps a tag in the low bits of its address.
#[repr(align(8))]
pub(crate) struct CancelScope {
    /// [`FLAGGED`], [`ENLISTED`], or both. Written under the lock of the tree, for those who have not got it.
    state: AtomicU8,
    is_shielded: bool,
    parent: *const CancelScope,
    /// Null in the root itself.
    root: *const CancelScope,
    links: Links,
    /// Of the tree, in its root.
    lock: Mutex<()>,
    _pinned: PhantomPinned,
}

// SAFETY: the links are guarded by the lock of the tree, the rest is atomic or constant. `parent` and `root` end later.
unsafe impl Send for CancelScope {}
// SAFETY: as above.
unsafe impl Sync for CancelScope {}

impl CancelScope {
    /// The root of a tree. `waiter` waits in it, until its end.
    pub(crate) fn root(waiter: *const Waiter) -> Self {
        Self::new(ptr::null(), waiter, ENLISTED)
    }

    /// The root of a tree for a strand that is not known yet. See `attach`.
    pub(crate) fn unattached() -> Self {
        Self::new(ptr::null(), ptr::null(), 0)
    }

    /// A scope below `parent`.
    ///
    /// # Safety
    /// `parent` and `waiter` outlive it, and it does not move once it is used.
    pub(crate) unsafe fn below(parent: &CancelScope, waiter: *const Waiter, is_shielded: bool) -> Self {
        Self::new(parent, waiter, if is_shielded { ENLISTED } else { 0 })
    }

    fn new(parent: *const CancelScope, waiter: *const Waiter, state: u8) -> Self {
        // SAFETY: null, or a reference in `below`.
        let root = unsafe { parent.as_ref() }.map_or(parent, |parent| parent.tree());
        Self {
            state: AtomicU8::new(state),
            // Also a root, which has nothing above that it could hear of.
            is_shielded: state == ENLISTED,
            parent,
            root,
            links: Links {
                first_child: Cell::new(ptr::null()),
                previous: Cell::new(ptr::null()),
                next: Cell::new(ptr::null()),
                state: Cell::new(state),
                waiter: Cell::new(waiter),
            },
            lock: Mutex::new(()),
            _pinned: PhantomPinned,
        }
    }

    /// For those who have the lock of the tree.
    fn is_in(&self, state: u8) -> bool {
        self.links.state.get() & state != 0
    }

    /// The lock of the tree is held.
    fn enter(&self, state: u8) {
        let state = self.links.state.get() | state;
        self.links.state.set(state);
        self.state.store(state, Ordering::Release);
    }

    /// Whether somebody has waited in this scope or below, for those who know that nobody does any more.
    #[inline]
    fn was_enlisted(&self) -> bool {
        self.state.load(Ordering::Relaxed) & ENLISTED != 0
    }

    /// Whether it is certain, at a glance, that the scope is not cancelled.
    #[inline]
    pub(crate) fn is_plainly_going_on(&self) -> bool {
        self.state.load(Ordering::Acquire) == ENLISTED
    }

    /// By which the waiter's word knows the scope of a wait.
    #[inline]
    pub(crate) fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// The flag alone. For an enlisted scope that is all there is to know.
    #[inline]
    pub(crate) fn is_flagged(&self) -> bool {
        self.state.load(Ordering::Acquire) & FLAGGED != 0
    }

    /// Whether this scope, or one above up to a shield, was cancelled. Constant for one that has waited; otherwise linear in
    /// the number of scopes above that have not.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        let mut scope = self;
        loop {
            let state = scope.state.load(Ordering::Acquire);
            if state != 0 {
                return state & FLAGGED != 0;
            }
            // SAFETY: a parent outlives its children.
            match unsafe { scope.parent.as_ref() } {
                Some(parent) => scope = parent,
                None => return false,
            }
        }
    }

    /// The root. At once, and not from parent to parent: a scope that has waited wants it when it ends, however deep it is.
    fn tree(&self) -> &Self {
        // SAFETY: parents outlive their children.
        unsafe { self.root.as_ref() }.unwrap_or(self)
    }

    /// Makes the scope known to those above, so that it hears when they are cancelled.
    #[inline]
    pub(crate) fn enlist(&self) {
        // The flag is in the same word: who sees this sees it too, when he looks for it.
        if self.state.load(Ordering::Relaxed) & ENLISTED == 0 {
            self.enlist_all();
        }
    }

    #[cold]
    fn enlist_all(&self) {
        let _tree = lock(&self.tree().lock);
        // From the top down, so that what is above has heard all: the flags are copied on the way. Most often the parent is
        // enlisted, and there is nothing to remember.
        let mut path = Vec::new();
        let mut scope = self;
        // SAFETY: a parent outlives its children.
        while let Some(parent) = unsafe { scope.parent.as_ref() }
            && !parent.is_in(ENLISTED)
        {
            path.push(scope);
            scope = parent;
        }
        scope.enlist_below_parent();
        path.into_iter().rev().for_each(Self::enlist_below_parent);
    }

    /// The lock of the tree is held, and the parent, if there is one, enlisted.
    fn enlist_below_parent(&self) {
        if self.is_in(ENLISTED) {
            return;
        }
        let mut state = ENLISTED;
        // SAFETY: a parent outlives its children, and siblings are in the tree, whose lock is held.
        unsafe {
            if let Some(parent) = self.parent.as_ref() {
                state |= parent.links.state.get() & FLAGGED;
                let first = parent.links.first_child.replace(self);
                self.links.next.set(first);
                if let Some(first) = first.as_ref() {
                    first.links.previous.set(self);
                }
            }
        }
        self.enter(state);
    }

    /// Cancels this scope and all below it, up to shields. Linear in the number of scopes below that have waited.
    pub(crate) fn cancel(&self) {
        let _tree = lock(&self.tree().lock);
        self.for_each_below(Self::flag);
    }

    /// Sets the flag, then ends the wait that may be going on. Whether the flag is new. The lock of the tree is held.
    fn flag(&self) -> bool {
        if self.is_in(FLAGGED) {
            return false;
        }
        self.enter(FLAGGED);
        if !self.is_in(ENLISTED) {
            return true;
        }
        full_fence();
        let waiter = self.links.waiter.get();
        if !waiter.is_null() {
            // SAFETY: whoever takes a waiter away or ends it takes the lock first. Threads and fibers alone wait in scopes, so
            // the wake-up runs no foreign code.
            if let Some(wake) = unsafe { Waiter::cancel(waiter, self.address()) } {
                wake.wake();
            }
        }
        true
    }

    /// Calls `visit` for this scope and for all below those for which it says `true`. The lock of the tree is held.
    fn for_each_below(&self, mut visit: impl FnMut(&Self) -> bool) {
        if !visit(self) {
            return;
        }
        let mut scope = self;
        // Depth first, by the links: a deep tree must not need a deep stack.
        // SAFETY: the lock of the tree is held, so all that is linked is alive.
        unsafe {
            let mut child = scope.links.first_child.get();
            loop {
                if let Some(next) = child.as_ref() {
                    if visit(next) {
                        scope = next;
                        child = scope.links.first_child.get();
                    } else {
                        child = next.links.next.get();
                    }
                } else {
                    if ptr::eq(scope, self) {
                        return;
                    }
                    child = scope.links.next.get();
                    scope = &*scope.parent;
                }
            }
        }
    }

    /// From here on `waiter` waits in this root, which was made without.
    ///
    /// # Safety
    /// Called once, before there is a scope below it or a wait in it. `waiter` stays alive until `detach`.
    pub(crate) unsafe fn attach(&self, waiter: *const Waiter) {
        self.links.waiter.set(waiter);
    }

    /// Nobody waits in this root any more.
    pub(crate) fn detach(&self) {
        // Whoever enlisted it waited in it or below, and has ended.
        if self.was_enlisted() {
            let _tree = lock(&self.tree().lock);
            self.links.waiter.set(ptr::null());
        }
    }
}

impl Drop for CancelScope {
    #[inline]
    fn drop(&mut self) {
        // A scope that was never waited in is in no list, and neither is one that has nothing to hear from above. Whoever
        // enlisted it waited in it or below, and has ended.
        if self.was_enlisted() && !self.parent.is_null() && !self.is_shielded {
            self.delist();
        }
    }
}

impl CancelScope {
    /// Leaves the tree.
    #[cold]
    fn delist(&self) {
        let _tree = lock(&self.tree().lock);
        debug_assert!(self.links.first_child.get().is_null(), "a scope ends after those below it");
        let (previous, next) = (self.links.previous.get(), self.links.next.get());
        // SAFETY: the lock of the tree is held, so neighbours and parent are alive.
        unsafe {
            match previous.as_ref() {
                Some(previous) => previous.links.next.set(next),
                None => (*self.parent).links.first_child.set(next),
            }
            if let Some(next) = next.as_ref() {
                next.links.previous.set(previous);
            }
        }
    }
}

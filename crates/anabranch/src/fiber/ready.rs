//! Fibers that can go on: a list for the worker that they belong to, and an inbox through which others put them on it.
//!
//! The inbox is a stack of Treiber's (1986) of which only the owner takes, and always everything, so there is no ABA.
//! An owner that is awake looks into it before it parks, so nobody has to wake it: a push is one CAS. Before it parks
//! it leaves a mark in the empty inbox, and whoever puts the first fiber in the place of the mark wakes it.
//!
//! | `newest` | means                                         | left by                                                      |
//! |----------|-----------------------------------------------|--------------------------------------------------------------|
//! | null     | empty; the owner is awake                     | a push -> fiber; the owner, before it parks -> AWAY          |
//! | AWAY     | empty; the owner is to be woken for the next  | a push, which wakes it -> fiber; the owner, awake -> null    |
//! | fiber    | the newest of a chain                         | a push -> fiber; the owner takes all -> null                 |
//!
//! A worker that ends has to know that nobody is about to wake it any more: each of those who have to wake it says so
//! afterwards, in `woken`, with their last touch of the worker, and the owner counts how many of its marks were
//! replaced.
//!
//! Provenance: the pointers that were put in are the ones that come out, and are never made anew from a reference: a
//! linked [`Kick`](crate::fiber::kick::Kick) is a field, and its pointer leads to the fiber that it is a field of.
//!
//! Orderings: a push releases, the owner's swap acquires; `woken` releases and the end acquires. The mark carries
//! nothing: of a push and the owner's CAS one comes first, so either the push finds the mark or the owner the fiber.

use crate::sys::sync::{AtomicPtr, AtomicU64, Cell, Ordering, const_unless_loom, spin_while};
use std::ptr;

/// What can be in a list: a fiber, or what stands for one in the models.
pub(crate) trait Linked {
    /// The next in a list or inbox.
    fn next(&self) -> &Cell<*const Self>;

    /// Has the processor fetch what is used of the first of a list, which is taken before long, and of the one behind
    /// it. A hint.
    ///
    /// # Safety
    /// It is in a list of this thread.
    #[inline(always)]
    unsafe fn fetch_ahead(_first: *const Self) {}
}

/// A list of fibers, first in, first out, linked through the fibers. For the thread that they belong to.
pub(crate) struct List<F> {
    first: Cell<*const F>,
    last: Cell<*const F>,
}

impl<F: Linked> List<F> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { first: Cell::new(ptr::null()), last: Cell::new(ptr::null()) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self { first: Cell::new(ptr::null()), last: Cell::new(ptr::null()) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// Whether there are two or more.
    #[inline]
    pub(crate) fn has_two(&self) -> bool {
        !ptr::eq(self.first.get(), self.last.get())
    }

    /// # Safety
    /// The fiber is alive and in no list or inbox, and stays until it is taken.
    #[inline]
    pub(crate) unsafe fn push(&self, fiber: *const F) {
        // SAFETY: linked fibers are alive, by the caller's word.
        unsafe {
            (*fiber).next().set(ptr::null());
            match self.last.replace(fiber).as_ref() {
                Some(last) => last.next().set(fiber),
                None => self.first.set(fiber),
            }
        }
    }

    #[inline]
    pub(crate) fn pop(&self) -> Option<*const F> {
        let first = self.first.get();
        // SAFETY: linked fibers are alive.
        let fiber = unsafe { first.as_ref() }?;
        self.first.set(fiber.next().get());
        if self.first.get().is_null() {
            self.last.set(ptr::null());
        } else {
            // SAFETY: linked here.
            unsafe { F::fetch_ahead(self.first.get()) };
        }
        Some(first)
    }

    /// Takes one fiber out, wherever it is. Linear. Whether it was there.
    pub(crate) fn remove(&self, fiber: *const F) -> bool {
        let rest = Self::new();
        let mut is_found = false;
        while let Some(other) = self.pop() {
            if ptr::eq(other, fiber) {
                is_found = true;
            } else {
                // SAFETY: just taken from the list.
                unsafe { rest.push(other) };
            }
        }
        self.first.set(rest.first.get());
        self.last.set(rest.last.get());
        is_found
    }
}

/// See the [module](self).
pub(crate) struct Inbox<F> {
    newest: AtomicPtr<F>,
    woken: AtomicU64,
    /// Whether the owner has left a mark that it has not seen replaced; the owner's.
    is_marked: Cell<bool>,
    /// How many of its marks were; the owner's.
    replaced: Cell<u64>,
}

impl<F: Linked> Inbox<F> {
    /// No fiber is there: nothing is aligned to less than two.
    const AWAY: *mut F = ptr::without_provenance_mut(1);

    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                newest: AtomicPtr::new(ptr::null_mut()),
                woken: AtomicU64::new(0),
                is_marked: Cell::new(false),
                replaced: Cell::new(0),
            }
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let newest = self.newest.load(Ordering::Relaxed);
        newest.is_null() || newest == Self::AWAY
    }

    /// Puts a fiber in, and calls `wake` if the owner is away.
    ///
    /// # Safety
    /// The fiber is suspended, in no list or inbox, and its worker resumes it only after taking it from here. The inbox
    /// may be gone when this returns.
    pub(crate) unsafe fn post(this: *const Self, fiber: *const F, wake: impl FnOnce()) {
        // SAFETY: the worker does not end before the fiber has, and then, if it was away, not before `woken` says that
        // it was woken.
        unsafe {
            // Mostly it is empty. To look first would fetch the line twice.
            let mut newest = ptr::null_mut();
            loop {
                (*fiber).next().set(if newest == Self::AWAY { ptr::null() } else { newest });
                match (*this).newest.compare_exchange_weak(
                    newest,
                    fiber.cast_mut(),
                    Ordering::Release,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => break,
                    Err(found) => newest = found,
                }
            }
            if newest == Self::AWAY {
                wake();
                (*this).woken.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// The owner takes all there is, in the order in which it came. Whether there was anything.
    pub(crate) fn collect(&self, into: &List<F>) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut newest: *const F = self.newest.swap(ptr::null_mut(), Ordering::Acquire);
        if self.is_marked.replace(false) {
            self.replaced.set(self.replaced.get() + 1);
        }
        // Turned round: the stack has the newest first.
        let mut oldest: *const F = ptr::null();
        // SAFETY: what was in the inbox is suspended, and the owner's from here on.
        unsafe {
            while !newest.is_null() {
                let next = (*newest).next().replace(oldest);
                oldest = std::mem::replace(&mut newest, next);
            }
            while !oldest.is_null() {
                let next = (*oldest).next().get();
                into.push(std::mem::replace(&mut oldest, next));
            }
        }
        true
    }

    /// The owner is about to park, until [`come_back`](Self::come_back). `false`: it must not, there are fibers.
    #[must_use]
    pub(crate) fn go_away(&self) -> bool {
        let is_away = self.newest.compare_exchange(ptr::null_mut(), Self::AWAY, Ordering::Relaxed, Ordering::Relaxed);
        if is_away.is_ok() {
            self.is_marked.set(true);
        }
        is_away.is_ok()
    }

    /// The owner has parked. What was put in meanwhile stays for [`collect`](Self::collect).
    pub(crate) fn come_back(&self) {
        let is_back = self.newest.compare_exchange(Self::AWAY, ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed);
        if is_back.is_ok() {
            self.is_marked.set(false);
        }
    }

    /// The owner, before it ends: waits for those who are just waking it. The inbox is empty.
    pub(crate) fn settle(&self) {
        spin_while(|| self.woken.load(Ordering::Acquire) != self.replaced.get());
    }
}

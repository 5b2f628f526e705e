//! Runnable fibers: a list for the worker that owns them, and an inbox for fibers that other threads wake.
//!
//! The inbox is a Treiber stack (1986). Only the owner takes from it, and always takes everything, so there is no ABA.
//! An owner that is awake checks the inbox before it parks, so no thread has to wake it, and a push is one CAS. Before
//! it parks, the owner leaves a mark in the empty inbox. The thread that replaces the mark with the first fiber wakes
//! the owner.
//!
//! | `newest` | means                                         | left by                                                      |
//! |----------|-----------------------------------------------|--------------------------------------------------------------|
//! | null     | empty; the owner is awake                     | a push -> fiber; the owner, before it parks -> AWAY          |
//! | AWAY     | empty; the owner is to be woken for the next  | a push, which wakes it -> fiber; the owner, awake -> null    |
//! | fiber    | the newest of a chain                         | a push -> fiber; the owner takes all -> null                 |
//!
//! A worker may end only when no thread is about to wake it. Each thread that has woken it increments `woken`
//! afterwards, as its last access to the worker. The owner counts how many of its marks were replaced.
//!
//! Provenance: a pop returns the pointer that was pushed, and never derives a new one from a reference. A linked
//! [`Kick`](crate::fiber::kick::Kick) is a field, and its pointer is valid for the fiber that it is a field of.
//!
//! Orderings: a push releases, the owner's swap acquires; `woken` releases and the end acquires. The mark orders
//! nothing. Either a push or the owner's CAS comes first, so either the push finds the mark or the owner finds the
//! fiber.

use crate::sys::sync::{AtomicPtr, AtomicU64, Cell, Ordering, const_unless_loom, spin_while};
use std::ptr;

/// An item of a list: a fiber, a kick, or a substitute in the models.
pub(crate) trait Linked {
    /// Returns the link to the next item in a list or inbox.
    fn next(&self) -> &Cell<*const Self>;

    /// Prefetches the memory that the item uses when it continues. A hint.
    #[inline(always)]
    fn fetch(&self) {}

    /// Prefetches the data of the first item of a list, which is taken soon, and of the next one. A hint.
    ///
    /// # Safety
    /// It is in a list of this thread.
    #[inline(always)]
    unsafe fn fetch_ahead(_first: *const Self) {}
}

/// A first-in, first-out list, linked through its fibers. Only the thread to which they belong accesses it.
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

    /// Returns whether there are two or more fibers.
    #[inline]
    pub(crate) fn has_two(&self) -> bool {
        !ptr::eq(self.first.get(), self.last.get())
    }

    /// # Safety
    /// The fiber is alive and in no list or inbox, and stays until it is taken.
    #[inline]
    pub(crate) unsafe fn push(&self, fiber: *const F) {
        // SAFETY: the caller keeps `fiber` alive until it is taken, as the callers that pushed the linked fibers do for
        // those.
        unsafe {
            (*fiber).next().set(ptr::null());
            match self.last.replace(fiber).as_ref() {
                Some(last) => last.next().set(fiber),
                None => self.first.set(fiber),
            }
        }
    }

    /// Moves all fibers into a new list.
    pub(crate) fn take(&self) -> Self {
        let all = Self::new();
        all.first.set(self.first.replace(ptr::null()));
        all.last.set(self.last.replace(ptr::null()));
        all
    }

    /// Adds all fibers of another list, behind those of this one.
    pub(crate) fn append(&self, other: &Self) {
        let other = other.take();
        if other.is_empty() {
            return;
        }
        // SAFETY: the last fiber is in this list, so it is alive.
        match unsafe { self.last.replace(other.last.get()).as_ref() } {
            Some(last) => last.next().set(other.first.get()),
            None => self.first.set(other.first.get()),
        }
    }

    #[inline]
    pub(crate) fn pop(&self) -> Option<*const F> {
        let first = self.first.get();
        // SAFETY: the callers of `push` keep the linked fibers alive until they are taken.
        let fiber = unsafe { first.as_ref() }?;
        self.first.set(fiber.next().get());
        if self.first.get().is_null() {
            self.last.set(ptr::null());
        } else {
            // SAFETY: the fiber is in this list.
            unsafe { F::fetch_ahead(self.first.get()) };
        }
        Some(first)
    }

    /// Removes a fiber from anywhere in the list, in linear time. Returns whether it was there.
    pub(crate) fn remove(&self, fiber: *const F) -> bool {
        let rest = Self::new();
        let mut is_found = false;
        while let Some(other) = self.pop() {
            if ptr::eq(other, fiber) {
                is_found = true;
            } else {
                // SAFETY: the fiber was just taken from the list, so it is alive and in no list. It stays alive until
                // it is taken again.
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
    /// Whether the owner has left a mark that it has not seen replaced. Only the owner accesses it.
    is_marked: Cell<bool>,
    /// How many of the owner's marks were replaced. Only the owner accesses it.
    replaced: Cell<u64>,
}

impl<F: Linked> Inbox<F> {
    /// The mark. It is the address of no fiber, since fibers are aligned to at least two.
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

    /// Posts a fiber, and calls `wake` if the owner is away.
    ///
    /// # Safety
    /// The fiber is suspended, in no list or inbox, and its worker resumes it only after taking it from here. The inbox
    /// may be gone when this returns.
    pub(crate) unsafe fn push_remote(this: *const Self, fiber: *const F, wake: impl FnOnce()) {
        // SAFETY: the caller's fiber is suspended, and its worker ends after it, so both are alive until the push. If
        // the worker was away, it does not end before `woken` counts this wake.
        unsafe {
            // The inbox is mostly empty. A load before the CAS would fetch the cache line twice.
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

    /// Moves all fibers to `into`, in the order in which they came. Only the owner calls this. Returns whether there
    /// were any.
    pub(crate) fn collect(&self, into: &List<F>) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut newest: *const F = self.newest.swap(ptr::null_mut(), Ordering::Acquire);
        if self.is_marked.replace(false) {
            self.replaced.set(self.replaced.get() + 1);
        }
        // Reverses the list: the stack has the newest fiber first.
        let mut oldest: *const F = ptr::null();
        // SAFETY: `push_remote` demands suspended fibers that only their worker, the caller, resumes. So they are
        // alive, and only the caller accesses their links.
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

    /// Marks the owner as about to park, until [`come_back`](Self::come_back). Returns `false` if there are fibers:
    /// then the owner must not park.
    #[must_use]
    pub(crate) fn go_away(&self) -> bool {
        let is_away = self.newest.compare_exchange(ptr::null_mut(), Self::AWAY, Ordering::Relaxed, Ordering::Relaxed);
        if is_away.is_ok() {
            self.is_marked.set(true);
        }
        is_away.is_ok()
    }

    /// Removes the mark after the owner has parked. Fibers that were injected meanwhile stay for
    /// [`collect`](Self::collect).
    pub(crate) fn come_back(&self) {
        let is_back = self.newest.compare_exchange(Self::AWAY, ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed);
        if is_back.is_ok() {
            self.is_marked.set(false);
        }
    }

    /// Blocks until no thread is about to wake the owner, before the owner ends. The inbox is empty.
    pub(crate) fn settle(&self) {
        spin_while(|| self.woken.load(Ordering::Acquire) != self.replaced.get());
    }
}

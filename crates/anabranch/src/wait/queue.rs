//! A queue of waiters behind somebody's lock: what mutexes, semaphores, conditions and events wait in.
//!
//! The entries lie with those who wait and are linked into a doubly linked list, so nothing is allocated and each can
//! leave from the middle. All links and values, and the decision about an entry, are guarded by the lock that guards
//! the [`Queue`] itself: an entry is taken off and decided before the lock is let go. A waiter whose wait ended
//! otherwise takes the lock and leaves; one that was decided from here has left already and need not come back. Once an
//! entry is decided it is not touched any more: its waiter may be gone.
//!
//! The value of an entry is its owner's while the entry is in no queue, and the lock's while it is in one. Whatever is
//! written into it when the entry is taken off, the owner goes by the outcome of its wait: a wait that had ended
//! otherwise was handed nothing.
//!
//! A future may be forgotten while it waits. Its entry stays where it is then, for ever, as what is pinned has to; so a
//! queue may end with entries in it, and move once nobody borrows what it belongs to: no entry refers to it.

use crate::{
    sys::sync::Cell,
    wait::{
        waitable::Address,
        waiter::{Outcome, Waiter, Wake},
    },
};
use std::{cell::UnsafeCell, marker::PhantomPinned, ptr};

/// One wait in a [`Queue`]: lies on the stack of the waiting strand, or in a pinned future. `T` is what the strand asks
/// for, and what it is handed.
pub(crate) struct Entry<T> {
    previous: Cell<*const Entry<T>>,
    next: Cell<*const Entry<T>>,
    is_linked: Cell<bool>,
    address: Cell<Address>,
    value: UnsafeCell<T>,
    _pinned: PhantomPinned,
}

// SAFETY: all of it is guarded by the lock of the queue.
unsafe impl<T: Send> Send for Entry<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Entry<T> {}

impl<T> Entry<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            previous: Cell::new(ptr::null()),
            next: Cell::new(ptr::null()),
            is_linked: Cell::new(false),
            address: Cell::new(Address { waiter: ptr::null(), ticket: 0 }),
            value: UnsafeCell::new(value),
            _pinned: PhantomPinned,
        }
    }

    /// Who waits with the entry. `None`: it is in no queue.
    ///
    /// # Safety
    /// The caller holds the lock of the queue.
    pub(crate) unsafe fn waiter(&self) -> Option<*const Waiter> {
        self.is_linked.get().then(|| self.address.get().waiter)
    }

    /// Looks at the value, before or after a wait.
    ///
    /// # Safety
    /// The caller is who waits with this entry, and the entry is in no queue: it was not pushed, or it has been removed
    /// since, or its wait was decided by the queue. `look` does not come back here.
    pub(crate) unsafe fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller's word: nobody else can reach the value.
        look(unsafe { &mut *self.value.get() })
    }
}

/// A mark in the lowest bit of a pointer: it is that of a waiter.
const ONLY: usize = 1;

/// See the [module](self).
pub(crate) struct Queue<T> {
    first: *const Entry<T>,
    /// The last entry; or, marked with [`ONLY`], the waiter of the first if that is the only one and its ticket is 0.
    ///
    /// Entries lie on the stacks of fibers that wait, so to read one mostly misses the caches and the TLB. So a wait
    /// that is alone in its queue, as most are, is decided without reading its entry.
    last: *const (),
}

// SAFETY: the entries stay where they are while they are linked, whichever thread holds the lock.
unsafe impl<T: Send> Send for Queue<T> {}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self { first: ptr::null(), last: ptr::null() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    /// The waiter of the only entry, if its ticket is 0. `None`: it has another, or there are several entries or none.
    #[inline]
    fn only(&self) -> Option<*const Waiter> {
        (self.last.addr() & ONLY != 0).then(|| self.last.map_addr(|address| address & !ONLY).cast())
    }

    /// The last entry, or null.
    #[inline]
    fn last(&self) -> *const Entry<T> {
        if self.only().is_some() { self.first } else { self.last.cast() }
    }

    /// The first entry comes into an empty queue.
    #[inline]
    fn set_only(&mut self, entry: &Entry<T>, waiter: *const Waiter, ticket: u32) {
        const { assert!(align_of::<Waiter>() > ONLY) };
        self.first = entry;
        self.last =
            if ticket == 0 { waiter.cast::<()>().map_addr(|address| address | ONLY) } else { self.first.cast() };
    }

    /// What the first in the queue asks for.
    pub(crate) fn first(&mut self) -> Option<&mut T> {
        // SAFETY: linked, so alive; its value is guarded by the lock that `&mut self` stands for.
        unsafe { self.first.as_ref().map(|entry| &mut *entry.value.get()) }
    }

    /// The first entry of another waiter than this one.
    fn other_than(&self, waiter: *const Waiter) -> Option<&Entry<T>> {
        let mut entry = self.first;
        // SAFETY: linked entries are alive.
        while let Some(found) = unsafe { entry.as_ref() } {
            if !ptr::eq(found.address.get().waiter, waiter) {
                return Some(found);
            }
            entry = found.next.get();
        }
        None
    }

    /// Whether anybody is in the queue but this waiter, which may be in it several times. Linear in how often it is.
    pub(crate) fn has_other_than(&self, waiter: *const Waiter) -> bool {
        self.other_than(waiter).is_some()
    }

    /// # Safety
    /// The entry is not linked; it stays where it is until it is taken off or removed. The waiter is armed, and does
    /// not leave its wait before.
    pub(crate) unsafe fn push_back(&mut self, entry: &Entry<T>, waiter: *const Waiter, ticket: u32) {
        debug_assert!(!entry.is_linked.get());
        entry.address.set(Address { waiter, ticket });
        entry.next.set(ptr::null());
        entry.is_linked.set(true);
        if self.first.is_null() {
            entry.previous.set(ptr::null());
            return self.set_only(entry, waiter, ticket);
        }
        let last = self.last();
        entry.previous.set(last);
        // SAFETY: the queue is not empty, and linked entries are alive.
        unsafe { (*last).next.set(entry) };
        self.last = ptr::from_ref(entry).cast();
    }

    /// As [`push_back`](Self::push_back), before all others: for who had waited already.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn push_front(&mut self, entry: &Entry<T>, waiter: *const Waiter, ticket: u32) {
        debug_assert!(!entry.is_linked.get());
        entry.address.set(Address { waiter, ticket });
        entry.previous.set(ptr::null());
        entry.next.set(self.first);
        entry.is_linked.set(true);
        // SAFETY: linked entries are alive.
        match unsafe { self.first.as_ref() } {
            Some(first) => {
                self.last = self.last().cast();
                first.previous.set(entry);
                self.first = entry;
            }
            None => self.set_only(entry, waiter, ticket),
        }
    }

    /// Takes an entry out, wherever it is. `false`: it was not in the queue any more.
    ///
    /// # Safety
    /// The entry was pushed to this queue.
    pub(crate) unsafe fn remove(&mut self, entry: &Entry<T>) -> bool {
        if !entry.is_linked.replace(false) {
            return false;
        }
        let (previous, next) = (entry.previous.get(), entry.next.get());
        // SAFETY: the neighbours are linked, so alive.
        unsafe {
            match previous.as_ref() {
                Some(previous) => previous.next.set(next),
                None => self.first = next,
            }
            match next.as_ref() {
                Some(next) => next.previous.set(previous),
                None => self.last = previous.cast(),
            }
        }
        true
    }

    /// Takes the first off and ends its wait. `hand` is shown the value before that. `None`: there is nobody, or the
    /// wait had ended otherwise, and what was handed is not received. The caller lets go of the lock and wakes.
    #[inline]
    pub(crate) fn decide_head(&mut self, hand: impl FnOnce(&mut T)) -> Option<Wake> {
        // SAFETY: linked, so alive, as is its waiter, which cannot leave before it has had the lock.
        unsafe {
            let entry = self.first.as_ref()?;
            entry.is_linked.set(false);
            if let Some(only) = self.only() {
                (self.first, self.last) = (ptr::null(), ptr::null());
                hand(&mut *entry.value.get());
                return Waiter::decide(only, Outcome::Ready(0));
            }
            self.first = entry.next.get();
            match self.first.as_ref() {
                Some(first) => first.previous.set(ptr::null()),
                None => self.last = ptr::null(),
            }
            hand(&mut *entry.value.get());
            entry.address.get().decide()
        }
    }

    /// As [`decide_head`](Self::decide_head), with the first whose wait goes on. `None`: the queue is empty.
    #[inline]
    pub(crate) fn decide_first(&mut self, mut hand: impl FnMut(&mut T)) -> Option<Wake> {
        while !self.is_empty() {
            if let Some(wake) = self.decide_head(&mut hand) {
                return Some(wake);
            }
        }
        None
    }

    /// As [`decide_first`](Self::decide_first), where nothing is handed, with the first that is not this waiter.
    /// `None`: there is no other.
    pub(crate) fn decide_other_than(&mut self, waiter: *const Waiter) -> Option<Wake> {
        loop {
            let entry: *const Entry<T> = self.other_than(waiter)?;
            // SAFETY: linked until it is removed here, and its waiter cannot leave before it has had the lock.
            unsafe {
                self.remove(&*entry);
                if let Some(wake) = (*entry).address.get().decide() {
                    return Some(wake);
                }
            }
        }
    }
}

/// How many are decided under a lock before it is let go and they are woken.
const BATCH: usize = 16;

/// Decided waiters, to be woken when the lock has been let go.
pub(crate) struct Wakes {
    list: [Option<Wake>; BATCH],
    len: usize,
}

impl Wakes {
    pub(crate) fn new() -> Self {
        Self { list: [const { None }; BATCH], len: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == BATCH
    }

    /// Adds one, if there is one. There must be room.
    pub(crate) fn push(&mut self, wake: Option<Wake>) {
        if wake.is_some() {
            self.list[self.len] = wake;
            self.len += 1;
        }
    }

    /// Wakes them in their order. If the waker of a task panics, the others are woken all the same.
    pub(crate) fn wake_all(self) {
        for wake in self.list.into_iter().flatten() {
            wake.wake();
        }
    }
}

//! A queue of waiters that its owner guards by a lock: mutexes, semaphores, condition variables and events use it.
//!
//! The queue is an intrusive doubly linked list of entries that the waiters own. So nothing is allocated, and each
//! entry can leave from the middle. The lock that guards the [`Queue`] guards all links and values, and the end of the
//! wait: a thread removes an entry and ends its wait before it unlocks. A waiter whose wait ended otherwise takes the
//! lock and removes its entry. A waiter that was selected by the queue is no longer linked and need not take the lock.
//! Once the wait of an entry has ended it is not accessed any more, as its waiter may be gone.
//!
//! The owner of an entry may access its value while the entry is in no queue; the holder of the lock may while it is in
//! one. Whatever is written into it when the entry is removed, the owner goes by the outcome of its wait: a wait that
//! had ended otherwise was handed nothing.
//!
//! A future may be forgotten while it waits. Its entry is pinned, so it then stays where it is for ever. So a queue may
//! be dropped with entries in it. It may also move once its owner is no longer borrowed, as no entry refers to it.

use crate::{
    sys::{prefetch::prefetch, sync::Cell},
    wait::{
        waitable::{Armed, Ended, WaiterRef},
        waiter::{Selected, Waiter, Wake},
    },
};
use std::{cell::UnsafeCell, marker::PhantomPinned, mem, ptr};

/// One wait in a [`Queue`]. It is on the stack of the waiting fiber or thread, or in a pinned future. `T` is what the
/// waiter asks for, and what it is handed.
pub(crate) struct Entry<T> {
    previous: Cell<*const Entry<T>>,
    next: Cell<*const Entry<T>>,
    is_linked: Cell<bool>,
    address: Cell<WaiterRef>,
    value: UnsafeCell<T>,
    _pinned: PhantomPinned,
}

// SAFETY: while the entry is linked, the lock of the queue guards all cells. While it is not, only its owner accesses
// them.
unsafe impl<T: Send> Send for Entry<T> {}
// SAFETY: while the entry is linked, the lock of the queue guards all cells. While it is not, only its owner accesses
// them.
unsafe impl<T: Send> Sync for Entry<T> {}

impl<T> Entry<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            previous: Cell::new(ptr::null()),
            next: Cell::new(ptr::null()),
            is_linked: Cell::new(false),
            address: Cell::new(WaiterRef::NONE),
            value: UnsafeCell::new(value),
            _pinned: PhantomPinned,
        }
    }

    /// Returns the waiter of the entry, or `None` if the entry is in no queue.
    ///
    /// # Safety
    /// The caller holds the lock of the queue until after the last use of the waiter.
    pub(crate) unsafe fn waiter(&self) -> Option<&Waiter> {
        // SAFETY: the waiter of a linked entry is alive. The entry stays linked, because the caller holds the lock.
        self.is_linked.get().then(|| unsafe { &*self.address.get().waiter() })
    }

    /// Gives `look` access to the value before the entry is pushed.
    #[inline]
    pub(crate) fn with_armed<R>(&self, _: &mut Armed, look: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the token is for this entry, so the entry is in no queue. `look` has no second token.
        unsafe { self.with(look) }
    }

    /// Gives `look` access to the value after the queue has selected the wait.
    #[inline]
    pub(crate) fn with_selected<R>(&self, ended: &mut Ended, look: impl FnOnce(&mut T) -> R) -> R {
        assert!(ended.is_selected(), "an entry that was not selected may be in its queue");
        // SAFETY: the queue has taken the entry off to select its wait. `look` has no second token.
        unsafe { self.with(look) }
    }

    /// Gives `look` access to the value, before or after a wait.
    ///
    /// # Safety
    /// The caller owns this entry, and the entry is in no queue: it was not pushed, or it has been removed since, or
    /// the queue has selected its wait. `look` does not call this function for the same entry.
    pub(crate) unsafe fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller owns the entry, which is in no queue, so nothing else can reach the value. `look` does not
        // borrow it again.
        look(unsafe { &mut *self.value.get() })
    }
}

/// A mark in the lowest bit of a pointer: it points to a waiter.
const ONLY: usize = 1;

/// See the [module](self).
pub(crate) struct Queue<T> {
    first: *const Entry<T>,
    /// The last entry; or, marked with [`ONLY`], the waiter of the first if that is the only one and its ticket is 0.
    ///
    /// Entries lie on the stacks of fibers that wait, so to read one mostly misses the caches and the TLB. So a wait
    /// that is alone in its queue, as most are, is selected without reading its entry; it is only marked.
    last: *const (),
}

// SAFETY: the owner of an entry keeps it alive and in place while it is linked. The lock lets one thread at a time
// access the links and values.
unsafe impl<T: Send> Send for Queue<T> {}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self { first: ptr::null(), last: ptr::null() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    /// Returns the waiter of the only entry, if its ticket is 0. Returns `None` if it has another ticket, or if there
    /// are several entries or none.
    #[inline]
    fn only(&self) -> Option<*const Waiter> {
        (self.last.addr() & ONLY != 0).then(|| self.last.map_addr(|address| address & !ONLY).cast())
    }

    /// Returns the last entry, or null.
    #[inline]
    fn last(&self) -> *const Entry<T> {
        if self.only().is_some() { self.first } else { self.last.cast() }
    }

    /// Has the processor fetch the first entry, and its waiter if that is the only one. Both mostly miss the caches,
    /// and the entry the TLB, too: called some work ahead of a selection, the misses overlap.
    #[inline]
    pub(crate) fn prefetch_first(&self) {
        prefetch(self.first.wrapping_byte_add(mem::offset_of!(Entry<T>, is_linked)).cast());
        if let Some(only) = self.only() {
            prefetch(only.cast());
        }
    }

    /// Links the first entry of an empty queue.
    #[inline]
    fn set_only(&mut self, entry: &Entry<T>, address: WaiterRef) {
        const { assert!(align_of::<Waiter>() > ONLY) };
        self.first = entry;
        self.last = if address.ticket() == 0 {
            address.waiter().cast::<()>().map_addr(|address| address | ONLY)
        } else {
            self.first.cast()
        };
    }

    /// Returns the value of the first entry.
    pub(crate) fn first(&mut self) -> Option<&mut T> {
        // SAFETY: the entry is linked, so alive. The lock that `&mut self` stands for guards its value.
        unsafe { self.first.as_ref().map(|entry| &mut *entry.value.get()) }
    }

    /// Returns the first entry of a waiter other than this one.
    fn other_than(&self, waiter: *const Waiter) -> Option<&Entry<T>> {
        let mut entry = self.first;
        // SAFETY: linked entries are alive.
        while let Some(found) = unsafe { entry.as_ref() } {
            if !ptr::eq(found.address.get().waiter(), waiter) {
                return Some(found);
            }
            entry = found.next.get();
        }
        None
    }

    /// Returns whether a waiter other than this one is in the queue. Linear in the number of entries of this waiter.
    pub(crate) fn has_other_than(&self, waiter: *const Waiter) -> bool {
        self.other_than(waiter).is_some()
    }

    /// Links an entry after all others. It stays linked until the queue selects it or it is removed.
    pub(crate) fn push_back(&mut self, entry: &Entry<T>, armed: Armed) {
        debug_assert!(!entry.is_linked.get());
        let address = armed.into_ref();
        entry.address.set(address);
        entry.next.set(ptr::null());
        entry.is_linked.set(true);
        if self.first.is_null() {
            entry.previous.set(ptr::null());
            return self.set_only(entry, address);
        }
        let last = self.last();
        entry.previous.set(last);
        // SAFETY: the queue is not empty, and linked entries are alive.
        unsafe { (*last).next.set(entry) };
        self.last = ptr::from_ref(entry).cast();
    }

    /// Links an entry before all others, for a waiter that has already waited.
    pub(crate) fn push_front(&mut self, entry: &Entry<T>, armed: Armed) {
        debug_assert!(!entry.is_linked.get());
        let address = armed.into_ref();
        entry.address.set(address);
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
            None => self.set_only(entry, address),
        }
    }

    /// Removes an entry, wherever it is. Returns `false` if it was not in the queue any more.
    pub(crate) fn remove(&mut self, entry: &Entry<T>, _: Ended) -> bool {
        // SAFETY: the token is for this entry, so the entry is in this queue or in none.
        unsafe { self.unlink(entry) }
    }

    /// # Safety
    /// The entry is in this queue, or in none.
    unsafe fn unlink(&mut self, entry: &Entry<T>) -> bool {
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

    /// Removes the first entry and ends its wait. Calls `hand` with the value before that. Returns `None` if the queue
    /// is empty, or if the wait had ended otherwise, so that what was handed is not received. The caller unlocks, then
    /// wakes.
    #[inline]
    pub(crate) fn select_head(&mut self, hand: impl FnOnce(&mut T)) -> Option<Wake> {
        // SAFETY: the entry is linked, so it and its waiter are alive: the waiter cannot leave before it has taken the
        // lock, which the caller holds.
        unsafe {
            let entry = self.first.as_ref()?;
            entry.is_linked.set(false);
            if let Some(only) = self.only() {
                (self.first, self.last) = (ptr::null(), ptr::null());
                hand(&mut *entry.value.get());
                return Waiter::try_select(only, Selected::Ready(0));
            }
            self.first = entry.next.get();
            match self.first.as_ref() {
                Some(first) => first.previous.set(ptr::null()),
                None => self.last = ptr::null(),
            }
            hand(&mut *entry.value.get());
            entry.address.get().try_select()
        }
    }

    /// Removes entries up to the first whose wait continues, and ends that wait, as [`select_head`](Self::select_head)
    /// does. Returns `None` if no wait continues.
    #[inline]
    pub(crate) fn select_first(&mut self, mut hand: impl FnMut(&mut T)) -> Option<Wake> {
        while !self.is_empty() {
            if let Some(wake) = self.select_head(&mut hand) {
                return Some(wake);
            }
        }
        None
    }

    /// Ends the first wait that continues and is not this waiter's, and hands nothing over. Returns `None` if there is
    /// none.
    pub(crate) fn select_other_than(&mut self, waiter: *const Waiter) -> Option<Wake> {
        loop {
            let entry: *const Entry<T> = self.other_than(waiter)?;
            // SAFETY: the entry is linked until it is removed here. Its waiter cannot leave before it has taken the
            // lock, which the caller holds.
            unsafe {
                self.unlink(&*entry);
                if let Some(wake) = (*entry).address.get().try_select() {
                    return Some(wake);
                }
            }
        }
    }
}

/// How many waiters are selected under a lock before the thread unlocks and wakes them.
const BATCH: usize = 16;

/// Selected waiters, to be woken after the unlock.
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

    /// Adds a wake-up, if there is one. The list must not be full.
    pub(crate) fn push(&mut self, wake: Option<Wake>) {
        if wake.is_some() {
            self.list[self.len] = wake;
            self.len += 1;
        }
    }

    /// Wakes the waiters in order. If the waker of a task panics, the others are woken all the same.
    pub(crate) fn wake_all(self) {
        for wake in self.list.into_iter().flatten() {
            wake.wake();
        }
    }
}

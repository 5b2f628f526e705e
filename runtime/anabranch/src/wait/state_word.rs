//! The state word of a packet: what the packet holds, and the address of the waiter, if there is one.
//!
//! The idea, from the pipes of Rust's libcore of 2012, which had two words for it: EMPTY, FULL and the like are small
//! numbers, and a waiter for the end of a number adds the address of its [`WaitNode`] to it. So one swap stores a value
//! and reports whether a waiter has to be woken, and one load shows whether there is a value.
//!
//! | word             | meaning                                       | left by                                             |
//! |------------------|-----------------------------------------------|-----------------------------------------------------|
//! | number           | whatever the packet says it means             | `swap`; `register` -> number + address              |
//! | number + address | the same, and a waiter waits for its end      | `swap` -> number; `recall`, `unregister` -> number  |
//!
//! The thread that takes an address out of the word ends that wait. It does so *after* the address has left the word. A
//! waiter whose wait was ended otherwise in the meantime finds its address gone, and has to stay until the other thread
//! no longer uses the node. That thread sets `is_left` in the node, but only if it came too late to end the wait.
//! Otherwise the waiter learns from the outcome that it was selected by this thread; it need not stay, and the node may
//! be gone.
//!
//! Orderings: `swap` releases what was stored, and acquires, as does every `load`. `register` and `recall` are
//! sequentially consistent because of a flag beside the word. The waiter registers first and reads the flag then; the
//! closing side sets the flag first and recalls then; so one of the two sees the other. (Both are read-modify-writes,
//! of which one comes first. That alone suffices, too, unless a plain `set` writes the word in between. The models rely
//! on this, since of sequential consistency they know only fences.) `is_left` is released and acquired: all that was
//! done to the waiter happens before its end.

use crate::{
    sys::sync::{AtomicBool, AtomicPtr, Ordering, spin_while},
    wait::{
        waitable::{Armed, Ended},
        waiter::{Selected, Waiter, Wake},
    },
};
use std::{cell::UnsafeCell, ptr};

/// What a word can hold: a number below [`LIMIT`], with or without an address.
pub(crate) type Content = *mut WaitNode;

/// Numbers are smaller than this. Nodes are aligned to it, which leaves the low bits of their addresses to the number.
const LIMIT: usize = 8;

/// Returns the number `n` as the content of a word.
#[inline]
pub(crate) const fn number(n: usize) -> Content {
    assert!(n < LIMIT);
    ptr::without_provenance_mut(n)
}

/// The node of a waiter at a word. It is stored with the wait.
#[repr(align(8))]
pub(crate) struct WaitNode {
    waiter: UnsafeCell<*const Waiter>,
    /// Next to the flag, so that the node is two words.
    ticket: UnsafeCell<u32>,
    is_left: AtomicBool,
}

// SAFETY: the waiting fiber or thread writes the cells before the address is in the word. Only the thread that took the
// address out of the word reads them. The word's release and acquire order the two.
unsafe impl Send for WaitNode {}
// SAFETY: only one thread at a time accesses the cells: the waiter before it registers, then the thread that took the
// address out of the word. The word's release and acquire order the two.
unsafe impl Sync for WaitNode {}

impl WaitNode {
    #[inline]
    pub(crate) fn new() -> Self {
        let waiter = UnsafeCell::new(ptr::null());
        Self { waiter, ticket: UnsafeCell::new(0), is_left: AtomicBool::new(false) }
    }

    #[inline]
    fn set(&self, armed: Armed) {
        let address = armed.into_ref();
        // SAFETY: the token is for this node, so the node is not registered and no other thread reads it.
        unsafe {
            *self.waiter.get() = address.waiter();
            *self.ticket.get() = address.ticket();
        }
        self.is_left.store(false, Ordering::Relaxed);
    }
}

/// See the [module](self).
pub(crate) struct Word(AtomicPtr<WaitNode>);

impl Word {
    #[inline]
    pub(crate) fn new(content: Content) -> Self {
        Self(AtomicPtr::new(content))
    }

    #[inline]
    pub(crate) fn load(&self) -> Content {
        self.0.load(Ordering::Acquire)
    }

    /// Stores a number without a look at the old content. The caller knows that there is no waiter.
    #[inline]
    pub(crate) fn set(&self, number: Content) {
        self.0.store(number, Ordering::Release);
    }

    #[inline]
    pub(crate) fn swap(&self, number: Content) -> Content {
        self.0.swap(number, Ordering::AcqRel)
    }

    /// Replaces `from` by `to`. Returns `false` if the word did not hold `from`.
    #[inline]
    pub(crate) fn replace(&self, from: Content, to: Content) -> bool {
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::Acquire).is_ok()
    }

    /// Ends the wait for the end of `number`, if there is one, and leaves the number. Performs a read-modify-write in
    /// any case.
    pub(crate) fn recall(&self, number: Content) -> Option<Wake> {
        let mut content = self.0.load(Ordering::Relaxed);
        loop {
            let is_awaited = is_address(content) && number_of(content) == number;
            let next = if is_awaited { number } else { content };
            match self.0.compare_exchange_weak(content, next, Ordering::SeqCst, Ordering::Relaxed) {
                // SAFETY: the exchange has just taken the address out of the word.
                Ok(_) => return if is_awaited { unsafe { try_select(content) } } else { None },
                Err(found) => content = found,
            }
        }
    }

    /// Adds the address of a node to `number`. Returns `false` if the word holds another number. No other waiter waits
    /// here for the end of `number`, except in a future that was forgotten: its address is replaced.
    #[inline]
    pub(crate) fn register(&self, number: Content, node: &WaitNode, armed: Armed) -> bool {
        node.set(armed);
        let mut content = number;
        loop {
            match self.0.compare_exchange(content, added(node, number), Ordering::SeqCst, Ordering::Acquire) {
                Ok(_) => return true,
                // The address is of a future that was forgotten while it waited, and which need not be woken.
                Err(found) if number_of(found) == number => content = found,
                Err(_) => return false,
            }
        }
    }

    /// Adds the address of a node to `number` by a plain store, as [`set`](Self::set) does: no other thread writes the
    /// word meanwhile. Returns `false` if the word holds another number.
    #[inline]
    pub(crate) fn register_alone(&self, number: Content, node: &WaitNode, armed: Armed) -> bool {
        if number_of(self.0.load(Ordering::Relaxed)) != number {
            return false;
        }
        node.set(armed);
        self.set(added(node, number));
        true
    }

    /// Removes a node's address before the wait has begun. Returns `false` if another thread has removed it, and ends
    /// the wait.
    #[inline]
    pub(crate) fn withdraw(&self, number: Content, node: &WaitNode) -> bool {
        self.replace(added(node, number), number)
    }

    /// Removes a node's address after a wait.
    #[inline]
    pub(crate) fn unregister(&self, number: Content, node: &WaitNode, ended: Ended) {
        if !ended.is_selected() && !self.withdraw(number, node) {
            spin_while(|| !node.is_left.load(Ordering::Acquire));
        }
    }
}

#[inline]
fn added(node: &WaitNode, number: Content) -> Content {
    ptr::from_ref(node).cast_mut().map_addr(|address| address | number.addr())
}

/// Returns the number of a content, without the address.
#[inline]
pub(crate) fn number_of(content: Content) -> Content {
    ptr::without_provenance_mut(content.addr() % LIMIT)
}

#[inline]
pub(crate) fn is_address(content: Content) -> bool {
    content.addr() >= LIMIT
}

/// Ends the wait of the node whose address was taken out of a word, and wakes its waiter, unless the wait has ended
/// otherwise.
///
/// # Safety
/// The caller took the address out of the word.
#[inline(never)]
pub(crate) unsafe fn wake(content: Content) {
    // SAFETY: the caller took the address out of the word.
    if let Some(wake) = unsafe { try_select(content) } {
        wake.wake();
    }
}

/// Like [`wake`], on the waiter's own thread if it waits [locally](crate::wait::waiter).
///
/// # Safety
/// The caller took the address out of the word. If the waiter waits locally, this is its thread.
#[inline]
pub(crate) unsafe fn wake_local(content: Content) {
    // SAFETY: the caller took the address out of the word, so the waiter keeps the node alive until it is selected. A
    // waiter that waits locally, or a persistent one, has the ticket 0.
    unsafe {
        match Waiter::select_local(*(*node_of(content)).waiter.get(), Selected::Ready(0)) {
            Some(woken) => woken.wake(),
            None => wake(content),
        }
    }
}

/// # Safety
/// The caller took the address out of a word.
#[inline]
unsafe fn try_select(content: Content) -> Option<Wake> {
    // SAFETY: the waiter keeps the node alive until this thread has selected its wait or has set `is_left`.
    unsafe {
        let node = node_of(content);
        let outcome = Selected::Ready(*(*node).ticket.get());
        let wake = Waiter::try_select(*(*node).waiter.get(), outcome);
        if wake.is_none() {
            (*node).is_left.store(true, Ordering::Release);
        }
        wake
    }
}

#[inline]
fn node_of(content: Content) -> *const WaitNode {
    content.map_addr(|address| address - address % LIMIT)
}

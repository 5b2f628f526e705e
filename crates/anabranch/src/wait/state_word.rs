//! The word of a packet: what the packet holds, or who waits at it.
//!
//! The idea, from the pipes of Rust's libcore of 2012, which had two words for it: EMPTY, FULL and the like are small
//! numbers, and a strand that waits for a number to be replaced adds the address of its [`WaitNode`] to it. So to put
//! something down and to learn whether somebody has to be woken is one swap, and to see whether there is something is
//! one load.
//!
//! | word             | meaning                                       | left by                                             |
//! |------------------|-----------------------------------------------|-----------------------------------------------------|
//! | number           | whatever the packet says it means             | `swap`; `register` -> number + address              |
//! | number + address | the same, and somebody waits for its end      | `swap` -> number; `recall`, `unregister` -> number  |
//!
//! Whoever takes an address out of the word ends that wait. This happens *after* the address has left the word, so a
//! waiter whose wait ended otherwise just then finds its address gone, and has to stay until the other is through with
//! it. The other says so in the sleeper (`is_left`), but only when its decision came too late: otherwise the waiter
//! knows by the outcome that it was decided here, need not stay, and may be gone.
//!
//! Orderings: `swap` releases what was put down, and acquires, as does every `load`. `register` and `recall` are
//! sequentially consistent, for the sake of a flag beside the word: who waits registers first and reads the flag then,
//! who closes sets the flag first and recalls then, so one of the two sees the other. (Both are read-modify-writes, of
//! which one comes first: by that alone it holds, too, unless the word is written by a plain `set` in between. The
//! models, which know nothing of sequential consistency but fences, go by this.) `is_left` is released and acquired:
//! all that was done to the waiter comes before its end.

use crate::{
    sys::sync::{AtomicBool, AtomicPtr, Ordering, spin_while},
    wait::waiter::{Outcome, Waiter, Wake},
};
use std::{cell::UnsafeCell, ptr};

/// What a word can hold: a number below [`LIMIT`], with or without an address.
pub(crate) type Content = *mut WaitNode;

/// Numbers are smaller than this: sleepers are aligned to it, which leaves the low bits of their addresses to the
/// number.
const LIMIT: usize = 8;

/// The number `n`.
#[inline]
pub(crate) const fn number(n: usize) -> Content {
    assert!(n < LIMIT);
    ptr::without_provenance_mut(n)
}

/// Who waits at a word. Lies with the wait.
#[repr(align(8))]
pub(crate) struct WaitNode {
    waiter: UnsafeCell<*const Waiter>,
    /// Beside the flag, so that the whole is two words.
    ticket: UnsafeCell<u32>,
    is_left: AtomicBool,
}

// SAFETY: written by the waiting strand before the address is in the word, read by who took it out; see the module.
unsafe impl Send for WaitNode {}
// SAFETY: as above.
unsafe impl Sync for WaitNode {}

impl WaitNode {
    #[inline]
    pub(crate) fn new() -> Self {
        let waiter = UnsafeCell::new(ptr::null());
        Self { waiter, ticket: UnsafeCell::new(0), is_left: AtomicBool::new(false) }
    }

    /// # Safety
    /// The sleeper is not registered.
    #[inline]
    unsafe fn set(&self, waiter: *const Waiter, ticket: u32) {
        // SAFETY: nobody reads it, by the caller's word.
        unsafe {
            *self.waiter.get() = waiter;
            *self.ticket.get() = ticket;
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

    /// Puts a number down without a look at what was there: nobody can be waiting.
    #[inline]
    pub(crate) fn set(&self, number: Content) {
        self.0.store(number, Ordering::Release);
    }

    #[inline]
    pub(crate) fn swap(&self, number: Content) -> Content {
        self.0.swap(number, Ordering::AcqRel)
    }

    /// `true`: it held `from`, and holds `to` now.
    #[inline]
    pub(crate) fn replace(&self, from: Content, to: Content) -> bool {
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::Acquire).is_ok()
    }

    /// If somebody waits for the end of `number`, ends the wait and leaves the number. A read-modify-write in any case.
    pub(crate) fn recall(&self, number: Content) -> Option<Wake> {
        let mut content = self.0.load(Ordering::Relaxed);
        loop {
            let is_awaited = is_address(content) && number_of(content) == number;
            let next = if is_awaited { number } else { content };
            match self.0.compare_exchange_weak(content, next, Ordering::SeqCst, Ordering::Relaxed) {
                // SAFETY: taken out.
                Ok(_) => return if is_awaited { unsafe { decide(content) } } else { None },
                Err(found) => content = found,
            }
        }
    }

    /// Adds the address of a sleeper to `number`. `false`: the word holds another number.
    ///
    /// # Safety
    /// The sleeper is not registered, and stays where it is until `unregister`; the waiter is armed until then. Nobody
    /// else waits here for the end of `number`.
    #[inline]
    pub(crate) unsafe fn register(
        &self,
        number: Content,
        sleeper: &WaitNode,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        // SAFETY: not registered, so nobody reads it.
        unsafe { sleeper.set(waiter, ticket) };
        let mut content = number;
        loop {
            match self.0.compare_exchange(content, added(sleeper, number), Ordering::SeqCst, Ordering::Acquire) {
                Ok(_) => return true,
                // The address is of a future that was forgotten while it waited: nobody wants to be woken there.
                Err(found) if number_of(found) == number => content = found,
                Err(_) => return false,
            }
        }
    }

    /// As [`register`](Self::register), where nobody else writes the word now.
    ///
    /// # Safety
    /// As there, and nobody else writes the word while this lasts.
    #[inline]
    pub(crate) unsafe fn register_alone(&self, number: Content, sleeper: &WaitNode, waiter: *const Waiter) -> bool {
        if number_of(self.0.load(Ordering::Relaxed)) != number {
            return false;
        }
        // SAFETY: not registered, so nobody reads it.
        unsafe { sleeper.set(waiter, 0) };
        self.set(added(sleeper, number));
        true
    }

    /// Takes a sleeper's address out again before the wait has begun. `false`: another was faster, and ends the wait.
    #[inline]
    pub(crate) fn withdraw(&self, number: Content, sleeper: &WaitNode) -> bool {
        self.replace(added(sleeper, number), number)
    }

    /// Takes a sleeper's address out after a wait.
    ///
    /// # Safety
    /// It was registered, and the wait is over. `has_decided`: who took it out of this word has ended the wait.
    #[inline]
    pub(crate) unsafe fn unregister(&self, number: Content, sleeper: &WaitNode, has_decided: bool) {
        if !has_decided && !self.withdraw(number, sleeper) {
            spin_while(|| !sleeper.is_left.load(Ordering::Acquire));
        }
    }
}

#[inline]
fn added(sleeper: &WaitNode, number: Content) -> Content {
    ptr::from_ref(sleeper).cast_mut().map_addr(|address| address | number.addr())
}

/// The number, whoever waits for its end.
#[inline]
pub(crate) fn number_of(content: Content) -> Content {
    ptr::without_provenance_mut(content.addr() % LIMIT)
}

#[inline]
pub(crate) fn is_address(content: Content) -> bool {
    content.addr() >= LIMIT
}

/// Ends the wait of the sleeper whose address was taken out of a word.
///
/// # Safety
/// The caller took it out.
#[inline]
pub(crate) unsafe fn decide(content: Content) -> Option<Wake> {
    // SAFETY: until it is decided from here, or told that it is left, the sleeper's strand does not go on.
    unsafe {
        let sleeper = sleeper_of(content);
        let outcome = Outcome::Ready(*(*sleeper).ticket.get());
        let wake = Waiter::decide(*(*sleeper).waiter.get(), outcome);
        if wake.is_none() {
            (*sleeper).is_left.store(true, Ordering::Release);
        }
        wake
    }
}

/// As [`decide`], for whoever is on the thread of the sleeper's strand, if that waits [here](crate::wait::waiter).
///
/// # Safety
/// As there.
#[inline]
pub(crate) unsafe fn decide_at_home(content: Content) -> Option<Wake> {
    // SAFETY: the caller's word. Who waits here, or stands, has the ticket 0.
    unsafe {
        let wake = Waiter::decide_here(*(*sleeper_of(content)).waiter.get(), Outcome::Ready(0));
        if wake.is_some() { wake } else { decide_shared(content) }
    }
}

/// As [`decide`], for the less likely case.
#[inline(never)]
unsafe fn decide_shared(content: Content) -> Option<Wake> {
    // SAFETY: the caller's word.
    unsafe { decide(content) }
}

#[inline]
fn sleeper_of(content: Content) -> *const WaitNode {
    content.map_addr(|address| address - address % LIMIT)
}

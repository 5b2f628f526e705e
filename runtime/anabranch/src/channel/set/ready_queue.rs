//! The queue of called members, for their set. See `set`.

use crate::{
    sys::{
        prefetch::prefetch,
        sync::{AtomicUsize, Cell, Ordering},
    },
    wait::{
        state_word::{Content, WaitNode, Word, is_address, number, number_of, wake},
        waitable::{Armed, Ended},
        waiter::{Kind, Waiter},
    },
};
use std::{
    cell,
    ptr::{self, NonNull},
};

/// No member was called. With an address: the set waits for a call.
const QUIET: Content = number(0);
/// With the token that was called last.
const CALLED: Content = number(1);
/// The set is gone.
const GONE: Content = number(2);

/// The part of an entry that callers use.
#[repr(C)]
pub(crate) struct Token {
    /// First, so that its address is the address of the whole.
    waiter: Waiter,
    next: Cell<*const Token>,
    pub(crate) ready_queue: NonNull<ReadyQueue>,
}

impl Token {
    pub(crate) fn new(ready_queue: NonNull<ReadyQueue>) -> Self {
        Self { waiter: Waiter::persistent(&KIND), next: Cell::new(ptr::null()), ready_queue }
    }
}

/// A list of tokens, first in, first out. Tokens in a list are alive.
#[derive(Clone, Copy)]
pub(crate) struct List {
    pub(crate) first: *const Token,
    last: *const Token,
}

impl List {
    pub(crate) const EMPTY: Self = Self { first: ptr::null(), last: ptr::null() };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.first.is_null()
    }

    /// Returns the token after the first.
    #[inline]
    pub(crate) fn second(self) -> *const Token {
        // SAFETY: tokens in a list are alive.
        unsafe { self.first.as_ref() }.map_or(ptr::null(), |first| first.next.get())
    }

    /// # Safety
    /// The token is in no list and does not wait.
    #[inline]
    pub(crate) unsafe fn push(&mut self, token: *const Token) {
        // SAFETY: the caller promises that the token is in no list and does not wait, so no other thread touches it.
        unsafe { (*token).next.set(ptr::null()) };
        self.append(Self { first: token, last: token });
    }

    #[inline]
    pub(crate) fn append(&mut self, other: Self) {
        if other.is_empty() {
            return;
        }
        // SAFETY: tokens in a list are alive.
        match unsafe { self.last.as_ref() } {
            Some(last) => last.next.set(other.first),
            None => self.first = other.first,
        }
        self.last = other.last;
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        // SAFETY: tokens in a list are alive.
        if let Some(first) = unsafe { self.first.as_ref() } {
            self.first = first.next.get();
            if self.is_empty() {
                self.last = ptr::null();
            }
        }
    }

    /// Reverses a chain, which begins with the token called last, and returns it as a list.
    fn reversed(mut newest: *const Token) -> Self {
        let mut list = Self { first: ptr::null(), last: newest };
        // SAFETY: the set owns the chain from here on, so its tokens are alive.
        while let Some(token) = unsafe { newest.as_ref() } {
            let next = token.next.get();
            token.next.set(list.first);
            list.first = newest;
            newest = next;
        }
        list
    }
}

/// The part of a set that callers use.
// On a cache line of its own: all callers write to it.
#[repr(align(64))]
pub(crate) struct ReadyQueue {
    word: Word,
    /// How many calls are still to come after the set is gone. Below zero: how many have come.
    late: AtomicUsize,
    /// Frees an entry.
    free: unsafe fn(*const Token),
    /// Used only by the set: how many entries of former members are, or will be, in one of the lists.
    pub(crate) left: cell::Cell<usize>,
}

impl ReadyQueue {
    /// With the function that frees an entry.
    pub(crate) fn new(free: unsafe fn(*const Token)) -> NonNull<Self> {
        let ready_queue = Self { word: Word::new(QUIET), late: AtomicUsize::new(0), free, left: cell::Cell::new(0) };
        NonNull::from(Box::leak(Box::new(ready_queue)))
    }

    /// Takes the called members, in the order of their calls. Called by the set.
    #[inline]
    pub(crate) fn collect(&self) -> List {
        if number_of(self.word.load()) != CALLED {
            return List::EMPTY;
        }
        List::reversed(token_of(self.word.swap(QUIET)))
    }

    /// Waits until a member is called. Called by the set.
    pub(crate) fn register(&self, node: &WaitNode, armed: Armed) -> bool {
        self.word.register(QUIET, node, armed)
    }

    pub(crate) fn unregister(&self, node: &WaitNode, ended: Ended) {
        self.word.unregister(QUIET, node, ended);
    }

    /// Ends the set. Returns the members that were called until now and have not been taken.
    pub(crate) fn close(&self) -> List {
        List::reversed(token_of(self.word.swap(GONE)))
    }

    /// Leaves the ready queue to the callers that are still on their way.
    ///
    /// # Safety
    /// The set is gone and does not use the queue afterwards. Exactly `missing` callers still have a token.
    pub(crate) unsafe fn leave(this: NonNull<Self>, missing: usize) {
        // SAFETY: the last of the missing callers frees the ready queue if it comes after this.
        unsafe {
            if missing == 0 || this.as_ref().late.fetch_add(missing, Ordering::AcqRel).wrapping_add(missing) == 0 {
                drop(Box::from_raw(this.as_ptr()));
            }
        }
    }
}

static KIND: Kind = Kind { wake: call, keep: None, spins: 0, resumes: false, retries: false, home: None };

/// Puts a token onto the stack of called members, and wakes the set if it waits.
///
/// # Safety
/// The waiter is that of a token, and the caller took it out of the channel where it waited.
unsafe fn call(waiter: *const Waiter) {
    let token: *const Token = waiter.cast();
    prefetch(token.wrapping_byte_add(64).cast());
    // SAFETY: an entry that is neither in a list nor at its channel is kept for its caller until its token is in the
    // list, and so is the ready queue.
    unsafe {
        let ready_queue = (*token).ready_queue.as_ptr();
        loop {
            let found = (*ready_queue).word.load();
            if found == GONE {
                return come_late(token);
            }
            (*token).next.set(token_of(found));
            if (*ready_queue).word.replace(found, added(token)) {
                if is_address(found) && number_of(found) == QUIET {
                    wake(found);
                }
                return;
            }
        }
    }
}

/// Frees the entry, and after the last call the ready queue: the set is gone and has left both to the callers.
#[cold]
unsafe fn come_late(token: *const Token) {
    // SAFETY: the set counted the missing callers, each of which comes once, so the entry is this caller's.
    unsafe {
        let ready_queue = (*token).ready_queue.as_ptr();
        ((*ready_queue).free)(token);
        if (*ready_queue).late.fetch_sub(1, Ordering::AcqRel) == 1 {
            drop(Box::from_raw(ready_queue));
        }
    }
}

/// Returns the content of the word with this token as the last one.
fn added(token: *const Token) -> Content {
    token.cast_mut().cast::<WaitNode>().map_addr(|address| address | CALLED.addr())
}

/// Returns the token that was called last, or null.
fn token_of(content: Content) -> *const Token {
    if number_of(content) != CALLED {
        return ptr::null();
    }
    content.map_addr(|address| address - CALLED.addr()).cast_const().cast()
}

//! The stream of a 1:1 channel: packets in slabs, each with a word of its own.
//!
//! The idea. Each slot has a value and a [`Word`]. The sender goes from slot to slot and fills them, the receiver follows and
//! empties them; each knows its own position alone, so there are no indices to share, and an end touches nothing of the
//! other's but the slot that it works at (FastForward: Giacomoni, Moseley, Vachharajani 2008). A bounded stream has one slab,
//! that is gone round; an unbounded one has a chain of slabs, of which the sender makes the next when it fills the last
//! slot of one, and the receiver frees each when it has left it.
//!
//! | word   | meaning                                              | left by                                                 |
//! |--------|------------------------------------------------------|---------------------------------------------------------|
//! | EMPTY  | no value (with an address: the receiver waits for it) | the sender -> FULL; the receiver ends the stream -> END |
//! | FULL   | a value (with an address: the sender waits for room)  | the receiver takes it -> EMPTY, if bounded              |
//! | END    | the receiver found it empty and the stream closed, and looks no more | nobody; a sender that swaps puts it back, and keeps its value |
//!
//! A sender that waits for room does so at the slot that it will fill next, which is then the one that the receiver will empty
//! next. So to send is one swap, to receive one load, and in a bounded stream another swap, by which room is given back.
//!
//! Closing. Either end sets `is_closed`, and ends the other's wait if there is one. Sending is refused from then on. The receiver
//! takes what there is, and ends the stream by putting END into the first empty slot; a sender that was in the middle of
//! sending either was before that, and its value is received, or finds END, and keeps its value. So a value was sent if
//! and only if a receiver that goes on gets it. A receiver that is dropped does all this itself.
//!
//! Orderings: the swap to FULL releases the value, the receiver's load acquires it; the swap to EMPTY releases the slot, the
//! sender's load acquires it. The link to the next slab is written before the swap to FULL of the last slot, and read after
//! that was acquired. `is_closed` and the words: see [`word`](super::word). Each end gives up its part by a decrement of
//! `ends`, which releases, and the last one acquires; it frees all slabs from its own position on. A receiver that was
//! dropped stopped at END, where the sender cannot pass, so its position is the sender's.

use super::word::{Content, Sleeper, Word, decide, number, number_of};
use crate::{
    sys::sync::{AtomicBool, AtomicPtr, AtomicU8, Ordering},
    wait::waiter::Waiter,
};
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    cell::UnsafeCell,
    collections::VecDeque,
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

const EMPTY: Content = number(0);
const FULL: Content = number(1);
const END: Content = number(2);

/// How large a slab of an unbounded stream is, in bytes, if its values are small.
const SLAB: usize = 200;

/// How many slots such a slab has at least.
const MIN_SLOTS: usize = if cfg!(any(loom, shuttle)) { 2 } else { 4 };

struct Slot<T> {
    word: Word,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The head of a slab; its slots follow it in memory.
#[repr(C)]
struct Slab<T> {
    next: AtomicPtr<Slab<T>>,
    len: usize,
    slots: [Slot<T>; 0],
}

impl<T> Slab<T> {
    /// How many slots a slab of an unbounded stream has.
    const LEN: usize = {
        let fitting = SLAB.saturating_sub(size_of::<Slab<T>>()) / size_of::<Slot<T>>();
        if cfg!(any(loom, shuttle)) || fitting < MIN_SLOTS { MIN_SLOTS } else { fitting }
    };

    fn layout(len: usize) -> Layout {
        let slots = Layout::array::<Slot<T>>(len);
        let whole = slots.and_then(|slots| Layout::new::<Self>().extend(slots));
        whole.expect("a channel is smaller than the address space").0
    }

    fn new(len: usize) -> *const Self {
        let layout = Self::layout(len);
        // SAFETY: not of size zero; all of it is initialised, but the values.
        unsafe {
            let slab = alloc(layout).cast::<Self>();
            if slab.is_null() {
                handle_alloc_error(layout);
            }
            slab.write(Self { next: AtomicPtr::new(ptr::null_mut()), len, slots: [] });
            for index in 0..len {
                let slot = (&raw mut (*slab).slots).cast::<Slot<T>>().add(index);
                (&raw mut (*slot).word).write(Word::new(EMPTY));
            }
            slab
        }
    }

    /// # Safety
    /// The slab is alive.
    #[inline]
    unsafe fn first(this: *const Self) -> *const Slot<T> {
        // SAFETY: the slots follow the head, which ends where their alignment wants it, by `repr(Rust)` of an array of them.
        unsafe { (&raw const (*this).slots).cast() }
    }

    /// # Safety
    /// The slab is alive, nobody else knows of it, and no value is in it.
    unsafe fn free(this: *const Self) {
        // SAFETY: the caller's word. Words that are loom's have to be dropped.
        unsafe {
            let layout = Self::layout((*this).len);
            for index in 0..(*this).len {
                ptr::drop_in_place((&raw const (*Self::first(this).add(index)).word).cast_mut());
            }
            ptr::drop_in_place(this.cast_mut());
            dealloc(this.cast_mut().cast(), layout);
        }
    }
}

/// What both ends share besides the slots.
struct Shared {
    is_closed: AtomicBool,
    ends: AtomicU8,
    is_bounded: bool,
}

/// Where an end is.
struct Position<T> {
    shared: NonNull<Shared>,
    slot: *const Slot<T>,
    /// Behind the last slot of the slab.
    end: *const Slot<T>,
    slab: *const Slab<T>,
}

/// The end that sends.
pub(crate) struct Inlet<T> {
    at: Position<T>,
}

/// The end that receives.
pub(crate) struct Outlet<T> {
    at: Position<T>,
    is_ended: bool,
}

// SAFETY: the values go from one thread to another; positions are each end's own; by shared reference an end only looks at
// words and at flags.
unsafe impl<T: Send> Send for Inlet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Inlet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Outlet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Outlet<T> {}

/// The stream has ended.
pub(crate) struct Closed;

/// Why a value could not be put in.
pub(crate) enum Stuck {
    Full,
    Closed,
}

/// A stream with room for so many, or for any number of values.
pub(crate) fn stream<T>(capacity: Option<usize>) -> (Inlet<T>, Outlet<T>) {
    let shared = Shared { is_closed: AtomicBool::new(false), ends: AtomicU8::new(2), is_bounded: capacity.is_some() };
    // SAFETY: a box is not null.
    let shared = unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(shared))) };
    let slab = Slab::new(capacity.unwrap_or(Slab::<T>::LEN));
    // SAFETY: just made.
    let at = || unsafe { Position::new(shared, slab) };
    (Inlet { at: at() }, Outlet { at: at(), is_ended: false })
}

impl<T> Clone for Position<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Position<T> {}

/// Ends a wait whose address was taken out of a word.
fn wake(found: Content) {
    // SAFETY: the caller's word.
    if let Some(wake) = unsafe { decide(found) } {
        wake.wake();
    }
}

impl<T> Position<T> {
    /// # Safety
    /// Both are alive.
    unsafe fn new(shared: NonNull<Shared>, slab: *const Slab<T>) -> Self {
        // SAFETY: the caller's word.
        unsafe {
            let slot = Slab::first(slab);
            Self { shared, slot, end: slot.add((*slab).len), slab }
        }
    }

    #[inline]
    fn shared(&self) -> &Shared {
        // SAFETY: alive while an end has not given up its part.
        unsafe { self.shared.as_ref() }
    }

    #[inline]
    fn slot(&self) -> &Slot<T> {
        // SAFETY: positions are within slabs that are alive: the receiver's has not been freed, and the sender is not behind.
        unsafe { &*self.slot }
    }

    /// Whether this is the last slot of its slab.
    #[inline]
    fn is_last(&self) -> bool {
        // SAFETY: within the slab.
        unsafe { self.slot.add(1) == self.end }
    }

    /// The position after this one. An unbounded stream must have been extended or filled so far.
    #[inline]
    fn following(&self) -> Self {
        if !self.is_last() {
            // SAFETY: within the slab.
            return Self { slot: unsafe { self.slot.add(1) }, ..*self };
        }
        self.following_slab()
    }

    fn following_slab(&self) -> Self {
        // SAFETY: the slab is alive, and so is the next, which was linked before its last slot was filled.
        unsafe {
            let slab = if self.shared().is_bounded { self.slab } else { (*self.slab).next.load(Ordering::Acquire) };
            Self::new(self.shared, slab)
        }
    }

    /// Makes the next slab. For the sender, at the last slot of the last slab.
    #[inline(never)]
    fn extend(&self) {
        // SAFETY: the slab is alive.
        let link = unsafe { &(*self.slab).next };
        // There is one if a value was refused here before.
        if link.load(Ordering::Relaxed).is_null() {
            link.store(Slab::new(Slab::<T>::LEN).cast_mut(), Ordering::Release);
        }
    }

    fn close(&self) {
        // A swap, for the models, which take a store to be possibly later.
        self.shared().is_closed.swap(true, Ordering::SeqCst);
    }

    /// Gives up an end's part.
    ///
    /// # Safety
    /// Once for each end, which does not come back. The receiver has ended the stream.
    unsafe fn leave(&self) {
        if self.shared().ends.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let mut slab = self.slab;
        // SAFETY: the other end is gone, no value is left, and what is before this end's position was freed by the receiver.
        unsafe {
            while !slab.is_null() {
                let next = (*slab).next.load(Ordering::Relaxed);
                Slab::free(slab);
                slab = next;
            }
            drop(Box::from_raw(self.shared.as_ptr()));
        }
    }
}

impl<T> Inlet<T> {
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.at.shared().is_closed.load(Ordering::Acquire)
    }

    /// Whether there is room at this position, or will never be any.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Stuck> {
        if self.is_closed() {
            return Err(Stuck::Closed);
        }
        if self.at.shared().is_bounded && self.at.slot().word.load() == FULL {
            return Err(Stuck::Full);
        }
        Ok(())
    }

    /// Puts a value in and wakes the receiver.
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> Result<(), (Stuck, T)> {
        if let Err(stuck) = self.check() {
            return Err((stuck, value));
        }
        let slot = self.at.slot;
        if self.at.is_last() && !self.at.shared().is_bounded {
            self.at.extend();
        }
        // Looked up before the swap: after it the receiver may free the slab.
        let next = self.at.following();
        // SAFETY: empty, so it is the sender's until the swap. It stays alive: the receiver does not leave it before it has
        // been filled, nor, if the stream has ended, at all.
        let found = unsafe {
            (*(*slot).value.get()).write(value);
            (*slot).word.swap(FULL)
        };
        if found != EMPTY {
            if found == END {
                // SAFETY: the receiver does not look at what is at the end, so the slot is the sender's.
                return unsafe {
                    (*slot).word.set(END);
                    Err((Stuck::Closed, (*(*slot).value.get()).assume_init_read()))
                };
            }
            wake(found);
        }
        self.at = next;
        Ok(())
    }

    /// Puts in as many values as there is room for, and publishes them together.
    pub(crate) fn push_all(&mut self, values: &mut VecDeque<T>) -> Result<(), Stuck> {
        self.check()?;
        let first = self.at;
        let mut at = first;
        let mut count = 0;
        while let Some(value) = values.pop_front() {
            // SAFETY: as in `push`. The receiver does not go beyond the first slot before that is published.
            unsafe {
                (*at.slot().value.get()).write(value);
                if count > 0 {
                    at.slot().word.set(FULL);
                }
            }
            if at.is_last() && !at.shared().is_bounded {
                at.extend();
            }
            at = at.following();
            count += 1;
            if at.shared().is_bounded && (at.slot == first.slot || at.slot().word.load() != EMPTY) {
                break;
            }
        }
        if count == 0 {
            return Ok(());
        }
        let found = first.slot().word.swap(FULL);
        if found == END {
            first.slot().word.set(END);
            let mut at = first;
            let refused = (0..count).map(|_| {
                // SAFETY: written above, and the receiver stops before the first.
                let value = unsafe { (*at.slot().value.get()).assume_init_read() };
                at = at.following();
                value
            });
            let mut refused: VecDeque<T> = refused.collect();
            refused.append(values);
            *values = refused;
            return Err(Stuck::Closed);
        }
        if found != EMPTY {
            wake(found);
        }
        self.at = at;
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.at.close();
        if let Some(wake) = self.at.slot().word.recall(EMPTY) {
            wake.wake();
        }
    }

    /// How many values there can be. `None`: any number.
    pub(crate) fn capacity(&self) -> Option<usize> {
        // SAFETY: the slab is alive.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// A number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

impl<T> Drop for Inlet<T> {
    fn drop(&mut self) {
        self.close();
        // SAFETY: once. If the receiver is gone it has ended the stream, at this position.
        unsafe { self.at.leave() };
    }
}

impl<T> Outlet<T> {
    /// Takes the next value and wakes the sender if it waits for room. `None`: nothing yet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Result<T, Closed>> {
        if self.is_full() { Some(Ok(self.take())) } else { self.look_again() }
    }

    /// Whether there is a value here. A sender that comes upon END makes it FULL for a moment: nobody looks there any more.
    #[inline]
    fn is_full(&self) -> bool {
        !self.is_ended && number_of(self.at.slot().word.load()) == FULL
    }

    /// The slot is full.
    #[inline]
    fn take(&mut self) -> T {
        // SAFETY: full, so it is the receiver's.
        let value = unsafe { (*self.at.slot().value.get()).assume_init_read() };
        let left = self.at;
        if left.shared().is_bounded {
            let found = left.slot().word.swap(EMPTY);
            if found != FULL {
                wake(found);
            }
        }
        self.at = left.following();
        if left.slab != self.at.slab {
            // SAFETY: the sender has gone on to the next slab before it filled the last slot of this one.
            unsafe { Slab::free(left.slab) };
        }
        value
    }

    /// The slot was empty, or the end.
    #[inline(never)]
    fn look_again(&mut self) -> Option<Result<T, Closed>> {
        if self.is_ended {
            return Some(Err(Closed));
        }
        if !self.at.shared().is_closed.load(Ordering::Acquire) {
            return None;
        }
        loop {
            let content = self.at.slot().word.load();
            if number_of(content) == FULL {
                return Some(Ok(self.take()));
            }
            // An address would be that of a forgotten future.
            if self.at.slot().word.replace(content, END) {
                self.is_ended = true;
                return Some(Err(Closed));
            }
        }
    }

    pub(crate) fn close(&self) {
        self.at.close();
        if let Some(wake) = self.at.slot().word.recall(FULL) {
            wake.wake();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.at.shared().is_closed.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_full()
    }

    /// How many values there are. Linear in that number.
    pub(crate) fn len(&self) -> usize {
        let mut at = self.at;
        let mut len = 0;
        while !self.is_ended && number_of(at.slot().word.load()) == FULL {
            len += 1;
            at = at.following();
            if at.slot == self.at.slot {
                break;
            }
        }
        len
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        // SAFETY: the slab is alive.
        self.at.shared().is_bounded.then(|| unsafe { (*self.at.slab).len })
    }

    /// A number that both ends have in common.
    pub(crate) fn address(&self) -> usize {
        self.at.shared.addr().get()
    }
}

/// What remains to be done when a receiver is dropped, also when dropping a value panics.
struct Rest<'a, T>(&'a mut Outlet<T>);

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        while let Some(Ok(value)) = self.0.pop() {
            drop(value);
        }
        // SAFETY: once, and closed, so that the last `pop` ended the stream.
        unsafe { self.0.at.leave() };
    }
}

impl<T> Drop for Outlet<T> {
    fn drop(&mut self) {
        self.close();
        let rest = Rest(self);
        while let Some(Ok(value)) = rest.0.pop() {
            drop(value);
        }
    }
}

/// Leaves an address at a slot, unless the stream is closed.
///
/// # Safety
/// As for [`Word::register`].
unsafe fn register<T>(
    at: &Position<T>,
    number: Content,
    sleeper: &Sleeper,
    waiter: *const Waiter,
    ticket: u32,
) -> bool {
    let word = &at.slot().word;
    // SAFETY: the caller's word.
    let is_registered = unsafe { word.register(number, sleeper, waiter, ticket) };
    is_registered && !(at.shared().is_closed.load(Ordering::SeqCst) && word.withdraw(number, sleeper))
}

/// The sender's wait for room, and the receiver's for a value.
///
/// Their owner neither moves the end nor drops it while they are registered.
pub(crate) struct StreamWait {
    sleeper: Sleeper,
}

impl StreamWait {
    pub(crate) fn new() -> Self {
        Self { sleeper: Sleeper::new() }
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::place::Place::register).
    pub(crate) unsafe fn register_inlet<T>(&self, inlet: &Inlet<T>, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only the sender waits for the end of FULL.
        unsafe { register(&inlet.at, FULL, &self.sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::place::Place::unregister).
    pub(crate) unsafe fn unregister_inlet<T>(&self, inlet: &Inlet<T>, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { inlet.at.slot().word.unregister(FULL, &self.sleeper, has_decided) }
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::place::Place::register).
    pub(crate) unsafe fn register_outlet<T>(&self, outlet: &Outlet<T>, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only the receiver waits for the end of EMPTY.
        unsafe { register(&outlet.at, EMPTY, &self.sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::place::Place::unregister).
    pub(crate) unsafe fn unregister_outlet<T>(&self, outlet: &Outlet<T>, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { outlet.at.slot().word.unregister(EMPTY, &self.sleeper, has_decided) }
    }
}

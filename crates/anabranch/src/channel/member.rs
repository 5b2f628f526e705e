//! A member of a set of receivers: how it waits, and how it is called. See `set`.

use super::{
    source::Source,
    word::{Content, Sleeper, Word, decide, is_address, number, number_of},
};
use crate::{
    sys::sync::{AtomicUsize, Cell, Ordering},
    wait::waiter::{Kind, Waiter},
};
use std::{
    cell,
    mem::ManuallyDrop,
    ptr::{self, NonNull},
};

/// The name of a member of a [`ReceiverSet`](crate::channel::ReceiverSet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl Member {
    /// The name of a seat that was left.
    pub(super) const NOBODY: Self = Self { index: u32::MAX, generation: u32::MAX };
}

/// Nobody was called; with an address: the set waits until somebody is.
pub(super) const QUIET: Content = number(0);
/// With the card that was called last.
pub(super) const CALLED: Content = number(1);
/// There is no set.
pub(super) const GONE: Content = number(2);

/// What those who call members have of the set.
// On a line of its own: all who call write to it.
#[repr(align(64))]
pub(super) struct Desk {
    pub(super) word: Word,
    /// How many come yet now that the set is gone, or, below zero, have come.
    late: AtomicUsize,
    /// How a seat is freed.
    free: unsafe fn(*const Card),
    /// The set's: how many seats were left that are, or will be, in one of the lists.
    pub(super) left: cell::Cell<usize>,
}

impl Desk {
    /// That of a set of seats of this kind.
    pub(super) fn of<R: Source>() -> NonNull<Self> {
        let (late, left) = (AtomicUsize::new(0), cell::Cell::new(0));
        let desk = Self { word: Word::new(QUIET), late, free: Seat::<R>::free, left };
        // SAFETY: a box is not null.
        unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(desk))) }
    }

    /// The set is gone, and nobody has a card any more but so many, who have yet to come.
    ///
    /// # Safety
    /// As said. The set does not come back.
    pub(super) unsafe fn leave(this: NonNull<Self>, missing: usize) {
        // SAFETY: the last of those who are missing frees the desk, if it comes after this.
        unsafe {
            if missing == 0 || this.as_ref().late.fetch_add(missing, Ordering::AcqRel).wrapping_add(missing) == 0 {
                drop(Box::from_raw(this.as_ptr()));
            }
        }
    }
}

/// What those who call a member have of it.
#[repr(C)]
pub(super) struct Card {
    /// First, so that its address is the address of the whole.
    waiter: Waiter,
    pub(super) next: Cell<*const Card>,
    desk: NonNull<Desk>,
}

/// A member, and all that is kept for it. What is looked at when it is called fits into one line of the cache if the wait is small.
#[repr(C)]
pub(super) struct Seat<R: Source> {
    /// First, as above.
    pub(super) card: Card,
    pub(super) member: Member,
    wait: R::Wait,
    pub(super) receiver: ManuallyDrop<R>,
}

static KIND: Kind = Kind { wake: call, keep: None, looks: 0, home: None };

/// Puts a card into the list of the called, and wakes the set if it waits.
///
/// # Safety
/// The waiter is that of a card, and was taken out of the place where it waited.
unsafe fn call(waiter: *const Waiter) {
    let card: *const Card = waiter.cast();
    // SAFETY: a seat that is neither in a list nor at its channel is kept for who calls it, and so is the desk: until the
    // card is in the list.
    unsafe {
        let desk = (*card).desk.as_ptr();
        loop {
            let found = (*desk).word.load();
            if found == GONE {
                return come_late(card);
            }
            (*card).next.set(called(found));
            if (*desk).word.replace(found, added(card)) {
                if is_address(found)
                    && number_of(found) == QUIET
                    && let Some(wake) = decide(found)
                {
                    wake.wake();
                }
                return;
            }
        }
    }
}

/// The set is gone, and has left the seat, and the desk, to those who come.
#[cold]
unsafe fn come_late(card: *const Card) {
    // SAFETY: as many are waited for as have a card, each of which comes once.
    unsafe {
        let desk = (*card).desk.as_ptr();
        ((*desk).free)(card);
        if (*desk).late.fetch_sub(1, Ordering::AcqRel) == 1 {
            drop(Box::from_raw(desk));
        }
    }
}

/// The content of the word with this card as the last one.
fn added(card: *const Card) -> Content {
    card.cast_mut().cast::<Sleeper>().map_addr(|address| address | CALLED.addr())
}

/// The card that was called last, or null.
pub(super) fn called(content: Content) -> *const Card {
    if number_of(content) != CALLED {
        return ptr::null();
    }
    content.map_addr(|address| address - CALLED.addr()).cast_const().cast()
}

impl<R: Source> Seat<R> {
    pub(super) fn new(receiver: R, member: Member, desk: NonNull<Desk>) -> NonNull<Self> {
        let card = Card { waiter: Waiter::standing(&KIND), next: Cell::new(ptr::null()), desk };
        let seat = Self { card, member, wait: R::wait(), receiver: ManuallyDrop::new(receiver) };
        // SAFETY: a box is not null.
        unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(seat))) }
    }

    /// Begins to wait. `false`: there may be something to receive.
    ///
    /// # Safety
    /// The seat is in no list and does not wait.
    #[inline]
    pub(super) unsafe fn listen(this: *const Self) -> bool {
        // SAFETY: the caller's word. The seat stays where it is until it has been called or withdrawn.
        unsafe { (*this).receiver.register(&(*this).wait, this.cast()) }
    }

    /// Frees the seat; what was received with is elsewhere.
    ///
    /// # Safety
    /// Once, and nobody else has it.
    pub(super) unsafe fn free(card: *const Card) {
        // SAFETY: from a box, by `new`. The receiver is not dropped with it.
        drop(unsafe { Box::from_raw(card.cast::<Self>().cast_mut()) });
    }

    /// Frees a seat that is in no list and does not wait: what it received with.
    ///
    /// # Safety
    /// As said.
    pub(super) unsafe fn clear(this: *const Self) -> R {
        // SAFETY: the caller's word.
        unsafe {
            let receiver = ptr::read((&raw const (*this).receiver).cast::<R>());
            Self::free(this.cast());
            receiver
        }
    }
}

/// A seat as its set has it.
pub(super) struct Taken<R: Source>(pub(super) NonNull<Seat<R>>);

impl<R: Source> Taken<R> {
    pub(super) fn seat(&self) -> *const Seat<R> {
        self.0.as_ptr()
    }

    pub(super) fn receiver(&self) -> &R {
        // SAFETY: alive, and the receiver is there until the seat is left.
        unsafe { &(*self.0.as_ptr()).receiver }
    }

    /// Gives the member another name.
    pub(super) fn rename(&mut self, member: Member) {
        // SAFETY: the name is the set's alone, also while the member is being called.
        unsafe { (*self.0.as_ptr()).member = member };
    }

    /// Gives up the seat, whatever it is doing. Whether it was called, or will be, and has to be passed on.
    pub(super) fn leave(self) -> (R, bool) {
        let seat = ManuallyDrop::new(self).0.as_ptr();
        // SAFETY: the set's. What was not withdrawn is in a list or on its way to one, and is freed by who takes it from there.
        unsafe {
            if (*seat).receiver.withdraw(&(*seat).wait) {
                return (Seat::clear(seat), false);
            }
            let receiver = ptr::read((&raw const (*seat).receiver).cast::<R>());
            (*seat).member = Member::NOBODY;
            let left = &(*(*seat).card.desk.as_ptr()).left;
            left.set(left.get() + 1);
            (receiver, true)
        }
    }
}

impl<R: Source> Drop for Taken<R> {
    fn drop(&mut self) {
        let (receiver, was_called) = Self(self.0).leave();
        if was_called {
            receiver.pass_on();
        }
    }
}

//! Where the members of a set are that may have something. See `set`.

use super::{
    member::{CALLED, Card, Desk, GONE, Member, QUIET, Seat, Taken, called},
    source::Source,
    word::{Sleeper, number_of},
};
use crate::wait::waiter::Waiter;
use std::{
    marker::PhantomData,
    ptr::{self, NonNull},
};

/// How many seats that were left are kept, besides one for each member.
const SPARE: usize = if cfg!(any(loom, shuttle)) { 0 } else { 16 };

/// Seats, first in, first out, linked by their cards.
struct List<R: Source> {
    first: *const Seat<R>,
    last: *const Seat<R>,
}

impl<R: Source> List<R> {
    const fn new() -> Self {
        Self { first: ptr::null(), last: ptr::null() }
    }

    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new())
    }

    /// # Safety
    /// The seat is in no list and does not wait.
    #[inline]
    unsafe fn push(&mut self, seat: *const Seat<R>) {
        // SAFETY: the caller's word; seats in a list are alive.
        unsafe {
            (*seat).card.next.set(ptr::null());
            match self.last.as_ref() {
                Some(last) => last.card.next.set(seat.cast()),
                None => self.first = seat,
            }
        }
        self.last = seat;
    }

    #[inline]
    fn pop(&mut self) {
        // SAFETY: seats in a list are alive.
        if let Some(first) = unsafe { self.first.as_ref() } {
            self.first = first.card.next.get().cast();
            if self.first.is_null() {
                self.last = ptr::null();
            }
        }
    }
}

/// The members that may have something, for their set.
pub(super) struct Hall<R: Source> {
    desk: NonNull<Desk>,
    /// Those whose turn it is.
    now: List<R>,
    /// Those whose turn is the next.
    later: List<R>,
    _owns: PhantomData<R>,
}

impl<R: Source> Hall<R> {
    pub(super) fn new() -> Self {
        Self { desk: Desk::of::<R>(), now: List::new(), later: List::new(), _owns: PhantomData }
    }

    fn desk(&self) -> &Desk {
        // SAFETY: alive as long as this.
        unsafe { self.desk.as_ref() }
    }

    /// A seat for a receiver, which waits already if there is nothing to receive.
    pub(super) fn admit(&mut self, receiver: R, member: Member) -> Taken<R> {
        let seat = Seat::new(receiver, member, self.desk);
        // SAFETY: just made.
        if !unsafe { Seat::listen(seat.as_ptr()) } {
            self.again(seat.as_ptr());
        }
        Taken(seat)
    }

    /// Waits until somebody is called.
    ///
    /// # Safety
    /// As for [`Place::register`](crate::wait::place::Place::register), with a sleeper of the place.
    pub(super) unsafe fn register(&self, sleeper: &Sleeper, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only the set waits.
        unsafe { self.desk().word.register(QUIET, sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::place::Place::unregister).
    pub(super) unsafe fn unregister(&self, sleeper: &Sleeper, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.desk().word.unregister(QUIET, sleeper, has_decided) }
    }

    /// The member that is first. It stays so until it is popped.
    #[inline]
    pub(super) fn first(&mut self) -> Option<NonNull<Seat<R>>> {
        loop {
            if self.now.first.is_null() {
                self.turn();
            }
            let seat = NonNull::new(self.now.first.cast_mut())?;
            // SAFETY: in a list, so alive.
            if unsafe { seat.as_ref() }.member != Member::NOBODY {
                return Some(seat);
            }
            self.pop();
            self.forget(seat.as_ptr());
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.now.pop();
    }

    /// It has its turn again. It is in no list, and does not wait.
    #[inline]
    pub(super) fn again(&mut self, seat: *const Seat<R>) {
        // SAFETY: as said; the set's own code alone comes here.
        unsafe { self.later.push(seat) };
    }

    /// A new turn begins: for those who may have more, and those who were called since the last.
    fn turn(&mut self) {
        self.now = self.later.take();
        let called = self.collect();
        if called.first.is_null() {
            return;
        }
        // SAFETY: in a list, so alive.
        match unsafe { self.now.last.as_ref() } {
            Some(last) => last.card.next.set(called.first.cast()),
            None => self.now.first = called.first,
        }
        self.now.last = called.last;
    }

    /// Takes those who were called, in their order.
    fn collect(&self) -> List<R> {
        let word = &self.desk().word;
        if number_of(word.load()) != CALLED {
            return List::new();
        }
        Self::turned_round(called(word.swap(QUIET)))
    }

    /// The last one called is the first of a chain, and becomes the last of a list.
    fn turned_round(mut newest: *const Card) -> List<R> {
        let mut list = List { first: ptr::null(), last: newest.cast() };
        // SAFETY: what is in the chain is the set's from here on.
        while let Some(card) = unsafe { newest.as_ref() } {
            let next = card.next.get();
            card.next.set(list.first.cast());
            list.first = newest.cast();
            newest = next;
        }
        list
    }

    /// How many seats were left that are, or will be, in one of the lists.
    fn left(&self) -> usize {
        self.desk().left.get()
    }

    /// Frees a seat that was left, and has come out of the lists.
    #[cold]
    fn forget(&self, seat: *const Seat<R>) {
        self.desk().left.set(self.left() - 1);
        // SAFETY: the caller's word: nobody else has it.
        unsafe { Seat::<R>::free(seat.cast()) };
    }

    /// To be called when a seat was left. Frees those that were now and then, as it is linear.
    pub(super) fn tidy(&mut self, members: usize) {
        if self.left() > members + SPARE {
            self.sweep();
        }
    }

    /// Frees all seats that were left, but for those which have yet to come.
    fn sweep(&mut self) {
        let called = self.collect();
        for mut list in [self.now.take(), self.later.take(), called] {
            while let Some(seat) = NonNull::new(list.first.cast_mut()) {
                list.pop();
                // SAFETY: in a list until now, so alive.
                if unsafe { seat.as_ref() }.member == Member::NOBODY {
                    self.forget(seat.as_ptr());
                } else {
                    self.again(seat.as_ptr());
                }
            }
        }
    }
}

impl<R: Source> Drop for Hall<R> {
    /// All seats have been left.
    fn drop(&mut self) {
        self.sweep();
        let mut late = Self::turned_round(called(self.desk().word.swap(GONE)));
        while let Some(seat) = NonNull::new(late.first.cast_mut()) {
            late.pop();
            self.forget(seat.as_ptr());
        }
        // SAFETY: all who have come are free, and the seats were the last to know of the desk.
        unsafe { Desk::leave(self.desk, self.left()) };
    }
}

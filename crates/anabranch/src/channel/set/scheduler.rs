//! Where the members of a set are that may have something. See `set`.

use crate::{
    channel::set::{
        member::{Member, Seat, Taken},
        ready_queue::{Desk, List, Stay},
        source::Source,
    },
    wait::{state_word::Sleeper, waiter::Waiter},
};
use std::{marker::PhantomData, ptr::NonNull};

/// How many seats that were left are kept, besides one for each member.
const SPARE: usize = if cfg!(any(loom, shuttle)) { 0 } else { 16 };

/// The members that may have something, for their set.
pub(crate) struct Hall<R: Source> {
    desk: NonNull<Desk>,
    stay: Stay,
    /// Those whose turn it is.
    now: List,
    /// Those whose turn is the next.
    later: List,
    _owns: PhantomData<R>,
}

impl<R: Source> Hall<R> {
    pub(crate) fn new() -> Self {
        let desk = Desk::new(Seat::<R>::free);
        Self { desk, stay: Stay::new(), now: List::EMPTY, later: List::EMPTY, _owns: PhantomData }
    }

    fn desk(&self) -> &Desk {
        // SAFETY: alive as long as this.
        unsafe { self.desk.as_ref() }
    }

    /// A seat for a receiver, which waits already if there is nothing to receive.
    pub(crate) fn admit(&mut self, receiver: R, member: Member) -> Taken<R> {
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
    /// As for [`Place::register`](crate::wait::waitable::Place::register), with a sleeper of the place.
    pub(crate) unsafe fn register(&self, sleeper: &Sleeper, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.desk().register(&self.stay, sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::waitable::Place::unregister).
    pub(crate) unsafe fn unregister(&self, sleeper: &Sleeper, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.desk().unregister(sleeper, has_decided) }
    }

    /// The member that is first. It stays so until it is popped.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<NonNull<Seat<R>>> {
        loop {
            if self.now.is_empty() {
                self.turn();
            }
            let seat = seat_of(self.now)?;
            // SAFETY: in a list, so alive.
            if unsafe { seat.as_ref() }.member != Member::NOBODY {
                return Some(seat);
            }
            self.pop();
            self.forget(seat.as_ptr());
        }
    }

    /// The member that comes after the first, unless a turn begins before.
    #[inline]
    pub(crate) fn second(&self) -> Option<&Seat<R>> {
        // SAFETY: in a list, so alive.
        let seat = unsafe { self.now.second().cast::<Seat<R>>().as_ref() }?;
        (seat.member != Member::NOBODY).then_some(seat)
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.now.pop();
    }

    /// It has its turn again. It is in no list, and does not wait.
    #[inline]
    pub(crate) fn again(&mut self, seat: *const Seat<R>) {
        // SAFETY: as said; the set's own code alone comes here.
        unsafe { self.later.push(seat.cast()) };
    }

    /// A new turn begins: for those who may have more, and those who were called since the last.
    #[inline(never)]
    fn turn(&mut self) {
        self.now = self.later;
        self.later = List::EMPTY;
        self.now.append(self.desk().collect(&self.stay));
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
    pub(crate) fn tidy(&mut self, members: usize) {
        if self.left() > members + SPARE {
            self.sweep();
        }
    }

    /// Frees all seats that were left, but for those which have yet to come.
    fn sweep(&mut self) {
        let called = self.desk().collect(&self.stay);
        let (now, later) = (self.now, self.later);
        (self.now, self.later) = (List::EMPTY, List::EMPTY);
        for mut list in [now, later, called] {
            while let Some(seat) = seat_of::<R>(list) {
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

/// The first of a list, which is one of seats.
#[inline]
fn seat_of<R: Source>(list: List) -> Option<NonNull<Seat<R>>> {
    NonNull::new(list.first.cast_mut().cast())
}

impl<R: Source> Drop for Hall<R> {
    /// All seats have been left.
    fn drop(&mut self) {
        self.sweep();
        let mut late = self.desk().close(&self.stay);
        while let Some(seat) = seat_of::<R>(late) {
            late.pop();
            self.forget(seat.as_ptr());
        }
        // SAFETY: all who have come are free, and the seats were the last to know of the desk.
        unsafe { Desk::leave(self.desk, self.left()) };
    }
}

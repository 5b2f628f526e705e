//! A member of a set of receivers, and what is kept for it. See `set`.

use crate::channel::set::{
    ready_queue::{ReadyQueue, Token},
    source::Source,
};
use std::{
    mem::ManuallyDrop,
    ptr::{self, NonNull},
};

/// The name of a member of a [`ReceiverSet`](crate::channel::ReceiverSet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl Member {
    /// The name of an entry that was left.
    pub(crate) const NOBODY: Self = Self { index: u32::MAX, generation: u32::MAX };
}

/// A member, and all that is kept for it. What is looked at when it is called is in one line of the cache, if the wait
/// is small, which is not that of another member.
#[repr(C, align(64))]
pub(crate) struct Entry<R: Source> {
    /// First, so that its address is the address of the whole.
    pub(crate) token: Token,
    pub(crate) member: Member,
    wait: R::Wait,
    pub(crate) receiver: ManuallyDrop<R>,
}

impl<R: Source> Entry<R> {
    pub(crate) fn new(receiver: R, member: Member, ready_queue: NonNull<ReadyQueue>) -> NonNull<Self> {
        let entry =
            Self { token: Token::new(ready_queue), member, wait: R::wait(), receiver: ManuallyDrop::new(receiver) };
        // SAFETY: a box is not null.
        unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(entry))) }
    }

    /// Begins to wait. `false`: there may be something to receive.
    ///
    /// # Safety
    /// The entry is in no list and does not wait.
    #[inline]
    pub(crate) unsafe fn listen(this: *const Self) -> bool {
        // SAFETY: the caller's word. The entry stays where it is until it has been called or withdrawn.
        unsafe { (*this).receiver.register(&(*this).wait, this.cast()) }
    }

    /// Frees the entry; what was received with is elsewhere.
    ///
    /// # Safety
    /// Once, and nobody else has it.
    pub(crate) unsafe fn free(token: *const Token) {
        // SAFETY: from a box, by `new`. The receiver is not dropped with it.
        drop(unsafe { Box::from_raw(token.cast::<Self>().cast_mut()) });
    }

    /// Frees an entry that is in no list and does not wait: what it received with.
    ///
    /// # Safety
    /// As said.
    pub(crate) unsafe fn clear(this: *const Self) -> R {
        // SAFETY: the caller's word.
        unsafe {
            let receiver = ptr::read((&raw const (*this).receiver).cast::<R>());
            Self::free(this.cast());
            receiver
        }
    }
}

/// An entry as its set has it.
pub(crate) struct Taken<R: Source>(pub(crate) NonNull<Entry<R>>);

impl<R: Source> Taken<R> {
    pub(crate) fn entry(&self) -> *const Entry<R> {
        self.0.as_ptr()
    }

    pub(crate) fn receiver(&self) -> &R {
        // SAFETY: alive, and the receiver is there until the entry is left.
        unsafe { &(*self.0.as_ptr()).receiver }
    }

    /// Gives the member another name.
    pub(crate) fn rename(&mut self, member: Member) {
        // SAFETY: the name is the set's alone, also while the member is being called.
        unsafe { (*self.0.as_ptr()).member = member };
    }

    /// Gives up the entry, whatever it is doing. Whether it was called, or will be, and has to be passed on.
    pub(crate) fn leave(self) -> (R, bool) {
        let entry = ManuallyDrop::new(self).0.as_ptr();
        // SAFETY: the set's. What was not withdrawn is in a list or on its way to one, and is freed by who takes it
        // from there.
        unsafe {
            if (*entry).receiver.withdraw(&(*entry).wait) {
                return (Entry::clear(entry), false);
            }
            let receiver = ptr::read((&raw const (*entry).receiver).cast::<R>());
            (*entry).member = Member::NOBODY;
            let left = &(*(*entry).token.ready_queue.as_ptr()).left;
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

//! A member of a set of receivers, and its data. See `set`.

use crate::{
    channel::set::{
        ready_queue::{ReadyQueue, Token},
        source::Source,
    },
    wait::waitable::{Armed, Ended},
};
use std::{
    mem::ManuallyDrop,
    ptr::{self, NonNull},
};

/// The identifier of a member of a [`ReceiverSet`](crate::channel::ReceiverSet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl Member {
    /// The identifier of an entry whose member has left.
    pub(crate) const NOBODY: Self = Self { index: u32::MAX, generation: u32::MAX };
}

/// A member with its receiver and its wait. The fields that a call uses are in one cache line if the wait is small, and
/// no other member shares that line.
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
        NonNull::from(Box::leak(Box::new(entry)))
    }

    /// Registers at the channel. Returns `false` if there may be something to receive.
    ///
    /// # Safety
    /// The entry is in no list and does not wait.
    #[inline]
    pub(crate) unsafe fn register_persistent(this: *const Self) -> bool {
        // SAFETY: the caller promises that the entry is in no list and does not wait. Its waiter is persistent. It
        // stays on the heap until it is called or withdrawn.
        unsafe { (*this).receiver.register(&(*this).wait, Armed::new(this.cast(), 0)) }
    }

    /// Frees the entry. Its receiver has been moved out.
    ///
    /// # Safety
    /// The caller frees it once, and no other thread has the entry.
    pub(crate) unsafe fn free(token: *const Token) {
        // SAFETY: `new` made it from a box. The receiver is not dropped with it.
        drop(unsafe { Box::from_raw(token.cast::<Self>().cast_mut()) });
    }

    /// Frees an entry and returns its receiver.
    ///
    /// # Safety
    /// The entry is in no list and does not wait, and no other thread has it.
    pub(crate) unsafe fn clear(this: *const Self) -> R {
        // SAFETY: the entry is in no list and does not wait, so only the caller has it. The receiver is moved out once.
        unsafe {
            let receiver = ptr::read((&raw const (*this).receiver).cast::<R>());
            Self::free(this.cast());
            receiver
        }
    }
}

/// An entry, owned by its set.
pub(crate) struct Taken<R: Source>(pub(crate) NonNull<Entry<R>>);

impl<R: Source> Taken<R> {
    pub(crate) fn entry(&self) -> *const Entry<R> {
        self.0.as_ptr()
    }

    pub(crate) fn receiver(&self) -> &R {
        // SAFETY: the entry is alive, and the receiver is in it until the member leaves.
        unsafe { &(*self.0.as_ptr()).receiver }
    }

    /// Gives the member another identifier.
    pub(crate) fn rename(&mut self, member: Member) {
        // SAFETY: only the set uses the identifier, even while the member is being called.
        unsafe { (*self.0.as_ptr()).member = member };
    }

    /// Gives up the entry in any state. Returns the receiver, and whether the member was or will be called, so that a
    /// wake-up has to be passed on.
    pub(crate) fn leave(self) -> (R, bool) {
        let entry = ManuallyDrop::new(self).0.as_ptr();
        // SAFETY: the set owns the entry. An entry that was not withdrawn is in a list or on its way to one. The thread
        // that takes it from there frees it.
        unsafe {
            if (*entry).receiver.withdraw(&(*entry).wait, Ended::new(false)) {
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

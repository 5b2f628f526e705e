//! The members of a set that may have something to receive. See `set`.

use crate::{
    channel::set::{
        member::{Entry, Member, Taken},
        ready_queue::{List, ReadyQueue},
        source::Source,
    },
    wait::{
        state_word::WaitNode,
        waitable::{Armed, Ended},
    },
};
use std::{marker::PhantomData, ptr::NonNull};

/// How many entries of former members are kept, besides one for each member.
const SPARE: usize = if cfg!(any(loom, shuttle)) { 0 } else { 16 };

/// The members that may have something to receive, for their set.
pub(crate) struct SetScheduler<R: Source> {
    ready_queue: NonNull<ReadyQueue>,
    /// The members whose turn it is.
    now: List,
    /// The members whose turn is next.
    later: List,
    _owns: PhantomData<R>,
}

impl<R: Source> SetScheduler<R> {
    pub(crate) fn new() -> Self {
        let ready_queue = ReadyQueue::new(Entry::<R>::free);
        Self { ready_queue, now: List::EMPTY, later: List::EMPTY, _owns: PhantomData }
    }

    fn ready_queue(&self) -> &ReadyQueue {
        // SAFETY: the ready queue is alive as long as this object.
        unsafe { self.ready_queue.as_ref() }
    }

    /// Makes an entry for a receiver. It already waits if there is nothing to receive.
    pub(crate) fn admit(&mut self, receiver: R, member: Member) -> Taken<R> {
        let entry = Entry::new(receiver, member, self.ready_queue);
        // SAFETY: the entry was just made, so it is in no list and does not wait.
        if !unsafe { Entry::register_persistent(entry.as_ptr()) } {
            self.again(entry.as_ptr());
        }
        Taken(entry)
    }

    /// Waits until a member is called.
    pub(crate) fn register(&self, node: &WaitNode, armed: Armed) -> bool {
        self.ready_queue().register(node, armed)
    }

    pub(crate) fn unregister(&self, node: &WaitNode, ended: Ended) {
        self.ready_queue().unregister(node, ended);
    }

    /// Returns the first member. It stays first until it is popped.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<NonNull<Entry<R>>> {
        loop {
            if self.now.is_empty() {
                self.turn();
            }
            let entry = entry_of(self.now)?;
            // SAFETY: entries in a list are alive.
            if unsafe { entry.as_ref() }.member != Member::NOBODY {
                return Some(entry);
            }
            self.pop();
            self.forget(entry.as_ptr());
        }
    }

    /// Returns the member after the first, unless a turn begins between them.
    #[inline]
    pub(crate) fn second(&self) -> Option<&Entry<R>> {
        // SAFETY: entries in a list are alive.
        let entry = unsafe { self.now.second().cast::<Entry<R>>().as_ref() }?;
        (entry.member != Member::NOBODY).then_some(entry)
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.now.pop();
    }

    /// Gives a member another turn. Its entry is in no list and does not wait.
    #[inline]
    pub(crate) fn again(&mut self, entry: *const Entry<R>) {
        // SAFETY: only the code of the set calls this, with an entry that is in no list and does not wait.
        unsafe { self.later.push(entry.cast()) };
    }

    /// Begins a new turn, for the members that may have more and those that were called since the last turn.
    #[inline(never)]
    fn turn(&mut self) {
        self.now = self.later;
        self.later = List::EMPTY;
        self.now.append(self.ready_queue().collect());
    }

    /// Returns the number of entries of former members that are, or will be, in one of the lists.
    fn left(&self) -> usize {
        self.ready_queue().left.get()
    }

    /// Frees the entry of a former member that has come out of the lists.
    #[cold]
    fn forget(&self, entry: *const Entry<R>) {
        self.ready_queue().left.set(self.left() - 1);
        // SAFETY: the entry was left and is in no list any more, so no other thread has it.
        unsafe { Entry::<R>::free(entry.cast()) };
    }

    /// Called after a member has left. Frees the entries of former members from time to time, since that takes linear
    /// time.
    pub(crate) fn tidy(&mut self, members: usize) {
        if self.left() > members + SPARE {
            self.sweep();
        }
    }

    /// Frees all entries of former members except those that have yet to come into a list.
    fn sweep(&mut self) {
        let called = self.ready_queue().collect();
        let (now, later) = (self.now, self.later);
        (self.now, self.later) = (List::EMPTY, List::EMPTY);
        for mut list in [now, later, called] {
            while let Some(entry) = entry_of::<R>(list) {
                list.pop();
                // SAFETY: the entry was in a list until now, so it is alive.
                if unsafe { entry.as_ref() }.member == Member::NOBODY {
                    self.forget(entry.as_ptr());
                } else {
                    self.again(entry.as_ptr());
                }
            }
        }
    }
}

/// Returns the first entry of a list.
#[inline]
fn entry_of<R: Source>(list: List) -> Option<NonNull<Entry<R>>> {
    NonNull::new(list.first.cast_mut().cast())
}

impl<R: Source> Drop for SetScheduler<R> {
    /// All members have left.
    fn drop(&mut self) {
        self.sweep();
        let mut late = self.ready_queue().close();
        while let Some(entry) = entry_of::<R>(late) {
            late.pop();
            self.forget(entry.as_ptr());
        }
        // SAFETY: all entries that have come in are freed, and only the missing ones still refer to the ready queue.
        unsafe { ReadyQueue::leave(self.ready_queue, self.left()) };
    }
}

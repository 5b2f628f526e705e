//! Where the members of a set are that may have something. See `set`.

use crate::{
    channel::set::{
        member::{Entry, Member, Taken},
        ready_queue::{List, ReadyQueue, Stay},
        source::Source,
    },
    wait::{state_word::WaitNode, waiter::Waiter},
};
use std::{marker::PhantomData, ptr::NonNull};

/// How many entries that were left are kept, besides one for each member.
const SPARE: usize = if cfg!(any(loom, shuttle)) { 0 } else { 16 };

/// The members that may have something, for their set.
pub(crate) struct SetScheduler<R: Source> {
    ready_queue: NonNull<ReadyQueue>,
    stay: Stay,
    /// Those whose turn it is.
    now: List,
    /// Those whose turn is the next.
    later: List,
    _owns: PhantomData<R>,
}

impl<R: Source> SetScheduler<R> {
    pub(crate) fn new() -> Self {
        let ready_queue = ReadyQueue::new(Entry::<R>::free);
        Self { ready_queue, stay: Stay::new(), now: List::EMPTY, later: List::EMPTY, _owns: PhantomData }
    }

    fn ready_queue(&self) -> &ReadyQueue {
        // SAFETY: alive as long as this.
        unsafe { self.ready_queue.as_ref() }
    }

    /// An entry for a receiver, which waits already if there is nothing to receive.
    pub(crate) fn admit(&mut self, receiver: R, member: Member) -> Taken<R> {
        let entry = Entry::new(receiver, member, self.ready_queue);
        // SAFETY: just made.
        if !unsafe { Entry::listen(entry.as_ptr()) } {
            self.again(entry.as_ptr());
        }
        Taken(entry)
    }

    /// Waits until somebody is called.
    ///
    /// # Safety
    /// As for [`Place::register`](crate::wait::waitable::Place::register), with a sleeper of the place.
    pub(crate) unsafe fn register(&self, sleeper: &WaitNode, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.ready_queue().register(&self.stay, sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::waitable::Place::unregister).
    pub(crate) unsafe fn unregister(&self, sleeper: &WaitNode, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.ready_queue().unregister(sleeper, has_decided) }
    }

    /// The member that is first. It stays so until it is popped.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<NonNull<Entry<R>>> {
        loop {
            if self.now.is_empty() {
                self.turn();
            }
            let entry = entry_of(self.now)?;
            // SAFETY: in a list, so alive.
            if unsafe { entry.as_ref() }.member != Member::NOBODY {
                return Some(entry);
            }
            self.pop();
            self.forget(entry.as_ptr());
        }
    }

    /// The member that comes after the first, unless a turn begins before.
    #[inline]
    pub(crate) fn second(&self) -> Option<&Entry<R>> {
        // SAFETY: in a list, so alive.
        let entry = unsafe { self.now.second().cast::<Entry<R>>().as_ref() }?;
        (entry.member != Member::NOBODY).then_some(entry)
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.now.pop();
    }

    /// It has its turn again. It is in no list, and does not wait.
    #[inline]
    pub(crate) fn again(&mut self, entry: *const Entry<R>) {
        // SAFETY: as said; the set's own code alone comes here.
        unsafe { self.later.push(entry.cast()) };
    }

    /// A new turn begins: for those who may have more, and those who were called since the last.
    #[inline(never)]
    fn turn(&mut self) {
        self.now = self.later;
        self.later = List::EMPTY;
        self.now.append(self.ready_queue().collect(&self.stay));
    }

    /// How many entries were left that are, or will be, in one of the lists.
    fn left(&self) -> usize {
        self.ready_queue().left.get()
    }

    /// Frees an entry that was left, and has come out of the lists.
    #[cold]
    fn forget(&self, entry: *const Entry<R>) {
        self.ready_queue().left.set(self.left() - 1);
        // SAFETY: the caller's word: nobody else has it.
        unsafe { Entry::<R>::free(entry.cast()) };
    }

    /// To be called when an entry was left. Frees those that were now and then, as it is linear.
    pub(crate) fn tidy(&mut self, members: usize) {
        if self.left() > members + SPARE {
            self.sweep();
        }
    }

    /// Frees all entries that were left, but for those which have yet to come.
    fn sweep(&mut self) {
        let called = self.ready_queue().collect(&self.stay);
        let (now, later) = (self.now, self.later);
        (self.now, self.later) = (List::EMPTY, List::EMPTY);
        for mut list in [now, later, called] {
            while let Some(entry) = entry_of::<R>(list) {
                list.pop();
                // SAFETY: in a list until now, so alive.
                if unsafe { entry.as_ref() }.member == Member::NOBODY {
                    self.forget(entry.as_ptr());
                } else {
                    self.again(entry.as_ptr());
                }
            }
        }
    }
}

/// The first of a list, which is one of entries.
#[inline]
fn entry_of<R: Source>(list: List) -> Option<NonNull<Entry<R>>> {
    NonNull::new(list.first.cast_mut().cast())
}

impl<R: Source> Drop for SetScheduler<R> {
    /// All entries have been left.
    fn drop(&mut self) {
        self.sweep();
        let mut late = self.ready_queue().close(&self.stay);
        while let Some(entry) = entry_of::<R>(late) {
            late.pop();
            self.forget(entry.as_ptr());
        }
        // SAFETY: all who have come are free, and the entries were the last to know of the ready queue.
        unsafe { ReadyQueue::leave(self.ready_queue, self.left()) };
    }
}

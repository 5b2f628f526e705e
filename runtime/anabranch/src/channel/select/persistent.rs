//! The operations of a `Select` that keep waiting between its waits, like the members of a set (see `channel::set`).
//!
//! Registering at all waitables of a selection, and leaving them again, takes time linear in their number. If an
//! operation waits for something that no other waiter can take, the operation may keep waiting while the selection is
//! not used. So a selection of such operations that is used again leaves them registered, and each operation that is
//! woken is called. The cost of a wait then does not depend on their number.
//!
//! An *exclusive* operation has a waitable of its own, which only the other end of a channel reaches. At a waitable
//! with other waiters, an idle operation would keep wake-ups from them.

use crate::{
    channel::{
        TryRecvError,
        set::{
            member::{Entry, Member, Taken},
            scheduler::SetScheduler,
            source::Source,
        },
    },
    cx::{
        Operation,
        attempt::{Attempt, OwnerCell},
    },
    wait::{
        state_word::WaitNode,
        waitable::{Armed, Ended, Waitable},
    },
};

/// An operation as a member.
struct Exclusive<O>(O);

impl<O: Operation> Source for Exclusive<O> {
    type Value = O::Done;
    type Wait = ();

    fn wait() {}

    #[inline]
    fn receive(&mut self) -> Result<O::Done, TryRecvError> {
        self.0.attempt().ok_or(TryRecvError::Empty)
    }

    #[inline]
    fn is_bare(&self) -> bool {
        self.0.is_bare()
    }

    fn register(&self, (): &(), armed: Armed) -> bool {
        self.0.register_persistent(armed)
    }

    fn withdraw(&self, (): &(), _: Ended) -> bool {
        self.0.withdraw()
    }

    fn pass_on(&self) {
        self.0.pass_on();
    }
}

/// The operations, by their indices.
pub(crate) struct Persistent<O: Operation> {
    /// Dropped before `scheduler`, which frees what they leave.
    taken: Vec<Taken<Exclusive<O>>>,
    scheduler: SetScheduler<Exclusive<O>>,
}

// SAFETY: only its owner reaches the entries; callers touch only the token, which is made for it.
unsafe impl<O: Operation + Send> Send for Persistent<O> {}
// SAFETY: by shared reference the operations can only be counted.
unsafe impl<O: Operation> Sync for Persistent<O> {}

/// Returns the name of the member with this index.
fn name(index: usize) -> Member {
    Member { index: u32::try_from(index).expect("fewer than four thousand million operations"), generation: 0 }
}

fn given_back<O: Operation>(taken: Taken<Exclusive<O>>) -> O {
    let (operation, was_called) = taken.leave();
    if was_called {
        operation.pass_on();
    }
    operation.0
}

impl<O: Operation> Persistent<O> {
    pub(crate) fn new() -> Self {
        debug_assert!(O::IS_EXCLUSIVE);
        Self { taken: Vec::new(), scheduler: SetScheduler::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.taken.len()
    }

    pub(crate) fn push(&mut self, operation: O) {
        let member = name(self.taken.len());
        self.taken.push(self.scheduler.admit(Exclusive(operation), member));
    }

    pub(crate) fn swap_remove(&mut self, index: usize) -> O {
        let operation = given_back(self.taken.swap_remove(index));
        if let Some(last) = self.taken.get_mut(index) {
            last.rename(name(index));
        }
        self.scheduler.tidy(self.taken.len());
        operation
    }

    /// Returns the operations in the order of their indices.
    pub(crate) fn into_operations(self) -> Vec<O> {
        self.taken.into_iter().map(given_back).collect()
    }

    /// Does an operation that can be done now.
    #[inline]
    pub(crate) fn try_one(&mut self) -> Option<(usize, O::Done)> {
        loop {
            let entry = self.scheduler.first()?.as_ptr();
            if let Some(next) = self.scheduler.second() {
                next.receiver.0.prefetch();
            }
            // SAFETY: only this object has the entries in the lists. An entry does not wait before it is out of them.
            unsafe {
                let index = (*entry).member.index as usize;
                let done = (*entry).receiver.receive();
                self.scheduler.pop();
                if done.is_ok() && !(*entry).receiver.is_bare() || !Entry::register_persistent(entry) {
                    self.scheduler.again(entry);
                }
                if let Ok(done) = done {
                    return Some((index, done));
                }
            }
        }
    }

    /// Returns all of them as one operation.
    pub(crate) fn any(&mut self) -> Any<'_, O> {
        Any { persistent: OwnerCell::new(self), node: WaitNode::new() }
    }
}

impl<O: Operation> Extend<O> for Persistent<O> {
    fn extend<I: IntoIterator<Item = O>>(&mut self, operations: I) {
        operations.into_iter().for_each(|operation| self.push(operation));
    }
}

/// The wait for any of the operations.
pub(crate) struct Any<'a, O: Operation> {
    persistent: OwnerCell<&'a mut Persistent<O>>,
    node: WaitNode,
}

impl<O: Operation> Any<'_, O> {
    fn scheduler(&self) -> &SetScheduler<Exclusive<O>> {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { &self.persistent.get().scheduler }
    }
}

impl<O: Operation> Attempt for Any<'_, O> {
    type Output = (usize, O::Done);

    fn attempt(&self) -> Option<Self::Output> {
        self.persistent.with(|persistent| persistent.try_one())
    }
}

// SAFETY: an address leaves the word by `unregister`, or by a call, which then selects the wait before `unregister`
// ends. Registering is a read-modify-write.
unsafe impl<O: Operation> Waitable for Any<'_, O> {
    fn register(&self, armed: Armed) -> bool {
        self.scheduler().register(&self.node, armed)
    }

    fn unregister(&self, ended: Ended) {
        self.scheduler().unregister(&self.node, ended);
    }
}

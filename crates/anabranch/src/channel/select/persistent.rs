//! The operations of a `Select` that go on waiting between its waits: as members of a set, see `channel::set`.
//!
//! To wait at all the places of a selection, and to leave them again, is linear in their number. Where nobody else can
//! want what an operation waits for, it makes no difference to anybody if it goes on waiting when the selection is not
//! used: a selection of such operations that is used again leaves them where they are, and each that is woken is
//! called. So what a wait costs does not depend on their number.
//!
//! An operation that is *lone* has a place that is its owner's, to which only the other end of a channel comes: one
//! that others use, too, would keep from them the wake-ups that it is given in vain.

use crate::{
    channel::{
        TryRecvError,
        select::choose::Operation,
        set::{
            member::{Entry, Member, Taken},
            scheduler::SetScheduler,
            source::Source,
        },
    },
    cx::attempt::Attempt,
    wait::{state_word::WaitNode, waitable::Place, waiter::Waiter},
};
use std::cell::UnsafeCell;

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

    unsafe fn register(&self, (): &(), waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { self.0.listen(waiter) }
    }

    unsafe fn withdraw(&self, (): &()) -> bool {
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

// SAFETY: as for `ReceiverSet`.
unsafe impl<O: Operation + Send> Send for Persistent<O> {}
// SAFETY: by shared reference they can be counted.
unsafe impl<O: Operation> Sync for Persistent<O> {}

/// The name of the one of this index.
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
        debug_assert!(O::IS_LONE);
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

    /// In the order of their indices.
    pub(crate) fn into_operations(self) -> Vec<O> {
        self.taken.into_iter().map(given_back).collect()
    }

    /// Does one that can be done now.
    #[inline]
    pub(crate) fn try_one(&mut self) -> Option<(usize, O::Done)> {
        loop {
            let entry = self.scheduler.first()?.as_ptr();
            if let Some(next) = self.scheduler.second() {
                next.receiver.0.prefetch();
            }
            // SAFETY: what is in the lists is this one's alone. It does not wait before it is out of them.
            unsafe {
                let index = (*entry).member.index as usize;
                let done = (*entry).receiver.receive();
                self.scheduler.pop();
                if done.is_ok() && !(*entry).receiver.is_bare() || !Entry::listen(entry) {
                    self.scheduler.again(entry);
                }
                if let Ok(done) = done {
                    return Some((index, done));
                }
            }
        }
    }

    /// All of them as one.
    pub(crate) fn any(&mut self) -> Any<'_, O> {
        Any { standing: UnsafeCell::new(self), sleeper: WaitNode::new() }
    }
}

impl<O: Operation> Extend<O> for Persistent<O> {
    fn extend<I: IntoIterator<Item = O>>(&mut self, operations: I) {
        operations.into_iter().for_each(|operation| self.push(operation));
    }
}

/// Waiting for any of the operations.
pub(crate) struct Any<'a, O: Operation> {
    standing: UnsafeCell<&'a mut Persistent<O>>,
    sleeper: WaitNode,
}

impl<O: Operation> Attempt for Any<'_, O> {
    type Output = (usize, O::Done);

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: it is its strand's alone, as it is not `Sync`, and the reference ends here.
        unsafe { &mut *self.standing.get() }.try_one()
    }
}

// SAFETY: as for `SetReceiving`.
unsafe impl<O: Operation> Place for Any<'_, O> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the reference as in `attempt`; the rest is the caller's word.
        unsafe { (*self.standing.get()).scheduler.register(&self.sleeper, waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: as above.
        unsafe { (*self.standing.get()).scheduler.unregister(&self.sleeper, has_decided) }
    }
}

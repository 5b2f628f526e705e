//! `Select`: operations of one type, whose number is known at run time.

use crate::{
    channel::select::{
        choose::{Choice, Deadlines, Operation},
        persistent::Persistent,
    },
    cx::{Cx, attempt::wait_for, limit::timed},
    time::NEVER,
    wait::{Cancelled, WaitError, future::AsyncTurn, suspend::WaitReason},
};
use std::{
    cell::Cell,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// A selection among a number of operations that is known only at run time, all of one type.
///
/// For hundreds of receivers, of any kind of channel, see [`ReceiverSet`](crate::channel::ReceiverSet). It owns them
/// and does not look at those that have nothing. A selection does as well only among [streams](crate::channel::spsc);
/// see [`wait`](Self::wait).
///
/// ```
/// use anabranch::channel::{self, Select};
///
/// let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| channel::unbounded()).unzip();
/// anabranch::run(|cx| {
///     let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
///     senders[3].try_send("three").unwrap();
///     assert_eq!(select.wait(cx), Ok((3, Ok("three"))));
///     assert_eq!(select.try_now(), None);
/// });
/// ```
pub struct Select<O: Operation> {
    /// Stay in place while `turn` waits. Each method that may move them ends that wait first.
    operations: Vec<O>,
    /// The operations that keep waiting, in front of the others.
    persistent: Option<Box<Persistent<O>>>,
    /// A permutation of their indices: see [`Choice`]. It does not change while `turn` waits.
    order: Vec<u32>,
    is_biased: bool,
    /// Whether an operation was done.
    is_used: bool,
    turn: AsyncTurn,
}

impl<O: Operation> Select<O> {
    /// Creates a fair selection without operations.
    pub fn new() -> Self {
        Self::from(Vec::new())
    }

    /// Makes the selection take the first operation that can be done, in their order.
    pub fn biased(mut self) -> Self {
        self.leave();
        self.settle();
        self.is_biased = true;
        self
    }

    /// Adds an operation. Returns its index; indices start from zero.
    pub fn push(&mut self, operation: O) -> usize {
        self.leave();
        self.operations.push(operation);
        // Keeps `order` a permutation.
        self.order.push(self.order.len() as u32);
        self.len() - 1
    }

    /// Removes an operation; the last one gets its index. A receive from a closed channel is done at once each time, so
    /// it is best removed. So is a send that has been done.
    ///
    /// # Panics
    /// Panics if there is no operation with this index.
    pub fn swap_remove(&mut self, index: usize) -> O {
        self.leave();
        match self.persistent() {
            Some(persistent) => persistent.swap_remove(index),
            None => self.operations.swap_remove(index),
        }
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.operations.len() + self.persistent.as_ref().map_or(0, |persistent| persistent.len())
    }

    /// Returns whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until an operation can be done, and does it. Returns its index and its result. Receives can be waited for
    /// again afterwards.
    ///
    /// Takes time linear in their number if it has to wait. But receives from [streams](crate::channel::spsc) keep
    /// waiting once they have been waited for, unless the selection is biased. A new wait for them does not depend on
    /// their number. Without operations it waits until it is cancelled.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(usize, O::Done), Cancelled> {
        self.wait_to(cx, NEVER, WaitReason::new(&"Select::wait")).map_err(|_| Cancelled)
    }

    timed! {
        /// # Errors
        /// Returns `Cancelled` if the wait is cancelled,
        wait_deadline, wait_timeout: like wait, at "Select::wait"
        fn(&mut self, cx: &Cx<'_>) -> Result<(usize, O::Done), WaitError>;
        |limit, reason| self.wait_to(cx, limit.tick(cx), reason);
        ///
        /// ```
        /// use anabranch::{WaitError, channel::{self, Select}};
        /// use std::time::Duration;
        ///
        /// let (_sender, receiver) = channel::unbounded::<u8>();
        /// anabranch::run(|cx| {
        ///     let mut select = Select::from_iter([receiver.receiving()]);
        ///     assert_eq!(select.wait_timeout(cx, Duration::from_millis(1)), Err(WaitError::TimedOut));
        /// });
        /// ```
    }

    fn wait_to(&mut self, cx: &Cx<'_>, own: u64, reason: WaitReason) -> Result<(usize, O::Done), WaitError> {
        cx.checkpoint()?;
        self.leave();
        // Operations that are waited for only once are not moved.
        if O::IS_LONE && !self.is_biased && self.is_used {
            self.persistent.get_or_insert_with(|| Box::new(Persistent::new()));
        }
        if let Some(persistent) = self.persistent() {
            return wait_for(cx, &persistent.any(), own, reason);
        }
        let (choice, operations, turns) = self.choice();
        let order = |turn: usize| &turns[turn];
        let deadlines = Deadlines { own, ..Deadlines::of(operations.iter().map(|operation| operation.deadline())) };
        let done = Cell::new(None);
        let attempt = |index: usize| is_done(&done, operations[index].attempt());
        let waitable = |index: usize| &operations[index];
        let index = choice.do_one(cx, deadlines, reason, order, waitable, attempt);
        pass_on(operations, &choice);
        let index = index?;
        self.is_used = true;
        Ok((index, done.into_inner().expect("the last attempt succeeded")))
    }

    /// Like [`wait`](Self::wait), for async code. The future may be dropped at any time; an operation that was not done
    /// then is not done. To stop the wait, drop the future, or let the runtime do so.
    ///
    /// A selection that waits repeatedly allocates once.
    ///
    /// ```
    /// use anabranch::channel::{self, Select};
    ///
    /// let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| channel::unbounded()).unzip();
    /// let task = anabranch::spawn_async(async move {
    ///     let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
    ///     let (index, got) = select.wait_async().await;
    ///     (index, got.unwrap())
    /// });
    /// senders[3].try_send("three").unwrap();
    /// assert_eq!(anabranch::run(|cx| task.join(cx)).unwrap(), (3, "three"));
    /// ```
    pub fn wait_async(&mut self) -> impl Future<Output = (usize, O::Done)> {
        const { assert!(!O::IS_TIMED, "`cx.sleeping` is for those who wait with a `cx`") };
        self.leave();
        self.settle();
        Choosing { choice: self.choice().0, select: self }
    }

    /// Does an operation that can be done now. Does not wait.
    pub fn try_now(&mut self) -> Option<(usize, O::Done)> {
        self.leave();
        if let Some(persistent) = self.persistent() {
            return persistent.try_one();
        }
        let done = Cell::new(None);
        let (choice, operations, turns) = self.choice();
        let attempt = |index: usize| is_done(&done, operations[index].attempt());
        let index = choice.try_one(|turn| &turns[turn], attempt)?;
        self.is_used = true;
        done.into_inner().map(|done| (index, done))
    }

    /// Returns the operations that keep waiting, after adding all others to them, if there are any that keep waiting.
    #[inline]
    fn persistent(&mut self) -> Option<&mut Persistent<O>> {
        let persistent = &mut **self.persistent.as_mut()?;
        if !self.operations.is_empty() {
            persistent.extend(self.operations.drain(..));
        }
        Some(persistent)
    }

    /// Makes no operation keep waiting.
    fn settle(&mut self) {
        if let Some(persistent) = self.persistent.take() {
            let added = std::mem::replace(&mut self.operations, persistent.into_operations());
            self.operations.extend(added);
        }
    }

    /// Returns a choice among the operations, none of which keeps waiting, with what it needs.
    fn choice(&mut self) -> (Choice, &[O], &[Cell<u32>]) {
        let count = self.operations.len();
        if self.order.len() != count {
            self.order = in_order(count);
        }
        (Choice::new(count, self.is_biased), &self.operations, Cell::from_mut(&mut *self.order).as_slice_of_cells())
    }

    /// Ends the wait of async code if there is one, left by a future that was forgotten.
    #[inline]
    fn leave(&mut self) {
        if self.turn.is_waiting() {
            self.leave_wait();
        }
    }

    #[cold]
    fn leave_wait(&mut self) {
        let mut turn = std::mem::replace(&mut self.turn, AsyncTurn::new());
        let (choice, operations, turns) = self.choice();
        // SAFETY: these are the operations of `poll`, and no operation has been moved since.
        if let Some(index) = unsafe { choice.leave(&mut turn, |turn| &turns[turn], |index| &operations[index]) } {
            operations[index].pass_on();
        }
        self.turn = turn;
    }
}

/// Returns the indices of that many operations.
fn in_order(count: usize) -> Vec<u32> {
    (0..u32::try_from(count).expect("fewer than four thousand million operations")).collect()
}

/// Moves `result` to `done`. Returns whether the operation is done.
fn is_done<D>(done: &Cell<Option<D>>, result: Option<D>) -> bool {
    let is_done = result.is_some();
    done.set(result);
    is_done
}

/// Passes on what was given to an operation that could not be done, since the operations live on.
fn pass_on<O: Operation>(operations: &[O], choice: &Choice) {
    if let Some(index) = choice.late.take() {
        operations[index].pass_on();
    }
}

/// A wait of async code. The operations are on the heap, and the selection ends the wait if this object does not.
struct Choosing<'a, O: Operation> {
    select: &'a mut Select<O>,
    choice: Choice,
}

impl<O: Operation> Future for Choosing<'_, O> {
    type Output = (usize, O::Done);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { select, choice } = self.get_mut();
        let Select { operations, turn, order, is_used, .. } = &mut **select;
        let operations = &**operations;
        let turns = Cell::from_mut(&mut **order).as_slice_of_cells();
        let done = Cell::new(None);
        let order = |turn: usize| &turns[turn];
        let attempt = |index: usize| is_done(&done, operations[index].attempt());
        let waitable = |index: usize| &operations[index];
        // SAFETY: the methods and the `Drop` of the selection end the wait before they move the operations.
        let index = unsafe { choice.poll_one(turn, order, waitable, attempt, context) };
        // If it waits, it has nothing left to pass on.
        let index = ready!(index);
        pass_on(operations, choice);
        *is_used = true;
        Poll::Ready((index, done.into_inner().expect("the last attempt succeeded")))
    }
}

impl<O: Operation> Drop for Choosing<'_, O> {
    fn drop(&mut self) {
        self.select.leave();
    }
}

impl<O: Operation> Drop for Select<O> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<O: Operation> Default for Select<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Operation> FromIterator<O> for Select<O> {
    fn from_iter<I: IntoIterator<Item = O>>(operations: I) -> Self {
        Self::from(operations.into_iter().collect::<Vec<_>>())
    }
}

/// Creates a fair selection.
impl<O: Operation> From<Vec<O>> for Select<O> {
    fn from(operations: Vec<O>) -> Self {
        let order = in_order(operations.len());
        Self { operations, persistent: None, order, is_biased: false, is_used: false, turn: AsyncTurn::new() }
    }
}

impl<O: Operation> fmt::Debug for Select<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").field("len", &self.len()).field("is_biased", &self.is_biased).finish()
    }
}

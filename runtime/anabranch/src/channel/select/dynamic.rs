//! `Select`: a selection among operations of one type, whose number is known only at run time.

use crate::{
    channel::select::{
        choose::{Choice, Deadlines},
        persistent::Persistent,
    },
    cx::{Cx, Operation, attempt::wait_for},
    time::NEVER,
    wait::{Cancelled, WaitError, future::AsyncTurn, suspend::WaitReason},
};
use std::{
    cell::Cell,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

/// A selection among operations of one type, whose number is known only at run time.
///
/// For hundreds of receivers use a [`ReceiverSet`](crate::channel::ReceiverSet): its costs do not grow with their
/// number. The same holds for a selection only if it receives from [streams](crate::channel::spsc): see
/// [`wait`](Self::wait).
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
    /// The operations that do not stay registered. They stay in place while `turn` waits: each method that may move
    /// them ends that wait first.
    operations: Vec<O>,
    /// The operations that stay registered. Their indices come before those of the others.
    persistent: Option<Box<Persistent<O>>>,
    /// A permutation of the indices of `operations`: see [`Choice`]. It does not change while `turn` waits.
    order: Vec<u32>,
    is_biased: bool,
    /// Whether this selection has completed an operation before.
    is_used: bool,
    /// The wait of [`wait_async`](Self::wait_async).
    turn: AsyncTurn,
}

impl<O: Operation> Select<O> {
    /// Creates a fair selection without operations.
    pub fn new() -> Self {
        Self::from(Vec::new())
    }

    /// Makes the selection prefer operations with a lower index. A fair selection chooses at random.
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

    /// Removes an operation. The last operation gets its index.
    ///
    /// Remove a receive from a closed channel, and a one-shot receive that has completed, since such a receive returns
    /// an error at once each time. Remove a send that has completed, since it panics if it is attempted again.
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

    /// Waits until an operation is ready, and completes it. Returns its index and its result. The receives of a
    /// selection can be completed repeatedly.
    ///
    /// A wait takes time linear in the number of operations. Receives from [streams](crate::channel::spsc) in a fair
    /// selection are an exception: they stay registered between waits. So from the second wait on, the time does not
    /// depend on their number.
    ///
    /// A selection without operations waits until it is cancelled.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(usize, O::Done), Cancelled> {
        self.wait_to(cx, NEVER, WaitReason::new(&"Select::wait")).map_err(|_| Cancelled)
    }

    /// Like [`wait`](Self::wait), with a timeout.
    ///
    /// # Errors
    /// Returns `TimedOut` once the timeout elapses, `Cancelled` if the wait is cancelled.
    ///
    /// ```
    /// use anabranch::{WaitError, channel::{self, Select}};
    /// use std::time::Duration;
    ///
    /// let (_sender, receiver) = channel::unbounded::<u8>();
    /// anabranch::run(|cx| {
    ///     let mut select = Select::from_iter([receiver.receiving()]);
    ///     assert_eq!(select.timeout(cx, Duration::from_millis(1)), Err(WaitError::TimedOut));
    /// });
    /// ```
    #[track_caller]
    pub fn timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<(usize, O::Done), WaitError> {
        self.wait_to(cx, cx.after(timeout), WaitReason::new(&"Select::wait"))
    }

    /// Like [`wait`](Self::wait), with a deadline.
    ///
    /// # Errors
    /// Returns `TimedOut` once the deadline passes, `Cancelled` if the wait is cancelled.
    #[track_caller]
    pub fn deadline(&mut self, cx: &Cx<'_>, deadline: Instant) -> Result<(usize, O::Done), WaitError> {
        self.wait_to(cx, cx.owner.clock().tick_at(deadline), WaitReason::new(&"Select::wait"))
    }

    pub(in crate::channel) fn wait_to(
        &mut self,
        cx: &Cx<'_>,
        own: u64,
        reason: WaitReason,
    ) -> Result<(usize, O::Done), WaitError> {
        cx.checkpoint()?;
        self.leave();
        // The first wait does not move the operations, because there may be no second one.
        if O::IS_EXCLUSIVE && !self.is_biased && self.is_used {
            self.persistent.get_or_insert_with(|| Box::new(Persistent::new()));
        }
        if let Some(persistent) = self.persistent() {
            return wait_for(cx, &persistent.any(), own, reason);
        }
        let (choice, operations, turns) = self.choice();
        let order = |turn: usize| &turns[turn];
        let deadlines = Deadlines { own, ..Deadlines::of(operations.iter().map(|operation| operation.ready_at())) };
        let done = Cell::new(None);
        let attempt = |index: usize| is_done(&done, operations[index].attempt());
        let waitable = |index: usize| &operations[index];
        let index = choice.do_one(cx, deadlines, reason, order, waitable, attempt);
        pass_on(operations, &choice);
        let index = index?;
        self.is_used = true;
        Ok((index, done.into_inner().expect("the last attempt succeeded")))
    }

    /// Like [`wait`](Self::wait), for async code. The future may be dropped at any time, which ends the wait. Then no
    /// operation is completed.
    ///
    /// The waits of a selection share one allocation.
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

    /// Completes an operation that is ready now. Returns `None` if none is. Does not wait.
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

    /// If there is a list of operations that stay registered, moves all others there and returns the list.
    #[inline]
    fn persistent(&mut self) -> Option<&mut Persistent<O>> {
        let persistent = &mut **self.persistent.as_mut()?;
        if !self.operations.is_empty() {
            persistent.extend(self.operations.drain(..));
        }
        Some(persistent)
    }

    /// Moves all operations out of the list of those that stay registered.
    fn settle(&mut self) {
        if let Some(persistent) = self.persistent.take() {
            let added = std::mem::replace(&mut self.operations, persistent.into_operations());
            self.operations.extend(added);
        }
    }

    /// Returns a choice among `operations`, with the operations and their order.
    fn choice(&mut self) -> (Choice, &[O], &[Cell<u32>]) {
        let count = self.operations.len();
        if self.order.len() != count {
            self.order = in_order(count);
        }
        (Choice::new(count, self.is_biased), &self.operations, Cell::from_mut(&mut *self.order).as_slice_of_cells())
    }

    /// Ends the wait of `wait_async`, if its future was forgotten while it waited.
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
        // SAFETY: `poll` registered these operations. None has been moved since, as each method that moves them calls
        // `leave` first.
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

/// Passes on what another thread handed to an operation that ended a wait and then failed. Its `Drop` would do so too
/// late, because the selection keeps the operation.
fn pass_on<O: Operation>(operations: &[O], choice: &Choice) {
    if let Some(index) = choice.late.take() {
        operations[index].pass_on();
    }
}

/// The future of `wait_async`. If it is forgotten, the selection ends the wait. The operations do not move with this
/// future, because they are on the heap.
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
        // A future that waits again has nothing to pass on.
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

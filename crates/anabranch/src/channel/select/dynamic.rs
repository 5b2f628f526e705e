//! `Select`: operations of one type, as many as there are when the program runs.

use crate::{
    channel::select::{
        choose::{Choice, Deadlines, Operation},
        persistent::Persistent,
    },
    cx::{Cx, attempt::wait_for},
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

/// A selection among a number of operations that is known only at run time, all of one type.
///
/// For hundreds of receivers, of whatever kind of channel, see [`ReceiverSet`](crate::channel::ReceiverSet), which has
/// them by value and does not look at those that have nothing. A selection does as well only where it is among
/// [streams](crate::channel::spsc); see [`wait`](Self::wait).
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
    /// They stay where they are while `turn` waits, for which each method that may move them sees first.
    operations: Vec<O>,
    /// Those that go on waiting, before the others.
    standing: Option<Box<Persistent<O>>>,
    /// A permutation of their indices: see [`Choice`]. It is not changed while `turn` waits.
    order: Vec<u32>,
    is_biased: bool,
    /// Whether one was done.
    is_used: bool,
    turn: AsyncTurn,
}

impl<O: Operation> Select<O> {
    /// Without any operation, and fair.
    pub fn new() -> Self {
        Self::from(Vec::new())
    }

    /// Takes the first that can be done, in their order.
    pub fn biased(mut self) -> Self {
        self.leave();
        self.settle();
        self.is_biased = true;
        self
    }

    /// Adds one: its index, from zero on.
    pub fn push(&mut self, operation: O) -> usize {
        self.leave();
        self.operations.push(operation);
        // A permutation again.
        self.order.push(self.order.len() as u32);
        self.len() - 1
    }

    /// Takes one out; the last one gets its index. A receive from a channel that is closed is done at once and ever
    /// again, and so is best taken out; and so is a send that has been done.
    ///
    /// # Panics
    /// When there is none of this index.
    pub fn swap_remove(&mut self, index: usize) -> O {
        self.leave();
        match self.standing() {
            Some(standing) => standing.swap_remove(index),
            None => self.operations.swap_remove(index),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.operations.len() + self.standing.as_ref().map_or(0, |standing| standing.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until one can be done, and does it: its index and its result. Receives can be waited for again afterwards.
    ///
    /// Linear in their number when it has to wait. But receives from [streams](crate::channel::spsc) go on waiting when
    /// they have been waited for once, unless the selection is biased: waiting for them again does not depend on their
    /// number. Without any operation it waits until it is cancelled.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(usize, O::Done), Cancelled> {
        self.wait_to(cx, NEVER, WaitReason::new(&"Select::wait")).map_err(|_| Cancelled)
    }

    /// Like [`wait`](Self::wait), with a deadline by the clock of the pool.
    ///
    /// # Errors
    /// Returns `Cancelled` if the wait is cancelled, `TimedOut` once the deadline passes.
    #[track_caller]
    pub fn wait_deadline(&mut self, cx: &Cx<'_>, instant: Instant) -> Result<(usize, O::Done), WaitError> {
        self.wait_to(cx, cx.strand.clock().tick_at(instant), WaitReason::new(&"Select::wait"))
    }

    /// Like [`wait`](Self::wait), with a timeout.
    ///
    /// # Errors
    /// Returns `Cancelled` if the wait is cancelled, `TimedOut` once the timeout elapses.
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
    #[track_caller]
    pub fn wait_timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<(usize, O::Done), WaitError> {
        self.wait_to(cx, cx.after(timeout), WaitReason::new(&"Select::wait"))
    }

    fn wait_to(&mut self, cx: &Cx<'_>, own: u64, reason: WaitReason) -> Result<(usize, O::Done), WaitError> {
        cx.checkpoint()?;
        self.leave();
        // Those that are waited for but once are not moved.
        if O::IS_LONE && !self.is_biased && self.is_used {
            self.standing.get_or_insert_with(|| Box::new(Persistent::new()));
        }
        if let Some(standing) = self.standing() {
            return wait_for(cx, &standing.any(), own, reason);
        }
        let (choice, operations, turns) = self.choice();
        let order = |turn: usize| &turns[turn];
        let deadlines = Deadlines { own, ..Deadlines::of(operations.iter().map(|operation| operation.deadline())) };
        let done = Cell::new(None);
        let attempt = |index: usize| is_done(&done, operations[index].attempt());
        let place = |index: usize| &operations[index];
        let index = choice.do_one(cx, deadlines, reason, order, place, attempt);
        pass_on(operations, &choice);
        let index = index?;
        self.is_used = true;
        Ok((index, done.into_inner().expect("the last attempt succeeded")))
    }

    /// Like [`wait`](Self::wait), for async code: the future may be dropped at any time, and what was not done then is
    /// not done. For an end to the wait drop it, or let the runtime do so.
    ///
    /// A selection that waits again and again allocates once.
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

    /// Does one that can be done now.
    pub fn try_now(&mut self) -> Option<(usize, O::Done)> {
        self.leave();
        if let Some(standing) = self.standing() {
            return standing.try_one();
        }
        let done = Cell::new(None);
        let (choice, operations, turns) = self.choice();
        let attempt = |index: usize| is_done(&done, operations[index].attempt());
        let index = choice.try_one(|turn| &turns[turn], attempt)?;
        self.is_used = true;
        done.into_inner().map(|done| (index, done))
    }

    /// Those that go on waiting, and all others with them, if there are any of these.
    #[inline]
    fn standing(&mut self) -> Option<&mut Persistent<O>> {
        let standing = &mut **self.standing.as_mut()?;
        if !self.operations.is_empty() {
            standing.extend(self.operations.drain(..));
        }
        Some(standing)
    }

    /// None goes on waiting.
    fn settle(&mut self) {
        if let Some(standing) = self.standing.take() {
            let added = std::mem::replace(&mut self.operations, standing.into_operations());
            self.operations.extend(added);
        }
    }

    /// A choice among the operations, none of which goes on waiting, with what it needs.
    fn choice(&mut self) -> (Choice, &[O], &[Cell<u32>]) {
        let count = self.operations.len();
        if self.order.len() != count {
            self.order = in_order(count);
        }
        (Choice::new(count, self.is_biased), &self.operations, Cell::from_mut(&mut *self.order).as_slice_of_cells())
    }

    /// Ends the wait of async code, if there is one: of a future that was forgotten.
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
        // SAFETY: those of `poll`, which has not been followed by a change of the operations.
        if let Some(index) = unsafe { choice.leave(&mut turn, |turn| &turns[turn], |index| &operations[index]) } {
            operations[index].pass_on();
        }
        self.turn = turn;
    }
}

/// The indices of so many operations.
fn in_order(count: usize) -> Vec<u32> {
    (0..u32::try_from(count).expect("fewer than four thousand million operations")).collect()
}

/// Whether the operation is done that had this result, which goes to `done`.
fn is_done<D>(done: &Cell<Option<D>>, result: Option<D>) -> bool {
    let is_done = result.is_some();
    done.set(result);
    is_done
}

/// What was given to one that could not be done is passed on, since the operations live on.
fn pass_on<O: Operation>(operations: &[O], choice: &Choice) {
    if let Some(index) = choice.late.take() {
        operations[index].pass_on();
    }
}

/// A wait of async code. The operations are on the heap, and the selection ends the wait if this does not.
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
        let place = |index: usize| &operations[index];
        // SAFETY: the operations are not moved before the wait has ended, by the methods and the end of the selection.
        let index = unsafe { choice.poll_one(turn, order, place, attempt, context) };
        // If it waits it has nothing left to pass on.
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

/// Fair.
impl<O: Operation> From<Vec<O>> for Select<O> {
    fn from(operations: Vec<O>) -> Self {
        let order = in_order(operations.len());
        Self { operations, standing: None, order, is_biased: false, is_used: false, turn: AsyncTurn::new() }
    }
}

impl<O: Operation> fmt::Debug for Select<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").field("len", &self.len()).field("is_biased", &self.is_biased).finish()
    }
}

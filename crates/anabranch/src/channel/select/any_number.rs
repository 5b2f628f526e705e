//! `Select`: operations of one type, as many as there are when the program runs.

use super::choose::{Operation, do_one, random_below};
use crate::{
    time::NEVER,
    wait::{Cancelled, Cx, cx::Reason},
};
use std::{cell::Cell, fmt};

/// A selection among a number of operations that is known only at run time, all of one type.
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
    operations: Vec<O>,
    is_biased: bool,
}

impl<O: Operation> Select<O> {
    /// Without any operation, and fair.
    pub fn new() -> Self {
        Self { operations: Vec::new(), is_biased: false }
    }

    /// Takes the first that can be done, in their order.
    pub fn biased(mut self) -> Self {
        self.is_biased = true;
        self
    }

    /// Adds one: its index, from zero on.
    pub fn push(&mut self, operation: O) -> usize {
        self.operations.push(operation);
        self.operations.len() - 1
    }

    /// Takes one out; the last one gets its index. A receive from a channel that is closed is done at once and ever again,
    /// and so is best taken out; and so is a send that has been done.
    ///
    /// # Panics
    /// When there is none of this index.
    pub fn swap_remove(&mut self, index: usize) -> O {
        self.operations.swap_remove(index)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Waits until one can be done, and does it: its index and its result. Receives can be waited for again afterwards.
    ///
    /// Linear in their number when it has to wait. Without any operation it waits until it is cancelled.
    ///
    /// # Errors
    /// When the wait was cancelled.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(usize, O::Done), Cancelled> {
        let reason = Reason::new(&"Select::wait");
        cx.checkpoint()?;
        let operations = &self.operations;
        let deadline = operations.iter().map(|operation| operation.deadline()).min().unwrap_or(NEVER);
        let done = Cell::new(None);
        let attempt = |index: usize| {
            let result = operations[index].attempt();
            let is_done = result.is_some();
            done.set(result);
            is_done
        };
        let place = |index: usize| &operations[index];
        let index = do_one(cx, operations.len(), self.first(), deadline, reason, place, attempt)?;
        Ok((index, done.into_inner().expect("the last attempt succeeded")))
    }

    /// Does one that can be done now.
    pub fn try_now(&mut self) -> Option<(usize, O::Done)> {
        let first = self.first();
        let circle = (first..self.len()).chain(0..first);
        circle.into_iter().find_map(|index| Some((index, self.operations[index].attempt()?)))
    }

    fn first(&self) -> usize {
        if self.is_biased { 0 } else { random_below(self.len()) }
    }
}

impl<O: Operation> Default for Select<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Operation> FromIterator<O> for Select<O> {
    fn from_iter<I: IntoIterator<Item = O>>(operations: I) -> Self {
        Self { operations: operations.into_iter().collect(), is_biased: false }
    }
}

impl<O: Operation> fmt::Debug for Select<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").field("len", &self.len()).field("is_biased", &self.is_biased).finish()
    }
}

//! Waiting for the first of several operations.
//!
//! An operation is a place together with an attempt (see `operation`). To select is to attempt one after the other, and, if
//! none succeeds, to wait at all their places at once, with one waiter, whose word says which of them ended the wait. That one
//! is attempted first: it may have been given something. What another place was about to give goes to others, since the word
//! was decided already.
//!
//! Fair means: the attempts begin at a random operation, and go on in a circle.

use super::operation::Attempt;
use crate::{
    time::NEVER,
    wait::{
        Cancelled, Cx, Trigger,
        cx::Reason,
        future::Handed,
        place::Place,
        slot::{Slot, SlotWait},
        waiter::{Outcome, Waiter},
    },
};
use std::{cell::Cell, fmt, time::Duration};

/// Something that can be waited for together with others: by [`select!`](crate::select) and by [`Select`].
///
/// Made by `receiving` and `sending` of the ends of channels, by [`Cx::sleeping`] and by [`Trigger::waiting`]. It is sealed:
/// what else is to be waited for is best built on a channel or a trigger.
#[allow(private_bounds, reason = "sealed")]
pub trait Operation: Attempt<Output = <Self as Operation>::Done> {
    /// What there is when it is done.
    type Done;
}

impl<A: Attempt> Operation for A {
    type Done = A::Output;
}

/// An operation, and what came of it.
#[doc(hidden)]
pub struct Arm<O: Operation> {
    operation: O,
    done: Cell<Option<O::Done>>,
}

impl<O: Operation> Arm<O> {
    pub fn new(operation: O) -> Self {
        Self { operation, done: Cell::new(None) }
    }

    pub fn into_done(self) -> Option<O::Done> {
        self.done.into_inner()
    }
}

/// An arm of whatever type.
#[doc(hidden)]
#[allow(private_bounds, reason = "hidden")]
pub trait AnyArm: Place {
    /// Whether the operation has been done.
    fn attempt(&self) -> bool;

    fn deadline(&self) -> u64;
}

// SAFETY: that of the operation.
unsafe impl<O: Operation> Place for Arm<O> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.operation.register(waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.operation.unregister(has_decided) }
    }
}

impl<O: Operation> AnyArm for Arm<O> {
    fn attempt(&self) -> bool {
        let done = self.operation.attempt();
        let is_done = done.is_some();
        self.done.set(done);
        is_done
    }

    fn deadline(&self) -> u64 {
        self.operation.deadline()
    }
}

/// Does one of the operations; none if there is a default and none can be done at once.
#[doc(hidden)]
#[track_caller]
pub fn choose(cx: &Cx<'_>, arms: &[&dyn AnyArm], is_biased: bool, has_default: bool) -> Result<(), Cancelled> {
    cx.checkpoint()?;
    let first = if is_biased { 0 } else { random_below(arms.len()) };
    if has_default {
        try_one(arms.len(), first, |index| arms[index].attempt());
        return Ok(());
    }
    let deadline = arms.iter().map(|arm| arm.deadline()).min().unwrap_or(NEVER);
    let reason = Reason::new(&"select!");
    let attempt = |index: usize| arms[index].attempt();
    do_one(cx, arms.len(), first, deadline, reason, |index| arms[index], attempt).map(|_| ())
}

/// The first of them that succeeds, in a circle.
fn try_one(count: usize, first: usize, attempt: impl Fn(usize) -> bool) -> Option<usize> {
    (first..count).chain(0..first).find(|&index| attempt(index))
}

/// Attempts and waits until one succeeds: which.
fn do_one<'p, P: Place + ?Sized + 'p>(
    cx: &Cx<'_>,
    count: usize,
    first: usize,
    deadline: u64,
    reason: Reason,
    place: impl Fn(usize) -> &'p P,
    attempt: impl Fn(usize) -> bool,
) -> Result<usize, Cancelled> {
    loop {
        if let Some(index) = try_one(count, first, &attempt) {
            return Ok(index);
        }
        match cx.wait_any(count, &place, first, deadline, reason) {
            Outcome::Cancelled => return Err(Cancelled),
            // The one that has the deadline can be done now.
            Outcome::TimedOut => {}
            Outcome::Ready(index) => {
                if attempt(index as usize) {
                    return Ok(index as usize);
                }
            }
        }
    }
}

/// A number that is hard to foretell, by Marsaglia's xorshift.
fn random_below(count: usize) -> usize {
    #[cfg(shuttle)]
    return crate::sys::chance::up_to(count) - 1;
    #[cfg(not(shuttle))]
    xorshift_below(count)
}

#[cfg(not(shuttle))]
fn xorshift_below(count: usize) -> usize {
    thread_local!(static STATE: Cell<u32> = const { Cell::new(0x9E37_79B9) });
    let mut state = STATE.get();
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    STATE.set(state);
    ((u64::from(state) * count as u64) >> 32) as usize
}

/// Waits for the first of several operations, does that one and no other, and goes on with its arm.
///
/// ```text
/// select!(cx, {
///     pattern = operation => body,
///     ..
///     default => body,             // optional: if none can be done at once
/// })
/// ```
/// An operation is a receive (`receiver.receiving()`), a send (`sender.sending(value)`), some time (`cx.sleeping(duration)`) or
/// a trigger (`trigger.waiting()`). The pattern gets what the operation results in, and has to match whatever that is. The
/// value of the whole is `Ok` with that of the body, or [`Cancelled`].
///
/// If several operations can be done at once, any of them is. `select!(biased cx, { .. })` takes the first in the order in which
/// they are written. The operations end before the body begins, so it may use the channels again; `?`, `break` and `return`
/// in it mean what they mean around the macro. Values that were to be sent by other arms are dropped, unless they are lent.
///
/// Linear in the number of arms. For hundreds of receivers see [`ReceiverSet`](crate::channel::ReceiverSet).
///
/// ```
/// use anabranch::{channel, select};
/// use std::time::Duration;
///
/// let (numbers, number) = channel::unbounded();
/// let (texts, text) = channel::bounded(1);
/// anabranch::run(|cx| {
///     numbers.try_send(7).unwrap();
///     let got = select!(cx, {
///         n = number.receiving() => format!("a number: {}", n.unwrap()),
///         t = text.receiving() => t.unwrap(),
///         _ = cx.sleeping(Duration::from_secs(60)) => "too late".to_owned(),
///     });
///     assert_eq!(got.unwrap(), "a number: 7");
///
///     let sent = select!(biased cx, {
///         sent = texts.sending("hello".to_owned()) => sent.is_ok(),
///         _ = number.receiving() => false,
///         default => false,
///     });
///     assert_eq!(sent, Ok(true));
/// });
/// ```
///
/// # Errors
/// When the wait was cancelled.
#[macro_export]
macro_rules! select {
    (biased $cx:expr, { $($arms:tt)* }) => {
        $crate::__select!(($cx) (true) [] $($arms)*)
    };
    ($cx:expr, { $($arms:tt)* }) => {
        $crate::__select!(($cx) (false) [] $($arms)*)
    };
}

/// The arms, one after the other, each with a name of its own by the hygiene of macros; then the whole.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    ($cx:tt $biased:tt $parsed:tt default => $default:expr $(,)?) => {
        $crate::__select!(@whole $cx $biased true $parsed $default)
    };
    ($cx:tt $biased:tt [$($parsed:tt)*] $pattern:pat = $operation:expr => $body:block default => $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm ($pattern) $operation, $body)] default => $($rest)*)
    };
    ($cx:tt $biased:tt [$($parsed:tt)*] $pattern:pat = $operation:expr => $body:block $pattern2:pat = $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm ($pattern) $operation, $body)] $pattern2 = $($rest)*)
    };
    ($cx:tt $biased:tt [$($parsed:tt)*] $pattern:pat = $operation:expr => $body:expr, $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm ($pattern) $operation, $body)] $($rest)*)
    };
    ($cx:tt $biased:tt [$($parsed:tt)*] $pattern:pat = $operation:expr => $body:expr) => {
        $crate::__select!($cx $biased [$($parsed)* (arm ($pattern) $operation, $body)])
    };
    ($cx:tt $biased:tt $parsed:tt) => {
        $crate::__select!(@whole $cx $biased false $parsed ::std::unreachable!("an arm was done"))
    };
    (@whole ($cx:expr) ($biased:expr) $has_default:tt
        [$(($arm:ident ($pattern:pat) $operation:expr, $body:expr))*] $default:expr) => {
        match {
            $(let $arm = $crate::channel::__select::Arm::new($operation);)*
            $crate::channel::__select::choose($cx, &[$(&$arm),*], $biased, $has_default)
                .map(|()| ($($arm.into_done(),)*))
        } {
            ::std::result::Result::Err(cancelled) => ::std::result::Result::Err(cancelled),
            ::std::result::Result::Ok(($($arm,)*)) => ::std::result::Result::Ok(
                $(if let ::std::option::Option::Some(done) = $arm {
                    let $pattern = done;
                    $body
                } else)* {
                    $default
                }
            ),
        }
    };
}

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

/// Some time, as an operation. Made by [`Cx::sleeping`].
pub struct Sleeping<'a> {
    cx: &'a Cx<'a>,
    at: u64,
}

impl<'a> Cx<'a> {
    /// A sleep as an operation, for [`select!`](crate::select). It ends so long from now.
    pub fn sleeping(&'a self, duration: Duration) -> Sleeping<'a> {
        Sleeping { cx: self, at: self.after(duration) }
    }
}

impl Attempt for Sleeping<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        (self.cx.strand.now() >= self.at).then_some(())
    }

    fn deadline(&self) -> u64 {
        self.at
    }
}

// SAFETY: it keeps no address.
unsafe impl Place for Sleeping<'_> {
    unsafe fn register(&self, _: *const Waiter, _: u32) -> bool {
        true
    }

    unsafe fn unregister(&self, _: bool) {}
}

/// There is nothing to hand over.
impl Handed for Sleeping<'_> {
    fn pass_on(&self) {}
}

/// A trigger, as an operation. Made by [`Trigger::waiting`].
pub struct Triggered<'a> {
    slot: &'a Slot,
    wait: SlotWait<&'a Slot>,
}

impl Trigger {
    /// The wait as an operation, for [`select!`](crate::select).
    ///
    /// ```
    /// use anabranch::{select, wait::Trigger};
    ///
    /// let mut trigger = Trigger::new();
    /// trigger.signal().send();
    /// anabranch::run(|cx| select!(cx, { () = trigger.waiting() => () })).unwrap();
    /// ```
    pub fn waiting(&mut self) -> Triggered<'_> {
        let slot = self.slot();
        Triggered { slot, wait: SlotWait::new(slot) }
    }
}

impl Attempt for Triggered<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.slot.is_notified().then_some(())
    }
}

// SAFETY: that of `wait`.
unsafe impl Place for Triggered<'_> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.wait.register(waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.wait.unregister(has_decided) }
    }
}

/// An event stays what it is.
impl Handed for Triggered<'_> {
    fn pass_on(&self) {}
}

impl fmt::Debug for Sleeping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping").finish_non_exhaustive()
    }
}

impl fmt::Debug for Triggered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Triggered").field("is_signalled", &self.slot.is_notified()).finish()
    }
}

//! The arms of [`select!`](crate::select): operations of any types, known at compile time.

use crate::{
    channel::select::choose::{Choice, Deadlines},
    cx::{Cx, Operation, attempt::Attempt, plain_thread::with_blocking_cx},
    sys::sync::full_fence,
    time::NEVER,
    wait::{
        Cancelled,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{array, cell::Cell};

/// An operation, and its result once it is done.
struct Arm<O: Operation> {
    /// `None` if the condition of the arm is false. Then the arm is never done.
    operation: Option<O>,
    done: Cell<Option<O::Done>>,
    /// The index of the arm whose turn this one's is in async code: see [`Choice`].
    turn: Cell<u32>,
}

/// An [`Operation`] that results in a `D`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation that can be selected",
    label = "not an operation",
    note = "of a receiver `rx` write `rx.receiving()`, of a sender `tx` write `tx.sending(value)`",
    note = "others are `cx.sleeping(duration)`, `trigger.waiting()`, `mutex.locking()`, `semaphore.acquiring(n)`"
)]
#[allow(private_bounds, reason = "sealed")]
pub trait Selectable<D>: Attempt<Output = D> {}

#[diagnostic::do_not_recommend]
impl<A: Attempt<Output = D>, D> Selectable<D> for A {}

/// Turns an operation into an arm.
///
/// The type of the arm is opaque, and its result a parameter of a trait. So the compiler requires an operation in this
/// call alone, and reports a mistake at the expression that is not an operation.
#[doc(hidden)]
#[inline]
pub fn arm<O: Selectable<D>, D>(operation: O) -> impl OneArm<Done = D> {
    arm_if(Some(operation))
}

/// Turns an operation into an arm, or makes an arm that is never ready.
#[doc(hidden)]
#[inline]
pub fn arm_if<O: Selectable<D>, D>(operation: Option<O>) -> impl OneArm<Done = D> {
    Arm { operation, done: Cell::new(None), turn: Cell::new(0) }
}

/// Returns the result of an arm, or `None` if another arm was completed.
#[doc(hidden)]
#[inline]
#[allow(clippy::needless_pass_by_value, reason = "the operation ends here, before the body of the arm begins")]
pub fn into_done<D>(arm: impl OneArm<Done = D>) -> Option<D> {
    arm.take_done()
}

impl<O: Operation> Arm<O> {
    fn is_done(&self, done: Option<O::Done>) -> bool {
        let is_done = done.is_some();
        self.done.set(done);
        is_done
    }
}

/// An arm of any type.
#[doc(hidden)]
#[allow(private_bounds, reason = "hidden")]
pub trait AnyArm: Waitable {
    /// Returns whether the condition of the arm is true.
    fn is_enabled(&self) -> bool;

    /// Attempts the operation. Returns whether it was done.
    fn attempt(&self) -> bool;

    fn turn(&self) -> &Cell<u32>;

    fn ready_at(&self) -> u64;
}

/// An arm whose type is known.
#[doc(hidden)]
pub trait OneArm: AnyArm {
    const IS_TIMED: bool;
    type Done;

    fn take_done(&self) -> Option<Self::Done>;
}

impl<O: Operation> OneArm for Arm<O> {
    const IS_TIMED: bool = O::IS_TIMED;
    type Done = O::Done;

    fn take_done(&self) -> Option<O::Done> {
        self.done.take()
    }
}

// SAFETY: `operation` upholds the contract of `Waitable`, and every call is forwarded to it.
unsafe impl<O: Operation> Waitable for Arm<O> {
    fn register(&self, armed: Armed) -> bool {
        let Some(operation) = &self.operation else {
            // This fence replaces the read-modify-write that `Waitable` requires.
            full_fence();
            return true;
        };
        operation.register(armed)
    }

    fn unregister(&self, ended: Ended) {
        if let Some(operation) = &self.operation {
            operation.unregister(ended);
        }
    }
}

impl<O: Operation> AnyArm for Arm<O> {
    fn is_enabled(&self) -> bool {
        self.operation.is_some()
    }

    fn attempt(&self) -> bool {
        self.operation.as_ref().is_some_and(|operation| self.is_done(operation.attempt()))
    }

    fn turn(&self) -> &Cell<u32> {
        &self.turn
    }

    fn ready_at(&self) -> u64 {
        self.operation.as_ref().map_or(NEVER, Attempt::ready_at)
    }
}

/// Completes one of the operations. Completes none if there is a default and no operation is ready, or if there is an
/// `else` and the conditions of all arms are false.
///
/// The arms are borrowed exclusively, so no arm is among them twice: each has only one entry to wait with.
#[doc(hidden)]
#[track_caller]
pub fn choose<const N: usize>(
    cx: &Cx<'_>,
    arms: [&mut dyn AnyArm; N],
    is_biased: bool,
    has_default: bool,
    has_else: bool,
) -> Result<(), Cancelled> {
    cx.checkpoint()?;
    let arms = arms.each_ref().map(|arm| &**arm);
    if has_else && !arms.iter().any(|arm| arm.is_enabled()) {
        return Ok(());
    }
    let choice = Choice::new(N, is_biased);
    let turns = array::from_fn::<_, N, _>(|index| Cell::new(index as u32));
    let order = |turn: usize| &turns[turn];
    let attempt = |index: usize| arms[index].attempt();
    if has_default {
        choice.try_one(order, attempt);
        return Ok(());
    }
    let deadlines = Deadlines::of(arms.iter().map(|arm| arm.ready_at()));
    let reason = WaitReason::new(&"select!");
    // When the arms end, they pass on what they were given and did not take.
    match choice.do_one(cx, deadlines, reason, order, |index| arms[index], attempt) {
        Ok(_) => Ok(()),
        Err(_) => Err(Cancelled),
    }
}

/// Like [`choose`], for threads without a `Cx`.
#[doc(hidden)]
#[track_caller]
pub fn choose_blocking<const N: usize>(arms: [&mut dyn AnyArm; N], is_biased: bool, has_default: bool, has_else: bool) {
    with_blocking_cx(|cx| choose(cx, arms, is_biased, has_default, has_else))
        .unwrap_or_else(|Cancelled| unreachable!("nothing cancels the scope of a thread that blocks"));
}

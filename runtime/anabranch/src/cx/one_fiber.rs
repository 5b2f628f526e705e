//! The compiler's error where a closure that runs on another fiber, or on a thread of the pool, uses the `Cx` of the
//! enclosing code.
//!
//! [`Cx`](crate::cx::Cx) and [`FiberScope`](crate::fiber::FiberScope) are neither `Send` nor `Sync`. Without explicit
//! impls the compiler would report the reason once for each field, and for each field of these. So they implement both
//! under the condition that a type here implements a trait here, which no type does. The compiler reports that
//! condition instead, with the text of the trait.
//!
//! The traits cannot be named elsewhere, so nothing can implement them. (`for<'any>` is there since the compiler
//! refuses a condition that it sees to be false. It does not check a condition for all lifetimes.)

use std::marker::PhantomData;

/// The condition under which a `Cx` could be sent and shared.
#[diagnostic::on_unimplemented(
    message = "a `Cx` belongs to one fiber: a closure that runs on another one cannot use it",
    label = "the `cx` of the code around this closure is used in it",
    note = "use the `cx` that the closure is passed: write `|cx| ..` in place of `|_| ..`",
    note = "closures of `join`, `for_each` and the like are passed none, as they compute and do not wait: for those that wait \
            there are `cx.join`, `cx.map_concurrent` and `cx.scope`",
    note = "futures are passed none either, as they await: `receiver.receiving().await`"
)]
pub(crate) trait CxOfManyFibers {}

/// The condition under which a `FiberScope` could be sent and shared.
#[diagnostic::on_unimplemented(
    message = "a `FiberScope` belongs to one fiber: a closure that runs on another one cannot use it",
    label = "the scope around this closure is used in it: use `spawner.spawn(..)` here, with `let spawner = s.spawner();` before",
    note = "to wait there, use the `cx` that the closure is passed: write `|cx| ..` in place of `|_| ..`"
)]
pub(crate) trait ScopeOfManyFibers {}

/// A type that implements neither trait.
pub(crate) struct OneFiber<'any>(PhantomData<&'any ()>);

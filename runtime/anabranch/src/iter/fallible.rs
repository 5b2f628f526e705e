//! Results of closures that may end a loop early.

use std::{
    ops::ControlFlow::{self, Break, Continue},
    task::Poll,
};

mod private {
    pub trait Sealed {}
}

/// A type whose values either continue a loop or end it: `Option`, `Result`, `ControlFlow`, `Poll<Result<..>>` and
/// `Poll<Option<Result<..>>>`.
///
/// It is like `std::ops::Try`, which is not stable yet. Only this crate can implement it.
///
/// ```
/// use anabranch::prelude::*;
/// use std::ops::ControlFlow;
///
/// let small = |item: &i32| if *item < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(*item) };
/// assert_eq!([1, 20, 3].par_iter().try_for_each(small), ControlFlow::Break(20));
/// assert_eq!([1, 2, 3].par_iter().try_for_each(small), ControlFlow::Continue(()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot end a loop early",
    label = "not an `Option`, `Result` or `ControlFlow`"
)]
pub trait Try: private::Sealed + Sized {
    /// The value with which a loop continues.
    type Output;

    /// Makes a value that continues a loop.
    fn from_output(output: Self::Output) -> Self;

    /// Returns the value with which the loop continues, or else `self`, with which it ends.
    fn branch(self) -> ControlFlow<Self, Self::Output>;
}

impl<T> private::Sealed for Option<T> {}
impl<T> Try for Option<T> {
    type Output = T;

    #[inline]
    fn from_output(output: T) -> Self {
        Some(output)
    }
    #[inline]
    fn branch(self) -> ControlFlow<Self, T> {
        self.map_or(Break(None), Continue)
    }
}

impl<T, E> private::Sealed for Result<T, E> {}
impl<T, E> Try for Result<T, E> {
    type Output = T;

    #[inline]
    fn from_output(output: T) -> Self {
        Ok(output)
    }
    #[inline]
    fn branch(self) -> ControlFlow<Self, T> {
        self.map_or_else(|error| Break(Err(error)), Continue)
    }
}

impl<B, T> private::Sealed for ControlFlow<B, T> {}
impl<B, T> Try for ControlFlow<B, T> {
    type Output = T;

    #[inline]
    fn from_output(output: T) -> Self {
        Continue(output)
    }
    #[inline]
    fn branch(self) -> ControlFlow<Self, T> {
        match self {
            Continue(output) => Continue(output),
            Break(value) => Break(Break(value)),
        }
    }
}

impl<T, E> private::Sealed for Poll<Result<T, E>> {}
impl<T, E> Try for Poll<Result<T, E>> {
    type Output = Poll<T>;

    #[inline]
    fn from_output(output: Poll<T>) -> Self {
        output.map(Ok)
    }
    #[inline]
    fn branch(self) -> ControlFlow<Self, Poll<T>> {
        match self {
            Poll::Pending => Continue(Poll::Pending),
            Poll::Ready(Ok(output)) => Continue(Poll::Ready(output)),
            Poll::Ready(Err(error)) => Break(Poll::Ready(Err(error))),
        }
    }
}

impl<T, E> private::Sealed for Poll<Option<Result<T, E>>> {}
impl<T, E> Try for Poll<Option<Result<T, E>>> {
    type Output = Poll<Option<T>>;

    #[inline]
    fn from_output(output: Poll<Option<T>>) -> Self {
        output.map(|output| output.map(Ok))
    }
    #[inline]
    fn branch(self) -> ControlFlow<Self, Poll<Option<T>>> {
        match self {
            Poll::Pending => Continue(Poll::Pending),
            Poll::Ready(None) => Continue(Poll::Ready(None)),
            Poll::Ready(Some(Ok(output))) => Continue(Poll::Ready(Some(output))),
            Poll::Ready(Some(Err(error))) => Break(Poll::Ready(Some(Err(error)))),
        }
    }
}

//! The errors of sends and receives. A failed send returns its value in the error.

use crate::wait::{
    Cancelled,
    error_macros::{from_units, from_variants, into_io, texts},
};
use std::{fmt, io};

/// The channel is closed, and all its values have been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Closed;

/// The channel is closed. Holds the value that was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClosedError<T>(pub T);

/// The error of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvError {
    /// The channel is closed, and all its values have been received.
    Closed,
    /// The scope of the receive was cancelled, or the deadline of the scope has passed.
    Cancelled,
}

/// The error of a receive without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// The channel is empty now. There may be a value later.
    Empty,
    /// The channel is closed, and all its values have been received.
    Closed,
}

/// The error of a send. Each variant holds the value: `()` for a reservation, and for a send of several values, because
/// the caller keeps the values that were not sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendError<T> {
    /// The channel is closed.
    Closed(T),
    /// The scope of the send was cancelled, or the deadline of the scope has passed.
    Cancelled(T),
}

/// The error of a send without waiting. Each variant holds the value: `()` for a reservation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrySendError<T> {
    /// The channel is full now. There may be room later.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// The error of a [call](crate::channel::Sender::call).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallError {
    /// The channel is closed, or the request was dropped without an answer.
    Closed,
    /// The scope of the caller was cancelled, or its deadline has passed.
    Cancelled,
}

/// Why a channel refused a value. The caller gets the value back beside this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PushError {
    Full,
    Closed,
}

/// The panic of an operation that is used again after it has completed, and has nothing left to perform with: its value
/// was sent or returned, or a permit has the sender.
pub(crate) const USED_AGAIN: &str = "an operation was used again after it had completed";

impl From<PushError> for TrySendError<()> {
    fn from(error: PushError) -> Self {
        Self::new((error, ()))
    }
}

impl<T> ClosedError<T> {
    /// Returns the value that was not sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> SendError<Box<T>> {
    /// Returns the error with the value itself. A large value is in a box as long as possible.
    #[inline(never)]
    pub(super) fn unboxed(self) -> SendError<T> {
        match self {
            Self::Closed(value) => SendError::Closed(*value),
            Self::Cancelled(value) => SendError::Cancelled(*value),
        }
    }
}

impl<T> SendError<T> {
    /// Returns the value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(value) | Self::Cancelled(value) => value,
        }
    }
}

impl<T> TrySendError<T> {
    /// Returns the value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }

    pub(super) fn new((error, value): (PushError, T)) -> Self {
        match error {
            PushError::Full => Self::Full(value),
            PushError::Closed => Self::Closed(value),
        }
    }

    /// Returns whether the channel was full, so that there may be room later.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

from_units! {
    Closed => RecvError, TryRecvError;
    Cancelled => RecvError;
}

from_variants! {
    RecvError => CallError { Closed, Cancelled }
}

/// Makes the error of a reservation.
impl From<Closed> for SendError<()> {
    fn from(_: Closed) -> Self {
        Self::Closed(())
    }
}

/// Makes the error of a reservation.
impl From<Cancelled> for SendError<()> {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled(())
    }
}

impl<T> From<ClosedError<T>> for SendError<T> {
    fn from(refused: ClosedError<T>) -> Self {
        Self::Closed(refused.0)
    }
}

/// Drops the request.
impl<T> From<SendError<T>> for CallError {
    fn from(error: SendError<T>) -> Self {
        match error {
            SendError::Closed(_) => Self::Closed,
            SendError::Cancelled(_) => Self::Cancelled,
        }
    }
}

impl<T> From<ClosedError<T>> for TrySendError<T> {
    fn from(refused: ClosedError<T>) -> Self {
        Self::Closed(refused.0)
    }
}

/// Lets `?` work in functions that read and write. The kind is [`BrokenPipe`](io::ErrorKind::BrokenPipe).
impl From<Closed> for io::Error {
    fn from(closed: Closed) -> Self {
        Self::new(io::ErrorKind::BrokenPipe, closed)
    }
}

into_io! {
    RecvError { Closed, Cancelled }
    CallError { Closed, Cancelled }
}

/// Drops the value.
impl<T> From<ClosedError<T>> for io::Error {
    fn from(_: ClosedError<T>) -> Self {
        Closed.into()
    }
}

/// Drops the value, and converts the variant like the error of the same name.
impl<T> From<SendError<T>> for io::Error {
    fn from(error: SendError<T>) -> Self {
        match error {
            SendError::Closed(_) => Closed.into(),
            SendError::Cancelled(_) => Cancelled.into(),
        }
    }
}

const CLOSED: &str = "the channel is closed";
const CANCELLED: &str = "cancelled while waiting for the channel";
const EMPTY: &str = "the channel is empty";
const FULL: &str = "the channel is full";

texts! {
    Closed { Self => CLOSED, }
    RecvError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    TryRecvError { Self::Empty => EMPTY, Self::Closed => CLOSED, }
    CallError { Self::Closed => "the request was not answered", Self::Cancelled => CANCELLED, }
    ClosedError<T> { Self(_) => CLOSED, }
    SendError<T> { Self::Closed(_) => CLOSED, Self::Cancelled(_) => CANCELLED, }
    TrySendError<T> { Self::Full(_) => FULL, Self::Closed(_) => CLOSED, }
}

impl<T> fmt::Debug for ClosedError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClosedError(..)")
    }
}

/// Implements `Debug` without a bound on the value.
macro_rules! debug_without_value {
    ($($name:ident { $($variant:ident),* })*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant(_) => concat!(stringify!($variant), "(..)"),)* })
            }
        }
    )*};
}

debug_without_value! {
    SendError { Closed, Cancelled }
    TrySendError { Full, Closed }
}

//! The errors of sends and receives. A failed send returns its value in the error.

use crate::wait::{
    Cancelled, TimedOut, WaitError,
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

/// The error of a receive with a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvTimeoutError {
    /// The channel is closed, and all its values have been received.
    Closed,
    /// The scope of the receive was cancelled, or the deadline of the scope has passed.
    Cancelled,
    /// The deadline or timeout of this wait has passed.
    TimedOut,
}

/// The error of a receive without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// The channel is empty now. There may be a value later.
    Empty,
    /// The channel is closed, and all its values have been received.
    Closed,
}

/// The error of a send. Each variant holds the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendError<T> {
    /// The channel is closed.
    Closed(T),
    /// The scope of the send was cancelled, or the deadline of the scope has passed.
    Cancelled(T),
}

/// The error of a send with a time limit. Each variant holds the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendTimeoutError<T> {
    /// The channel is closed.
    Closed(T),
    /// The scope of the send was cancelled, or the deadline of the scope has passed.
    Cancelled(T),
    /// The deadline or timeout of this wait has passed.
    TimedOut(T),
}

/// The error of a send without waiting. Each variant holds the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrySendError<T> {
    /// The channel is full now. There may be room later.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// The error of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReserveError {
    /// The channel is closed.
    Closed,
    /// The scope of the send was cancelled, or the deadline of the scope has passed.
    Cancelled,
}

/// The error of a reservation with a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReserveTimeoutError {
    /// The channel is closed.
    Closed,
    /// The scope of the send was cancelled, or the deadline of the scope has passed.
    Cancelled,
    /// The deadline or timeout of this wait has passed.
    TimedOut,
}

/// The error of a reservation without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryReserveError {
    /// The channel is full now. There may be room later.
    Full,
    /// The channel is closed.
    Closed,
}

/// The error of a send of several values. Those that were not sent are still with the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendAllError {
    /// The channel is closed.
    Closed,
    /// The scope of the send was cancelled, or the deadline of the scope has passed.
    Cancelled,
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

impl From<PushError> for TryReserveError {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Full => Self::Full,
            PushError::Closed => Self::Closed,
        }
    }
}

impl<T> ClosedError<T> {
    /// Returns the value that was not sent.
    pub fn into_inner(self) -> T {
        self.0
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

impl<T> SendTimeoutError<T> {
    /// Returns the value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(value) | Self::Cancelled(value) | Self::TimedOut(value) => value,
        }
    }

    pub(super) fn new(error: WaitError, value: T) -> Self {
        match error {
            WaitError::Cancelled => Self::Cancelled(value),
            WaitError::TimedOut => Self::TimedOut(value),
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

/// Returns the error of a receive that does not time out.
pub(super) fn closed(_: RecvTimeoutError) -> Closed {
    Closed
}

/// Returns the error of a send that does not time out.
pub(super) fn refused<T>(error: SendTimeoutError<T>) -> ClosedError<T> {
    ClosedError(error.into_inner())
}

from_units! {
    Closed => RecvError, RecvTimeoutError, TryRecvError, ReserveError, ReserveTimeoutError, TryReserveError, SendAllError;
    Cancelled => RecvError, RecvTimeoutError, ReserveError, ReserveTimeoutError, SendAllError;
    TimedOut => ReserveTimeoutError;
}

from_variants! {
    RecvError => RecvTimeoutError { Closed, Cancelled }
    RecvError => CallError { Closed, Cancelled }
    ReserveError => ReserveTimeoutError { Closed, Cancelled }
    WaitError => RecvTimeoutError { Cancelled, TimedOut }
    WaitError => ReserveTimeoutError { Cancelled, TimedOut }
}

/// Lets a receive run in [`Cx::timeout`](crate::Cx::timeout).
///
/// ```
/// use anabranch::channel::{RecvTimeoutError, unbounded};
/// use std::time::Duration;
///
/// let (_sender, receiver) = unbounded::<u8>();
/// anabranch::run(|cx| {
///     let two = cx.timeout(Duration::from_millis(1), |cx| Ok((receiver.recv(cx)?, receiver.recv(cx)?)));
///     assert_eq!(two, Err(RecvTimeoutError::TimedOut));
/// });
/// ```
impl From<TimedOut> for RecvTimeoutError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl<T> From<ClosedError<T>> for SendError<T> {
    fn from(refused: ClosedError<T>) -> Self {
        Self::Closed(refused.0)
    }
}

impl<T> From<ClosedError<T>> for SendTimeoutError<T> {
    fn from(refused: ClosedError<T>) -> Self {
        Self::Closed(refused.0)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        match error {
            SendError::Closed(value) => Self::Closed(value),
            SendError::Cancelled(value) => Self::Cancelled(value),
        }
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
    RecvTimeoutError { Closed, Cancelled, TimedOut }
    ReserveError { Closed, Cancelled }
    ReserveTimeoutError { Closed, Cancelled, TimedOut }
    SendAllError { Closed, Cancelled }
    CallError { Closed, Cancelled }
}

const CLOSED: &str = "the channel is closed";
const CANCELLED: &str = "cancelled while waiting for the channel";
const TIMED_OUT: &str = "the deadline of the wait for the channel has passed";
const EMPTY: &str = "the channel is empty";
const FULL: &str = "the channel is full";

texts! {
    Closed { Self => CLOSED, }
    RecvError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    RecvTimeoutError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, Self::TimedOut => TIMED_OUT, }
    TryRecvError { Self::Empty => EMPTY, Self::Closed => CLOSED, }
    ReserveError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    ReserveTimeoutError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, Self::TimedOut => TIMED_OUT, }
    TryReserveError { Self::Full => FULL, Self::Closed => CLOSED, }
    SendAllError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    CallError { Self::Closed => "the request was not answered", Self::Cancelled => CANCELLED, }
    ClosedError<T> { Self(_) => CLOSED, }
    SendError<T> { Self::Closed(_) => CLOSED, Self::Cancelled(_) => CANCELLED, }
    SendTimeoutError<T> { Self::Closed(_) => CLOSED, Self::Cancelled(_) => CANCELLED, Self::TimedOut(_) => TIMED_OUT, }
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
    SendTimeoutError { Closed, Cancelled, TimedOut }
    TrySendError { Full, Closed }
}

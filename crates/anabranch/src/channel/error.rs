//! The errors of sending and receiving. A value that was not sent comes back in the error.

use crate::wait::{Cancelled, TimedOut, WaitError};
use std::{error::Error, fmt, io};

/// The channel is closed, and all that was in it has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Closed;

/// The channel is closed: the value comes back.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClosedError<T>(pub T);

/// Why nothing was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvError {
    /// The channel is closed, and all that was in it has been received.
    Closed,
    /// The scope of the receiver was cancelled, or its deadline has passed.
    Cancelled,
}

/// Why nothing was received in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvTimeoutError {
    /// The channel is closed, and all that was in it has been received.
    Closed,
    /// The scope of the receiver was cancelled, or its deadline has passed.
    Cancelled,
    /// The deadline or timeout of this wait has passed.
    TimedOut,
}

/// Why nothing was received at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// There is nothing to receive now; there may be later.
    Empty,
    /// The channel is closed, and all that was in it has been received.
    Closed,
}

/// Why a value was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendError<T> {
    /// The channel is closed.
    Closed(T),
    /// The scope of the sender was cancelled, or its deadline has passed.
    Cancelled(T),
}

/// Why a value was not sent in time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendTimeoutError<T> {
    /// The channel is closed.
    Closed(T),
    /// The scope of the sender was cancelled, or its deadline has passed.
    Cancelled(T),
    /// The deadline or timeout of this wait has passed.
    TimedOut(T),
}

/// Why a value was not sent at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrySendError<T> {
    /// The channel is full now; there may be room later.
    Full(T),
    /// The channel is closed.
    Closed(T),
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

    /// Returns whether the channel was full, so that there may be room later.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl From<Closed> for RecvError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<Cancelled> for RecvError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<Closed> for RecvTimeoutError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<Cancelled> for RecvTimeoutError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => Self::Closed,
            RecvError::Cancelled => Self::Cancelled,
        }
    }
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

impl From<Closed> for TryRecvError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<WaitError> for RecvTimeoutError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Cancelled => Self::Cancelled,
            WaitError::TimedOut => Self::TimedOut,
        }
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

/// Converts as from [`Closed`] and from [`Cancelled`].
impl From<RecvError> for io::Error {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => Closed.into(),
            RecvError::Cancelled => Cancelled.into(),
        }
    }
}

/// Converts as from [`Closed`], from [`Cancelled`] and from [`TimedOut`].
impl From<RecvTimeoutError> for io::Error {
    fn from(error: RecvTimeoutError) -> Self {
        match error {
            RecvTimeoutError::Closed => Closed.into(),
            RecvTimeoutError::Cancelled => Cancelled.into(),
            RecvTimeoutError::TimedOut => TimedOut.into(),
        }
    }
}

const CLOSED: &str = "the channel is closed";
const CANCELLED: &str = "cancelled while waiting for the channel";
const TIMED_OUT: &str = "the deadline of the wait for the channel has passed";
const EMPTY: &str = "the channel is empty";
const FULL: &str = "the channel is full";

/// `Display` for all, and `Debug` that does not require it of the value.
macro_rules! texts {
    ($($name:ident $(<$t:ident>)? { $($pattern:pat => $text:expr,)* })*) => {$(
        impl$(<$t>)? fmt::Display for $name$(<$t>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($pattern => $text,)* })
            }
        }

        impl$(<$t>)? Error for $name$(<$t>)? {}
    )*};
}

texts! {
    Closed { Self => CLOSED, }
    RecvError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    RecvTimeoutError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, Self::TimedOut => TIMED_OUT, }
    TryRecvError { Self::Empty => EMPTY, Self::Closed => CLOSED, }
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

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(_) => "Closed(..)",
            Self::Cancelled(_) => "Cancelled(..)",
        })
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(_) => "Closed(..)",
            Self::Cancelled(_) => "Cancelled(..)",
            Self::TimedOut(_) => "TimedOut(..)",
        })
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

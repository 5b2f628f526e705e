//! The errors of waits.

use std::{error::Error, fmt, io};

/// The scope of a wait was cancelled, or its deadline has passed.
///
/// From the cancellation on, every wait with the cancelled [`Cx`](crate::Cx) returns this: cancellation is a state and
/// not an event. Propagate it by `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled while waiting")
    }
}

impl Error for Cancelled {}

/// Lets `?` work in functions that do I/O. The kind is [`Other`](io::ErrorKind::Other), and not `Interrupted`, which
/// many callers retry.
impl From<Cancelled> for io::Error {
    fn from(cancelled: Cancelled) -> Self {
        Self::other(cancelled)
    }
}

/// The deadline of [`Cx::timeout`](crate::Cx::timeout) has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was up")
    }
}

impl Error for TimedOut {}

/// Lets `?` work in functions that do I/O. The kind is [`TimedOut`](io::ErrorKind::TimedOut).
impl From<TimedOut> for io::Error {
    fn from(timed_out: TimedOut) -> Self {
        Self::new(io::ErrorKind::TimedOut, timed_out)
    }
}

/// The error of a wait with a deadline of its own, or of one inside [`Cx::timeout`](crate::Cx::timeout).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitError {
    /// The scope was cancelled, or the scope's deadline has passed.
    Cancelled,
    /// The deadline of this wait has passed, or the deadline of the enclosing timeout that returns the error.
    TimedOut,
}

impl From<Cancelled> for WaitError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<TimedOut> for WaitError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// Converts as from [`Cancelled`] and from [`TimedOut`].
impl From<WaitError> for io::Error {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Cancelled => Cancelled.into(),
            WaitError::TimedOut => TimedOut.into(),
        }
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::TimedOut => TimedOut.fmt(f),
        }
    }
}

impl Error for WaitError {}

//! The errors of a [`Semaphore`](super::Semaphore).

use crate::wait::{Cancelled, TimedOut, WaitError};
use std::{error, fmt, io};

/// The semaphore is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SemaphoreClosed;

/// The error of a wait for permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AcquireError {
    /// The semaphore is closed.
    Closed,
    /// The scope of the wait was cancelled, or the deadline of the scope has passed.
    Cancelled,
}

/// The error of a wait for permits with a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AcquireTimeoutError {
    /// The semaphore is closed.
    Closed,
    /// The scope of the wait was cancelled, or the deadline of the scope has passed.
    Cancelled,
    /// The deadline or timeout of this wait has passed.
    TimedOut,
}

/// The error of an acquisition without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryAcquireError {
    /// There are too few free permits now, or an earlier caller waits for them.
    NoPermits,
    /// The semaphore is closed.
    Closed,
}

impl From<WaitError> for AcquireTimeoutError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Cancelled => Self::Cancelled,
            WaitError::TimedOut => Self::TimedOut,
        }
    }
}

impl From<AcquireError> for AcquireTimeoutError {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::Closed => Self::Closed,
            AcquireError::Cancelled => Self::Cancelled,
        }
    }
}

/// Lets `?` work in functions that read and write. The kind is [`BrokenPipe`](io::ErrorKind::BrokenPipe).
impl From<SemaphoreClosed> for io::Error {
    fn from(closed: SemaphoreClosed) -> Self {
        Self::new(io::ErrorKind::BrokenPipe, closed)
    }
}

/// Converts the variant like the error of the same name.
impl From<AcquireError> for io::Error {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::Closed => SemaphoreClosed.into(),
            AcquireError::Cancelled => Cancelled.into(),
        }
    }
}

/// Converts the variant like the error of the same name.
impl From<AcquireTimeoutError> for io::Error {
    fn from(error: AcquireTimeoutError) -> Self {
        match error {
            AcquireTimeoutError::Closed => SemaphoreClosed.into(),
            AcquireTimeoutError::Cancelled => Cancelled.into(),
            AcquireTimeoutError::TimedOut => TimedOut.into(),
        }
    }
}

/// Implements `From` from each of these errors to the variant of the same name.
macro_rules! from_units {
    ($($unit:ident => $variant:ident of $($error:ident),*;)*) => {$($(
        impl From<$unit> for $error {
            fn from(_: $unit) -> Self {
                Self::$variant
            }
        }
    )*)*};
}

from_units! {
    SemaphoreClosed => Closed of AcquireError, AcquireTimeoutError, TryAcquireError;
    Cancelled => Cancelled of AcquireError, AcquireTimeoutError;
    TimedOut => TimedOut of AcquireTimeoutError;
}

const CLOSED: &str = "the semaphore is closed";
const CANCELLED: &str = "cancelled while waiting for the semaphore";
const TIMED_OUT: &str = "the deadline of the wait for the semaphore has passed";
const NO_PERMITS: &str = "the semaphore has too few free permits";

/// Implements `Display` and `Error`.
macro_rules! texts {
    ($($name:ident { $($pattern:pat => $text:expr,)* })*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($pattern => $text,)* })
            }
        }

        impl error::Error for $name {}
    )*};
}

texts! {
    SemaphoreClosed { Self => CLOSED, }
    AcquireError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    AcquireTimeoutError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, Self::TimedOut => TIMED_OUT, }
    TryAcquireError { Self::NoPermits => NO_PERMITS, Self::Closed => CLOSED, }
}

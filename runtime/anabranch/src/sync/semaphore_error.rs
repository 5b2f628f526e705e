//! The errors of a [`Semaphore`](super::Semaphore).

use self::SemaphoreClosed as Closed;
use crate::wait::{
    Cancelled,
    error_macros::{from_units, into_io, texts},
};
use std::io;

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

/// The error of an acquisition without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryAcquireError {
    /// There are too few free permits now, or an earlier caller waits for them.
    NoPermits,
    /// The semaphore is closed.
    Closed,
}

from_units! {
    Closed => AcquireError, TryAcquireError;
    Cancelled => AcquireError;
}

/// Lets `?` work in functions that read and write. The kind is [`BrokenPipe`](io::ErrorKind::BrokenPipe).
impl From<SemaphoreClosed> for io::Error {
    fn from(closed: SemaphoreClosed) -> Self {
        Self::new(io::ErrorKind::BrokenPipe, closed)
    }
}

into_io! {
    AcquireError { Closed, Cancelled }
}

const CLOSED: &str = "the semaphore is closed";
const CANCELLED: &str = "cancelled while waiting for the semaphore";
const NO_PERMITS: &str = "the semaphore has too few free permits";

texts! {
    Closed { Self => CLOSED, }
    AcquireError { Self::Closed => CLOSED, Self::Cancelled => CANCELLED, }
    TryAcquireError { Self::NoPermits => NO_PERMITS, Self::Closed => CLOSED, }
}

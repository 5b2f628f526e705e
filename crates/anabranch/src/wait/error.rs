//! What a wait can fail with.

use std::{error::Error, fmt};

/// The scope in which somebody waited was cancelled, or its deadline has passed.
///
/// Every wait of a cancelled [`Cx`](crate::Cx) returns this, also the next one and the one after: cancellation is a state
/// and not an event. Hand it on by `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled while waiting")
    }
}

impl Error for Cancelled {}

/// Why a wait with a deadline of its own ended without result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitError {
    /// The scope was cancelled, or the scope's deadline has passed.
    Cancelled,
    /// The deadline of this wait has passed.
    TimedOut,
}

impl From<Cancelled> for WaitError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::TimedOut => f.write_str("the deadline of the wait has passed"),
        }
    }
}

impl Error for WaitError {}

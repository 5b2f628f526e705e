//! The error of a join.

use crate::wait::{Cancelled, TimedOut};
use std::{any::Any, fmt};

/// The error of a join.
pub enum JoinError {
    /// The wait was cancelled. The fiber continues.
    Cancelled,
    /// The deadline of a [timeout](crate::Cx::timeout) around the wait has passed.
    TimedOut,
    /// A future of [`spawn_async`](crate::spawn_async) was cancelled and dropped before it had ended.
    Aborted,
    /// The fiber panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

impl JoinError {
    /// Returns the text about a panic with this payload.
    pub(crate) fn text_of(payload: &(dyn Any + Send)) -> String {
        let text = panic_text(payload).unwrap_or("with a payload that is not a string");
        format!("the fiber panicked: {text}")
    }
}

impl From<Cancelled> for JoinError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<TimedOut> for JoinError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// Returns the text of a panic, if its payload is a string.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Includes the text of the panic, which `unwrap` then shows.
impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("Cancelled"),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Aborted => f.write_str("Aborted"),
            Self::Panicked(payload) => match panic_text(payload.as_ref()) {
                Some(text) => f.debug_tuple("Panicked").field(&text).finish(),
                None => f.debug_tuple("Panicked").field(payload).finish(),
            },
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::TimedOut => TimedOut.fmt(f),
            Self::Aborted => f.write_str("the future was cancelled"),
            Self::Panicked(payload) => f.write_str(&Self::text_of(payload.as_ref())),
        }
    }
}

impl std::error::Error for JoinError {}

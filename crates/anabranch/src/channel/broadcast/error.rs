//! Why nothing was received from a broadcast.

use crate::{
    channel::{Closed, TryRecvError::Empty},
    wait::{Cancelled, TimedOut, WaitError},
};
use std::{error::Error, fmt};

/// The number of values that were missed because they were sent faster than received. The next receive returns the
/// oldest value that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lagged(pub u64);

/// Why async code or a selection received nothing from a broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClosedOrLagged {
    /// The channel is closed, and all that was in it has been received.
    Closed,
    /// This many values were missed. The next receive returns the oldest value that is kept.
    Lagged(u64),
}

/// Why nothing was received from a broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvError {
    /// The channel is closed, and all that was in it has been received.
    Closed,
    /// This many values were missed. The next receive returns the oldest value that is kept.
    Lagged(u64),
    /// The scope of the receiver was cancelled, or its deadline has passed.
    Cancelled,
}

/// Why nothing was received from a broadcast in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvTimeoutError {
    /// The channel is closed, and all that was in it has been received.
    Closed,
    /// So many values were missed. The next one is the oldest that is kept.
    Lagged(u64),
    /// The scope of the receiver was cancelled, or its deadline has passed.
    Cancelled,
    /// The deadline or timeout of this wait has passed.
    TimedOut,
}

/// Why nothing was received from a broadcast at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// There is nothing to receive now; there may be later.
    Empty,
    /// The channel is closed, and all that was in it has been received.
    Closed,
    /// This many values were missed. The next receive returns the oldest value that is kept.
    Lagged(u64),
}

/// Converts each variant to the variant of the same meaning.
macro_rules! convert {
    ($($from:ident => $to:ident { $($pattern:pat => $value:expr),* $(,)? })*) => {$(
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                match from { $($pattern => $value),* }
            }
        }
    )*};
}

convert! {
    Closed => ClosedOrLagged { Closed => Self::Closed }
    Lagged => ClosedOrLagged { Lagged(n) => Self::Lagged(n) }
    Lagged => RecvError { Lagged(n) => Self::Lagged(n) }
    Lagged => RecvTimeoutError { Lagged(n) => Self::Lagged(n) }
    ClosedOrLagged => RecvError { ClosedOrLagged::Closed => Self::Closed, ClosedOrLagged::Lagged(n) => Self::Lagged(n) }
    ClosedOrLagged => RecvTimeoutError {
        ClosedOrLagged::Closed => Self::Closed,
        ClosedOrLagged::Lagged(n) => Self::Lagged(n),
    }
    ClosedOrLagged => TryRecvError {
        ClosedOrLagged::Closed => Self::Closed,
        ClosedOrLagged::Lagged(n) => Self::Lagged(n),
    }
    Cancelled => RecvError { Cancelled => Self::Cancelled }
    Cancelled => RecvTimeoutError { Cancelled => Self::Cancelled }
    TimedOut => RecvTimeoutError { TimedOut => Self::TimedOut }
    WaitError => RecvTimeoutError {
        WaitError::Cancelled => Self::Cancelled,
        WaitError::TimedOut => Self::TimedOut,
    }
    RecvError => RecvTimeoutError {
        RecvError::Closed => Self::Closed,
        RecvError::Lagged(n) => Self::Lagged(n),
        RecvError::Cancelled => Self::Cancelled,
    }
}

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the receiver lagged and missed {} values", self.0)
    }
}

impl Error for Lagged {}

/// `Display`, and `Error`.
macro_rules! texts {
    ($($name:ident { $($variant:ident => $text:expr),* $(,)? })*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    Self::Lagged(n) => Lagged(n).fmt(f),
                    $(Self::$variant => $text.fmt(f),)*
                }
            }
        }

        impl Error for $name {}
    )*};
}

texts! {
    ClosedOrLagged { Closed => Closed }
    RecvError { Closed => Closed, Cancelled => crate::channel::RecvError::Cancelled }
    RecvTimeoutError {
        Closed => Closed,
        Cancelled => crate::channel::RecvError::Cancelled,
        TimedOut => crate::channel::RecvTimeoutError::TimedOut,
    }
    TryRecvError { Closed => Closed, Empty => Empty }
}

//! The errors of receives from a broadcast channel.

use crate::{
    channel::{Closed, TryRecvError::Empty},
    wait::Cancelled,
};
use std::{error::Error, fmt};

/// The number of values that a slow receiver has missed: the channel dropped them to keep newer ones. The next receive
/// returns the oldest value that the channel still has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lagged(pub u64);

/// The error of a receive from a broadcast channel, as an [operation](super::Receiver::receiving) or on a plain thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClosedOrLagged {
    /// The channel is closed, and the receiver has received all its values.
    Closed,
    /// The receiver has missed this many values. The next receive returns the oldest value that the channel still has.
    Lagged(u64),
}

/// The error of a receive from a broadcast channel with a [`Cx`](crate::Cx): [`ClosedOrLagged`], or a cancelled wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecvError {
    /// The channel is closed, and the receiver has received all its values.
    Closed,
    /// The receiver has missed this many values. The next receive returns the oldest value that the channel still has.
    Lagged(u64),
    /// The scope of the receive was cancelled, or the deadline of the scope has passed.
    Cancelled,
}

/// The error of a receive without waiting from a broadcast channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TryRecvError {
    /// The channel has no new value for this receiver now.
    Empty,
    /// The channel is closed, and the receiver has received all its values.
    Closed,
    /// The receiver has missed this many values. The next receive returns the oldest value that the channel still has.
    Lagged(u64),
}

/// Implements `From` between errors. Each variant becomes the variant of the same meaning.
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
    ClosedOrLagged => RecvError { ClosedOrLagged::Closed => Self::Closed, ClosedOrLagged::Lagged(n) => Self::Lagged(n) }
    ClosedOrLagged => TryRecvError {
        ClosedOrLagged::Closed => Self::Closed,
        ClosedOrLagged::Lagged(n) => Self::Lagged(n),
    }
    Cancelled => RecvError { Cancelled => Self::Cancelled }
}

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the receiver lagged and missed {} values", self.0)
    }
}

impl Error for Lagged {}

/// Implements `Display` and `Error`.
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
    TryRecvError { Closed => Closed, Empty => Empty }
}

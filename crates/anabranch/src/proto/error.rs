//! The errors of the steps of a conversation. If the endpoint can still be used, the error holds it. A failed send also
//! returns its message.

use crate::channel::{self, Closed};
use std::{error::Error, fmt};

/// The error of a receive.
pub enum RecvError<E> {
    /// The other side is gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. Holds the unchanged endpoint.
    Cancelled(E),
}

/// The error of a receive with a time limit.
pub enum RecvTimeoutError<E> {
    /// The other side is gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. Holds the unchanged endpoint.
    Cancelled(E),
    /// The deadline or timeout of this wait has passed. Holds the unchanged endpoint.
    TimedOut(E),
}

/// The error of a receive without waiting.
pub enum TryRecvError<E> {
    /// The other side is gone.
    Closed,
    /// The other side has not sent a message yet. Holds the unchanged endpoint.
    Empty(E),
}

/// The error of a send that may wait for room.
pub enum SendError<E, M> {
    /// The other side is gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. Holds the unchanged endpoint and the message.
    Cancelled(E, M),
}

/// The error of a send that may wait for room, with a time limit.
pub enum SendTimeoutError<E, M> {
    /// The other side is gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. Holds the unchanged endpoint and the message.
    Cancelled(E, M),
    /// The deadline or timeout of this wait has passed. Holds the unchanged endpoint and the message.
    TimedOut(E, M),
}

/// The error of a send without waiting.
pub enum TrySendError<E, M> {
    /// The other side is gone.
    Closed,
    /// There is no room now. Holds the unchanged endpoint and the message.
    Full(E, M),
}

impl<E> RecvError<E> {
    /// Returns the endpoint, unless the other side is gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Cancelled(end) => Some(end),
        }
    }
}

impl<E> RecvTimeoutError<E> {
    /// Returns the endpoint, unless the other side is gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Cancelled(end) | Self::TimedOut(end) => Some(end),
        }
    }
}

impl<E> TryRecvError<E> {
    /// Returns the endpoint, unless the other side is gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Empty(end) => Some(end),
        }
    }
}

/// Implements `From<Closed>` and `Display`, and `Debug` without a bound on the endpoint.
macro_rules! errors {
    ($($name:ident<$($param:ident),*> { $($other:ident($($field:tt)*) => $text:expr,)* })*) => {$(
        impl<$($param),*> From<Closed> for $name<$($param),*> {
            fn from(_: Closed) -> Self {
                Self::Closed
            }
        }

        impl<$($param),*> fmt::Debug for $name<$($param),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    Self::Closed => "Closed",
                    $(Self::$other($($field)*) => concat!(stringify!($other), "(..)"),)*
                })
            }
        }

        impl<$($param),*> fmt::Display for $name<$($param),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    Self::Closed => "the other side of the conversation is gone",
                    $(Self::$other($($field)*) => $text,)*
                })
            }
        }

        impl<$($param),*> Error for $name<$($param),*> {}
    )*};
}

const CANCELLED: &str = "cancelled while waiting for the other side of the conversation";

errors! {
    RecvError<E> { Cancelled(..) => CANCELLED, }
    RecvTimeoutError<E> {
        Cancelled(..) => CANCELLED,
        TimedOut(..) => "the other side of the conversation has not answered in time",
    }
    TryRecvError<E> { Empty(..) => "the other side of the conversation has not sent a message yet", }
    SendError<E, M> { Cancelled(..) => CANCELLED, }
    SendTimeoutError<E, M> {
        Cancelled(..) => CANCELLED,
        TimedOut(..) => "no room for a message in time: the other side of the conversation has not received enough",
    }
    TrySendError<E, M> { Full(..) => "no room for a message: the other side of the conversation has not received enough", }
}

/// The conversion drops the endpoint.
impl<E> From<RecvError<E>> for channel::RecvError {
    fn from(error: RecvError<E>) -> Self {
        match error {
            RecvError::Closed => Self::Closed,
            RecvError::Cancelled(_) => Self::Cancelled,
        }
    }
}

/// The conversion drops the endpoint.
impl<E> From<RecvTimeoutError<E>> for channel::RecvTimeoutError {
    fn from(error: RecvTimeoutError<E>) -> Self {
        match error {
            RecvTimeoutError::Closed => Self::Closed,
            RecvTimeoutError::Cancelled(_) => Self::Cancelled,
            RecvTimeoutError::TimedOut(_) => Self::TimedOut,
        }
    }
}

/// The conversion drops the endpoint and the message.
impl<E, M> From<SendError<E, M>> for channel::RecvError {
    fn from(error: SendError<E, M>) -> Self {
        match error {
            SendError::Closed => Self::Closed,
            SendError::Cancelled(..) => Self::Cancelled,
        }
    }
}

/// The conversion drops the endpoint and the message.
impl<E, M> From<SendTimeoutError<E, M>> for channel::RecvTimeoutError {
    fn from(error: SendTimeoutError<E, M>) -> Self {
        match error {
            SendTimeoutError::Closed => Self::Closed,
            SendTimeoutError::Cancelled(..) => Self::Cancelled,
            SendTimeoutError::TimedOut(..) => Self::TimedOut,
        }
    }
}

//! What a step of a conversation can fail with. An endpoint that can go on comes back in the error, and so does what
//! was not said.

use crate::channel::{self, Closed};
use std::{error::Error, fmt};

/// Why nothing was received.
pub enum RecvError<E> {
    /// The other side has gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. The endpoint is as it was.
    Cancelled(E),
}

/// Why nothing was received in time.
pub enum RecvTimeoutError<E> {
    /// The other side has gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. The endpoint is as it was.
    Cancelled(E),
    /// The time of this wait was up. The endpoint is as it was.
    TimedOut(E),
}

/// Why nothing was received at once.
pub enum TryRecvError<E> {
    /// The other side has gone.
    Closed,
    /// Nothing has been said yet. The endpoint is as it was.
    Empty(E),
}

/// Why a message was not sent that may have to wait for room.
pub enum SendError<E, M> {
    /// The other side has gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. The endpoint is as it was, and this was to be sent.
    Cancelled(E, M),
}

/// Why a message was not sent in time that had to wait for room.
pub enum SendTimeoutError<E, M> {
    /// The other side has gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. The endpoint is as it was, and this was to be sent.
    Cancelled(E, M),
    /// The time of this wait was up. The endpoint is as it was, and this was to be sent.
    TimedOut(E, M),
}

/// Why a message was not sent at once.
pub enum TrySendError<E, M> {
    /// The other side has gone.
    Closed,
    /// There is no room now. The endpoint is as it was, and this was to be sent.
    Full(E, M),
}

impl<E> RecvError<E> {
    /// The endpoint, unless the other side has gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Cancelled(end) => Some(end),
        }
    }
}

impl<E> RecvTimeoutError<E> {
    /// The endpoint, unless the other side has gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Cancelled(end) | Self::TimedOut(end) => Some(end),
        }
    }
}

impl<E> TryRecvError<E> {
    /// The endpoint, unless the other side has gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Empty(end) => Some(end),
        }
    }
}

/// `From<Closed>`, `Display`, and `Debug` that asks nothing of the endpoint.
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
                    Self::Closed => "the other side of the conversation has gone",
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
    TryRecvError<E> { Empty(..) => "the other side of the conversation has not said anything yet", }
    SendError<E, M> { Cancelled(..) => CANCELLED, }
    SendTimeoutError<E, M> {
        Cancelled(..) => CANCELLED,
        TimedOut(..) => "the other side of the conversation has not kept up in time",
    }
    TrySendError<E, M> { Full(..) => "the other side of the conversation has not kept up", }
}

/// For those who give up: the endpoint is dropped.
impl<E> From<RecvError<E>> for channel::RecvError {
    fn from(error: RecvError<E>) -> Self {
        match error {
            RecvError::Closed => Self::Closed,
            RecvError::Cancelled(_) => Self::Cancelled,
        }
    }
}

/// For those who give up: the endpoint is dropped.
impl<E> From<RecvTimeoutError<E>> for channel::RecvTimeoutError {
    fn from(error: RecvTimeoutError<E>) -> Self {
        match error {
            RecvTimeoutError::Closed => Self::Closed,
            RecvTimeoutError::Cancelled(_) => Self::Cancelled,
            RecvTimeoutError::TimedOut(_) => Self::TimedOut,
        }
    }
}

/// For those who give up: the endpoint and the message are dropped.
impl<E, M> From<SendError<E, M>> for channel::RecvError {
    fn from(error: SendError<E, M>) -> Self {
        match error {
            SendError::Closed => Self::Closed,
            SendError::Cancelled(..) => Self::Cancelled,
        }
    }
}

/// For those who give up: the endpoint and the message are dropped.
impl<E, M> From<SendTimeoutError<E, M>> for channel::RecvTimeoutError {
    fn from(error: SendTimeoutError<E, M>) -> Self {
        match error {
            SendTimeoutError::Closed => Self::Closed,
            SendTimeoutError::Cancelled(..) => Self::Cancelled,
            SendTimeoutError::TimedOut(..) => Self::TimedOut,
        }
    }
}

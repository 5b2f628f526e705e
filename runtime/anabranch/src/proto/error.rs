//! The errors of the steps of a conversation. If the endpoint can still be used, the error holds it. A failed send also
//! returns its message.
//!
//! Each has the name of the error of the same operation of a channel, after `Endpoint`.

use crate::channel::{self, Closed};
use std::{error::Error, fmt};

/// The error of a receive.
pub enum EndpointRecvError<E> {
    /// The other side is gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. Holds the unchanged endpoint.
    Cancelled(E),
}

/// The error of a receive without waiting.
pub enum EndpointTryRecvError<E> {
    /// The other side is gone.
    Closed,
    /// The other side has not sent a message yet. Holds the unchanged endpoint.
    Empty(E),
}

/// The error of a send that may wait for room.
pub enum EndpointSendError<E, M> {
    /// The other side is gone.
    Closed,
    /// The scope was cancelled, or its deadline has passed. Holds the unchanged endpoint and the message.
    Cancelled(E, M),
}

/// The error of a send without waiting.
pub enum EndpointTrySendError<E, M> {
    /// The other side is gone.
    Closed,
    /// There is no room now. Holds the unchanged endpoint and the message.
    Full(E, M),
}

impl<E> EndpointRecvError<E> {
    /// Returns the endpoint, unless the other side is gone.
    pub fn into_endpoint(self) -> Option<E> {
        match self {
            Self::Closed => None,
            Self::Cancelled(end) => Some(end),
        }
    }
}

impl<E> EndpointTryRecvError<E> {
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
    EndpointRecvError<E> { Cancelled(..) => CANCELLED, }
    EndpointTryRecvError<E> { Empty(..) => "the other side of the conversation has not sent a message yet", }
    EndpointSendError<E, M> { Cancelled(..) => CANCELLED, }
    EndpointTrySendError<E, M> { Full(..) => "no room for a message: the other side of the conversation has not received enough", }
}

/// The conversion drops the endpoint.
impl<E> From<EndpointRecvError<E>> for channel::RecvError {
    fn from(error: EndpointRecvError<E>) -> Self {
        match error {
            EndpointRecvError::Closed => Self::Closed,
            EndpointRecvError::Cancelled(_) => Self::Cancelled,
        }
    }
}

/// The conversion drops the endpoint and the message.
impl<E, M> From<EndpointSendError<E, M>> for channel::RecvError {
    fn from(error: EndpointSendError<E, M>) -> Self {
        match error {
            EndpointSendError::Closed => Self::Closed,
            EndpointSendError::Cancelled(..) => Self::Cancelled,
        }
    }
}

//! Messages as bytes.
//!
//! A frame is the length of the rest, in four bytes with the least first, and the message. The message is its number in
//! its state, by the order in which the messages are written, and its values, all in the format of postcard: as if the
//! messages of the state were an `enum`. A frame of length 0 means that its side has left the conversation.
//!
//! Only protocols with `#[wire(..)]` have code for this, so all others may carry types that serde does not know. A
//! trait that no endpoint has keeps endpoints off a wire. An inherent function, which method resolution prefers to that
//! of a trait, shows whether a type is an endpoint.

use super::error::WireError;
use crate::proto::{
    done::Protocol,
    duplex::{Endpoint, Link},
    wire::limits::{Count, Guard},
};
use postcard::de_flavors::Slice;
use serde::{Serialize, de::DeserializeOwned};
use std::marker::PhantomData;

/// How many bytes the length of a frame has.
pub(super) const LENGTH: usize = 4;

/// The frame of a side that leaves.
pub(super) const LEFT: [u8; LENGTH] = [0; LENGTH];

/// A protocol that can be used over a wire. Implemented by [`proto!`](crate::proto!) for a protocol with
/// `#[wire(version = ..)]`.
pub trait Script: Protocol {
    #[doc(hidden)]
    type Link: super::relay::Relay;
    /// The version in the attribute.
    const VERSION: u32;
    /// The room for messages of the client, and of the server. `None` if there is no limit, or none is needed.
    #[doc(hidden)]
    const CAPACITY: [Option<usize>; 2];
    #[doc(hidden)]
    const STATES: &'static [State];

    /// Writes a message. Returns the next state.
    #[doc(hidden)]
    fn write(message: <Self::Link as Link>::Message, to: &mut Writer<'_>) -> Result<Option<usize>, Unfit>;

    /// Reads a message of a state. Returns the next state.
    #[doc(hidden)]
    fn read(
        state: usize,
        number: u32,
        from: &mut Reader<'_>,
    ) -> Result<(<Self::Link as Link>::Message, Option<usize>), Unfit>;
}

/// A state, for the code that carries its messages.
#[doc(hidden)]
#[derive(Debug)]
pub struct State {
    pub name: &'static str,
    pub is_clients: bool,
    pub messages: &'static [&'static str],
}

/// Why a message cannot be written or read.
#[doc(hidden)]
#[derive(Debug, PartialEq)]
pub enum Unfit {
    TooLong,
    Unknown,
    Values(&'static str),
}

impl From<postcard::Error> for Unfit {
    fn from(error: postcard::Error) -> Self {
        use postcard::Error;
        match error {
            Error::SerializeBufferFull => Self::TooLong,
            Error::DeserializeUnexpectedEnd => Self::Values("it ends before its values do"),
            Error::DeserializeBadVarint => Self::Values("a number in it is none, or too large"),
            Error::DeserializeBadBool | Error::DeserializeBadOption => Self::Values("a byte in it is neither 0 nor 1"),
            Error::DeserializeBadChar | Error::DeserializeBadUtf8 => Self::Values("a text in it is no UTF-8"),
            Error::SerializeSeqLengthUnknown => Self::Values("a sequence does not know its length"),
            Error::WontImplement => Self::Values("a type of it asks for its form, which these bytes do not tell"),
            _ => Self::Values("a type of it refuses the value"),
        }
    }
}

/// The output of a message.
#[doc(hidden)]
pub struct Writer<'a> {
    to: &'a mut Vec<u8>,
    /// The end of the space for the message.
    end: usize,
}

impl Writer<'_> {
    #[doc(hidden)]
    pub fn number(&mut self, number: u32) -> Result<(), Unfit> {
        self.put(&number)
    }

    fn put<T: Serialize>(&mut self, value: &T) -> Result<(), Unfit> {
        Ok(postcard::serialize_with_flavor(value, Tail(self))?)
    }
}

/// The output that postcard writes to.
struct Tail<'a, 'b>(&'a mut Writer<'b>);

impl postcard::ser_flavors::Flavor for Tail<'_, '_> {
    type Output = ();

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if bytes.len() > self.0.end - self.0.to.len() {
            return Err(postcard::Error::SerializeBufferFull);
        }
        self.0.to.extend_from_slice(bytes);
        Ok(())
    }

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// The input of a message.
#[doc(hidden)]
pub struct Reader<'a> {
    from: postcard::Deserializer<'a, Slice<'a>>,
    count: Count,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { from: postcard::Deserializer::from_bytes(bytes), count: Count::new(bytes.len()) }
    }

    fn take<T: DeserializeOwned>(&mut self) -> Result<T, Unfit> {
        let value = T::deserialize(Guard::new(&mut self.from, &self.count));
        value.map_err(|error| self.count.refused().map_or_else(|| error.into(), Unfit::Values))
    }

    fn end(self) -> Result<(), Unfit> {
        if self.from.finalize()?.is_empty() { Ok(()) } else { Err(Unfit::Values("it has bytes left over")) }
    }
}

/// A type of which a message carries a value: `Of::<T>::put` and `Of::<T>::take`, which for endpoints are those here,
/// that no endpoint can have, and for all others those of [`Value`].
#[doc(hidden)]
pub struct Of<T>(PhantomData<T>);

#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is an endpoint of a conversation, which cannot go over a wire",
    label = "an endpoint is a place in this process",
    note = "let both sides begin that conversation over a wire of its own, or leave out `#[wire(..)]`"
)]
pub trait GoesOverAWire {}

impl<E: Endpoint> Of<E> {
    #[doc(hidden)]
    pub fn put(_: &E, _: &mut Writer<'_>) -> Result<(), Unfit>
    where
        E: GoesOverAWire,
    {
        Err(Unfit::Unknown)
    }

    #[doc(hidden)]
    pub fn take(_: &mut Reader<'_>) -> Result<E, Unfit>
    where
        E: GoesOverAWire,
    {
        Err(Unfit::Unknown)
    }
}

#[doc(hidden)]
pub trait Value {
    type Kind;

    fn put(value: &Self::Kind, to: &mut Writer<'_>) -> Result<(), Unfit>
    where
        Self::Kind: Serialize,
    {
        to.put(value)
    }

    fn take(from: &mut Reader<'_>) -> Result<Self::Kind, Unfit>
    where
        Self::Kind: DeserializeOwned,
    {
        from.take()
    }
}

impl<T> Value for Of<T> {
    type Kind = T;
}

/// Appends the frame of a message that is sent in `state`, of at most `limit` bytes. Returns the next state. After an
/// error the output is unchanged.
pub(super) fn write<P: Script>(
    state: usize,
    message: <P::Link as Link>::Message,
    to: &mut Vec<u8>,
    limit: usize,
) -> Result<Option<usize>, WireError> {
    let start = to.len();
    to.extend_from_slice(&LEFT);
    let body = to.len();
    // The length has four bytes.
    let limit = limit.min(u32::MAX as usize);
    let written = P::write(message, &mut Writer { to, end: body.saturating_add(limit) });
    let length = to.len() - body;
    match written {
        Ok(next) => {
            to[start..body].copy_from_slice(&(length as u32).to_le_bytes());
            Ok(next)
        }
        Err(unfit) => {
            to.truncate(start);
            let state = P::STATES[state].name;
            Err(match unfit {
                Unfit::TooLong => WireError::TooLong { length, limit },
                Unfit::Unknown => WireError::Unwritable { state, why: "it is none of this state" },
                Unfit::Values(why) => WireError::Unwritable { state, why },
            })
        }
    }
}

/// Reads the message of a frame in `state`. Returns the next state.
pub(super) fn read<P: Script>(
    state: usize,
    body: &[u8],
) -> Result<(<P::Link as Link>::Message, Option<usize>), WireError> {
    let State { name, messages, .. } = P::STATES[state];
    let mut reader = Reader::new(body);
    let mut number = None;
    let mut whole = || {
        let found = *number.insert(reader.take::<u32>()?);
        P::read(state, found, &mut reader)
    };
    let read = whole().and_then(|read| reader.end().map(|()| read));
    read.map_err(|unfit| match unfit {
        Unfit::Values(why) => {
            let message = number.and_then(|number| messages.get(number as usize)).copied();
            WireError::BadMessage { state: name, message, why }
        }
        Unfit::TooLong | Unfit::Unknown => {
            WireError::UnknownMessage { state: name, number: number.unwrap_or_default() }
        }
    })
}

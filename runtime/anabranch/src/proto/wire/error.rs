//! Why a conversation over a wire did not begin or was not completed.

use std::{error::Error, fmt, io};

pub(crate) const FORMAT: u8 = 1;

/// Why a conversation over a wire did not begin or was not completed. Its endpoint sees `Closed`.
#[derive(Debug)]
#[non_exhaustive]
pub enum WireError {
    /// The stream failed. On a thread, its time limit for reads or writes may have passed.
    Io(io::Error),
    /// The stream ended or broke, and the other side did not take leave first.
    Lost,
    /// The other side has left the conversation: its endpoint was dropped before the end.
    Left,
    /// This side has left the conversation: its endpoint was dropped before the end.
    Dropped,
    /// The other side does not use this format at all. Holds its first bytes.
    Stranger(Vec<u8>),
    /// The other side uses an `anabranch` with another byte format, which is given here.
    Format(u8),
    /// The other side uses another protocol.
    OtherProtocol {
        /// The protocol of this side.
        ours: &'static str,
        /// The protocol that the other side names.
        theirs: String,
    },
    /// The other side uses another version of the protocol.
    OtherVersion {
        /// The protocol.
        protocol: &'static str,
        /// The version of this side.
        ours: u32,
        /// The version of the other side.
        theirs: u32,
    },
    /// The protocol of the other side has the same name and version, and other states, messages or types.
    OtherText {
        /// The protocol.
        protocol: &'static str,
    },
    /// Both sides are clients, or both are servers.
    SameSide(&'static str),
    /// A message is longer than [allowed](super::Wire::max_message).
    TooLong {
        /// Its length, if the other side sent it; for a message of this side, how far it had been written.
        length: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// The other side sent a message that does not exist in this state.
    UnknownMessage {
        /// The state.
        state: &'static str,
        /// The number of the message.
        number: u32,
    },
    /// The values in a message are not those that it has to carry.
    BadMessage {
        /// The state.
        state: &'static str,
        /// The message, if its number can be read.
        message: Option<&'static str>,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The other side sent a message when it was this side's turn.
    OutOfTurn {
        /// The state.
        state: &'static str,
    },
    /// A value in a message of this side could not be serialized.
    Unwritable {
        /// The state.
        state: &'static str,
        /// The error of the value.
        why: &'static str,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                write!(f, "the stream timed out before the other side had sent or received anything: {error}")
            }
            Self::Io(error) => write!(f, "the stream of the conversation failed: {error}"),
            Self::Lost => f.write_str("the stream ended before the conversation did"),
            Self::Left => f.write_str("the other side has left the conversation before its end"),
            Self::Dropped => f.write_str("this side has left the conversation before its end"),
            Self::Stranger(began) => write!(
                f,
                "the other side does not speak a protocol of `proto!`: it began with \"{}\"",
                began.escape_ascii()
            ),
            Self::Format(theirs) => write!(
                f,
                "the other side writes messages in format {theirs}, of another version of anabranch, and this side in format {}",
                FORMAT
            ),
            Self::OtherProtocol { ours, theirs } => {
                write!(f, "the other side uses the protocol \"{}\", and this side `{ours}`", theirs.escape_debug())
            }
            Self::OtherVersion { protocol, ours, theirs } => {
                write!(
                    f,
                    "the other side uses version {theirs} of the protocol `{protocol}`, and this side version {ours}: build both from the same text"
                )
            }
            Self::OtherText { protocol } => write!(
                f,
                "the protocol `{protocol}` of the other side has other states, messages or types, though it is of the same version: build both from the same text, and raise its version when that changes"
            ),
            Self::SameSide(side) => write!(f, "both sides of the conversation want to be its {side}"),
            Self::TooLong { length, limit } => {
                write!(
                    f,
                    "a message of {length} bytes or more is longer than the {limit} that `Wire::max_message` allows on this side"
                )
            }
            Self::UnknownMessage { state, number } => {
                write!(f, "the other side sent message {number} in the state `{state}`, which has no such message")
            }
            Self::BadMessage { state, message: Some(message), why } => {
                write!(f, "the message `{message}` received in the state `{state}` cannot be read: {why}")
            }
            Self::BadMessage { state, message: None, why } => {
                write!(f, "a message received in the state `{state}` cannot be read: {why}")
            }
            Self::OutOfTurn { state } => {
                write!(f, "the other side sent out of turn: in the state `{state}` this side sends")
            }
            Self::Unwritable { state, why } => {
                write!(f, "a message in the state `{state}` cannot be written: {why}")
            }
        }
    }
}

impl Error for WireError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// For a stream that was broken off, the way in which it broke does not matter.
impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind;
        match error.kind() {
            ErrorKind::BrokenPipe
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::UnexpectedEof => Self::Lost,
            _ => Self::Io(error),
        }
    }
}

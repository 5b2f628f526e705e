//! Conversations over a wire: the same endpoints, with a stream of bytes between them. With the feature `serde`.
//!
//! A protocol with `#[wire(version = ..)]` whose messages serde can write and read can be used between two programs.
//! Each has a stream to the other. `over` makes from it an endpoint in the first state, and a [`Connection`] that
//! carries the messages. On a thread the stream is any [`Read`](std::io::Read) + [`Write`](std::io::Write). In async
//! code (`over_async`, [`Connection::run_async`]) it is any [`AsyncRead`] + [`AsyncWrite`] of the crate futures-io.
//!
//! ```
//! use anabranch::{channel::RecvError, proto, proto::wire::Wire};
//! use std::{net::{TcpListener, TcpStream}, thread};
//!
//! proto! { #[wire(version = 1)] pub ask {
//!     Question: send { ask(u64) -> Answer }
//!     Answer: recv { answer(String) -> ! }
//! }}
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//!
//! // One program.
//! let server = thread::spawn(move || {
//!     let (server, connection) = ask::server::over(Wire::new(listener.accept()?.0)).expect("the same protocol");
//!     let running = thread::spawn(|| connection.run());
//!     anabranch::run(|cx| {
//!         let ask::server::QuestionMessage::Ask(n, server) = server.recv(cx)?;
//!         server.answer(format!("it is {}", n * n))?;
//!         Ok::<_, RecvError>(())
//!     }).expect("the client is there");
//!     running.join().expect("no panic").expect("to the end");
//!     Ok::<_, std::io::Error>(())
//! });
//!
//! // The other one.
//! let (client, connection) = ask::client::over(Wire::new(TcpStream::connect(address)?))?;
//! let running = thread::spawn(|| connection.run());
//! let answer = anabranch::run(|cx| {
//!     let ask::client::AnswerMessage::Answer(text, _done) = client.ask(12)?.recv(cx)?;
//!     Ok::<_, RecvError>(text)
//! })?;
//! assert_eq!(answer, "it is 144");
//! running.join().expect("no panic")?;
//! # server.join().unwrap()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Who is there
//! First each side sends the name of the protocol, its version, its [hash](super::Protocol::HASH) and its side. `over`
//! returns when the other side has sent the same, or returns an error that names the difference. The hash is that of
//! the source text and does not cover the contents of types, so raise the version when a type in a message changes.
//!
//! # What the other side can do
//! It can send the messages of the present state, and leave. Anything else is a [`WireError`], and the endpoint sees
//! `Closed`. No bytes lead to a panic in this module, or to far more memory than their number. A message is no longer
//! than [`Wire::max_message`], and its memory is allocated as it arrives. Its values, in the collections and boxes of
//! std, take at most 256 times its length and 256 KiB. So a message is refused that has more than 64 bytes of elements
//! and boxed values for each of its own, beyond 64 KiB. No more messages are read ahead of the endpoint than there is
//! room for, sixteen for an `#[unbounded]` state. Values are nested no deeper than 128, and are
//! read on the stack of the thread or fiber that runs the connection. A type that contains itself, and is larger than
//! about a kilobyte, needs a larger [`fiber_stack_size`](crate::Builder::fiber_stack_size), or its parts in a
//! `Box`.
//!
//! The stream, or the code that waits, has to limit the time. A side that neither sends nor reads keeps a connection
//! for ever, whether the endpoint still exists or not. On a thread, use the stream's time limits for reads and writes.
//! In async code, a future that is dropped ends the connection.
//!
//! # Small packets
//! A wire gathers messages until it has to wait, and writes them at once. With Nagle's algorithm a socket keeps small
//! packets back, and a message can take 40 ms. So [`Wire::new`] sets `TCP_NODELAY` of a `TcpStream` of std or of this
//! crate. Set it yourself if the stream has another type, such as a stream of async-io or with TLS.
//!
//! # How far one side can run ahead
//! A message that was sent is on its way; only an answer shows that it has arrived. As always, a side that sends
//! repeatedly waits for room, of which there is some on both sides and in the stream. With `#[unbounded]` there is no
//! limit on the sending side.

// `{limits, error} <- codec <- {handshake, stream} <- connection`, `{nodelay, stream_waker} <- stream`,
// `relay <- connection`.
mod codec;
mod connection;
mod error;
mod handshake;
mod limits;
mod nodelay;
mod relay;
mod stream;
mod stream_waker;

pub use self::{codec::Script, connection::Connection, error::WireError, stream::Wire};
pub use futures_io::{AsyncRead, AsyncWrite};

/// What the expansion of [`proto!`](crate::proto!) refers to.
#[doc(hidden)]
pub mod __private {
    pub use super::{
        codec::{Of, Reader, State, Unfit, Value, Writer},
        connection::{over, over_async},
    };
}

/// What must not compile, each with a twin that does.
///
/// An endpoint is no message for a wire, though it is one for a protocol without:
/// ```
/// # use anabranch::proto;
/// # fn main() {}
/// proto! { hear { Hear: send { line(String) -> ! } } }
/// proto! { enter { Enter: send { enter(String, hear::client::Hear) -> ! } } }
/// ```
/// ```compile_fail,E0277
/// # use anabranch::proto;
/// # fn main() {}
/// proto! { hear { Hear: send { line(String) -> ! } } }
/// proto! { #[wire(version = 1)] enter { Enter: send { enter(String, hear::client::Hear) -> ! } } }
/// ```
/// ```compile_fail,E0277
/// # use anabranch::proto;
/// # fn main() {}
/// proto! { hear { Hear: send { line(String) -> ! } } }
/// proto! { #[wire(version = 1)] enter { Enter: send { enter(Vec<hear::server::Hear>) -> ! } } }
/// ```
/// Nor is what serde does not know:
/// ```
/// # use anabranch::proto;
/// # fn main() {}
/// # struct Own;
/// proto! { tell { Tell: send { own(self::Own) -> ! } } }
/// ```
/// ```compile_fail,E0277
/// # use anabranch::proto;
/// # fn main() {}
/// # struct Own;
/// proto! { #[wire(version = 1)] tell { Tell: send { own(self::Own) -> ! } } }
/// ```
#[cfg(doctest)]
struct Misuse;

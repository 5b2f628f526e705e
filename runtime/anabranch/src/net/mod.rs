//! Sockets: TCP, UDP and Unix sockets.
//!
//! A method that may wait takes a [`Cx`] and returns an [`io::Result`](std::io::Result). On a fiber it suspends the
//! fiber, and the thread runs other fibers. Each method first attempts the system call, and waits only if that would
//! block.
//!
//! ```
//! use anabranch::net::{TcpListener, TcpStream};
//!
//! let answer = anabranch::run(|cx| -> std::io::Result<String> {
//!     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     cx.scope(|s| {
//!         s.spawn(move |cx| -> std::io::Result<()> {
//!             let (stream, _) = listener.accept(cx)?;
//!             let mut word = [0; 4];
//!             stream.read_exact(cx, &mut word)?;
//!             stream.write_all(cx, &word)
//!         });
//!         let stream = TcpStream::connect(cx, address)?;
//!         stream.write_all(cx, b"ping")?;
//!         let mut answer = String::new();
//!         stream.read_to_string(cx, &mut answer)?;
//!         Ok(answer)
//!     })
//! });
//! assert_eq!(answer.unwrap(), "ping");
//! ```
//!
//! # Synchronous libraries
//! [`TcpStream::with`] returns a value that implements [`Read`](std::io::Read) and [`Write`](std::io::Write). A library
//! that is generic over these, such as rustls or tungstenite, works on a fiber unchanged: see [`With`].
//!
//! # Async code
//! The streams implement `AsyncRead` and `AsyncWrite` of `futures-io`. The [operations](crate::Operation) can be
//! awaited: `listener.accepting().await`, `socket.readable().await`. Reads, writes and datagrams, which borrow a
//! buffer, have a variant whose name ends in `_async`. All of this works on any runtime. The threads of the pool wait
//! for the sockets.
//!
//! # Cancellation and deadlines
//! If the scope of the `Cx` is cancelled, or its [deadline](Cx::timeout) passes, a method returns an error for which
//! [`is_cancelled`] holds. Its kind is [`Other`](std::io::ErrorKind::Other), and not `Interrupted`, which many callers
//! retry. `cx.timeout` turns it into an error of the kind [`TimedOut`](std::io::ErrorKind::TimedOut) once the deadline
//! has passed. A cancelled wait transfers nothing:
//!
//! | cancelled in | the socket afterwards |
//! |---|---|
//! | `read`, `write`, `recv`, `send`, `peek`, `accept` and the like | as before: no byte, datagram or connection is lost |
//! | `read_exact`, `write_all`, `read_to_end` | usable, but some bytes may have been transferred |
//! | `connect` | closed |
//!
//! # Descriptors
//! A socket is in non-blocking mode, and registered once, in its first wait. Do not close its descriptor while the
//! socket exists: a wait would then end only with its cancellation or deadline. To end the waits of other fibers, call
//! `shutdown`.
//!
//! # Pools
//! The worker that waits with a socket first gets its events, and the socket moves when another worker keeps waiting
//! with it. When the pool of that worker ends, waits in other pools continue elsewhere. A thread outside of any pool
//! uses the default pool.

mod addr;
mod datagram;
mod half;
mod io;
mod resolve;
mod stream;
mod stream_methods;
mod tcp_listener;
mod tcp_stream;
mod transfer;
mod udp;
#[cfg(unix)]
mod unix_datagram;
#[cfg(unix)]
mod unix_listener;
#[cfg(unix)]
mod unix_stream;
mod with;

pub use self::{
    addr::{ToSocketAddrs, lookup_host},
    half::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf},
    io::Ready,
    stream::Stream,
    tcp_listener::{Accepting, Incoming, TcpListener},
    tcp_stream::TcpStream,
    udp::UdpSocket,
    with::With,
};
#[cfg(unix)]
pub use self::{
    unix_datagram::UnixDatagram,
    unix_listener::{UnixAccepting, UnixListener},
    unix_stream::UnixStream,
};

use crate::Cancelled;
#[cfg(doc)]
use crate::Cx;

/// Returns whether a method of this module has returned this error because the scope of its [`Cx`] was cancelled, or
/// because the deadline of the scope has passed.
///
/// ```
/// use anabranch::net::{TcpListener, is_cancelled};
/// use std::{io, time::Duration};
///
/// anabranch::run(|cx| -> io::Result<()> {
///     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
///     let late = cx.timeout(Duration::from_millis(1), |cx| {
///         let error = listener.accept(cx).unwrap_err();
///         assert!(is_cancelled(&error));
///         Err::<(), _>(error)
///     });
///     assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
///     Ok(())
/// }).unwrap();
/// ```
#[must_use]
pub fn is_cancelled(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Cancelled>())
}

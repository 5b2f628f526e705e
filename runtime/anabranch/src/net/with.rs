//! A stream together with the permission to wait, as synchronous libraries use it.

use crate::{
    cx::Cx,
    net::stream::{self, Stream},
};
use std::{
    fmt,
    io::{self, IoSlice, IoSliceMut, Read, Write},
    time::Instant,
};

/// A stream that implements [`Read`] and [`Write`], and waits with a [`Cx`]. Returned by
/// [`TcpStream::with`](crate::net::TcpStream::with) and the like.
///
/// So a library that knows nothing about fibers can wait on a fiber: TLS, WebSocket, a database protocol, a compressed
/// archive. It sees no `WouldBlock` error. If the scope of the `Cx` is cancelled, or its deadline passes, the library
/// gets an error for which [`is_cancelled`](crate::net::is_cancelled) holds, and which most libraries pass on.
///
/// ```
/// use anabranch::net::{TcpListener, TcpStream};
/// use std::io::{self, BufRead, BufReader, Write};
///
/// let line = anabranch::run(|cx| -> io::Result<String> {
///     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
///     let address = listener.local_addr()?;
///     cx.scope(|s| {
///         s.spawn(move |cx| writeln!(listener.accept(cx)?.0.with(cx), "{} {}", "hello", 7));
///         let stream = TcpStream::connect(cx, address)?;
///         let mut line = String::new();
///         BufReader::new(stream.with(cx)).read_line(&mut line)?;
///         Ok(line)
///     })
/// });
/// assert_eq!(line.unwrap(), "hello 7\n");
/// ```
///
/// A library that keeps this value, as a WebSocket does, stays in the scope of that `Cx`. So [`Cx::timeout`] cannot
/// limit a part of the conversation, and [`set_deadline`](Self::set_deadline) can.
pub struct With<'a, S> {
    stream: &'a S,
    cx: &'a Cx<'a>,
    deadline: Option<Instant>,
}

impl<'a, S: Stream> With<'a, S> {
    #[inline]
    pub(super) fn new(stream: &'a S, cx: &'a Cx<'a>) -> Self {
        Self { stream, cx, deadline: None }
    }

    /// Returns the stream.
    pub fn stream(&self) -> &'a S {
        self.stream
    }

    /// Sets the time by which every later read and write has to end, according to the clock of the pool ([`Cx::now`]).
    /// `None`, the default, sets no such time. The deadline of the scope applies in either case.
    ///
    /// A read or write that has not ended by then returns an error of the kind [`TimedOut`](io::ErrorKind::TimedOut),
    /// and so does a read or write that begins later. Such a wait has transferred nothing. A copy of this value has a
    /// deadline of its own.
    ///
    /// ```
    /// use anabranch::net::UnixStream;
    /// use std::{io::{BufRead, BufReader, ErrorKind, Write}, time::Duration};
    ///
    /// anabranch::run(|cx| {
    ///     let (left, right) = UnixStream::pair().unwrap();
    ///     let mut reader = BufReader::new(left.with(cx));
    ///     reader.get_mut().set_deadline(Some(cx.now() + Duration::from_millis(1)));
    ///     let late = reader.read_line(&mut String::new());
    ///     assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
    ///     reader.get_mut().set_deadline(None);
    ///     writeln!(right.with(cx), "in time").unwrap();
    ///     assert_eq!(reader.lines().next().unwrap().unwrap(), "in time");
    /// });
    /// ```
    #[doc(alias = "set_read_timeout")]
    #[doc(alias = "set_write_timeout")]
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }
}

impl<S> Clone for With<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for With<'_, S> {}

/// Performs a transfer within the deadline. It is a macro because a closure would hide the caller's place in the source
/// from reports of the waits of a pool.
macro_rules! limited {
    ($with:ident, $cx:ident => $transfer:expr) => {
        match $with.deadline {
            None => {
                let $cx = $with.cx;
                $transfer
            }
            Some(deadline) => $with.cx.with_deadline(deadline, |$cx| $transfer),
        }
    };
}

impl<S: Stream> Read for With<'_, S> {
    #[inline]
    #[track_caller]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        limited!(self, cx => stream::read(self.stream, cx, buffer))
    }

    #[track_caller]
    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        limited!(self, cx => stream::read_exact(self.stream, cx, buffer))
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        limited!(self, cx => stream::read_vectored(self.stream, cx, buffers))
    }
}

impl<S: Stream> Write for With<'_, S> {
    #[inline]
    #[track_caller]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        limited!(self, cx => stream::write(self.stream, cx, bytes))
    }

    #[track_caller]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        limited!(self, cx => stream::write_all(self.stream, cx, bytes))
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        limited!(self, cx => stream::write_vectored(self.stream, cx, buffers))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: fmt::Debug> fmt::Debug for With<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("With").field(self.stream).finish()
    }
}

//! A stream together with the permission to wait, as synchronous libraries use it.

use crate::{
    cx::Cx,
    net::stream::{self, Stream},
};
use std::{
    fmt,
    io::{self, IoSlice, IoSliceMut, Read, Write},
};

/// A stream that implements [`Read`] and [`Write`], and waits with a [`Cx`]. Returned by
/// [`TcpStream::with`](crate::net::TcpStream::with) and the like.
///
/// So a library that knows nothing of fibers waits on a fiber: TLS, WebSocket, a database protocol, a compressed
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
pub struct With<'a, S> {
    stream: &'a S,
    cx: &'a Cx<'a>,
}

impl<'a, S: Stream> With<'a, S> {
    #[inline]
    pub(super) fn new(stream: &'a S, cx: &'a Cx<'a>) -> Self {
        Self { stream, cx }
    }

    /// Returns the stream.
    pub fn stream(&self) -> &'a S {
        self.stream
    }
}

impl<S> Clone for With<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for With<'_, S> {}

impl<S: Stream> Read for With<'_, S> {
    #[inline]
    #[track_caller]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        stream::read(self.stream, self.cx, buffer)
    }

    #[track_caller]
    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        stream::read_exact(self.stream, self.cx, buffer)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        stream::read_vectored(self.stream, self.cx, buffers)
    }
}

impl<S: Stream> Write for With<'_, S> {
    #[inline]
    #[track_caller]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stream::write(self.stream, self.cx, bytes)
    }

    #[track_caller]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        stream::write_all(self.stream, self.cx, bytes)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        stream::write_vectored(self.stream, self.cx, buffers)
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

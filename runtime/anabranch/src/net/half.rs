//! The two directions of a stream.

use crate::{
    cx::Cx,
    net::{
        stream::{self, Stream},
        with::With,
    },
};
use std::{
    error::Error,
    fmt, io,
    mem::ManuallyDrop,
    net::Shutdown,
    pin::Pin,
    ptr,
    sync::Arc,
    task::{Context, Poll},
};

/// The read half of a stream, borrowed. Returned by [`TcpStream::split`](crate::net::TcpStream::split) and the like.
#[derive(Debug)]
pub struct ReadHalf<'a, S>(&'a S);

/// The write half of a stream, borrowed. Returned by [`TcpStream::split`](crate::net::TcpStream::split) and the like.
#[derive(Debug)]
pub struct WriteHalf<'a, S>(&'a S);

/// The read half of a stream, owned. Returned by [`TcpStream::into_split`](crate::net::TcpStream::into_split) and the
/// like.
#[derive(Debug)]
pub struct OwnedReadHalf<S: Stream>(Arc<S>);

/// The write half of a stream, owned. Shuts that direction down when it is dropped, so that the other side reads the
/// end of the stream. Returned by [`TcpStream::into_split`](crate::net::TcpStream::into_split) and the like.
///
/// ```
/// use anabranch::net::{TcpListener, TcpStream};
///
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
///     let client = TcpStream::connect(cx, listener.local_addr()?)?;
///     let (server, _) = listener.accept(cx)?;
///     let (reader, writer) = server.into_split();
///     writer.write_all(cx, b"bye")?;
///     drop(writer);
///     let mut text = String::new();
///     client.read_to_string(cx, &mut text)?;
///     assert_eq!(text, "bye");
///     client.write_all(cx, b"!")?;
///     assert_eq!(reader.read(cx, &mut [0; 8])?, 1);
///     Ok(())
/// }).unwrap();
/// ```
#[derive(Debug)]
pub struct OwnedWriteHalf<S: Stream>(Arc<S>);

/// The error of [`OwnedReadHalf::reunite`]: the halves belong to different streams. It returns them.
#[derive(Debug)]
pub struct ReuniteError<S: Stream>(pub OwnedReadHalf<S>, pub OwnedWriteHalf<S>);

impl<S: Stream> fmt::Display for ReuniteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the halves belong to different streams")
    }
}

impl<S: Stream + fmt::Debug> Error for ReuniteError<S> {}

pub(super) fn split<S: Stream>(stream: &S) -> (ReadHalf<'_, S>, WriteHalf<'_, S>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(super) fn into_split<S: Stream>(stream: S) -> (OwnedReadHalf<S>, OwnedWriteHalf<S>) {
    let stream = Arc::new(stream);
    (OwnedReadHalf(Arc::clone(&stream)), OwnedWriteHalf(stream))
}

/// Defines the methods of both kinds of read halves.
macro_rules! reads {
    ([$($generics:tt)*] $half:ty) => {
        impl<$($generics)* S: Stream> $half {
            /// Returns the stream.
            pub fn stream(&self) -> &S {
                &self.0
            }

            /// Reads some bytes: see [`TcpStream::read`](crate::net::TcpStream::read).
            ///
            /// # Errors
            /// As for that.
            #[track_caller]
            pub fn read(&self, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<usize> {
                stream::read(&*self.0, cx, buffer)
            }

            /// Reads exactly as many bytes as `buffer` has: see
            /// [`TcpStream::read_exact`](crate::net::TcpStream::read_exact).
            ///
            /// # Errors
            /// As for that.
            #[track_caller]
            pub fn read_exact(&self, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<()> {
                stream::read_exact(&*self.0, cx, buffer)
            }

            /// Returns a value that implements `Read`, and waits with `cx`.
            pub fn with<'w>(&'w self, cx: &'w Cx<'w>) -> impl io::Read + 'w {
                With::new(&*self.0, cx)
            }
        }

        impl<$($generics)* S: Stream> futures_io::AsyncRead for $half {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                stream::poll_read(&*self.0, context, buffer)
            }
        }
    };
}

/// Defines the methods of both kinds of write halves.
macro_rules! writes {
    ([$($generics:tt)*] $half:ty) => {
        impl<$($generics)* S: Stream> $half {
            /// Returns the stream.
            pub fn stream(&self) -> &S {
                &self.0
            }

            /// Writes some bytes: see [`TcpStream::write`](crate::net::TcpStream::write).
            ///
            /// # Errors
            /// As for that.
            #[track_caller]
            pub fn write(&self, cx: &Cx<'_>, bytes: &[u8]) -> io::Result<usize> {
                stream::write(&*self.0, cx, bytes)
            }

            /// Writes all of the bytes: see [`TcpStream::write_all`](crate::net::TcpStream::write_all).
            ///
            /// # Errors
            /// As for that.
            #[track_caller]
            pub fn write_all(&self, cx: &Cx<'_>, bytes: &[u8]) -> io::Result<()> {
                stream::write_all(&*self.0, cx, bytes)
            }

            /// Returns a value that implements `Write`, and waits with `cx`.
            pub fn with<'w>(&'w self, cx: &'w Cx<'w>) -> impl io::Write + 'w {
                With::new(&*self.0, cx)
            }
        }

        impl<$($generics)* S: Stream> futures_io::AsyncWrite for $half {
            fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                stream::poll_write(&*self.0, context, bytes)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(self.0.shut_down(Shutdown::Write))
            }
        }
    };
}

reads!(['a,] ReadHalf<'a, S>);
reads!([] OwnedReadHalf<S>);
writes!(['a,] WriteHalf<'a, S>);
writes!([] OwnedWriteHalf<S>);

impl<S: Stream> OwnedReadHalf<S> {
    /// Joins two halves into the stream that they were split from, without shutting a direction down.
    ///
    /// # Errors
    /// Returns both halves if they belong to different streams.
    pub fn reunite(self, other: OwnedWriteHalf<S>) -> Result<S, ReuniteError<S>> {
        if !Arc::ptr_eq(&self.0, &other.0) {
            return Err(ReuniteError(self, other));
        }
        other.forget();
        Ok(Arc::into_inner(self.0).expect("there are two halves, of which the other has just ended"))
    }
}

impl<S: Stream> OwnedWriteHalf<S> {
    /// Drops this half without shutting its direction down.
    pub fn forget(self) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither used nor dropped again.
        unsafe { ptr::drop_in_place(&raw mut this.0) };
    }

    /// Joins two halves into the stream that they were split from: see [`OwnedReadHalf::reunite`].
    ///
    /// # Errors
    /// Returns both halves if they belong to different streams.
    pub fn reunite(self, other: OwnedReadHalf<S>) -> Result<S, ReuniteError<S>> {
        other.reunite(self)
    }
}

impl<S: Stream> Drop for OwnedWriteHalf<S> {
    fn drop(&mut self) {
        let _ = self.0.shut_down(Shutdown::Write);
    }
}

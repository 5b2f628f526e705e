//! A stream of bytes with its buffers, on a thread or in async code.

use super::{
    codec::{LEFT, LENGTH},
    error::WireError,
    nodelay::set_nodelay,
    stream_waker::StreamWaker,
};
use futures_io::{AsyncRead, AsyncWrite};
use std::{
    fmt,
    future::poll_fn,
    io::{self, Read, Write},
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The default limit on the length of a message.
const MAX_MESSAGE: usize = 1 << 20;

/// The bytes of one read, and the bytes that are gathered before a write.
const CHUNK: usize = 8 << 10;

/// A stream of bytes that carries conversations, one after the other.
///
/// ```
/// use anabranch::proto::wire::Wire;
///
/// let wire = Wire::new(std::io::empty()).max_message(4096);
/// # drop(wire);
/// ```
pub struct Wire<S> {
    stream: S,
    limit: usize,
    /// The bytes from `start` to `end` were read and not used. Later bytes are room for the next read, which is
    /// initialised only once.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes to write, from `written` on.
    output: Vec<u8>,
    written: usize,
    waker: StreamWaker,
}

impl<S> Wire<S> {
    /// Creates one end of a wire from a stream, whose other end must be a wire too.
    ///
    /// Each side sends its handshake, at most 279 bytes, before it reads. A stream that accepts fewer bytes before the
    /// other side reads, as a pipe in memory may, does not work as a wire.
    ///
    /// If the stream is a `TcpStream` of std or of this crate, it sends small packets at once from now on
    /// (`TCP_NODELAY`). For a stream of another type, such as one of async-io or with TLS, set that option yourself.
    pub fn new(stream: S) -> Self {
        set_nodelay(&stream);
        Self {
            stream,
            limit: MAX_MESSAGE,
            input: Vec::new(),
            start: 0,
            end: 0,
            output: Vec::new(),
            written: 0,
            waker: StreamWaker::default(),
        }
    }

    /// Limits the bytes of each message, read or written. The other side chooses the lengths of the messages that are
    /// read. The default is one mebibyte.
    #[must_use]
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Returns the stream.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// Returns the stream. Bytes that were read ahead of the conversations are dropped; see
    /// [`into_parts`](Self::into_parts).
    pub fn into_inner(self) -> S {
        self.stream
    }

    /// Returns the stream, and the bytes that were read ahead of the conversations: for a stream that continues in
    /// another protocol.
    pub fn into_parts(mut self) -> (S, Vec<u8>) {
        self.input.truncate(self.end);
        let ahead = self.input.split_off(self.start);
        (self.stream, ahead)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the bytes that were read and not used.
    pub(super) fn unused(&self) -> &[u8] {
        &self.input[self.start..self.end]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            // This frees the memory of a long message.
            self.input.truncate(2 * CHUNK);
            self.input.shrink_to(2 * CHUNK);
            (self.start, self.end) = (0, 0);
        }
    }

    /// Returns the length of the next frame, if all of it has arrived.
    pub(super) fn frame(&self) -> Result<Option<usize>, WireError> {
        let Some((length, rest)) = self.unused().split_first_chunk::<LENGTH>() else { return Ok(None) };
        if *length == LEFT {
            return Err(WireError::Left);
        }
        // The check comes before any allocation for the frame.
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.limit {
            return Err(WireError::TooLong { length, limit: self.limit });
        }
        Ok((rest.len() >= length).then_some(length))
    }

    pub(super) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    pub(super) fn is_output_long(&self) -> bool {
        self.output.len() > CHUNK
    }

    /// Reads more bytes. Returns an error at the end of the stream.
    pub(super) fn poll_fill<M: Mode<S>>(&mut self, context: &mut Context<'_>) -> Poll<Result<(), WireError>> {
        // Used bytes are removed once there are many of them.
        if self.start > CHUNK {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let room = self.end..self.end + CHUNK;
        if self.input.len() < room.end {
            self.input.resize(room.end, 0);
        }
        let Self { stream, input, waker, .. } = self;
        let read = waker.poll_read(context, |context| {
            loop {
                match M::poll_read(stream, context, &mut input[room.clone()]) {
                    Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => break other,
                }
            }
        });
        match ready!(read) {
            Ok(0) => Poll::Ready(Err(WireError::Lost)),
            Ok(count) => {
                // A stream that reports more bytes than the buffer has is faulty.
                self.end += count.min(CHUNK);
                Poll::Ready(Ok(()))
            }
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Drops the waker of the task, which may keep memory of the task alive.
    pub(super) fn forget_task(&mut self) {
        self.waker = StreamWaker::default();
    }

    pub(super) async fn fill<M: Mode<S>>(&mut self) -> Result<(), WireError> {
        poll_fn(|context| self.poll_fill::<M>(context)).await
    }

    /// Writes and flushes all bytes of the output buffer.
    pub(super) async fn send<M: Mode<S>>(&mut self) -> Result<(), WireError> {
        poll_fn(|context| self.poll_send::<M>(context)).await
    }

    fn poll_send<M: Mode<S>>(&mut self, context: &mut Context<'_>) -> Poll<Result<(), WireError>> {
        if self.output.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let Self { stream, output, written, waker, .. } = self;
        while *written < output.len() {
            match ready!(waker.poll_write(context, |context| M::poll_write(stream, context, &output[*written..]))) {
                Ok(0) => return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero).into())),
                Ok(count) => *written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        loop {
            match ready!(waker.poll_write(context, |context| M::poll_flush(stream, context))) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        self.output.clear();
        self.output.shrink_to(2 * CHUNK);
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<S> fmt::Debug for Wire<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("max_message", &self.limit).finish_non_exhaustive()
    }
}

/// The way to read and write a stream: [`OnThread`] or [`InAsync`].
pub(super) trait Mode<S> {
    /// Whether a task can wait for a read and for something else at a time.
    const READS_ASIDE: bool;

    fn poll_read(stream: &mut S, context: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>>;

    fn poll_write(stream: &mut S, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>>;

    fn poll_flush(stream: &mut S, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// By blocking calls.
pub(super) enum OnThread {}

impl<S: Read + Write> Mode<S> for OnThread {
    const READS_ASIDE: bool = false;

    fn poll_read(stream: &mut S, _: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(stream.read(to))
    }

    fn poll_write(stream: &mut S, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(stream.write(from))
    }

    fn poll_flush(stream: &mut S, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(stream.flush())
    }
}

/// By non-blocking calls.
pub(super) enum InAsync {}

impl<S: AsyncRead + AsyncWrite + Unpin> Mode<S> for InAsync {
    const READS_ASIDE: bool = true;

    fn poll_read(stream: &mut S, context: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(stream).poll_read(context, to)
    }

    fn poll_write(stream: &mut S, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(stream).poll_write(context, from)
    }

    fn poll_flush(stream: &mut S, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(stream).poll_flush(context)
    }
}

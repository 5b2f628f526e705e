//! Unix streams.

use crate::{
    cx::Cx,
    net::{io::Io, stream_methods::stream},
};
use std::{
    io,
    net::Shutdown,
    os::{
        fd::OwnedFd,
        unix::net::{self, SocketAddr},
    },
    path::Path,
    time::Duration,
};

/// A connected Unix stream.
///
/// ```
/// use anabranch::net::UnixStream;
///
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let (left, right) = UnixStream::pair()?;
///     left.write_all(cx, b"ping")?;
///     drop(left);
///     let mut text = String::new();
///     right.read_to_string(cx, &mut text)?;
///     assert_eq!(text, "ping");
///     Ok(())
/// }).unwrap();
/// ```
pub struct UnixStream {
    io: Io<net::UnixStream>,
}

stream!(UnixStream, net::UnixStream, "UnixStream::read", "UnixStream::write", has_no_boundaries: false);

impl UnixStream {
    /// Connects to the socket that listens at `path`.
    ///
    /// The system connects at once, unless the queue of the listener is full. Then this tries again at intervals of at
    /// most 20 ms, because the system does not report that there is room.
    ///
    /// # Errors
    /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled) holds if the
    /// scope is cancelled.
    #[track_caller]
    pub fn connect(cx: &Cx<'_>, path: impl AsRef<Path>) -> io::Result<Self> {
        use socket2::{Domain, SockAddr, Socket, Type};
        cx.checkpoint()?;
        let address = SockAddr::unix(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        repeat_while_full(cx, || socket.connect(&address))?;
        Ok(Self { io: Io::new(OwnedFd::from(socket).into()) })
    }

    /// Creates two streams that are connected to each other.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Shuts down one direction or both. Waits of other fibers in that direction end: a read returns zero, and a write
    /// an error.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get().shutdown(how)
    }

    /// Returns the address of this side.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// Returns the address of the other side.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }
}

/// Repeats a call that would block, where no event says when it no longer would: sleeps twice as long each time.
#[track_caller]
pub(super) fn repeat_while_full<R>(cx: &Cx<'_>, mut call: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    const LONGEST: Duration = Duration::from_millis(20);
    let mut pause = Duration::from_micros(100);
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => cx.sleep(pause)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
        pause = LONGEST.min(pause * 2);
    }
}

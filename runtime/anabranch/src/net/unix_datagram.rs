//! Unix datagram sockets.

use crate::{
    cx::Cx,
    net::{datagram::datagrams, io::Io, transfer::done},
    reactor::readiness::Direction,
    wait::suspend::WaitReason,
};
use std::{
    io,
    net::Shutdown,
    os::unix::net::{self, SocketAddr},
    path::Path,
};

/// A Unix datagram socket.
///
/// ```
/// use anabranch::net::UnixDatagram;
///
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let (left, right) = UnixDatagram::pair()?;
///     left.send(cx, b"ping")?;
///     let mut buffer = [0; 16];
///     let len = right.recv(cx, &mut buffer)?;
///     assert_eq!(&buffer[..len], b"ping");
///     Ok(())
/// }).unwrap();
/// ```
pub struct UnixDatagram {
    io: Io<net::UnixDatagram>,
}

datagrams!(UnixDatagram, net::UnixDatagram, "UnixDatagram::recv", "UnixDatagram::send");

impl UnixDatagram {
    /// Creates a socket that is bound to `path`.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_std(net::UnixDatagram::bind(path)?)
    }

    /// Creates a socket without an address.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn unbound() -> io::Result<Self> {
        Self::from_std(net::UnixDatagram::unbound()?)
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Connects the socket to `path`.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.io.get().connect(path)
    }

    /// Sends a datagram to `path`, and returns the number of bytes sent.
    ///
    /// While the queue of the receiver is full, this may wake at intervals: the system does not report that there is
    /// room again to a socket that is not connected.
    ///
    /// # Errors
    /// Returns the errors of [`send`](Self::send).
    #[track_caller]
    pub fn send_to(&self, cx: &Cx<'_>, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        cx.checkpoint()?;
        super::unix_stream::repeat_while_full(cx, || self.io.get().send_to(bytes, &path))
    }

    /// Sends a datagram if there is room for it now.
    ///
    /// # Errors
    /// Returns the errors of [`try_send`](Self::try_send).
    pub fn try_send_to(&self, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.io.try_once(Direction::Write, |system| Ok(done(system.send_to(bytes, path)?)))
    }

    /// Receives a datagram, and returns its length and its sender. Bytes that do not fit into `buffer` are lost.
    ///
    /// # Errors
    /// Returns the errors of [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_from(&self, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let reason = WaitReason::new(&"UnixDatagram::recv_from");
        self.io.perform(cx, Direction::Read, reason, |system| Ok(done(system.recv_from(buffer)?)))
    }

    /// Receives a datagram if there is one now, and returns its length and its sender.
    ///
    /// # Errors
    /// Returns the errors of [`try_recv`](Self::try_recv).
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_once(Direction::Read, |system| Ok(done(system.recv_from(buffer)?)))
    }

    /// Like [`recv_from`](Self::recv_from), for async code. The future may be dropped at any time.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub async fn recv_from_async(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.perform_async(Direction::Read, |system| Ok(done(system.recv_from(buffer)?))).await
    }

    /// Returns the address of this side.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// Returns the address that the socket is connected to.
    ///
    /// # Errors
    /// Returns the errors of the system: there may be none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// Shuts down one direction or both, and ends the waits of other fibers in it.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get().shutdown(how)
    }
}

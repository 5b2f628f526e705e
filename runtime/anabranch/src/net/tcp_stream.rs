//! TCP connections.

use crate::{
    cx::Cx,
    net::{
        addr::{ToSocketAddrs, first_of},
        io::Io,
        stream_methods::stream,
        transfer::done,
    },
    reactor::readiness::Direction,
    wait::suspend::WaitReason,
};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::{
    io,
    net::{self, Shutdown, SocketAddr},
};

/// A TCP connection.
///
/// All methods take `&self`. So one fiber may read while another writes, and a `shutdown` in a third fiber ends both
/// waits. For options that have no method here use `socket2::SockRef::from(&stream)`.
///
/// A stream that was created by [`connect`](Self::connect) or by a [`TcpListener`](crate::net::TcpListener) sends small
/// packets at once (`TCP_NODELAY`), as in Go. Otherwise a second small write waits until the other side has
/// acknowledged the first, which takes up to 40 ms on Linux if the other side has nothing to send. A program that makes
/// many small writes should gather them, for instance with [`BufWriter`](io::BufWriter), or call
/// [`set_nodelay(false)`](Self::set_nodelay). The option of a socket that was created elsewhere, for
/// [`from_std`](Self::from_std) or [`connect_with`](Self::connect_with), stays as it is.
///
/// ```
/// use anabranch::net::{TcpListener, TcpStream};
///
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
///     let client = TcpStream::connect(cx, listener.local_addr()?)?;
///     let (server, _) = listener.accept(cx)?;
///     server.write_all(cx, b"welcome")?;
///     let mut text = [0; 7];
///     client.read_exact(cx, &mut text)?;
///     assert_eq!(&text, b"welcome");
///     Ok(())
/// }).unwrap();
/// ```
pub struct TcpStream {
    io: Io<net::TcpStream>,
}

stream!(TcpStream, net::TcpStream, "TcpStream::read", "TcpStream::write", has_no_boundaries: true);

impl TcpStream {
    /// Takes a socket that is in non-blocking mode.
    fn of(socket: net::TcpStream) -> Self {
        Self { io: Io::new(socket) }
    }

    /// Takes an accepted socket that is in non-blocking mode.
    pub(super) fn accepted(socket: net::TcpStream) -> Self {
        // This fails only if the connection has ended already, which the next read reports.
        let _ = socket.set_nodelay(true);
        Self::of(socket)
    }

    /// Connects to the first of the addresses that accepts the connection, tried one after the other. The stream sends
    /// small packets at once (`TCP_NODELAY`). `cx.timeout(duration, |cx| TcpStream::connect(cx, address))` limits the
    /// time for all addresses together.
    ///
    /// # Errors
    /// Returns the error of the last address, the errors of [`lookup_host`](crate::net::lookup_host), and an error for
    /// which [`is_cancelled`](crate::net::is_cancelled) holds if the scope is cancelled.
    #[track_caller]
    pub fn connect(cx: &Cx<'_>, address: impl ToSocketAddrs) -> io::Result<Self> {
        let reason = WaitReason::new(&"TcpStream::connect");
        first_of(cx, address, |address| {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
            socket.set_tcp_nodelay(true)?;
            Self::connect_socket(cx, socket, &address.into(), reason)
        })
    }

    /// Connects a socket of `socket2`, which has its options set and may be bound.
    ///
    /// # Errors
    /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled) holds if the
    /// scope is cancelled.
    #[track_caller]
    pub fn connect_with(cx: &Cx<'_>, socket: Socket, address: SocketAddr) -> io::Result<Self> {
        cx.checkpoint()?;
        let stream = Self::connect_socket(cx, socket, &address.into(), WaitReason::new(&"TcpStream::connect"))?;
        stream.io.check_kind();
        Ok(stream)
    }

    fn connect_socket(cx: &Cx<'_>, socket: Socket, address: &SockAddr, reason: WaitReason) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        match socket.connect(address) {
            Ok(()) => return Ok(Self::of(socket.into())),
            Err(error) if is_in_progress(&error) => {}
            Err(error) => return Err(error),
        }
        let stream = Self::of(socket.into());
        stream.io.perform(cx, Direction::Write, reason, |system| {
            if let Some(error) = system.take_error()? {
                return Err(error);
            }
            match system.peer_addr() {
                Ok(_) => Ok(done(())),
                Err(error) if error.kind() == io::ErrorKind::NotConnected => Err(io::ErrorKind::WouldBlock.into()),
                Err(error) => Err(error),
            }
        })?;
        Ok(stream)
    }

    /// Waits until there is something to read, and copies it into `buffer` without removing it. Zero means the end of
    /// the stream, or an empty buffer.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    #[track_caller]
    pub fn peek(&self, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        let reason = WaitReason::new(&"TcpStream::peek");
        self.io.perform(cx, Direction::Read, reason, |system| Ok(done(system.peek(buffer)?)))
    }

    /// Shuts down one direction or both. Waits of other fibers in that direction end: a read returns zero, and a write
    /// an error.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get().shutdown(how)
    }

    /// Returns the address of the other side.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// Returns the address of this side.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// Returns whether small packets are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.get().nodelay()
    }

    /// Sets whether small packets are sent at once (`TCP_NODELAY`). See [`TcpStream`] for the default.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.get().set_nodelay(nodelay)
    }

    /// Returns the time to live of the packets that it sends.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.get().ttl()
    }

    /// Sets the time to live of the packets that it sends.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.get().set_ttl(ttl)
    }
}

fn is_in_progress(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::EINPROGRESS) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}

//! Listening for TCP connections.

use crate::{
    cx::{Cx, attempt::Attempt},
    net::{
        addr::{ToSocketAddrs, first_of},
        io::{Io, Ready, SystemCall, conversions},
        tcp_stream::TcpStream,
        transfer::done,
    },
    reactor::readiness::{Direction, Done},
    wait::{
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{
    fmt, io,
    net::{self, SocketAddr},
};

/// A socket that listens for TCP connections.
///
/// # Errors of `accept`
/// `accept` returns an error if the process or the system has no descriptors left (`EMFILE`, `ENFILE`) or no memory.
/// The connection stays in the queue of the system, so the next `accept` fails at once, too. A server should not end
/// because of such an error, nor repeat `accept` without a pause: it should wait a little, and limit its connections
/// with a [`Semaphore`](crate::sync::Semaphore). A connection that the client has reset before it was accepted is
/// skipped.
///
/// ```
/// use anabranch::{Cx, net::{TcpListener, is_cancelled}};
/// use std::{io, time::Duration};
///
/// fn serve(cx: &Cx<'_>, listener: &TcpListener) -> io::Result<()> {
///     cx.scope(|s| loop {
///         match listener.accept(cx) {
///             Ok((stream, _)) => _ = s.spawn(move |cx| stream.write_all(cx, b"hello")),
///             Err(error) if is_cancelled(&error) => return Ok(()),
///             Err(_) => cx.sleep(Duration::from_millis(20))?,
///         }
///     })
/// }
/// # anabranch::run(|cx| {
/// #     let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
/// #     let late = cx.timeout(Duration::from_millis(1), |cx| serve(cx, &listener));
/// #     late.unwrap();
/// # });
/// ```
pub struct TcpListener {
    io: Io<net::TcpListener>,
}

impl TcpListener {
    /// Creates a socket that listens at the first of the addresses that can be bound.
    ///
    /// Sets `SO_REUSEADDR` on Unix, as `std` does. For other options make the socket with `socket2`, and pass it to
    /// [`from_std`](Self::from_std).
    ///
    /// # Errors
    /// Returns the errors of the system and of [`lookup_host`](crate::net::lookup_host).
    #[track_caller]
    pub fn bind(cx: &Cx<'_>, address: impl ToSocketAddrs) -> io::Result<Self> {
        first_of(cx, address, |address| Self::from_std(net::TcpListener::bind(address)?))
    }

    /// Waits for a connection. The stream sends small packets at once (`TCP_NODELAY`), like every stream that a
    /// listener accepts. [`accepting`](Self::accepting) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns the errors of the system: see [`TcpListener`]. Returns an error for which
    /// [`is_cancelled`](crate::net::is_cancelled) holds if the scope is cancelled.
    #[track_caller]
    pub fn accept(&self, cx: &Cx<'_>) -> io::Result<(TcpStream, SocketAddr)> {
        self.io.perform(cx, Direction::Read, WaitReason::new(&"TcpListener::accept"), accept)
    }

    /// Returns [`accept`](Self::accept) as an [operation](crate::Operation): for a time limit, for async code, and for
    /// [`select!`](crate::select). No connection is lost if the wait fails or its future is dropped.
    ///
    /// ```
    /// use anabranch::{net::{TcpListener, TcpStream}, select, sync::Event};
    ///
    /// anabranch::run(|cx| -> std::io::Result<()> {
    ///     let (listener, stop) = (TcpListener::bind(cx, "127.0.0.1:0")?, Event::new());
    ///     let client = TcpStream::connect(cx, listener.local_addr()?)?;
    ///     let accepted = select!(cx, {
    ///         () = stop.waiting() => None,
    ///         accepted = listener.accepting() => Some(accepted?),
    ///     }).unwrap();
    ///     assert_eq!(accepted.unwrap().1, client.local_addr()?);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn accepting(&self) -> Accepting<'_> {
        Accepting { call: self.io.call(Direction::Read, accept) }
    }

    /// Returns an iterator over the connections, which ends when the scope is cancelled. See [`TcpListener`] for what
    /// to do about other errors.
    pub fn incoming<'a>(&'a self, cx: &'a Cx<'a>) -> Incoming<'a> {
        Incoming { listener: self, cx }
    }

    /// Returns an [operation](crate::Operation) that completes when an `accept` probably does not have to wait.
    pub fn readable(&self) -> Ready<'_> {
        self.io.ready(Direction::Read)
    }

    /// Accepts a connection if there is one now.
    ///
    /// # Errors
    /// Returns the errors of the system, and `WouldBlock` if there is none.
    pub fn try_accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.io.try_once(Direction::Read, accept)
    }

    /// Returns the local address of the socket.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
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

conversions!(TcpListener, net::TcpListener);

#[cfg(all(target_os = "linux", not(anabranch_portable_poller)))]
fn accept(system: &net::TcpListener) -> io::Result<Done<(TcpStream, SocketAddr)>> {
    use rustix::net::{SocketFlags, acceptfrom_with};
    // One system call, which `std` follows by another one for non-blocking mode.
    loop {
        let (socket, address) = match acceptfrom_with(system, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(accepted) => accepted,
            Err(rustix::io::Errno::CONNABORTED) => continue,
            Err(error) => return Err(error.into()),
        };
        let stream = net::TcpStream::from(socket);
        let address = match address.and_then(|address| SocketAddr::try_from(address).ok()) {
            Some(address) => address,
            None => stream.peer_addr()?,
        };
        return Ok(done((TcpStream::accepted(stream), address)));
    }
}

#[cfg(not(all(target_os = "linux", not(anabranch_portable_poller))))]
fn accept(system: &net::TcpListener) -> io::Result<Done<(TcpStream, SocketAddr)>> {
    loop {
        match system.accept() {
            Ok((stream, address)) => {
                stream.set_nonblocking(true)?;
                return Ok(done((TcpStream::accepted(stream), address)));
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => return Err(error),
        }
    }
}

type Accept = fn(&net::TcpListener) -> io::Result<Done<(TcpStream, SocketAddr)>>;

/// Accepting a connection, as an operation. Created by [`TcpListener::accepting`].
#[must_use = "an operation does nothing until it is part of a selection"]
pub struct Accepting<'a> {
    call: SystemCall<'a, net::TcpListener, Accept>,
}

impl Attempt for Accepting<'_> {
    type Output = io::Result<(TcpStream, SocketAddr)>;

    const NAME: &'static &'static str = &"TcpListener::accept";

    fn attempt(&self) -> Option<Self::Output> {
        self.call.attempt()
    }
}

crate::cx::operation::into_future!(Accepting<'_>;);

// SAFETY: both functions only forward to the system call, which upholds the contract.
unsafe impl Waitable for Accepting<'_> {
    fn register(&self, armed: Armed) -> bool {
        self.call.register(armed)
    }

    fn unregister(&self, ended: Ended) {
        self.call.unregister(ended);
    }
}

impl fmt::Debug for Accepting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepting").finish_non_exhaustive()
    }
}

/// The connections of a [`TcpListener`]. Created by [`TcpListener::incoming`].
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
    cx: &'a Cx<'a>,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        match self.listener.accept(self.cx) {
            Ok((stream, _)) => Some(Ok(stream)),
            Err(error) if super::is_cancelled(&error) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

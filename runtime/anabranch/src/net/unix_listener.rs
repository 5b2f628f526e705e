//! Listening for Unix streams.

use crate::{
    cx::{Cx, attempt::Attempt},
    net::{
        io::{Io, Ready, SystemCall, conversions},
        transfer::done,
        unix_stream::UnixStream,
    },
    reactor::readiness::{Direction, Done},
    wait::{
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{
    fmt, io,
    os::unix::net::{self, SocketAddr},
    path::Path,
};

/// A socket that listens for Unix streams. See [`TcpListener`](crate::net::TcpListener) for the errors of `accept`.
///
/// Does not remove the file at its path when it is dropped.
///
/// ```
/// use anabranch::net::{UnixListener, UnixStream};
///
/// let path = std::env::temp_dir().join(format!("anabranch-doc-{}", std::process::id()));
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let listener = UnixListener::bind(&path)?;
///     let client = UnixStream::connect(cx, &path)?;
///     let (server, _) = listener.accept(cx)?;
///     client.write_all(cx, b"ping")?;
///     let mut text = [0; 4];
///     server.read_exact(cx, &mut text)?;
///     assert_eq!(&text, b"ping");
///     std::fs::remove_file(&path)
/// }).unwrap();
/// ```
pub struct UnixListener {
    io: Io<net::UnixListener>,
}

impl UnixListener {
    /// Creates a socket that listens at `path`, where there must not be a file.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_std(net::UnixListener::bind(path)?)
    }

    /// Waits for a connection. [`accepting`](Self::accepting) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled) holds if the
    /// scope is cancelled.
    #[track_caller]
    pub fn accept(&self, cx: &Cx<'_>) -> io::Result<(UnixStream, SocketAddr)> {
        self.io.perform(cx, Direction::Read, WaitReason::new(&"UnixListener::accept"), accept)
    }

    /// Returns [`accept`](Self::accept) as an [operation](crate::Operation): for a time limit, for async code, and for
    /// [`select!`](crate::select). No connection is lost if the wait fails or its future is dropped.
    pub fn accepting(&self) -> UnixAccepting<'_> {
        UnixAccepting { call: self.io.call(Direction::Read, accept) }
    }

    /// Returns an [operation](crate::Operation) that completes when an `accept` probably does not have to wait.
    pub fn readable(&self) -> Ready<'_> {
        self.io.ready(Direction::Read)
    }

    /// Accepts a connection if there is one now.
    ///
    /// # Errors
    /// Returns the errors of the system, and `WouldBlock` if there is none.
    pub fn try_accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.io.try_once(Direction::Read, accept)
    }

    /// Returns the address at which it listens.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }
}

conversions!(UnixListener, net::UnixListener);

fn accept(system: &net::UnixListener) -> io::Result<Done<(UnixStream, SocketAddr)>> {
    let (stream, address) = system.accept()?;
    Ok(done((UnixStream::from_std(stream)?, address)))
}

type Accept = fn(&net::UnixListener) -> io::Result<Done<(UnixStream, SocketAddr)>>;

/// Accepting a connection, as an operation. Created by [`UnixListener::accepting`].
#[must_use = "an operation does nothing until it is part of a selection"]
pub struct UnixAccepting<'a> {
    call: SystemCall<'a, net::UnixListener, Accept>,
}

impl Attempt for UnixAccepting<'_> {
    type Output = io::Result<(UnixStream, SocketAddr)>;

    const NAME: &'static &'static str = &"UnixListener::accept";

    fn attempt(&self) -> Option<Self::Output> {
        self.call.attempt()
    }
}

crate::cx::operation::into_future!(UnixAccepting<'_>;);

// SAFETY: both functions only forward to the system call, which upholds the contract.
unsafe impl Waitable for UnixAccepting<'_> {
    fn register(&self, armed: Armed) -> bool {
        self.call.register(armed)
    }

    fn unregister(&self, ended: Ended) {
        self.call.unregister(ended);
    }
}

impl fmt::Debug for UnixAccepting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnixAccepting").finish_non_exhaustive()
    }
}

//! The servers. Each announces its port, and serves until its process ends. Go's is in `go/servers.go`.

mod anabranch;
mod blocking;
#[cfg(feature = "peers")]
mod may;
mod threads;
#[cfg(feature = "peers")]
mod tokio;

use std::io::{self, PipeWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
#[cfg(feature = "peers")]
use std::{os::unix::process::CommandExt, process::Command};

use super::Kind;
#[cfg(feature = "peers")]
use crate::fibers::peers::go;

/// The size of a message of ping-pong.
pub const MESSAGE: usize = 64;

/// What a server does with its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Returns each message of [`MESSAGE`] bytes.
    Echo,
    /// Answers each HTTP request.
    Http,
    /// Reads from each connection, and gets nothing.
    Hold,
    /// Closes each connection.
    Accept,
}

impl Role {
    /// Returns the name of the role on the command line of Go's program.
    pub fn name(self) -> &'static str {
        match self {
            Role::Echo => "echo",
            Role::Http => "http",
            Role::Hold => "hold",
            Role::Accept => "accept",
        }
    }
}

const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Writes the port of a server that listens.
fn announce(address: SocketAddr, mut to: PipeWriter) -> io::Result<()> {
    writeln!(to, "{}", address.port())
}

/// Runs a server in this process. Go's program replaces it.
///
/// # Errors
/// Returns the errors of the system.
///
/// # Panics
/// Panics for a peer that was not compiled in, or not built.
pub fn serve(kind: Kind, role: Role, port: PipeWriter) -> io::Result<()> {
    match kind {
        Kind::Anabranch => anabranch::serve(role, port),
        Kind::Std => threads::serve(role, port),
        #[cfg(feature = "peers")]
        Kind::TokioCurrent => tokio::serve(::tokio::runtime::Builder::new_current_thread(), role, port),
        #[cfg(feature = "peers")]
        Kind::Tokio => {
            let mut builder = ::tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1);
            tokio::serve(builder, role, port)
        }
        #[cfg(feature = "peers")]
        Kind::May => may::serve(role, port),
        // Returns only if the program cannot be started.
        #[cfg(feature = "peers")]
        Kind::Go => Err(Command::new(go::program()).args(["serve", role.name()]).stdout(port).exec()),
        #[cfg(not(feature = "peers"))]
        kind => panic!("{kind} was not compiled in"),
    }
}

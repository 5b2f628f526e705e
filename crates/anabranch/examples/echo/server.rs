//! The server: one fiber accepts, and each connection has its own fiber.

use anabranch::{Cancelled, Cx};
use async_io::Async;
use std::{
    fmt,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
};

/// Counts of the server.
#[derive(Default)]
pub struct Served {
    connections: AtomicU64,
    bytes: AtomicU64,
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [connections, bytes] = [&self.connections, &self.bytes].map(|count| count.load(Ordering::Relaxed));
        write!(f, "{connections} connections, {bytes} bytes")
    }
}

/// Serves until the scope is cancelled. All connections have ended when this returns, because they are in a separate
/// scope.
pub fn serve(cx: &Cx<'_>, listener: &Async<TcpListener>, served: &Served) -> io::Result<()> {
    cx.scope(|s| {
        loop {
            // Two nested results: that of the wait, and that of the future.
            match s.block_on(listener.accept()) {
                Ok(Ok((stream, _))) => {
                    s.spawn(move |cx| {
                        served.connections.fetch_add(1, Ordering::Relaxed);
                        // A connection that fails does not affect the others.
                        if let Ok(Err(error)) = echo(cx, &stream, served) {
                            eprintln!("echo: a connection failed: {error}");
                        }
                    });
                }
                Err(Cancelled) => return Ok(()),
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // For example, too many open files. Without this the scope would wait for the clients to close.
                Ok(Err(error)) => {
                    s.cancel();
                    return Err(error);
                }
            }
        }
    })
}

/// Sends every message back, until the other end closes.
fn echo(cx: &Cx<'_>, stream: &Async<TcpStream>, served: &Served) -> Result<io::Result<()>, Cancelled> {
    let mut buffer = [0; 1024];
    loop {
        let received = match cx.block_on(stream.read_with(|mut stream| stream.read(&mut buffer)))? {
            Ok(0) => return Ok(Ok(())),
            Ok(received) => received,
            Err(error) => return Ok(Err(error)),
        };
        let mut rest = &buffer[..received];
        while !rest.is_empty() {
            match cx.block_on(stream.write_with(|mut stream| stream.write(rest)))? {
                Ok(sent) => rest = &rest[sent..],
                Err(error) => return Ok(Err(error)),
            }
        }
        served.bytes.fetch_add(received as u64, Ordering::Relaxed);
    }
}

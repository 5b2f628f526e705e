//! The server: a fiber accepts, and each connection has one of its own.

use anabranch::{Cancelled, Cx};
use async_io::Async;
use std::{
    fmt,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
};

/// What was served.
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

/// Serves until the scope is cancelled. All connections have ended when it returns, since they are in a scope of
/// their own.
pub fn serve(cx: &Cx<'_>, listener: &Async<TcpListener>, served: &Served) -> io::Result<()> {
    cx.scope(|s| {
        loop {
            // Two results, one in the other: that of waiting, and that of what was waited for.
            match s.block_on(listener.accept()) {
                Ok(Ok((stream, _))) => {
                    s.spawn(move |cx| {
                        served.connections.fetch_add(1, Ordering::Relaxed);
                        // A connection that fails concerns nobody else.
                        if let Ok(Err(error)) = echo(cx, &stream, served) {
                            eprintln!("echo: a connection failed: {error}");
                        }
                    });
                }
                Err(Cancelled) => return Ok(()),
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // Too many open files, say. Without this the scope would wait for the clients to close.
                Ok(Err(error)) => {
                    s.cancel();
                    return Err(error);
                }
            }
        }
    })
}

/// Sends back what comes, until the other end closes.
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

//! The server: one fiber accepts, and each connection has its own fiber.

use anabranch::{
    Cx,
    net::{TcpListener, TcpStream, is_cancelled},
};
use std::{
    fmt, io,
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
pub fn serve(cx: &Cx<'_>, listener: &TcpListener, served: &Served) -> io::Result<()> {
    cx.scope(|s| {
        loop {
            match listener.accept(cx) {
                Ok((stream, _)) => {
                    s.spawn(move |cx| {
                        served.connections.fetch_add(1, Ordering::Relaxed);
                        // A connection that fails does not affect the others.
                        match echo(cx, &stream, served) {
                            Err(error) if !is_cancelled(&error) => eprintln!("echo: a connection failed: {error}"),
                            _ => {}
                        }
                    });
                }
                Err(error) if is_cancelled(&error) => return Ok(()),
                // For example, too many open files. Without this the scope would wait for the clients to close.
                Err(error) => {
                    s.cancel();
                    return Err(error);
                }
            }
        }
    })
}

/// Sends every message back, until the other end closes.
fn echo(cx: &Cx<'_>, stream: &TcpStream, served: &Served) -> io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        let received = stream.read(cx, &mut buffer)?;
        if received == 0 {
            return Ok(());
        }
        stream.write_all(cx, &buffer[..received])?;
        served.bytes.fetch_add(received as u64, Ordering::Relaxed);
    }
}

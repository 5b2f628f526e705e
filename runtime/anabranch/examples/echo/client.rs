//! The client: opens all connections, then uses all of them at once.

use crate::Failure;
use anabranch::{Cx, net::TcpStream};
use std::{
    fmt,
    net::SocketAddr,
    time::{Duration, Instant},
};

/// The number of connections that are opened at a time. A listener's queue holds 128; a client that finds it full
/// retries after a second.
const OPENING: usize = 100;

pub struct Report {
    connections: usize,
    messages: usize,
    opening: Duration,
    talking: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connections, messages, opening, talking } = self;
        write!(f, "{connections} connections in {opening:.2?}, {messages} messages and their echoes in {talking:.2?}")
    }
}

/// Opens `connections` connections. When all are open, sends `messages` messages on each and compares the echoes.
pub fn talk(cx: &Cx<'_>, server: SocketAddr, connections: usize, messages: usize) -> Result<Report, Failure> {
    let start = Instant::now();
    let streams = cx.map_concurrent(OPENING, 0..connections, |cx, _| {
        let stream = TcpStream::connect(cx, server).map_err(|error| format!("cannot connect to {server}: {error}"))?;
        // The system accepts a connection before the server does. With the first echo it has left the queue.
        exchange(cx, &stream, b"hello\n")?;
        Ok::<_, Failure>(stream)
    })?;
    let opening = start.elapsed();
    // One fiber per connection. The first that fails cancels the others.
    cx.map_concurrent(usize::MAX, streams.iter().enumerate(), |cx, (index, stream)| {
        for number in 0..messages {
            let message = format!("message {number} of connection {index}\n");
            exchange(cx, stream, message.as_bytes())?;
        }
        Ok::<_, Failure>(())
    })?;
    let talking = start.elapsed() - opening;
    Ok(Report { connections, messages: connections * messages, opening, talking })
}

/// Sends a message and waits for its echo.
fn exchange(cx: &Cx<'_>, stream: &TcpStream, message: &[u8]) -> Result<(), Failure> {
    stream.write_all(cx, message)?;
    let mut echo = vec![0; message.len()];
    stream.read_exact(cx, &mut echo)?;
    if echo != message {
        let [sent, came] = [message, &echo].map(String::from_utf8_lossy);
        return Err(format!("sent {sent:?}, and {came:?} came back").into());
    }
    Ok(())
}

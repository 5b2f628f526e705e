//! The life of a server: it accepts, each connection has a fiber, and it ends in three steps.

use crate::Failure;
use anabranch::{
    Cx, JoinError,
    net::{TcpListener, TcpStream},
    select,
    sync::Event,
};
use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

/// How long the server pauses after an error of `accept`. Perhaps the process has no descriptor left. Then the
/// connection stays in the queue of the system.
const PAUSE: Duration = Duration::from_millis(20);

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most connections at a time. Others wait in the queue of the system.
    pub connections: usize,
    /// How long open connections may go on after the server has stopped accepting.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 10_000, grace: Duration::from_secs(5) }
    }
}

/// How the connections of a server have ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub regular: usize,
    pub failed: usize,
    pub panicked: usize,
    pub cancelled: usize,
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { regular, failed, panicked, cancelled } = self;
        write!(f, "{regular} connections ended, {failed} failed, {panicked} panicked, {cancelled} were cancelled")
    }
}

impl Ends {
    /// Counts an end. What one client does wrong does not concern the others.
    fn add(&mut self, end: Result<Result<(), Failure>, JoinError>) {
        match end {
            Ok(Ok(())) => self.regular += 1,
            Ok(Err(error)) => {
                eprintln!("a connection failed: {error}");
                self.failed += 1;
            }
            Err(JoinError::Panicked(_)) => self.panicked += 1,
            Err(_) => self.cancelled += 1,
        }
    }
}

/// Calls `handler` for each connection, on a fiber of its own, until `stop` is set. Then it closes the listener, waits
/// [`Limits::grace`] for the open connections, and cancels the rest.
///
/// # Errors
/// Returns an error if the scope of `cx` is cancelled. The connections are cancelled then, too.
pub fn serve<F>(cx: &Cx<'_>, listener: TcpListener, limits: Limits, stop: &Event, handler: F) -> io::Result<Ends>
where
    F: Fn(&Cx<'_>, &TcpStream, SocketAddr) -> Result<(), Failure> + Sync,
{
    let handler = &handler;
    cx.scope(|s| {
        let (mut connections, mut ends) = (s.join_set(), Ends::default());
        // 1. Accepts. A panic of a connection is its result, and the loop takes results, so the set does not grow.
        loop {
            let has_room = connections.len() < limits.connections;
            select!(biased cx, {
                () = stop.waiting() => break,
                end = connections.joining() => ends.add(end),
                accepted = listener.accepting(), if has_room => match accepted {
                    Ok((stream, address)) => {
                        connections.spawn(move |cx| handler(cx, &stream, address));
                    }
                    Err(error) => {
                        eprintln!("cannot accept: {error}");
                        cx.sleep(PAUSE)?;
                    }
                },
            })?;
        }
        drop(listener);
        // 2. Waits for the connections. They look at `stop`, too.
        let drained = cx.timeout(limits.grace, |cx| {
            loop {
                match connections.join_next(cx).transpose() {
                    None => return Ok(()),
                    Some(Err(JoinError::Cancelled)) => return Err(io::Error::other("the wait was cancelled")),
                    Some(end) => ends.add(end),
                }
            }
        });
        // 3. Cancels those that are left.
        if drained.is_err() {
            ends.cancelled += connections.len();
            connections.shutdown(cx);
        }
        Ok(ends)
    })
}

/// Serves on a free port of the loopback interface while `clients` runs, and stops when it has returned.
///
/// # Errors
/// Returns the errors of the system and of `clients`.
pub fn beside<F, R>(
    cx: &Cx<'_>,
    limits: Limits,
    stop: &Event,
    handler: F,
    clients: impl FnOnce(&Cx<'_>, SocketAddr) -> Result<R, Failure>,
) -> Result<(Ends, R), Failure>
where
    F: Fn(&Cx<'_>, &TcpStream, SocketAddr) -> Result<(), Failure> + Send + Sync,
{
    let listener = TcpListener::bind(cx, (IpAddr::from(Ipv4Addr::LOCALHOST), 0))?;
    let address = listener.local_addr()?;
    cx.scope(|s| {
        let server = s.spawn(|cx| serve(cx, listener, limits, stop, handler));
        let result = clients(cx, address);
        stop.set();
        let ends = server.join(cx).map_err(|error| error.to_string())??;
        Ok((ends, result?))
    })
}

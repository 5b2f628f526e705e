//! The stream of a connection, as synchronous libraries use it.

use anabranch::{
    Cx,
    net::{TcpStream, With},
    select,
    sync::Event,
};
use std::{
    error::Error,
    fmt,
    io::{self, Read, Write},
    time::{Duration, Instant},
};

/// A stream that implements [`Read`] and [`Write`], with a deadline and with regard to the end of the server.
///
/// While it is [idle](Self::set_idle), a read fails with [`Stopping`] once the server is to stop, and has read nothing.
/// A library passes that error on, and can be used to say good-bye.
pub struct Connection<'a> {
    stream: With<'a, TcpStream>,
    cx: &'a Cx<'a>,
    stop: &'a Event,
    deadline: Option<Instant>,
    is_idle: bool,
}

/// The server is to stop.
#[derive(Debug)]
pub struct Stopping;

impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server is to stop")
    }
}

impl Error for Stopping {}

/// Returns whether a read has ended because the server is to stop.
pub fn is_stopping(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopping>())
}

impl<'a> Connection<'a> {
    /// Returns a connection that is not idle and has no deadline.
    pub fn new(cx: &'a Cx<'a>, stream: &'a TcpStream, stop: &'a Event) -> Self {
        Self { stream: stream.with(cx), cx, stop, deadline: None, is_idle: false }
    }

    /// Sets how long the reads and writes from now on may take, all together.
    pub fn set_time(&mut self, time: Duration) {
        self.deadline = Some(self.cx.now() + time);
        self.stream.set_deadline(self.deadline);
    }

    /// Sets whether the server waits for the next request, and owes no answer.
    pub fn set_idle(&mut self, is_idle: bool) {
        self.is_idle = is_idle;
    }

    /// Returns whether the server is to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_set()
    }

    /// Closes the direction that writes, and reads what the client still sends. The system resets a connection that is
    /// closed with unread bytes, and the client may then not see the last answer.
    pub fn linger(&mut self) {
        const MOST: u64 = 1 << 20;
        self.set_time(Duration::from_millis(500));
        self.is_idle = false;
        let _ = self.stream.stream().shutdown(std::net::Shutdown::Write);
        let _ = io::copy(&mut Read::take(&mut *self, MOST), &mut io::sink());
    }

    /// Waits until there is something to read.
    fn wait(&self, cx: &Cx<'_>) -> io::Result<()> {
        select!(biased cx, {
            ready = self.stream.stream().readable() => ready,
            () = self.stop.waiting() => Err(io::Error::other(Stopping)),
        })?
    }
}

impl Read for Connection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_idle {
            return self.stream.read(buffer);
        }
        loop {
            match self.stream.stream().try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            match self.deadline {
                None => self.wait(self.cx)?,
                Some(deadline) => self.cx.with_deadline(deadline, |cx| self.wait(cx))?,
            }
        }
    }
}

impl Write for Connection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

//! The load generator: one thread, non-blocking sockets, and an epoll of its own, so that it favours no peer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

/// What a run has measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The number of answers.
    pub answers: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The time of each answer since its request was due, in nanoseconds, sorted.
    latencies: Vec<u32>,
}

impl Measured {
    /// Returns the answers per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.answers as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the latency, in microseconds, that this share of the answers did not exceed.
    #[must_use]
    pub fn percentile(&self, share: f64) -> f64 {
        let index = ((self.latencies.len() as f64 * share) as usize).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(index).map_or(f64::NAN, |nanos| f64::from(*nanos) / 1e3)
    }
}

/// Connects to a server on this machine.
///
/// # Panics
/// Panics if that fails.
#[must_use]
pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server accepts");
    stream.set_nodelay(true).expect("a socket");
    stream
}

/// Sends one message after the other over one connection, and waits for each echo. The sockets block.
///
/// # Errors
/// Returns the errors of the system.
pub fn ping_pong(port: u16, size: usize, duration: Duration) -> io::Result<Measured> {
    let mut stream = connect(port);
    let (message, mut echo) = (vec![7; size], vec![0; size]);
    let (start, mut latencies) = (Instant::now(), Vec::new());
    let mut sent = start;
    while sent - start < duration {
        stream.write_all(&message)?;
        stream.read_exact(&mut echo)?;
        let now = Instant::now();
        latencies.push((now - sent).as_nanos() as u32);
        sent = now;
    }
    latencies.sort_unstable();
    Ok(Measured { answers: latencies.len() as u64, elapsed: sent - start, latencies })
}

struct Connection {
    stream: TcpStream,
    /// How many bytes of the answer are missing. Zero if no request is open.
    missing: usize,
    /// When the open request was due.
    due: Instant,
}

/// Open connections, for requests.
pub struct Client {
    epoll: Epoll,
    connections: Vec<Connection>,
}

impl Client {
    /// Connects `count` times.
    ///
    /// # Errors
    /// Returns the errors of the system.
    ///
    /// # Panics
    /// Panics if the server does not accept.
    pub fn connect(port: u16, count: usize) -> io::Result<Client> {
        let epoll = Epoll::new(EpollCreateFlags::empty())?;
        let mut connections = Vec::new();
        for index in 0..count {
            let stream = connect(port);
            stream.set_nonblocking(true)?;
            epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, index as u64))?;
            connections.push(Connection { stream, missing: 0, due: Instant::now() });
        }
        Ok(Client { epoll, connections })
    }

    /// Sends requests for `duration`, and waits until all are answered: on each connection the next one as soon as the
    /// last was answered, or all together `rate` requests per second, evenly spread. What is answered after the time
    /// does not count.
    ///
    /// # Errors
    /// Returns the errors of the system, and `InvalidData` for a wrong answer.
    pub fn run(
        &mut self,
        (request, response): (&[u8], &[u8]),
        rate: Option<f64>,
        duration: Duration,
    ) -> io::Result<Measured> {
        let all = &mut self.connections;
        let count = all.len();
        let interval = rate.map(|rate| Duration::from_secs_f64(count as f64 / rate));
        let (start, mut latencies) = (Instant::now(), Vec::new());
        for (index, connection) in all.iter_mut().enumerate() {
            let delay = interval.map_or(Duration::ZERO, |each| each.mul_f64(index as f64 / count as f64));
            connection.due = start + delay;
        }
        let (mut events, mut buffer) = (vec![EpollEvent::empty(); 256], vec![0; 1 << 16]);
        if interval.is_none() {
            for connection in all.iter_mut() {
                connection.send(request, response)?;
            }
        }
        // With a rate the connections become due one after the other, in a ring.
        let (mut next, mut open, mut elapsed) = (0, if interval.is_none() { count } else { 0 }, Duration::ZERO);
        let mut now = start;
        while now - start < duration || open > 0 {
            let is_over = now - start >= duration;
            if interval.is_some() && !is_over {
                while all[next].due <= now && all[next].missing == 0 {
                    all[next].send(request, response)?;
                    (next, open) = ((next + 1) % count, open + 1);
                }
            }
            // With a rate it polls: a sleep of the generator would count as latency.
            let timeout = if interval.is_some() { EpollTimeout::ZERO } else { EpollTimeout::from(1_000u16) };
            let reports = self.epoll.wait(&mut events, timeout)?;
            for event in &events[..reports] {
                let connection = &mut all[event.data() as usize];
                if !connection.receive(&mut buffer)? {
                    continue;
                }
                open -= 1;
                now = Instant::now();
                if now - start >= duration {
                    continue;
                }
                elapsed = now - start;
                latencies.push((now - connection.due).as_nanos() as u32);
                match interval {
                    Some(interval) => connection.due += interval,
                    None => {
                        connection.due = now;
                        connection.send(request, response)?;
                        open += 1;
                    }
                }
            }
            now = Instant::now();
        }
        latencies.sort_unstable();
        Ok(Measured { answers: latencies.len() as u64, elapsed, latencies })
    }
}

impl Connection {
    fn send(&mut self, request: &[u8], response: &[u8]) -> io::Result<()> {
        self.missing = response.len();
        self.stream.write_all(request)
    }

    /// Returns whether the answer is complete now.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let read = match self.stream.read(buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        self.missing = self.missing.checked_sub(read).ok_or(ErrorKind::InvalidData)?;
        Ok(self.missing == 0)
    }
}

/// Connects `count` times, one after the other, and waits for the server to close each connection.
///
/// # Errors
/// Returns the errors of the system.
pub fn open_and_close(port: u16, count: u64) -> io::Result<Measured> {
    let (start, mut latencies) = (Instant::now(), Vec::new());
    for _ in 0..count {
        let due = Instant::now();
        let mut stream = connect(port);
        // The server closes first, so the ports of this side are not used up.
        while stream.read(&mut [0; 8])? > 0 {}
        latencies.push(due.elapsed().as_nanos() as u32);
    }
    latencies.sort_unstable();
    Ok(Measured { answers: count, elapsed: start.elapsed(), latencies })
}

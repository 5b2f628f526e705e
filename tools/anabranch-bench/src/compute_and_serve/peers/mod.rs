//! The compared programs, written once for each peer.

mod anabranch;
#[cfg(feature = "peers")]
mod tokio;

use std::io::{self, PipeWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use super::Kind;
use super::work::Task;
use crate::net::http::Requests;
use crate::sample::Meter;
use crate::stopwatch::Stopwatch;

/// How long a tick sleeps.
pub const TICK: Duration = Duration::from_millis(1);

/// The target of a request whose answer must be computed.
pub const HEAVY: &str = "/heavy";

const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// What happens beside the tickers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing, for so long.
    Nothing(Duration),
    /// A thread outside of the pool computes.
    Outside,
    /// A fiber or task hands the computation over and waits for it.
    HandedOver,
    /// A fiber or task computes.
    Inline,
}

/// The begin and the end of a sleep.
pub type Tick = (Instant, Instant);

/// A computation beside tickers.
pub struct Beside {
    /// When the computation began.
    pub start: Instant,
    /// Its wall time, and the CPU time of the process meanwhile.
    pub meter: Meter,
    /// Its result; zero if nothing was computed.
    pub result: u64,
    /// The sleeps of all tickers.
    pub ticks: Vec<Tick>,
}

/// A runtime with the threads of a sample.
pub trait Peer: Sync {
    /// Returns the function that computes on the calling thread, with the help of the pool.
    fn compute(&self) -> fn(Task) -> u64;

    /// Starts fibers or tasks that sleep again and again, computes beside them, and stops them.
    fn beside(&self, way: Way, task: Task, tickers: usize) -> Beside;

    /// Lets so many fibers or tasks hand the computation over again and again for `budget`. Returns the time of each
    /// call in seconds.
    fn call(&self, callers: usize, task: &Task, budget: Duration) -> Vec<f64>;

    /// Serves HTTP on a port that it announces. Requests for [`HEAVY`] compute `task`, handed over.
    fn serve(&self, task: Task, port: PipeWriter) -> io::Result<()>;
}

/// Starts the pool of a peer.
///
/// # Panics
/// Panics for a peer that was not compiled in, or if this process has a pool of the peer.
pub fn start(kind: Kind, threads: usize) -> Box<dyn Peer> {
    match kind {
        Kind::Anabranch => Box::new(anabranch::Anabranch::start(threads)),
        #[cfg(feature = "peers")]
        Kind::TokioRayon => Box::new(tokio::TokioRayon::start(threads, tokio::HandOver::SpawnBlocking)),
        #[cfg(feature = "peers")]
        Kind::RayonSpawn => Box::new(tokio::TokioRayon::start(threads, tokio::HandOver::RayonSpawn)),
        #[cfg(not(feature = "peers"))]
        kind => panic!("{kind} was not compiled in"),
    }
}

/// Writes the port of a server that listens.
fn announce(address: SocketAddr, mut to: PipeWriter) -> io::Result<()> {
    writeln!(to, "{}", address.port())
}

/// Takes the complete requests out of the buffer, and appends whether each must be computed.
fn take(requests: &mut Requests, heavy: &mut Vec<bool>) -> io::Result<()> {
    let taken = requests.take_each(|target| heavy.push(target == HEAVY));
    taken.map(|_| ()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The measurement of a computation.
struct Timer {
    start: Instant,
    watch: Stopwatch,
}

impl Timer {
    fn start() -> Timer {
        Timer { start: Instant::now(), watch: Stopwatch::start() }
    }

    fn stop(self, result: u64) -> Beside {
        Beside { start: self.start, meter: self.watch.stop(), result, ticks: Vec::new() }
    }
}

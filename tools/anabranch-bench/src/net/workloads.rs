//! The workloads of servers.

use std::time::Duration;

use super::load::{self, Client, Measured};
use super::server::Server;
use super::servers::{MESSAGE, Role};
use super::{Kind, http};
use crate::bench::{AnyWorkload, Peers, Threads};
use crate::contest::Listed;
use crate::isolate::{LIMIT, in_child};
use crate::sample::{Meter, Sample};

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The time of a sample.
    pub budget: Duration,
    /// The number of connections that are idle, and the number that are accepted and closed.
    pub connections: usize,
}

impl Settings {
    /// Returns the usual sizes, or smaller ones.
    pub fn new(quick: bool) -> Settings {
        match quick {
            true => Settings { budget: Duration::from_millis(100), connections: 1_000 },
            false => Settings { budget: Duration::from_secs(1), connections: 8_000 },
        }
    }
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 7] = [
    ("ping-pong", |settings| server(*settings, Job::PingPong)),
    ("http-64", |settings| server(*settings, Job::Http(64))),
    ("http-1000", |settings| server(*settings, Job::Http(1_000))),
    ("p99-64", |settings| server(*settings, Job::latency(64, settings.budget))),
    ("p99-1000", |settings| server(*settings, Job::latency(1_000, settings.budget))),
    ("idle", |settings| server(*settings, Job::Idle)),
    ("accept", |settings| server(*settings, Job::Accept)),
];

fn server(settings: Settings, job: Job) -> Box<dyn AnyWorkload<Kind>> {
    Box::new(Serving { settings, job })
}

/// What the load generator does.
enum Job {
    /// Waits for the echo of each message.
    PingPong,
    /// Sends the next request on each of so many connections when the last one was answered.
    Http(usize),
    /// Sends requests on so many connections at a fixed rate, in requests per second.
    Latency(usize, f64),
    /// Opens connections and leaves them alone.
    Idle,
    /// Opens connections, which the server closes.
    Accept,
}

const EXCHANGE: (&[u8], &[u8]) = (http::REQUEST, http::RESPONSE);

impl Job {
    /// Creates the job that measures latency at 70% of the load that the servers reach.
    fn latency(connections: usize, budget: Duration) -> Job {
        // The load generator binds its thread to a core, so it has a process of its own here too.
        let rate = in_child(LIMIT, || 0.7 * common_rate(connections, budget)).unwrap_or_else(|error| panic!("{error}"));
        Job::Latency(connections, rate)
    }
}

/// Returns the rate without a limit that all servers in this program reach, but those that do not reach half of the
/// best one's.
fn common_rate(connections: usize, budget: Duration) -> f64 {
    let rate = |kind: &Kind| {
        let server = Server::start(*kind, Role::Http);
        let mut client = Client::connect(server.port, connections).expect("connections");
        client.run(EXCHANGE, None, long_enough(connections, budget)).expect("answers").rate()
    };
    // Go is not always built.
    let rates: Vec<f64> = Kind::ALL.iter().filter(|kind| **kind != Kind::Go).map(rate).collect();
    let best = rates.iter().copied().fold(0.0, f64::max);
    rates.into_iter().filter(|rate| *rate >= best / 2.0).fold(best, f64::min)
}

/// Returns a time in which a slow machine, too, answers a request on each connection.
fn long_enough(connections: usize, budget: Duration) -> Duration {
    budget.max(Duration::from_millis(connections as u64))
}

/// A server under load.
struct Serving {
    settings: Settings,
    job: Job,
}

impl AnyWorkload<Kind> for Serving {
    fn title(&self) -> String {
        let connections = self.settings.connections;
        match self.job {
            Job::PingPong => format!("a message of {MESSAGE} bytes and its echo"),
            Job::Http(count) => format!("HTTP requests on {count} connections, as fast as they are answered"),
            Job::Latency(count, _) => {
                format!("99th percentile of the latency of HTTP requests on {count} connections, at 70% of the load")
            }
            Job::Idle => format!("memory of {connections} idle connections"),
            Job::Accept => format!("{connections} connections, accepted and closed"),
        }
    }

    fn unit(&self) -> &'static str {
        match self.job {
            Job::PingPong => "us/round trip",
            Job::Http(_) => "us/request",
            Job::Latency(..) => "us",
            Job::Idle => "KiB/connection",
            Job::Accept => "us/connection",
        }
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(1)
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, _kind: Kind) -> bool {
        true
    }

    fn sample_with(&self, kind: Kind, _threads: usize) -> Sample {
        let Settings { budget, connections } = self.settings;
        match self.job {
            Job::PingPong => {
                let server = Server::start(kind, Role::Echo);
                load::ping_pong(server.port, MESSAGE, budget / 5).expect("echoes");
                let measured = metered(&server, || load::ping_pong(server.port, MESSAGE, budget).expect("echoes"));
                each(&measured).with("p99 us", measured.0.percentile(0.99))
            }
            Job::Http(count) => exchange(kind, count, None, budget),
            Job::Latency(count, rate) => {
                let sample = exchange(kind, count, Some(rate), budget);
                Sample { value: sample.extra["p99 us"], ..sample }.with("requests/s", rate)
            }
            Job::Idle => {
                let server = Server::start(kind, Role::Hold);
                // What the first connection needs is not counted.
                let first = load::connect(server.port);
                std::thread::sleep(Duration::from_millis(20));
                let before = server.memory();
                let (held, meter) = metered(&server, || {
                    let held: Vec<_> = (0..connections).map(|_| load::connect(server.port)).collect();
                    std::thread::sleep(Duration::from_millis(200));
                    held
                });
                let value = server.memory().saturating_sub(before) as f64 / connections as f64 / 1024.0;
                drop((first, held));
                Sample { value, ..Sample::per_unit(meter, 1.0, 1.0) }
            }
            Job::Accept => {
                let server = Server::start(kind, Role::Accept);
                let before = server.memory();
                let open = || load::open_and_close(server.port, connections as u64).expect("connections");
                let measured = metered(&server, open);
                let grown = server.memory() as f64 - before as f64;
                each(&measured).with("KiB more", grown / 1024.0)
            }
        }
    }
}

/// Sends requests, all together `rate` per second if there is one.
fn exchange(kind: Kind, connections: usize, rate: Option<f64>, budget: Duration) -> Sample {
    let server = Server::start(kind, Role::Http);
    let mut client = Client::connect(server.port, connections).expect("connections");
    let budget = long_enough(connections, budget);
    client.run(EXCHANGE, rate, budget / 5).expect("answers");
    let measured = metered(&server, || client.run(EXCHANGE, rate, budget).expect("answers"));
    each(&measured).with("p50 us", measured.0.percentile(0.5)).with("p99 us", measured.0.percentile(0.99))
}

/// Runs `f`, and measures the wall time and the CPU time of the server.
fn metered<R>(server: &Server, f: impl FnOnce() -> R) -> (R, Meter) {
    let (cpu, start) = (server.cpu(), std::time::Instant::now());
    let result = f();
    (result, Meter { wall: start.elapsed().as_secs_f64(), cpu: server.cpu() - cpu })
}

/// Returns the time of each answer, in microseconds.
fn each((measured, meter): &(Measured, Meter)) -> Sample {
    assert!(measured.answers > 0, "the server answered nothing within the time of a sample");
    let meter = Meter { wall: measured.elapsed.as_secs_f64(), cpu: meter.cpu };
    Sample::per_unit(meter, measured.answers as f64, 1e-6)
}

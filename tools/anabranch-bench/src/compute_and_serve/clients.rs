//! The clients of a server: a thread for each connection, which pauses between two requests.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::peers::HEAVY;
use crate::net::http::{REQUEST, RESPONSE};
use crate::net::load::connect;
use crate::stats::percentile;

/// The pause between two requests.
const PAUSE: Duration = Duration::from_micros(500);

/// One request of so many is heavy, if any are.
const HEAVY_PERIOD: usize = 20;

/// The size of a client's stack.
const STACK: usize = 64 << 10;

/// An answered request.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// When the request was sent, since the first one.
    pub at: Duration,
    /// The time until its answer was complete.
    pub latency: Duration,
    /// Whether the server had to compute.
    pub is_heavy: bool,
}

/// Sends requests on `connections` connections for `budget`, a part of which is heavy if `with_heavy`. Answers that
/// come after the time count too, because they are late. Each connection has an answer.
///
/// # Errors
/// Returns the errors of the system.
///
/// # Panics
/// Panics if the server does not accept.
pub fn run(port: u16, connections: usize, with_heavy: bool, budget: Duration) -> io::Result<Vec<Answer>> {
    let streams: Vec<TcpStream> = (0..connections).map(|_| connect(port)).collect();
    let start = Instant::now();
    thread::scope(|scope| {
        let clients = streams.into_iter().enumerate().map(|(index, stream)| {
            let client = move || {
                // The heavy requests of the connections are spread.
                let first = if with_heavy { Some(index * 7 % HEAVY_PERIOD) } else { None };
                client(stream, first, start, budget)
            };
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, client)
        });
        let clients: Vec<_> = clients.collect::<io::Result<_>>()?;
        let mut answers = Vec::new();
        for client in clients {
            answers.extend(client.join().expect("a client does not panic")?);
        }
        Ok(answers)
    })
}

fn client(
    mut stream: TcpStream,
    first_heavy: Option<usize>,
    start: Instant,
    budget: Duration,
) -> io::Result<Vec<Answer>> {
    let heavy = String::from_utf8_lossy(REQUEST).replace("/hello", HEAVY);
    let (mut answers, mut answer) = (Vec::with_capacity(1 << 13), [0; RESPONSE.len()]);
    for number in 0.. {
        thread::sleep(PAUSE);
        let at = start.elapsed();
        if number > 0 && at >= budget {
            break;
        }
        let is_heavy = first_heavy.is_some_and(|first| number % HEAVY_PERIOD == first);
        stream.write_all(if is_heavy { heavy.as_bytes() } else { REQUEST })?;
        stream.read_exact(&mut answer)?;
        answers.push(Answer { at, latency: start.elapsed() - at, is_heavy });
    }
    Ok(answers)
}

/// Latencies in milliseconds, sorted.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<f64>);

impl Latencies {
    /// Returns the latencies of the light or of the heavy requests.
    pub fn of(answers: &[Answer], heavy: bool) -> Latencies {
        let chosen = answers.iter().filter(|answer| answer.is_heavy == heavy);
        Latencies::sorted(chosen.map(|answer| answer.latency.as_secs_f64() * 1e3).collect())
    }

    /// Sorts latencies in milliseconds.
    pub fn sorted(mut latencies: Vec<f64>) -> Latencies {
        latencies.sort_by(f64::total_cmp);
        Latencies(latencies)
    }

    /// Returns the number of answers.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the latency that this share of the answers did not exceed, or zero if there are no answers.
    pub fn at(&self, share: f64) -> f64 {
        if self.0.is_empty() { 0.0 } else { percentile(&self.0, share) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_and_heavy_requests_are_told_apart() {
        let answer = |millis, is_heavy| Answer { at: Duration::ZERO, latency: Duration::from_millis(millis), is_heavy };
        let answers = [answer(3, false), answer(1, false), answer(9, true), answer(2, false)];
        let light = Latencies::of(&answers, false);
        assert_eq!((light.count(), light.at(0.5), light.at(1.0)), (3, 2.0, 3.0));
        assert_eq!(Latencies::of(&answers, true).at(0.5), 9.0);
        assert_eq!(Latencies::default().at(0.99), 0.0);
    }
}

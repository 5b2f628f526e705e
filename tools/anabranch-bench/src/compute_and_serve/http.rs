//! A server under load, beside loops or with requests that compute.

use std::io::{self, PipeWriter};
use std::thread;
use std::time::Duration;

use super::clients::{self, Answer, Latencies};
use super::running::Sampler;
use super::work::Task;
use super::{Kind, peers};
use crate::net::server::Server;
use crate::sample::{Meter, Sample};
use crate::stopwatch::Stopwatch;

/// What the server does beside the light requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Nothing.
    Nothing,
    /// A thread of the program calls one loop after another.
    Loops,
    /// One request of twenty is answered by a loop.
    Heavy,
}

/// The computations of a server.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// The loop of [`Load::Loops`].
    pub(super) long: Task,
    /// The pause between two of them.
    pub(super) pause: Duration,
    /// The loop of a heavy request.
    pub(super) short: Task,
}

/// The answers of a server, the mean of its threads that ran at once, and its CPU time.
pub(super) struct Served {
    pub(super) answers: Vec<Answer>,
    pub(super) running: f64,
    pub(super) meter: Meter,
}

/// Runs a server in this process.
fn serve(kind: Kind, threads: usize, load: Load, work: Work, port: PipeWriter) -> io::Result<()> {
    let peer = peers::start(kind, threads);
    if load == Load::Loops {
        let compute = peer.compute();
        thread::spawn(move || {
            loop {
                std::hint::black_box(compute(work.long.clone()));
                thread::sleep(work.pause);
            }
        });
    }
    peer.serve(work.short, port)
}

/// Starts a server, and sends requests to it for `budget`, after a warm-up.
pub(super) fn run(
    (kind, threads): (Kind, usize),
    load: Load,
    work: &Work,
    connections: usize,
    budget: Duration,
) -> Served {
    let server = Server::start_process(&kind, |port| serve(kind, threads, load, work.clone(), port));
    let exchange = |budget| clients::run(server.port, connections, load == Load::Heavy, budget).expect("answers");
    exchange(budget / 5);
    let sampler = Sampler::start(server.process());
    let (watch, cpu) = (Stopwatch::start(), server.cpu());
    let answers = exchange(budget);
    let meter = Meter { cpu: server.cpu() - cpu, ..watch.stop() };
    Served { answers, running: sampler.stop(), meter }
}

/// Measures a server. The value is the 99th percentile of the light requests in ms.
pub(super) fn sample(variant: (Kind, usize), load: Load, work: &Work, connections: usize, budget: Duration) -> Sample {
    let Served { answers, running, meter } = run(variant, load, work, connections, budget);
    let light = Latencies::of(&answers, false);
    let sample = Sample {
        value: light.at(0.99),
        wall: meter.wall,
        cpu: meter.cpu,
        cpu_each: meter.cpu / meter.wall,
        extra: Default::default(),
    }
    .with("light/s", light.count() as f64 / meter.wall)
    .with("p50", light.at(0.5))
    .with("max", light.at(1.0))
    .with("running", running);
    if load != Load::Heavy {
        return sample;
    }
    let heavy = Latencies::of(&answers, true);
    sample
        .with("heavy/s", heavy.count() as f64 / meter.wall)
        .with("heavy p50", heavy.at(0.5))
        .with("heavy p99", heavy.at(0.99))
}

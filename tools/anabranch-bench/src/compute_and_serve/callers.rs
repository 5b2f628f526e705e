//! Many fibers or tasks that hand a computation over at the same time.

use std::io::{self, Read, Write};
use std::time::Duration;

use nix::sys::wait::waitpid;

use super::clients::Latencies;
use super::running::Sampler;
use super::work::Task;
use super::{Kind, peers};
use crate::isolate;
use crate::sample::{Meter, Sample};
use crate::stopwatch::Stopwatch;

/// The callers at a time.
const CALLERS: usize = 16;

/// Measures how many threads run at once. The callers have a process of their own, which this process samples.
pub(super) fn sample(kind: Kind, threads: usize, task: &Task, budget: Duration) -> Sample {
    let (process, mut output) = isolate::start(|mut output| {
        let peer = peers::start(kind, threads);
        peer.call(CALLERS, task, budget / 10);
        let watch = Stopwatch::start();
        let mut send = |text: String| output.write_all(text.as_bytes());
        let measured = send(">".into()).and_then(|()| {
            let times = peer.call(CALLERS, task, budget);
            send(serde_json::to_string(&(times, watch.stop())).map_err(io::Error::from)?)
        });
        i32::from(measured.is_err())
    })
    .unwrap_or_else(|failure| panic!("{failure}"));
    output.read_exact(&mut [0]).expect("the callers begin");
    let sampler = Sampler::start(process);
    let mut result = String::new();
    output.read_to_string(&mut result).expect("the callers end");
    let running = sampler.stop();
    waitpid(process, None).expect("a child of this process");
    let (times, meter): (Vec<f64>, Meter) = serde_json::from_str(&result).expect("the callers have a result");
    let calls = Latencies::sorted(times.into_iter().map(|seconds| seconds * 1e3).collect());
    Sample {
        value: running,
        wall: meter.wall,
        cpu: meter.cpu,
        cpu_each: meter.cpu / meter.wall,
        extra: Default::default(),
    }
    .with("calls/s", calls.count() as f64 / meter.wall)
    .with("p50 ms", calls.at(0.5))
    .with("p99 ms", calls.at(0.99))
}

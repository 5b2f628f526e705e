//! The workloads, one per file. Each checks in every sample that all sent messages arrived.
//!
//! The amount is usually determined first: the number of messages is raised until they take long enough.

pub mod memory;
pub mod msgsend;
pub mod ring;
pub mod select;
pub mod stream;
pub mod threads;
pub mod token;

use std::time::Duration;

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;

use super::blocking::{Blocking, Channel, Selection};
use super::peers::Kind;
#[cfg(feature = "peers")]
use super::tasks;
use crate::bench::{AnyWorkload, Threads};
use crate::contest::Listed;
use crate::fibers::peers::Done;
use crate::sample::Sample;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The amount of a sample.
    pub extent: Extent,
}

/// The amount of messages.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// As many as take about this long.
    For(Duration),
    /// As many as result if each part repeats its work this many times.
    Times(u64),
}

/// The conditions of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The number of workers, if there are any.
    pub workers: usize,
    /// The amount of messages.
    pub extent: Extent,
}

/// The amount of a job in which each part repeats its work `times` times.
pub trait Amount {
    /// Returns the number of reported units.
    fn units(&self, times: u64) -> u64;

    /// Returns the expected result.
    fn expected(&self, times: u64) -> u64;
}

/// The functions for the units and for the expected result.
impl<U: Fn(u64) -> u64, E: Fn(u64) -> u64> Amount for (U, E) {
    fn units(&self, times: u64) -> u64 {
        self.0(times)
    }

    fn expected(&self, times: u64) -> u64 {
        self.1(times)
    }
}

/// A job over links between two ends.
pub trait Job: Amount {
    /// Runs it in blocking code.
    fn blocking<S: Blocking, C: Channel<S>>(&self, pool: &S::Pool, times: u64) -> Done;

    /// Runs it in tasks.
    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel>(&self, runtime: &Runtime, times: u64) -> Done;
}

/// A job over channels with many senders.
pub trait SharedJob: Amount {
    /// Runs it in blocking code.
    fn blocking<S: Blocking, C: Channel<S, Sender: Clone>>(&self, pool: &S::Pool, times: u64) -> Done;

    /// Runs it in tasks.
    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel<Sender: Clone>>(&self, runtime: &Runtime, times: u64) -> Done;
}

/// A job over channels from which one receiver selects.
pub trait SelectJob: Amount {
    /// Runs it in blocking code.
    fn blocking<S: Blocking, C: Selection<S>>(&self, pool: &S::Pool, times: u64) -> Done;

    /// Runs it in tasks.
    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Selection>(&self, runtime: &Runtime, times: u64) -> Done;
}

/// Takes a sample of a `body` that repeats its work.
///
/// # Panics
/// Panics if the result is not the expected one.
pub(crate) fn measured(extent: Extent, amount: &impl Amount, body: impl Fn(u64) -> Done) -> Sample {
    let run = |times| {
        let done = body(times);
        assert_eq!(done.answer, amount.expected(times), "the sum of the messages");
        Sample::per_unit(done.meter, amount.units(times) as f64, 1e-9)
    };
    let budget = match extent {
        Extent::Times(times) => return run(times),
        Extent::For(budget) => budget.as_secs_f64(),
    };
    let mut times = 1000u64.div_ceil(amount.units(1)).max(4);
    loop {
        let sample = run(times);
        if sample.wall >= 0.6 * budget {
            return sample;
        }
        let factor = (budget / sample.wall).clamp(1.5, 30.0);
        times = (times as f64 * factor) as u64;
    }
}

/// A workload.
pub trait Workload {
    /// Returns a short description.
    fn title(&self) -> String;

    /// Returns the unit of [`Sample::value`].
    fn unit(&self) -> &'static str;

    /// Returns whether `kind` can take part.
    fn suits(&self, kind: Kind) -> bool;

    /// Returns whether the target refers to `kind`.
    fn is_rival(&self, _kind: Kind) -> bool {
        true
    }

    /// Returns the target: a share of the best rival's time.
    fn bar(&self) -> Option<f64> {
        None
    }

    /// Takes one sample.
    ///
    /// # Panics
    /// Panics if the result is not the expected one.
    fn sample(&self, kind: Kind, frame: Frame) -> Sample;
}

/// A workload and its amount.
struct Framed<W> {
    workload: W,
    extent: Extent,
}

impl<W: Workload> AnyWorkload<Kind> for Framed<W> {
    fn title(&self) -> String {
        self.workload.title()
    }

    fn unit(&self) -> &'static str {
        self.workload.unit()
    }

    fn threads(&self) -> Threads {
        Threads::Asked
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, kind: Kind) -> bool {
        self.workload.suits(kind)
    }

    fn is_rival(&self, kind: Kind) -> bool {
        self.workload.is_rival(kind)
    }

    fn bar(&self) -> Option<f64> {
        self.workload.bar()
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        self.workload.sample(kind, Frame { workers: threads, extent: self.extent })
    }
}

fn framed<W: Workload + 'static>(settings: &Settings, workload: W) -> Box<dyn AnyWorkload<Kind>> {
    Box::new(Framed { workload, extent: settings.extent })
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 26] = [
    ("msgsend-4", |settings| framed(settings, msgsend::Msgsend::new(4))),
    ("msgsend-20", |settings| framed(settings, msgsend::Msgsend::new(20))),
    ("msgsend-100", |settings| framed(settings, msgsend::Msgsend::new(100))),
    ("ring-4", |settings| framed(settings, ring::Ring::new(4))),
    ("ring-100", |settings| framed(settings, ring::Ring::new(100))),
    ("ring-1000", |settings| framed(settings, ring::Ring::new(1000))),
    ("thread-ring", |settings| framed(settings, token::Token::new(503))),
    ("ping-pong", |settings| framed(settings, token::Token::new(2))),
    ("ping-pong-threads", |settings| framed(settings, token::Token::between_threads())),
    ("stream", |settings| framed(settings, stream::Stream::Fibers)),
    ("stream-threads", |settings| framed(settings, stream::Stream::Threads)),
    ("threads-1-u", |settings| framed(settings, threads::Threads::new(1, false))),
    ("threads-1-b", |settings| framed(settings, threads::Threads::new(1, true))),
    ("threads-4-u", |settings| framed(settings, threads::Threads::new(4, false))),
    ("threads-4-b", |settings| framed(settings, threads::Threads::new(4, true))),
    ("threads-20-u", |settings| framed(settings, threads::Threads::new(20, false))),
    ("threads-20-b", |settings| framed(settings, threads::Threads::new(20, true))),
    ("threads-100-u", |settings| framed(settings, threads::Threads::new(100, false))),
    ("threads-100-b", |settings| framed(settings, threads::Threads::new(100, true))),
    ("select-4", |settings| framed(settings, select::Select::new(4))),
    ("select-32", |settings| framed(settings, select::Select::new(32))),
    ("select-256", |settings| framed(settings, select::Select::new(256))),
    ("set-10", |settings| framed(settings, select::Select::set(10, 10))),
    ("set-10-of-10000", |settings| framed(settings, select::Select::set(10_000, 10))),
    ("set-10000", |settings| framed(settings, select::Select::set(10_000, 10_000))),
    ("memory", |settings| framed(settings, memory::Memory)),
];

/// Pairs of workloads: the first should take at most this many times as long as the second.
pub const ACROSS: [(&str, &str, f64); 3] =
    [("select-256", "select-4", 1.5), ("set-10-of-10000", "set-10", 1.5), ("set-10000", "set-10", 1.5)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Peers;
    use crate::process::heap_bytes;

    /// Every peer that takes part returns the right sum.
    #[test]
    fn all_peers_run_all_workloads() {
        let settings = Settings { extent: Extent::For(Duration::from_millis(1)) };
        for (name, build) in &ALL {
            let workload = build(&settings);
            let mut took_part = 0;
            for kind in Kind::ALL.iter().copied().filter(|kind| workload.suits(*kind)) {
                let sample = workload.sample_with(kind, 2);
                // Other tests free memory meanwhile, so a channel may seem to take a negative amount.
                let is_possible = sample.value > 0.0 || *name == "memory";
                assert!(sample.value.is_finite() && is_possible, "{name}, {kind}: {}", sample.value);
                assert!(sample.wall > 0.0, "{name}: {kind} took no time");
                took_part += 1;
            }
            assert!(took_part > 0 || (*name == "memory" && heap_bytes().is_none()), "{name}");
        }
    }
}

//! The workloads, one a file. Each checks in every sample that what was sent came out.
//!
//! How much is sent is usually found out first: the number of messages is raised until they take long enough.

pub mod memory;
pub mod msgsend;
pub mod ring;
pub mod select;
pub mod stream;
pub mod token;

use std::time::Duration;

use tokio::runtime::Runtime;

use super::blocking::{Blocking, Channel, Selection, Shared};
use super::peers::Kind;
use super::tasks;
use crate::bench::{AnyWorkload, Threads};
use crate::fibers::peers::Done;
use crate::options::Listed;
use crate::sample::Sample;

/// How large the workloads are.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much is sent in a sample.
    pub extent: Extent,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// As much as takes about so long.
    For(Duration),
    /// As much as comes of everybody doing it so many times.
    Times(u64),
}

/// What a sample is taken with.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The number of workers, where there are such.
    pub workers: usize,
    /// How much is sent.
    pub extent: Extent,
}

/// How much a job is, where everybody does something so many `times`.
pub trait Amount {
    /// How many units are reported.
    fn units(&self, times: u64) -> u64;

    /// What has to come out.
    fn expected(&self, times: u64) -> u64;
}

/// Of units, and of what has to come out.
impl<U: Fn(u64) -> u64, E: Fn(u64) -> u64> Amount for (U, E) {
    fn units(&self, times: u64) -> u64 {
        self.0(times)
    }

    fn expected(&self, times: u64) -> u64 {
        self.1(times)
    }
}

/// What is sent over links between two.
pub trait Job: Amount {
    /// For fibers or threads that block.
    fn blocking<S: Blocking, C: Channel<S>>(&self, pool: &S::Pool, times: u64) -> Done;

    /// For tasks.
    fn tasks<C: tasks::Channel>(&self, runtime: &Runtime, times: u64) -> Done;
}

/// What is sent over channels with many senders.
pub trait SharedJob: Amount {
    /// For fibers or threads that block.
    fn blocking<S: Blocking, C: Shared<S>>(&self, pool: &S::Pool, times: u64) -> Done;

    /// For tasks.
    fn tasks<C: tasks::Shared>(&self, runtime: &Runtime, times: u64) -> Done;
}

/// What is sent over channels that one receiver selects from.
pub trait SelectJob: Amount {
    /// For fibers or threads that block.
    fn blocking<S: Blocking, C: Selection<S>>(&self, pool: &S::Pool, times: u64) -> Done;

    /// For tasks.
    fn tasks<C: tasks::Selection>(&self, runtime: &Runtime, times: u64) -> Done;
}

/// Takes a sample of a `body` that does something so many times.
///
/// # Panics
/// If not all came out that went in.
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
    /// What it does, in a few words.
    fn title(&self) -> String;

    /// The unit of [`Sample::value`].
    fn unit(&self) -> &'static str;

    /// Whether `kind` can take part.
    fn suits(&self, kind: Kind) -> bool;

    /// Whether `kind` is one of those that are to be beaten.
    fn is_rival(&self, _kind: Kind) -> bool {
        true
    }

    /// How much of the time of the best rival would be good.
    fn bar(&self) -> Option<f64> {
        None
    }

    /// Takes one sample.
    ///
    /// # Panics
    /// If not all came out that went in.
    fn sample(&self, kind: Kind, frame: Frame) -> Sample;
}

/// A workload, and how much of it.
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
pub const ALL: [Listed<Kind, Settings>; 17] = [
    ("msgsend-4", |settings| framed(settings, msgsend::Msgsend::new(4))),
    ("msgsend-20", |settings| framed(settings, msgsend::Msgsend::new(20))),
    ("msgsend-100", |settings| framed(settings, msgsend::Msgsend::new(100))),
    ("ring-4", |settings| framed(settings, ring::Ring::new(4))),
    ("ring-100", |settings| framed(settings, ring::Ring::new(100))),
    ("ring-1000", |settings| framed(settings, ring::Ring::new(1000))),
    ("thread-ring", |settings| framed(settings, token::Token::new(503))),
    ("ping-pong", |settings| framed(settings, token::Token::new(2))),
    ("stream", |settings| framed(settings, stream::Stream::Fibers)),
    ("stream-threads", |settings| framed(settings, stream::Stream::Threads)),
    ("select-4", |settings| framed(settings, select::Select::new(4))),
    ("select-32", |settings| framed(settings, select::Select::new(32))),
    ("select-256", |settings| framed(settings, select::Select::new(256))),
    ("set-10", |settings| framed(settings, select::Select::set(10, 10))),
    ("set-10-of-10000", |settings| framed(settings, select::Select::set(10_000, 10))),
    ("set-10000", |settings| framed(settings, select::Select::set(10_000, 10_000))),
    ("memory", |settings| framed(settings, memory::Memory)),
];

/// Which workload is to take at most how many times as long as which other one.
pub const ACROSS: [(&str, &str, f64); 3] =
    [("select-256", "select-4", 1.5), ("set-10-of-10000", "set-10", 1.5), ("set-10000", "set-10", 1.5)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Peers;
    use crate::process::heap_bytes;

    /// Everybody who takes part brings a sum that is right.
    #[test]
    fn everyone_does_everything() {
        let settings = Settings { extent: Extent::For(Duration::from_millis(1)) };
        for (name, build) in &ALL {
            let workload = build(&settings);
            let mut took_part = 0;
            for kind in Kind::ALL.iter().copied().filter(|kind| workload.suits(*kind)) {
                let sample = workload.sample_with(kind, 2);
                // Other tests give back memory meanwhile, so that a channel may seem to take less than nothing here.
                let is_possible = sample.value > 0.0 || *name == "memory";
                assert!(sample.value.is_finite() && is_possible, "{name}, {kind}: {}", sample.value);
                assert!(sample.wall > 0.0, "{name}: {kind} took no time");
                took_part += 1;
            }
            assert!(took_part > 0 || (*name == "memory" && heap_bytes().is_none()), "{name}");
        }
    }
}

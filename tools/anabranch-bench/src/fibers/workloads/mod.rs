//! The workloads, one per file. Each checks in every sample that the requested work was done.

pub mod alarms;
pub mod asleep;
pub mod balance;
pub mod fib;
pub mod lock;
pub mod spawn;
pub mod timeouts;
pub mod waits;
pub mod yields;

use super::peers::{Done, Kind, Peer, anabranch, threads};
#[cfg(feature = "peers")]
use super::peers::{executor, go, may, tokio};
use crate::bench::{AnyWorkload, Threads};
use crate::contest::Listed;
use crate::fibers::programs::waits::Program;
use crate::sample::Sample;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Smaller sizes and shorter samples, for `--quick`.
    pub quick: bool,
}

/// A workload.
pub trait Workload {
    /// Returns a short description.
    fn title(&self) -> String;

    /// Returns the unit of [`Sample::value`].
    fn unit(&self) -> &'static str;

    /// Returns the thread counts with which it runs.
    fn threads(&self) -> Threads {
        Threads::Asked
    }

    /// Returns the number of rounds if the user requests `asked`; fewer if a sample takes seconds.
    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    /// Returns whether `kind` can take part.
    fn suits(&self, kind: Kind) -> bool;

    /// Returns whether the target refers to `kind`.
    fn is_rival(&self, _kind: Kind) -> bool {
        true
    }

    /// Returns the target, if there is one: a share of the best rival's value.
    fn bar(&self) -> Option<f64> {
        None
    }

    /// Takes one sample with the peer `P` in `pool`.
    ///
    /// # Panics
    /// Panics if not all of the requested work was done.
    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample;
}

impl<W: Workload> AnyWorkload<Kind> for W {
    fn title(&self) -> String {
        Workload::title(self)
    }

    fn unit(&self) -> &'static str {
        Workload::unit(self)
    }

    fn threads(&self) -> Threads {
        Workload::threads(self)
    }

    fn rounds(&self, asked: usize) -> usize {
        Workload::rounds(self, asked)
    }

    fn suits(&self, kind: Kind) -> bool {
        Workload::suits(self, kind)
    }

    fn is_rival(&self, kind: Kind) -> bool {
        Workload::is_rival(self, kind)
    }

    fn bar(&self) -> Option<f64> {
        Workload::bar(self)
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        fn with<P: Peer>(workload: &impl Workload, threads: usize) -> Sample {
            workload.sample::<P>(&P::pool(threads))
        }
        match kind {
            Kind::Anabranch => with::<anabranch::Structured>(self, threads),
            Kind::AnabranchSpawn => with::<anabranch::Spawned>(self, threads),
            #[cfg(feature = "peers")]
            Kind::May => with::<may::May>(self, threads),
            #[cfg(feature = "peers")]
            Kind::Tokio => with::<tokio::Tokio>(self, threads),
            #[cfg(feature = "peers")]
            Kind::TokioCurrent => with::<tokio::Current>(self, threads),
            #[cfg(feature = "peers")]
            Kind::Executor => with::<executor::Smol>(self, threads),
            #[cfg(feature = "peers")]
            Kind::Go => with::<go::Go>(self, threads),
            Kind::Std => with::<threads::Std>(self, threads),
            #[cfg(feature = "peers")]
            Kind::ParkingLot => with::<threads::ParkingLot>(self, threads),
            #[cfg(not(feature = "peers"))]
            kind => panic!("{kind} was not compiled in"),
        }
    }
}

/// Creates a sample with the time per unit, in nanoseconds.
fn nanoseconds_each(done: Done, units: u64) -> Sample {
    let sample = Sample::per_unit(done.meter, units as f64, 1e-9);
    done.figures.iter().fold(sample, |sample, (name, figure)| sample.with(name, *figure))
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 19] = [
    ("yield-alone", |settings| Box::new(yields::Yields::new(settings, 1))),
    ("yield-pair", |settings| Box::new(yields::Yields::new(settings, 2))),
    ("spawn", |settings| Box::new(spawn::Spawn::new(if settings.quick { 100_000 } else { 1_000_000 }))),
    ("fib", |settings| Box::new(fib::Fib::new(if settings.quick { 22 } else { 30 }))),
    ("lock-alone", |settings| Box::new(lock::Lock::new(settings, 1))),
    ("lock-four", |settings| Box::new(lock::Lock::new(settings, 4))),
    ("timeouts-one-tree", |settings| Box::new(timeouts::Timeouts::new(settings, true))),
    ("timeouts-two-trees", |settings| Box::new(timeouts::Timeouts::new(settings, false))),
    ("asleep", |settings| {
        let (fibers, milliseconds) = if settings.quick { (20_000, 1_500) } else { (1_000_000, 20_000) };
        Box::new(asleep::Asleep::new(fibers, milliseconds))
    }),
    ("alarms", |settings| Box::new(alarms::Ringing::new(if settings.quick { 20_000 } else { 100_000 }))),
    ("balance-0", |_| Box::new(balance::Balance::new(0))),
    ("balance-50", |_| Box::new(balance::Balance::new(50))),
    ("balance-300", |_| Box::new(balance::Balance::new(300))),
    ("balance-1000", |_| Box::new(balance::Balance::new(1_000))),
    ("interval-1", |settings| waits(Program::Intervals { fibers: 1, ticks: if settings.quick { 300 } else { 3_000 } })),
    ("interval-100", |settings| {
        waits(Program::Intervals { fibers: 100, ticks: if settings.quick { 300 } else { 3_000 } })
    }),
    ("waiting-10k", |settings| {
        waits(Program::Ring { fibers: 10_000, tokens: 10, hops: if settings.quick { 10_000 } else { 100_000 } })
    }),
    ("actors", |settings| {
        waits(Program::Actors { actors: 10_000, messages: 1_000, hops: if settings.quick { 200 } else { 2_000 } })
    }),
    ("crawler", |settings| {
        waits(Program::Crawl { fetches: if settings.quick { 1_000 } else { 5_000 }, at_a_time: 100 })
    }),
];

fn waits(program: Program) -> Box<dyn AnyWorkload<Kind>> {
    Box::new(waits::Waits::new(program))
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::bench::Peers;

    /// Takes a sample with every peer that suits `workload`, except Go, whose program a test does not build.
    pub(super) fn everyone_does_it(workload: &dyn AnyWorkload<Kind>, threads: usize) {
        for kind in Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Go && workload.suits(*kind)) {
            let sample = workload.sample_with(kind, threads);
            assert!(sample.value.is_finite() && sample.value >= 0.0, "{kind} measured {}", sample.value);
            assert!(sample.wall > 0.0, "{kind} took no time");
        }
    }
}

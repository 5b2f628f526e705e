//! The workloads, one per file.
//!
//! Their recursive functions are never inlined. Otherwise the compiler unrolls some of them into themselves, for one
//! peer and not for the next, which changes the cost of a fork by a factor of two. Without inlining, plain recursion is
//! one call per level, and a peer pays for its fork alone. Each workload checks its result in every sample.

pub mod coarse;
pub mod fib;
pub mod idle;
pub mod leaves;
pub mod outermost;
pub mod quicksort;
pub mod sleepers;
pub mod tree;
pub mod uts;
mod work;

pub use crate::bench::Threads;
pub use work::{Spinner, spin};

use crate::bench::AnyWorkload;
#[cfg(test)]
use crate::bench::Peers;
use crate::contest::Listed;
use crate::peers::{Kind, Peer, anabranch, plain};
#[cfg(feature = "peers")]
use crate::peers::{chili, forte, rayon};
use crate::sample::Sample;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Smaller sizes and shorter samples, for `--quick`.
    pub quick: bool,
    /// The argument of `fib`.
    pub fib: u32,
    /// Calibrated CPU work.
    pub spinner: Spinner,
}

/// A workload, with its data.
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
    fn suits(&self, kind: Kind) -> bool {
        kind != Kind::Hand
    }

    /// Takes one sample with the peer `P` in `pool`.
    ///
    /// # Panics
    /// Panics if the result differs from that of plain recursion.
    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample;

    /// Takes one sample of the work cut by hand into shares for `threads` threads, if [`Workload::suits`] allows it.
    ///
    /// # Panics
    /// Panics if the result differs from that of plain recursion, or if the work cannot be cut.
    fn hand(&self, threads: usize) -> Sample {
        panic!("{}: cannot be cut by hand into {threads} shares", self.title())
    }
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

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        fn with<P: Peer>(workload: &impl Workload, threads: usize) -> Sample {
            workload.sample::<P>(&P::pool(threads))
        }
        match kind {
            Kind::Plain => with::<plain::Plain>(self, threads),
            Kind::Hand => self.hand(threads),
            Kind::Anabranch => with::<anabranch::Installed>(self, threads),
            Kind::AnabranchOutside => with::<anabranch::Outside>(self, threads),
            #[cfg(feature = "peers")]
            Kind::Rayon => with::<rayon::Rayon>(self, threads),
            #[cfg(feature = "peers")]
            Kind::Chili => with::<chili::Chili>(self, threads),
            #[cfg(feature = "peers")]
            Kind::Forte => with::<forte::Forte>(self, threads),
            #[cfg(not(feature = "peers"))]
            kind => panic!("{kind} was not compiled in"),
        }
    }
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 19] = [
    ("tree-1k", |settings| Box::new(tree::Small::new(settings, false))),
    ("tree-1k-outside", |settings| Box::new(tree::Small::new(settings, true))),
    ("tree-10m", |settings| Box::new(tree::Large::new(if settings.quick { 1_000_000 } else { 10_000_000 }))),
    ("tree-100m", |settings| Box::new(tree::Large::new(if settings.quick { 10_000_000 } else { 100_000_000 }))),
    ("fib", |settings| Box::new(fib::Fib::new(settings.fib))),
    ("uts", |_| Box::new(uts::Unbalanced::new(uts::Shape::FOUR_MILLION))),
    ("leaves-10ns", |settings| Box::new(leaves::Leaves::new(settings, 10.0))),
    ("leaves-100ns", |settings| Box::new(leaves::Leaves::new(settings, 100.0))),
    ("leaves-1us", |settings| Box::new(leaves::Leaves::new(settings, 1e3))),
    ("leaves-10us", |settings| Box::new(leaves::Leaves::new(settings, 10e3))),
    ("leaves-100us", |settings| Box::new(leaves::Leaves::new(settings, 100e3))),
    ("leaves-1ms", |settings| Box::new(leaves::Leaves::new(settings, 1e6))),
    ("quicksort", |settings| {
        let count = if settings.quick { 500_000 } else { 2_000_000 };
        Box::new(quicksort::Quicksort::new(count))
    }),
    ("outermost", |settings| Box::new(outermost::Outermost::new(settings))),
    ("sleepers", |_| Box::new(sleepers::Sleepers::new(64, 20, 16))),
    ("pair", |settings| Box::new(coarse::Coarse::new(settings, 2, 50))),
    ("eight", |settings| Box::new(coarse::Coarse::new(settings, 8, 25))),
    ("idle", |settings| Box::new(idle::Idle::new(settings, false))),
    ("idle-handle", |settings| Box::new(idle::Idle::new(settings, true))),
];

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Takes a sample with every peer that suits `workload`. The workload itself checks the results.
    pub(crate) fn all_peers_agree(workload: &dyn AnyWorkload<Kind>, threads: &[usize]) {
        for kind in Kind::ALL.iter().copied().filter(|kind| workload.suits(*kind)) {
            for &threads in threads {
                let sample = workload.sample_with(kind, threads);
                assert!(sample.value.is_finite() && sample.value >= 0.0, "{kind} measured {}", sample.value);
                assert!(sample.wall > 0.0, "{kind} took no time");
            }
        }
    }

    /// Settings that suit a test.
    pub(crate) fn settings() -> Settings {
        Settings { quick: true, fib: 15, spinner: Spinner::with_speed(2.0) }
    }
}

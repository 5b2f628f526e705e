//! The choice of the channels, and of the fibers, threads or tasks, for the samples of a kind.

#[cfg(feature = "peers")]
#[path = "runs/peers.rs"]
mod others;

use super::blocking::{Blocking, Channel, Selection, Threads};
use super::peers::anabranch::{Fibers, Guests};
use super::peers::{Kind, Library::*, On, anabranch, std};
use super::workloads::{Amount, Frame, Job, SelectJob, SharedJob, measured};
use crate::fibers::peers::Done;
use crate::sample::Sample;

impl Kind {
    /// Takes a sample of a job over links with one sender and one receiver.
    pub fn links(self, job: &impl Job, frame: Frame) -> Sample {
        match (self.library(), self.on()) {
            (AnabranchU, On::Threads) => blocking_links::<Guests, anabranch::Spsc<false>>(job, frame),
            (AnabranchB, On::Threads) => blocking_links::<Guests, anabranch::Spsc<true>>(job, frame),
            (AnabranchMpmcU, On::Threads) => blocking_links::<Guests, anabranch::Mpmc<false>>(job, frame),
            (AnabranchMpmcB, On::Threads) => blocking_links::<Guests, anabranch::Mpmc<true>>(job, frame),
            (AnabranchU, On::Plain) => blocking_links::<Threads, anabranch::PlainSpsc<false>>(job, frame),
            (AnabranchB, On::Plain) => blocking_links::<Threads, anabranch::PlainSpsc<true>>(job, frame),
            (AnabranchMpmcU, On::Plain) => blocking_links::<Threads, anabranch::Plain<false>>(job, frame),
            (AnabranchMpmcB, On::Plain) => blocking_links::<Threads, anabranch::Plain<true>>(job, frame),
            (AnabranchU, _) => blocking_links::<Fibers, anabranch::Spsc<false>>(job, frame),
            (AnabranchB, _) => blocking_links::<Fibers, anabranch::Spsc<true>>(job, frame),
            (AnabranchMpmcU, _) => blocking_links::<Fibers, anabranch::Mpmc<false>>(job, frame),
            (AnabranchMpmcB, _) => blocking_links::<Fibers, anabranch::Mpmc<true>>(job, frame),
            (StdU, _) => blocking_links::<Threads, std::Unbounded>(job, frame),
            (StdB, _) => blocking_links::<Threads, std::Bounded>(job, frame),
            _ => others::links(self, job, frame),
        }
    }

    /// Takes a sample of a job over channels with many senders.
    pub fn shared(self, job: &impl SharedJob, frame: Frame) -> Sample {
        match (self.library(), self.on()) {
            (AnabranchU, On::Threads) => blocking_shared::<Guests, anabranch::Mpmc<false>>(job, frame),
            (AnabranchB, On::Threads) => blocking_shared::<Guests, anabranch::Mpmc<true>>(job, frame),
            (AnabranchU, On::Plain) => blocking_shared::<Threads, anabranch::Plain<false>>(job, frame),
            (AnabranchB, On::Plain) => blocking_shared::<Threads, anabranch::Plain<true>>(job, frame),
            (AnabranchU, _) => blocking_shared::<Fibers, anabranch::Mpmc<false>>(job, frame),
            (AnabranchB, _) => blocking_shared::<Fibers, anabranch::Mpmc<true>>(job, frame),
            (AnabranchLocked, _) => blocking_shared::<Fibers, anabranch::Locked>(job, frame),
            (StdU, _) => blocking_shared::<Threads, std::Unbounded>(job, frame),
            (StdB, _) => blocking_shared::<Threads, std::Bounded>(job, frame),
            _ => others::shared(self, job, frame),
        }
    }

    /// Takes a sample of a job over many channels from which one receiver selects.
    pub fn selects(self, job: &impl SelectJob, frame: Frame) -> Sample {
        match (self.library(), self.on()) {
            (AnabranchSet, _) => blocking_selects::<Fibers, anabranch::Set>(job, frame),
            (AnabranchSelect, _) => blocking_selects::<Fibers, anabranch::Selecting>(job, frame),
            _ => others::selects(self, job, frame),
        }
    }
}

/// Takes a sample in blocking code.
fn on_blocking<S: Blocking>(job: &impl Amount, frame: Frame, body: impl Fn(&S::Pool, u64) -> Done) -> Sample {
    let pool = S::pool(frame.workers);
    measured(frame.extent, job, |times| body(&pool, times))
}

fn blocking_links<S: Blocking, C: Channel<S>>(job: &impl Job, frame: Frame) -> Sample {
    C::prepare();
    on_blocking::<S>(job, frame, |pool, times| job.blocking::<S, C>(pool, times))
}

fn blocking_shared<S: Blocking, C: Channel<S, Sender: Clone>>(job: &impl SharedJob, frame: Frame) -> Sample {
    C::prepare();
    on_blocking::<S>(job, frame, |pool, times| job.blocking::<S, C>(pool, times))
}

fn blocking_selects<S: Blocking, C: Selection<S>>(job: &impl SelectJob, frame: Frame) -> Sample {
    C::prepare();
    on_blocking::<S>(job, frame, |pool, times| job.blocking::<S, C>(pool, times))
}

/// The runs of the peers, none of which was compiled in.
#[cfg(not(feature = "peers"))]
mod others {
    use super::*;

    pub fn links(kind: Kind, _: &impl Job, _: Frame) -> Sample {
        panic!("{kind} is no link between two")
    }

    pub fn shared(kind: Kind, _: &impl SharedJob, _: Frame) -> Sample {
        panic!("{kind} has one sender")
    }

    pub fn selects(kind: Kind, _: &impl SelectJob, _: Frame) -> Sample {
        panic!("{kind} does not select")
    }
}

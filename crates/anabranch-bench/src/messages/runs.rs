//! The choice of the channels, and of the fibers, threads or tasks, for the samples of a kind.

use ::tokio::runtime::Runtime;

use super::blocking::{Blocking, Channel, Selection, Shared, Threads};
use super::peers::anabranch::{Fibers, Guests};
use super::peers::may::Coroutines;
use super::peers::{
    Kind, Library::*, On, anabranch, async_channel, crossbeam, crossfire, flume, kanal, may, std, tokio,
};
use super::tasks;
use super::workloads::{Amount, Frame, Job, SelectJob, SharedJob, measured};
use crate::fibers::peers::Done;
use crate::sample::Sample;

impl Kind {
    /// Takes a sample of a job over links with one sender and one receiver.
    pub fn links(self, job: &impl Job, frame: Frame) -> Sample {
        match (self.library(), self.on()) {
            (AnabranchU, On::Threads) => links::<Guests, anabranch::Spsc<false>>(job, frame),
            (AnabranchB, On::Threads) => links::<Guests, anabranch::Spsc<true>>(job, frame),
            (AnabranchMpmcU, On::Threads) => links::<Guests, anabranch::Mpmc<false>>(job, frame),
            (AnabranchMpmcB, On::Threads) => links::<Guests, anabranch::Mpmc<true>>(job, frame),
            (AnabranchU, On::Plain) => links::<Threads, anabranch::PlainSpsc<false>>(job, frame),
            (AnabranchB, On::Plain) => links::<Threads, anabranch::PlainSpsc<true>>(job, frame),
            (AnabranchMpmcU, On::Plain) => links::<Threads, anabranch::Plain<false>>(job, frame),
            (AnabranchMpmcB, On::Plain) => links::<Threads, anabranch::Plain<true>>(job, frame),
            (AnabranchU, _) => links::<Fibers, anabranch::Spsc<false>>(job, frame),
            (AnabranchB, _) => links::<Fibers, anabranch::Spsc<true>>(job, frame),
            (AnabranchMpmcU, _) => links::<Fibers, anabranch::Mpmc<false>>(job, frame),
            (AnabranchMpmcB, _) => links::<Fibers, anabranch::Mpmc<true>>(job, frame),
            (May, _) => links::<Coroutines, may::Spsc>(job, frame),
            (MayMpsc, _) => links::<Coroutines, may::Mpsc>(job, frame),
            (StdU, _) => links::<Threads, std::Unbounded>(job, frame),
            (StdB, _) => links::<Threads, std::Bounded>(job, frame),
            (CrossbeamU, _) => links::<Threads, crossbeam::Crossbeam<false>>(job, frame),
            (CrossbeamB, _) => links::<Threads, crossbeam::Crossbeam<true>>(job, frame),
            (KanalU, On::Threads) => links::<Threads, kanal::Kanal<false>>(job, frame),
            (KanalB, On::Threads) => links::<Threads, kanal::Kanal<true>>(job, frame),
            (CrossfireU, On::Threads) => links::<Threads, crossfire::Unbounded>(job, frame),
            (CrossfireB, On::Threads) => links::<Threads, crossfire::Bounded>(job, frame),
            (FlumeU, On::Threads) => links::<Threads, flume::Flume<false>>(job, frame),
            (FlumeB, On::Threads) => links::<Threads, flume::Flume<true>>(job, frame),
            (KanalU, on) => task_links::<kanal::Kanal<false>>(job, on, frame),
            (KanalB, on) => task_links::<kanal::Kanal<true>>(job, on, frame),
            (CrossfireU, on) => task_links::<crossfire::Unbounded>(job, on, frame),
            (CrossfireB, on) => task_links::<crossfire::Bounded>(job, on, frame),
            (TokioU, on) => task_links::<tokio::Unbounded>(job, on, frame),
            (TokioB, on) => task_links::<tokio::Bounded>(job, on, frame),
            (FlumeU, on) => task_links::<flume::Flume<false>>(job, on, frame),
            (FlumeB, on) => task_links::<flume::Flume<true>>(job, on, frame),
            (AsyncChannelU, on) => task_links::<async_channel::AsyncChannel<false>>(job, on, frame),
            (AsyncChannelB, on) => task_links::<async_channel::AsyncChannel<true>>(job, on, frame),
            _ => panic!("{self} is no link between two"),
        }
    }

    /// Takes a sample of a job over channels with many senders.
    pub fn shared(self, job: &impl SharedJob, frame: Frame) -> Sample {
        match (self.library(), self.on()) {
            (AnabranchU, On::Threads) => shared::<Guests, anabranch::Mpmc<false>>(job, frame),
            (AnabranchB, On::Threads) => shared::<Guests, anabranch::Mpmc<true>>(job, frame),
            (AnabranchU, On::Plain) => shared::<Threads, anabranch::Plain<false>>(job, frame),
            (AnabranchB, On::Plain) => shared::<Threads, anabranch::Plain<true>>(job, frame),
            (AnabranchU, _) => shared::<Fibers, anabranch::Mpmc<false>>(job, frame),
            (AnabranchB, _) => shared::<Fibers, anabranch::Mpmc<true>>(job, frame),
            (AnabranchLocked, _) => shared::<Fibers, anabranch::Locked>(job, frame),
            (MayMpsc, _) => shared::<Coroutines, may::Mpsc>(job, frame),
            (MayMpmc, _) => shared::<Coroutines, may::Mpmc>(job, frame),
            (StdU, _) => shared::<Threads, std::Unbounded>(job, frame),
            (StdB, _) => shared::<Threads, std::Bounded>(job, frame),
            (CrossbeamU, _) => shared::<Threads, crossbeam::Crossbeam<false>>(job, frame),
            (CrossbeamB, _) => shared::<Threads, crossbeam::Crossbeam<true>>(job, frame),
            (KanalU, On::Threads) => shared::<Threads, kanal::Kanal<false>>(job, frame),
            (KanalB, On::Threads) => shared::<Threads, kanal::Kanal<true>>(job, frame),
            (CrossfireU, On::Threads) => shared::<Threads, crossfire::SharedUnbounded>(job, frame),
            (CrossfireB, On::Threads) => shared::<Threads, crossfire::SharedBounded>(job, frame),
            (FlumeU, On::Threads) => shared::<Threads, flume::Flume<false>>(job, frame),
            (FlumeB, On::Threads) => shared::<Threads, flume::Flume<true>>(job, frame),
            (KanalU, on) => task_shared::<kanal::Kanal<false>>(job, on, frame),
            (KanalB, on) => task_shared::<kanal::Kanal<true>>(job, on, frame),
            (CrossfireU, on) => task_shared::<crossfire::SharedUnbounded>(job, on, frame),
            (CrossfireB, on) => task_shared::<crossfire::SharedBounded>(job, on, frame),
            (TokioU, on) => task_shared::<tokio::Unbounded>(job, on, frame),
            (TokioB, on) => task_shared::<tokio::Bounded>(job, on, frame),
            (FlumeU, on) => task_shared::<flume::Flume<false>>(job, on, frame),
            (FlumeB, on) => task_shared::<flume::Flume<true>>(job, on, frame),
            (AsyncChannelU, on) => task_shared::<async_channel::AsyncChannel<false>>(job, on, frame),
            (AsyncChannelB, on) => task_shared::<async_channel::AsyncChannel<true>>(job, on, frame),
            _ => panic!("{self} has one sender"),
        }
    }

    /// Takes a sample of a job over many channels from which one receiver selects.
    pub fn selects(self, job: &impl SelectJob, frame: Frame) -> Sample {
        match (self.library(), self.on()) {
            (AnabranchSet, _) => selects::<Fibers, anabranch::Set>(job, frame),
            (AnabranchSelect, _) => selects::<Fibers, anabranch::Selecting>(job, frame),
            (MayCqueue, _) => selects::<Coroutines, may::Queued>(job, frame),
            (CrossfireMultiplex, _) => selects::<Threads, crossfire::Multiplexed>(job, frame),
            (CrossbeamSelect, _) => selects::<Threads, crossbeam::Selecting>(job, frame),
            (CrossfireAll, on) => task_selects::<crossfire::All>(job, on, frame),
            (TokioMap, on) => task_selects::<tokio::Mapped>(job, on, frame),
            (TokioAll, on) => task_selects::<tokio::All>(job, on, frame),
            (AsyncChannelAll, on) => task_selects::<async_channel::Selecting>(job, on, frame),
            _ => panic!("{self} does not select"),
        }
    }
}

/// Takes a sample in blocking code.
fn on_blocking<S: Blocking>(job: &impl Amount, frame: Frame, body: impl Fn(&S::Pool, u64) -> Done) -> Sample {
    let pool = S::pool(frame.workers);
    measured(frame.extent, job, |times| body(&pool, times))
}

/// Takes a sample in tasks.
fn in_tasks(job: &impl Amount, on: On, frame: Frame, body: impl Fn(&Runtime, u64) -> Done) -> Sample {
    let runtime = tasks::runtime((on == On::Tokio).then_some(frame.workers));
    measured(frame.extent, job, |times| body(&runtime, times))
}

fn links<S: Blocking, C: Channel<S>>(job: &impl Job, frame: Frame) -> Sample {
    C::prepare();
    on_blocking::<S>(job, frame, |pool, times| job.blocking::<S, C>(pool, times))
}

fn task_links<C: tasks::Channel>(job: &impl Job, on: On, frame: Frame) -> Sample {
    C::prepare();
    in_tasks(job, on, frame, |runtime, times| job.tasks::<C>(runtime, times))
}

fn shared<S: Blocking, C: Shared<S>>(job: &impl SharedJob, frame: Frame) -> Sample {
    C::prepare();
    on_blocking::<S>(job, frame, |pool, times| job.blocking::<S, C>(pool, times))
}

fn task_shared<C: tasks::Shared>(job: &impl SharedJob, on: On, frame: Frame) -> Sample {
    C::prepare();
    in_tasks(job, on, frame, |runtime, times| job.tasks::<C>(runtime, times))
}

fn selects<S: Blocking, C: Selection<S>>(job: &impl SelectJob, frame: Frame) -> Sample {
    C::prepare();
    on_blocking::<S>(job, frame, |pool, times| job.blocking::<S, C>(pool, times))
}

fn task_selects<C: tasks::Selection>(job: &impl SelectJob, on: On, frame: Frame) -> Sample {
    in_tasks(job, on, frame, |runtime, times| job.tasks::<C>(runtime, times))
}

//! The choice of the channels for the peers.

use ::tokio::runtime::Runtime;

use super::{blocking_links, blocking_selects, blocking_shared};
use crate::fibers::peers::Done;
use crate::messages::blocking::Threads;
use crate::messages::peers::may::Coroutines;
use crate::messages::peers::{Kind, Library::*, On, async_channel, crossbeam, crossfire, flume, kanal, may, tokio};
use crate::messages::tasks;
use crate::messages::workloads::{Amount, Frame, Job, SelectJob, SharedJob, measured};
use crate::sample::Sample;

/// Takes a sample of a job over links with one sender and one receiver.
pub fn links(kind: Kind, job: &impl Job, frame: Frame) -> Sample {
    match (kind.library(), kind.on()) {
        (May, _) => blocking_links::<Coroutines, may::Spsc>(job, frame),
        (MayMpsc, _) => blocking_links::<Coroutines, may::Mpsc>(job, frame),
        (CrossbeamU, _) => blocking_links::<Threads, crossbeam::Crossbeam<false>>(job, frame),
        (CrossbeamB, _) => blocking_links::<Threads, crossbeam::Crossbeam<true>>(job, frame),
        (KanalU, On::Threads) => blocking_links::<Threads, kanal::Kanal<false>>(job, frame),
        (KanalB, On::Threads) => blocking_links::<Threads, kanal::Kanal<true>>(job, frame),
        (CrossfireU, On::Threads) => blocking_links::<Threads, crossfire::Unbounded>(job, frame),
        (CrossfireB, On::Threads) => blocking_links::<Threads, crossfire::Bounded>(job, frame),
        (FlumeU, On::Threads) => blocking_links::<Threads, flume::Flume<false>>(job, frame),
        (FlumeB, On::Threads) => blocking_links::<Threads, flume::Flume<true>>(job, frame),
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
        _ => panic!("{kind} is no link between two"),
    }
}

/// Takes a sample of a job over channels with many senders.
pub fn shared(kind: Kind, job: &impl SharedJob, frame: Frame) -> Sample {
    match (kind.library(), kind.on()) {
        (MayMpsc, _) => blocking_shared::<Coroutines, may::Mpsc>(job, frame),
        (MayMpmc, _) => blocking_shared::<Coroutines, may::Mpmc>(job, frame),
        (CrossbeamU, _) => blocking_shared::<Threads, crossbeam::Crossbeam<false>>(job, frame),
        (CrossbeamB, _) => blocking_shared::<Threads, crossbeam::Crossbeam<true>>(job, frame),
        (KanalU, On::Threads) => blocking_shared::<Threads, kanal::Kanal<false>>(job, frame),
        (KanalB, On::Threads) => blocking_shared::<Threads, kanal::Kanal<true>>(job, frame),
        (CrossfireU, On::Threads) => blocking_shared::<Threads, crossfire::SharedUnbounded>(job, frame),
        (CrossfireB, On::Threads) => blocking_shared::<Threads, crossfire::SharedBounded>(job, frame),
        (FlumeU, On::Threads) => blocking_shared::<Threads, flume::Flume<false>>(job, frame),
        (FlumeB, On::Threads) => blocking_shared::<Threads, flume::Flume<true>>(job, frame),
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
        _ => panic!("{kind} has one sender"),
    }
}

/// Takes a sample of a job over many channels from which one receiver selects.
pub fn selects(kind: Kind, job: &impl SelectJob, frame: Frame) -> Sample {
    match (kind.library(), kind.on()) {
        (MayCqueue, _) => blocking_selects::<Coroutines, may::Queued>(job, frame),
        (CrossfireMultiplex, _) => blocking_selects::<Threads, crossfire::Multiplexed>(job, frame),
        (CrossbeamSelect, _) => blocking_selects::<Threads, crossbeam::Selecting>(job, frame),
        (CrossfireAll, on) => task_selects::<crossfire::All>(job, on, frame),
        (TokioMap, on) => task_selects::<tokio::Mapped>(job, on, frame),
        (TokioAll, on) => task_selects::<tokio::All>(job, on, frame),
        (AsyncChannelAll, on) => task_selects::<async_channel::Selecting>(job, on, frame),
        _ => panic!("{kind} does not select"),
    }
}

/// Takes a sample in tasks.
fn in_tasks(job: &impl Amount, on: On, frame: Frame, body: impl Fn(&Runtime, u64) -> Done) -> Sample {
    let runtime = tasks::runtime((on == On::Tokio).then_some(frame.workers));
    measured(frame.extent, job, |times| body(&runtime, times))
}

fn task_links<C: tasks::Channel>(job: &impl Job, on: On, frame: Frame) -> Sample {
    C::prepare();
    in_tasks(job, on, frame, |runtime, times| job.tasks::<C>(runtime, times))
}

fn task_shared<C: tasks::Channel<Sender: Clone>>(job: &impl SharedJob, on: On, frame: Frame) -> Sample {
    C::prepare();
    in_tasks(job, on, frame, |runtime, times| job.tasks::<C>(runtime, times))
}

fn task_selects<C: tasks::Selection>(job: &impl SelectJob, on: On, frame: Frame) -> Sample {
    in_tasks(job, on, frame, |runtime, times| job.tasks::<C>(runtime, times))
}

//! One end sends as fast as it can, and the other receives.

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;
#[cfg(feature = "peers")]
use tokio::task::spawn;

use super::{Amount, Frame, Job, Workload};
use crate::fibers::peers::Done;
use crate::messages::blocking::{self, Blocking};
use crate::messages::peers::Kind;
#[cfg(feature = "peers")]
use crate::messages::tasks;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

/// The code at the two ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Fibers, coroutines, tasks.
    Fibers,
    /// Threads of the system.
    Threads,
}

impl Amount for Stream {
    fn units(&self, times: u64) -> u64 {
        times
    }

    fn expected(&self, times: u64) -> u64 {
        (0..times).sum()
    }
}

impl Job for Stream {
    fn blocking<S: Blocking, C: blocking::Channel<S>>(&self, pool: &S::Pool, times: u64) -> Done {
        S::root(pool, move |cx| {
            let watch = Stopwatch::start();
            let (mut sender, mut receiver) = C::new();
            let sending = S::spawn(move |cx| (0..times).for_each(|value| C::send(cx, &mut sender, value)));
            let mut sum = 0;
            while let Some(value) = C::recv(cx, &mut receiver) {
                sum += value;
            }
            S::join(cx, sending);
            Done::new(sum, watch.stop())
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel>(&self, runtime: &Runtime, times: u64) -> Done {
        tasks::root(runtime, async move {
            let watch = Stopwatch::start();
            let (mut sender, mut receiver) = C::new();
            let sending = spawn(async move {
                for value in 0..times {
                    C::send(&mut sender, value).await;
                }
            });
            let mut sum = 0;
            while let Some(value) = C::recv(&mut receiver).await {
                sum += value;
            }
            sending.await.expect("no task panics");
            Done::new(sum, watch.stop())
        })
    }
}

impl Workload for Stream {
    fn title(&self) -> String {
        match self {
            Stream::Fibers => "a stream from one fiber to another".into(),
            Stream::Threads => "a stream from one thread of the system to another".into(),
        }
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind.is_link() && kind.is_of_threads() == (*self == Stream::Threads)
    }

    fn bar(&self) -> Option<f64> {
        Some(if *self == Stream::Threads { 0.9 } else { 0.7 })
    }

    fn sample(&self, kind: Kind, frame: Frame) -> Sample {
        kind.links(self, frame)
    }
}

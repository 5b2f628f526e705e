//! One sender and many channels: each message goes through a channel drawn at random, and one receiver takes it from
//! whichever has something.

use tokio::runtime::Runtime;
use tokio::task::spawn;

use super::{On, SelectJob, Workload};
use crate::fibers::peers::Done;
use crate::messages::peers::{Kind, Library};
use crate::messages::strands::{Selection, Strands};
use crate::messages::tasks;
use crate::sample::{Sample, Stopwatch};

/// So many channels.
#[derive(Clone, Copy)]
pub struct Select {
    channels: usize,
    is_about_sets: bool,
}

impl Select {
    /// With everybody who can select.
    pub fn new(channels: usize) -> Select {
        Select { channels, is_about_sets: false }
    }

    /// With a `ReceiverSet` only.
    pub fn set(channels: usize) -> Select {
        Select { channels, is_about_sets: true }
    }
}

/// Which channel is next.
fn draw(channels: usize) -> impl FnMut() -> usize {
    let mut random = fastrand::Rng::with_seed(0xc4a2);
    move || random.usize(0..channels)
}

impl SelectJob for Select {
    fn units(&self, times: u64) -> u64 {
        times
    }

    fn expected(&self, times: u64) -> u64 {
        (0..times).sum()
    }

    fn strands<S: Strands, C: Selection<S>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Select { channels, .. } = *self;
        S::root(pool, move |cx| {
            let (mut senders, mut receivers) = C::new(channels);
            let watch = Stopwatch::start();
            let sending = S::spawn(move |cx| {
                let mut next = draw(channels);
                (0..times).for_each(|value| C::send(cx, &mut senders[next()], value));
                // To close thousands of channels is not what is measured.
                (!C::WAITS_FOR_THE_END).then_some(senders)
            });
            let sum = C::sum(cx, &mut receivers, times);
            let senders = S::join(cx, sending);
            let meter = watch.stop();
            drop(senders);
            Done::new(sum, meter)
        })
    }

    fn tasks<C: tasks::Selection>(&self, runtime: &Runtime, times: u64) -> Done {
        let Select { channels, .. } = *self;
        tasks::root(runtime, async move {
            let (mut senders, mut receivers) = C::new(channels);
            let watch = Stopwatch::start();
            let sending = spawn(async move {
                let mut next = draw(channels);
                for value in 0..times {
                    C::send(&mut senders[next()], value).await;
                }
                senders
            });
            let sum = C::sum(&mut receivers, times).await;
            let senders = sending.await.expect("no task panics");
            let meter = watch.stop();
            drop(senders);
            Done::new(sum, meter)
        })
    }
}

impl Workload for Select {
    fn title(&self) -> String {
        format!("one sends through any of {} channels, the other selects", self.channels)
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind.is_selection() && (!self.is_about_sets || kind.library() == Library::AnabranchSet)
    }

    /// Threads are not what the bar is about.
    fn is_rival(&self, kind: Kind) -> bool {
        kind.on() != On::Threads
    }

    fn bar(&self) -> Option<f64> {
        (!self.is_about_sets).then_some(0.5)
    }

    fn sample(&self, kind: Kind, workers: usize) -> Sample {
        kind.selects(self, workers)
    }
}

//! One sender and many channels. Each message goes through a random channel, and one receiver selects from all.
//!
//! The sender may be at most [`WINDOW`] messages ahead. Otherwise a sender that never waits would fill all channels
//! first. The receiver would then drain them, and would never have to search for a channel with a message.

#[cfg(feature = "peers")]
use std::sync::Arc;

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;
#[cfg(feature = "peers")]
use tokio::sync::Semaphore;
#[cfg(feature = "peers")]
use tokio::task::spawn;

use super::{Amount, Frame, SelectJob, Workload};
use crate::fibers::peers::Done;
use crate::messages::blocking::{self, Blocking, Channel, Selection};
use crate::messages::peers::{Kind, Library, On};
#[cfg(feature = "peers")]
use crate::messages::tasks;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

/// The maximum number of messages in flight.
pub const WINDOW: u64 = 128;

/// The number of messages that each answer of the receiver allows.
const SHARE: u64 = WINDOW / 2;

/// The workload: a selection among `channels` channels, of which the sender uses `used`.
#[derive(Clone, Copy)]
pub struct Select {
    channels: usize,
    used: usize,
    is_about_sets: bool,
}

impl Select {
    /// Creates a workload for every peer that can select.
    pub fn new(channels: usize) -> Select {
        Select { channels, used: channels, is_about_sets: false }
    }

    /// Creates a workload for `ReceiverSet` only. `used` of its members, evenly spread, receive messages.
    pub fn set(channels: usize, used: usize) -> Select {
        Select { channels, used, is_about_sets: true }
    }
}

/// Returns a function to call after each message. It returns `true` if the receiver shall now allow more messages.
fn every_share() -> impl FnMut() -> bool {
    let mut count = 0u64;
    move || {
        count += 1;
        count.is_multiple_of(SHARE)
    }
}

/// Returns a function that returns the index of the next channel, at random.
fn draw(channels: usize, used: usize) -> impl FnMut() -> usize {
    let mut random = fastrand::Rng::with_seed(0xc4a2);
    let each = channels / used;
    move || random.usize(0..used) * each
}

impl Amount for Select {
    fn units(&self, times: u64) -> u64 {
        times
    }

    fn expected(&self, times: u64) -> u64 {
        (0..times).sum()
    }
}

impl SelectJob for Select {
    fn blocking<S: Blocking, C: Selection<S>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Select { channels, used, .. } = *self;
        S::root(pool, move |cx| {
            let (mut senders, mut receivers) = C::new(channels);
            let (mut allowing, mut allowed) = C::Answers::new();
            let watch = Stopwatch::start();
            let sending = S::spawn(move |cx| {
                let mut next = draw(channels, used);
                for value in 0..times {
                    if value >= WINDOW && value % SHARE == 0 {
                        blocking::must_recv::<S, C::Answers>(cx, &mut allowed);
                    }
                    C::send(cx, &mut senders[next()], value);
                }
                // The sender does not wait for the last answers. It returns the channels, so that they are closed after
                // the clock has stopped.
                (allowed, (!C::WAITS_FOR_THE_END).then_some(senders))
            });
            let mut is_share = every_share();
            let sum = C::sum(cx, &mut receivers, times, || {
                if is_share() {
                    C::Answers::send(cx, &mut allowing, SHARE);
                }
            });
            let senders = S::join(cx, sending);
            let meter = watch.stop();
            drop(senders);
            Done::new(sum, meter)
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Selection>(&self, runtime: &Runtime, times: u64) -> Done {
        let Select { channels, used, .. } = *self;
        tasks::root(runtime, async move {
            let (mut senders, mut receivers) = C::new(channels);
            let ahead = Arc::new(Semaphore::new(WINDOW as usize));
            let allowed = Arc::clone(&ahead);
            let watch = Stopwatch::start();
            let sending = spawn(async move {
                let mut next = draw(channels, used);
                for value in 0..times {
                    if value % SHARE == 0 {
                        allowed.acquire_many(SHARE as u32).await.expect("it is not closed").forget();
                    }
                    C::send(&mut senders[next()], value).await;
                }
                senders
            });
            let mut is_share = every_share();
            let sum = C::sum(&mut receivers, times, || {
                if is_share() {
                    ahead.add_permits(SHARE as usize);
                }
            })
            .await;
            let senders = sending.await.expect("no task panics");
            let meter = watch.stop();
            drop(senders);
            Done::new(sum, meter)
        })
    }
}

impl Workload for Select {
    fn title(&self) -> String {
        let Select { channels, used, .. } = *self;
        let which = if used == channels { format!("any of {channels}") } else { format!("{used} of {channels}") };
        format!("one sends through {which} channels, at most {WINDOW} ahead; the other selects")
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind.is_selection() && (!self.is_about_sets || kind.library() == Library::AnabranchSet)
    }

    /// The target compares only with peers on tasks, not on threads.
    fn is_rival(&self, kind: Kind) -> bool {
        kind.on() != On::Threads
    }

    fn bar(&self) -> Option<f64> {
        (!self.is_about_sets).then_some(0.5)
    }

    fn sample(&self, kind: Kind, frame: Frame) -> Sample {
        kind.selects(self, frame)
    }
}

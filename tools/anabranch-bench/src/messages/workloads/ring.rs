//! A ring of members. Each member repeatedly sends a message to the next one and receives one from the previous one.
//! There are as many messages in flight as members.
//!
//! Rust's first pipes were measured with this benchmark in 2012. Each member begins by forwarding a first message. The
//! clock starts when that message has gone around the ring, so all members have started.

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;
#[cfg(feature = "peers")]
use tokio::task::spawn;

use super::{Amount, Frame, Job, Workload};
use crate::fibers::peers::Done;
use crate::messages::blocking::{self, Blocking};
use crate::messages::peers::{Kind, On};
#[cfg(feature = "peers")]
use crate::messages::tasks;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

/// The workload: a ring with this number of members.
#[derive(Clone, Copy)]
pub struct Ring {
    members: u64,
}

impl Ring {
    /// Creates a ring of `members` members.
    pub fn new(members: u64) -> Ring {
        Ring { members }
    }
}

/// Runs the member with the number `own` on a fiber or thread. Returns its last value.
fn member<S: Blocking, C: blocking::Channel<S>>(
    cx: &S::Cx<'_>,
    own: u64,
    times: u64,
    next: &mut C::Sender,
    before: &mut C::Receiver,
) -> u64 {
    let mut value = own;
    for _ in 0..times {
        C::send(cx, next, value);
        value = blocking::must_recv::<S, C>(cx, before) + 1;
    }
    value
}

/// Like [`member`], for async code.
#[cfg(feature = "peers")]
async fn task<C: tasks::Channel>(own: u64, times: u64, next: &mut C::Sender, before: &mut C::Receiver) -> u64 {
    let mut value = own;
    for _ in 0..times {
        C::send(next, value).await;
        value = tasks::must_recv::<C>(before).await + 1;
    }
    value
}

impl Amount for Ring {
    fn units(&self, times: u64) -> u64 {
        self.members * times
    }

    /// Each value makes `times` hops, and each hop adds 1. The sum does not depend on where a value ends.
    fn expected(&self, times: u64) -> u64 {
        (0..self.members).sum::<u64>() + self.members * times
    }
}

impl Job for Ring {
    fn blocking<S: Blocking, C: blocking::Channel<S>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Ring { members } = *self;
        S::root(pool, move |cx| {
            let (mut first, mut before) = C::new();
            let mut others = Vec::new();
            for own in 1..members {
                let (mut next, after) = C::new();
                let mut before = std::mem::replace(&mut before, after);
                others.push(S::spawn(move |cx| {
                    let hello = blocking::must_recv::<S, C>(cx, &mut before);
                    C::send(cx, &mut next, hello);
                    member::<S, C>(cx, own, times, &mut next, &mut before)
                }));
            }
            C::send(cx, &mut first, 0);
            blocking::must_recv::<S, C>(cx, &mut before);
            let watch = Stopwatch::start();
            let own = member::<S, C>(cx, 0, times, &mut first, &mut before);
            let sum = others.into_iter().map(|other| S::join(cx, other)).sum::<u64>();
            Done::new(own + sum, watch.stop())
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel>(&self, runtime: &Runtime, times: u64) -> Done {
        let Ring { members } = *self;
        tasks::root(runtime, async move {
            let (mut first, mut before) = C::new();
            let mut others = Vec::new();
            for own in 1..members {
                let (mut next, after) = C::new();
                let mut before = std::mem::replace(&mut before, after);
                others.push(spawn(async move {
                    let hello = tasks::must_recv::<C>(&mut before).await;
                    C::send(&mut next, hello).await;
                    task::<C>(own, times, &mut next, &mut before).await
                }));
            }
            C::send(&mut first, 0).await;
            tasks::must_recv::<C>(&mut before).await;
            let watch = Stopwatch::start();
            let mut sum = task::<C>(0, times, &mut first, &mut before).await;
            for other in others {
                sum += other.await.expect("no task panics");
            }
            Done::new(sum, watch.stop())
        })
    }
}

impl Workload for Ring {
    fn title(&self) -> String {
        format!("a ring of {}, each of which sends to the next, all the time", self.members)
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    /// Leaves out large rings of threads: a message takes up to a microsecond there, and the start of a thread more.
    fn suits(&self, kind: Kind) -> bool {
        kind.is_link() && (kind.on() != On::Threads || self.members <= 100)
    }

    fn bar(&self) -> Option<f64> {
        (self.members == 100).then_some(0.7)
    }

    fn sample(&self, kind: Kind, frame: Frame) -> Sample {
        kind.links(self, frame)
    }
}

//! Threads of the system that all send to one thread, which adds up the messages.
//!
//! The clock runs from the moment when all threads are ready until the receiver has found the channel closed.

use std::sync::{Arc, Barrier};

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;

use super::{Amount, Frame, SharedJob, Workload};
use crate::fibers::peers::Done;
use crate::messages::blocking::{Blocking, Channel};
use crate::messages::peers::{Kind, Library};
#[cfg(feature = "peers")]
use crate::messages::tasks;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

/// The workload with this number of senders, over channels with a capacity or without.
#[derive(Clone, Copy)]
pub struct Threads {
    senders: usize,
    is_bounded: bool,
}

impl Threads {
    /// Creates a workload with `senders` senders.
    pub fn new(senders: usize, is_bounded: bool) -> Threads {
        Threads { senders, is_bounded }
    }
}

impl Amount for Threads {
    fn units(&self, times: u64) -> u64 {
        self.senders as u64 * times
    }

    fn expected(&self, times: u64) -> u64 {
        self.senders as u64 * (0..times).sum::<u64>()
    }
}

impl SharedJob for Threads {
    fn blocking<S: Blocking, C: Channel<S, Sender: Clone>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Threads { senders, .. } = *self;
        S::root(pool, move |cx| {
            let (sender, mut receiver) = C::new();
            let ready = Arc::new(Barrier::new(senders + 1));
            let sending: Vec<_> = (0..senders)
                .map(|_| {
                    let (mut sender, ready) = (sender.clone(), Arc::clone(&ready));
                    S::spawn(move |cx| {
                        ready.wait();
                        (0..times).for_each(|value| C::send(cx, &mut sender, value));
                    })
                })
                .collect();
            drop(sender);
            let watch = Stopwatch::start();
            ready.wait();
            let mut sum = 0;
            while let Some(value) = C::recv(cx, &mut receiver) {
                sum += value;
            }
            let meter = watch.stop();
            sending.into_iter().for_each(|sending| S::join(cx, sending));
            Done::new(sum, meter)
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel<Sender: Clone>>(&self, _: &Runtime, _: u64) -> Done {
        unreachable!("only threads take part")
    }
}

impl Workload for Threads {
    fn title(&self) -> String {
        let (senders, s) = (self.senders, if self.senders == 1 { "" } else { "s" });
        let room = if self.is_bounded { "with a capacity of 128" } else { "unbounded" };
        format!("{senders} thread{s} of the system send{} to one, {room}", if s.is_empty() { "s" } else { "" })
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind.is_shared() && kind.is_of_threads() && kind.is_bounded() == self.is_bounded
    }

    fn is_rival(&self, kind: Kind) -> bool {
        matches!(kind.library(), Library::StdU | Library::StdB | Library::CrossbeamU | Library::CrossbeamB)
    }

    fn bar(&self) -> Option<f64> {
        Some(1.1)
    }

    fn sample(&self, kind: Kind, frame: Frame) -> Sample {
        kind.shared(self, frame)
    }
}

//! The memory of an unused unbounded channel, and whether a drained channel frees its memory.
//!
//! The figure is the bytes of the heap that a new channel with its two ends takes. `full` is the bytes per message with
//! 100,000 messages in the channel. `drained` is the bytes of the whole channel after all messages were received and it
//! was found empty.

use std::hint::black_box;

use anabranch::channel::{self, spsc};

use super::{Frame, Workload};
use crate::messages::peers::{Kind, Library, On};
use crate::process;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

const CHANNELS: usize = 1000;
const MESSAGES: u64 = 100_000;

/// Idle channels.
pub struct Memory;

fn heap() -> f64 {
    process::heap_bytes().expect("only who suits takes a sample") as f64
}

fn weigh<C>(make: impl Fn() -> C, send: impl Fn(&mut C, u64), receive: impl Fn(&mut C) -> Option<u64>) -> Sample {
    let watch = Stopwatch::start();
    let mut channels = Vec::with_capacity(CHANNELS);
    // The first channel may allocate memory that all channels share.
    let mut one = black_box(make());
    let before = heap();
    channels.extend((0..CHANNELS).map(|_| make()));
    let idle = (heap() - before) / CHANNELS as f64;
    drop(black_box(channels));

    let before = heap();
    (0..MESSAGES).for_each(|value| send(&mut one, value));
    let full = heap();
    let sum: u64 = (0..MESSAGES).map_while(|_| receive(&mut one)).sum();
    assert_eq!(sum, (0..MESSAGES).sum::<u64>(), "the sum of the messages");
    assert_eq!(receive(&mut one), None, "drained, and known to be");
    let drained = heap() - before + idle;
    let meter = watch.stop();
    let sample = Sample::per_unit(meter, 1.0, 1.0).with("full", (full - before) / MESSAGES as f64);
    Sample { value: idle, ..sample.with("drained", drained) }
}

impl Workload for Memory {
    fn title(&self) -> String {
        "heap of an unbounded channel: idle, then for a message when full, then when drained".into()
    }

    fn unit(&self) -> &'static str {
        "bytes"
    }

    fn suits(&self, kind: Kind) -> bool {
        use Library::{
            AnabranchMpmcU, AnabranchU, AsyncChannelU, CrossbeamU, CrossfireU, FlumeU, KanalU, May, MayMpmc, MayMpsc,
            StdU, TokioU,
        };
        process::heap_bytes().is_some()
            && match kind.library() {
                AnabranchU | AnabranchMpmcU => kind.on() == On::Fibers,
                May | MayMpsc | MayMpmc => true,
                StdU | CrossbeamU | CrossfireU | FlumeU | KanalU => kind.on() == On::Threads,
                TokioU | AsyncChannelU => kind.on() == On::Tokio,
                _ => false,
            }
    }

    fn sample(&self, kind: Kind, _frame: Frame) -> Sample {
        macro_rules! weigh {
            ($make:expr, $send:ident, $receive:expr) => {
                weigh(
                    || $make,
                    |(sender, _), value| assert!(sender.$send(value).is_ok(), "the receiver is there"),
                    |(_, receiver)| $receive(receiver),
                )
            };
        }
        match kind.library() {
            Library::AnabranchU => weigh!(spsc::unbounded(), try_send, |r: &mut spsc::Receiver<_>| r.try_recv().ok()),
            Library::AnabranchMpmcU => {
                weigh!(channel::unbounded(), try_send, |r: &mut channel::Receiver<_>| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::May => {
                weigh!(may::sync::spsc::channel(), send, |r: &mut may::sync::spsc::Receiver<_>| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::MayMpsc => {
                weigh!(may::sync::mpsc::channel(), send, |r: &mut may::sync::mpsc::Receiver<_>| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::MayMpmc => {
                weigh!(may::sync::mpmc::channel(), send, |r: &mut may::sync::mpmc::Receiver<_>| r.try_recv().ok())
            }
            Library::StdU => {
                weigh!(std::sync::mpsc::channel(), send, |r: &mut std::sync::mpsc::Receiver<_>| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::CrossbeamU => {
                weigh!(crossbeam_channel::unbounded(), send, |r: &mut crossbeam_channel::Receiver<_>| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::FlumeU => weigh!(flume::unbounded(), send, |r: &mut flume::Receiver<_>| r.try_recv().ok()),
            #[cfg(feature = "peers")]
            Library::KanalU => {
                weigh!(kanal::unbounded(), send, |r: &mut kanal::Receiver<_>| r.try_recv().ok().flatten())
            }
            #[cfg(feature = "peers")]
            Library::CrossfireU => {
                weigh!(crossfire::spsc::unbounded_blocking(), send, |r: &mut crossfire::Rx<_>| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::TokioU => {
                weigh!(tokio::sync::mpsc::unbounded_channel(), send, |r: &mut tokio::sync::mpsc::UnboundedReceiver<
                    _,
                >| r.try_recv().ok())
            }
            #[cfg(feature = "peers")]
            Library::AsyncChannelU => {
                weigh!(async_channel::unbounded(), try_send, |r: &mut async_channel::Receiver<_>| r.try_recv().ok())
            }
            library => panic!("{library:?} was not asked"),
        }
    }
}

//! may: its channels, all unbounded, between its coroutines.

use std::sync::mpsc::{RecvError, SendError};

use may::coroutine::JoinHandle;
use may::sync::{mpmc, mpsc, spsc};
use may::{cqueue, go};

use crate::messages::blocking::{Blocking, Channel, Selection};

/// Coroutines, started by `go!`.
pub struct Coroutines;

impl Blocking for Coroutines {
    type Cx<'a> = ();
    type Pool = ();
    type Handle<R: Send + 'static> = JoinHandle<R>;

    fn pool(workers: usize) {
        may::config().set_workers(workers);
    }

    fn root<R: Send + 'static>(_: &(), body: impl FnOnce(&()) -> R + Send + 'static) -> R {
        go!(move || body(&())).join().expect("the root ends in peace")
    }

    fn spawn<R: Send + 'static>(body: impl FnOnce(&()) -> R + Send + 'static) -> JoinHandle<R> {
        go!(move || body(&()))
    }

    fn join<R: Send + 'static>(_: &(), handle: JoinHandle<R>) -> R {
        handle.join().expect("no coroutine panics")
    }
}

/// `may::sync::spsc`.
pub struct Spsc;

/// `may::sync::mpsc`.
pub struct Mpsc;

/// `may::sync::mpmc`.
pub struct Mpmc;

macro_rules! channel {
    ($name:ident, $module:ident) => {
        impl Channel<Coroutines> for $name {
            type Sender = $module::Sender<u64>;
            type Receiver = $module::Receiver<u64>;

            fn new() -> (Self::Sender, Self::Receiver) {
                $module::channel()
            }

            #[inline(always)]
            fn send(_: &(), sender: &mut Self::Sender, value: u64) {
                let sent: Result<(), SendError<u64>> = sender.send(value);
                sent.expect("the receiver is there");
            }

            #[inline(always)]
            fn recv(_: &(), receiver: &mut Self::Receiver) -> Option<u64> {
                let received: Result<u64, RecvError> = receiver.recv();
                received.ok()
            }
        }
    };
}

channel!(Spsc, spsc);
channel!(Mpsc, mpsc);
channel!(Mpmc, mpmc);

/// `cqueue`: a coroutine for each receiver, which reports each message to the queue. At its end the queue cancels the
/// coroutines and waits for them. A cancellation does not end a wait at an `spsc` channel, but the end of the channel
/// does.
pub struct Queued;

impl Selection<Coroutines> for Queued {
    type Sender = spsc::Sender<u64>;
    type Receivers = Vec<spsc::Receiver<u64>>;
    type Answers = Spsc;

    const WAITS_FOR_THE_END: bool = true;

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        (0..count).map(|_| spsc::channel()).unzip()
    }

    #[inline(always)]
    fn send(_: &(), sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    fn sum(_: &(), receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut()) -> u64 {
        cqueue::scope(|queue| {
            for (token, receiver) in receivers.drain(..).enumerate() {
                go!(queue, token, move |events| {
                    while let Ok(value) = receiver.recv() {
                        events.send(value as usize);
                    }
                });
            }
            let next = |_| {
                let event = queue.poll(None).expect("there are messages left");
                took();
                event.extra as u64
            };
            (0..messages).map(next).sum()
        })
    }
}

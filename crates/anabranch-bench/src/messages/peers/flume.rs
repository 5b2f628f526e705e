//! flume, between threads and between tasks.

use flume::{Receiver, Sender, bounded, unbounded};

use super::ROOM;
use crate::messages::blocking::{Channel, Shared, Threads};
use crate::messages::tasks;

/// A channel, bounded or unbounded.
pub struct Flume<const BOUNDED: bool>;

fn channel<const BOUNDED: bool>() -> (Sender<u64>, Receiver<u64>) {
    if BOUNDED { bounded(ROOM) } else { unbounded() }
}

impl<const BOUNDED: bool> Channel<Threads> for Flume<BOUNDED> {
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;

    fn new() -> (Sender<u64>, Receiver<u64>) {
        channel::<BOUNDED>()
    }

    #[inline(always)]
    fn send(_: &(), sender: &mut Sender<u64>, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv(_: &(), receiver: &mut Receiver<u64>) -> Option<u64> {
        receiver.recv().ok()
    }
}

impl<const BOUNDED: bool> Shared<Threads> for Flume<BOUNDED> {
    fn share(sender: &Sender<u64>) -> Sender<u64> {
        sender.clone()
    }
}

impl<const BOUNDED: bool> tasks::Channel for Flume<BOUNDED> {
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;

    fn new() -> (Sender<u64>, Receiver<u64>) {
        channel::<BOUNDED>()
    }

    async fn send(sender: &mut Sender<u64>, value: u64) {
        sender.send_async(value).await.expect("the receiver is there");
    }

    async fn recv(receiver: &mut Receiver<u64>) -> Option<u64> {
        receiver.recv_async().await.ok()
    }
}

impl<const BOUNDED: bool> tasks::Shared for Flume<BOUNDED> {
    fn share(sender: &Sender<u64>) -> Sender<u64> {
        sender.clone()
    }
}

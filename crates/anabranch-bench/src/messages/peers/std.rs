//! std: `mpsc`, between threads.

use std::sync::mpsc;

use super::ROOM;
use crate::messages::blocking::{Channel, Shared, Threads};

/// `channel`.
pub struct Unbounded;

/// `sync_channel`.
pub struct Bounded;

impl Channel<Threads> for Unbounded {
    type Sender = mpsc::Sender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::channel()
    }

    #[inline(always)]
    fn send(_: &(), sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv(_: &(), receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }
}

impl Shared<Threads> for Unbounded {
    fn share(sender: &Self::Sender) -> Self::Sender {
        sender.clone()
    }
}

impl Channel<Threads> for Bounded {
    type Sender = mpsc::SyncSender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::sync_channel(ROOM)
    }

    #[inline(always)]
    fn send(_: &(), sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv(_: &(), receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }
}

impl Shared<Threads> for Bounded {
    fn share(sender: &Self::Sender) -> Self::Sender {
        sender.clone()
    }
}

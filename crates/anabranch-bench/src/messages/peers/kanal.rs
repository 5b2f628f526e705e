//! kanal, between threads and between tasks.

use kanal::{AsyncReceiver, AsyncSender, Receiver, Sender, bounded, bounded_async, unbounded, unbounded_async};

use super::ROOM;
use crate::messages::blocking::{Channel, Shared, Threads};
use crate::messages::tasks;

/// A channel, bounded or unbounded.
pub struct Kanal<const BOUNDED: bool>;

impl<const BOUNDED: bool> Channel<Threads> for Kanal<BOUNDED> {
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;

    fn new() -> (Sender<u64>, Receiver<u64>) {
        if BOUNDED { bounded(ROOM) } else { unbounded() }
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

impl<const BOUNDED: bool> Shared<Threads> for Kanal<BOUNDED> {
    fn share(sender: &Sender<u64>) -> Sender<u64> {
        sender.clone()
    }
}

impl<const BOUNDED: bool> tasks::Channel for Kanal<BOUNDED> {
    type Sender = AsyncSender<u64>;
    type Receiver = AsyncReceiver<u64>;

    fn new() -> (AsyncSender<u64>, AsyncReceiver<u64>) {
        if BOUNDED { bounded_async(ROOM) } else { unbounded_async() }
    }

    async fn send(sender: &mut AsyncSender<u64>, value: u64) {
        sender.send(value).await.expect("the receiver is there");
    }

    async fn recv(receiver: &mut AsyncReceiver<u64>) -> Option<u64> {
        receiver.recv().await.ok()
    }
}

impl<const BOUNDED: bool> tasks::Shared for Kanal<BOUNDED> {
    fn share(sender: &AsyncSender<u64>) -> AsyncSender<u64> {
        sender.clone()
    }
}

//! flume, between threads and between tasks.

use flume::{Receiver, Sender, bounded, unbounded};

use super::ROOM;
use crate::messages::tasks;

/// A channel, bounded or unbounded.
pub struct Flume<const BOUNDED: bool>;

fn channel<const BOUNDED: bool>() -> (Sender<u64>, Receiver<u64>) {
    if BOUNDED { bounded(ROOM) } else { unbounded() }
}

between_threads!(Flume<BOUNDED>: Sender<u64>, Receiver<u64>, channel::<BOUNDED>());

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

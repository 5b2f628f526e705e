//! async-channel, between tasks. `SelectAll` of futures-util selects from many of its receivers.

use async_channel::{Receiver, Sender, bounded, unbounded};
use futures_util::StreamExt;
use futures_util::stream::SelectAll;

use super::ROOM;
use crate::messages::tasks::Selection;

/// A channel, bounded or unbounded.
pub struct AsyncChannel<const BOUNDED: bool>;

between_tasks!(AsyncChannel<BOUNDED>: Sender<u64>, Receiver<u64>,
    if BOUNDED { bounded(ROOM) } else { unbounded() }, await);

/// `SelectAll` over receivers, which are streams.
pub struct Selecting;

impl Selection for Selecting {
    type Sender = Sender<u64>;
    // A receiver may not be moved while it is polled.
    type Receivers = SelectAll<std::pin::Pin<Box<Receiver<u64>>>>;

    fn new(count: usize) -> (Vec<Sender<u64>>, Self::Receivers) {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| unbounded()).unzip();
        (senders, receivers.into_iter().map(Box::pin).collect())
    }

    async fn send(sender: &mut Sender<u64>, value: u64) {
        sender.send(value).await.expect("the receiver is there");
    }

    async fn sum(receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut() + Send) -> u64 {
        let mut sum = 0;
        for _ in 0..messages {
            sum += receivers.next().await.expect("there are messages left");
            took();
        }
        sum
    }
}

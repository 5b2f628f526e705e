//! tokio's own `mpsc`. `StreamMap` of tokio-stream, or `SelectAll` of futures-util, selects from many of its receivers.

use futures_util::stream::SelectAll;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_stream::{StreamExt, StreamMap};

use super::ROOM;
use crate::messages::tasks::{Channel, Selection};

/// `unbounded_channel`.
pub struct Unbounded;

/// `channel`.
pub struct Bounded;

impl Channel for Unbounded {
    type Sender = UnboundedSender<u64>;
    type Receiver = UnboundedReceiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        unbounded_channel()
    }

    async fn send(sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    async fn recv(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().await
    }
}

impl Channel for Bounded {
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        channel(ROOM)
    }

    async fn send(sender: &mut Self::Sender, value: u64) {
        sender.send(value).await.expect("the receiver is there");
    }

    async fn recv(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().await
    }
}

type Streams = (Vec<UnboundedSender<u64>>, Vec<UnboundedReceiverStream<u64>>);

fn streams(count: usize) -> Streams {
    (0..count)
        .map(|_| {
            let (sender, receiver) = unbounded_channel();
            (sender, UnboundedReceiverStream::new(receiver))
        })
        .unzip()
}

/// `StreamMap`.
pub struct Mapped;

impl Selection for Mapped {
    type Sender = UnboundedSender<u64>;
    type Receivers = StreamMap<usize, UnboundedReceiverStream<u64>>;

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        let (senders, streams) = streams(count);
        (senders, streams.into_iter().enumerate().collect())
    }

    async fn send(sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    async fn sum(receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut() + Send) -> u64 {
        let mut sum = 0;
        for _ in 0..messages {
            sum += receivers.next().await.expect("there are messages left").1;
            took();
        }
        sum
    }
}

/// `SelectAll`.
pub struct All;

impl Selection for All {
    type Sender = UnboundedSender<u64>;
    type Receivers = SelectAll<UnboundedReceiverStream<u64>>;

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        let (senders, streams) = streams(count);
        (senders, streams.into_iter().collect())
    }

    async fn send(sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
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

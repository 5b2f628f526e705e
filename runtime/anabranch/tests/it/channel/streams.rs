//! Receivers as streams and senders as sinks of the futures crates.

use crate::common::waits::Polled;
use anabranch::channel::{ReceiverSet, bounded, broadcast, oneshot, spsc, unbounded, watch};
use futures_core::{FusedStream, Stream};
use futures_util::{SinkExt, StreamExt};
use std::sync::Arc;

/// Returns the next item, or `None` if the stream is pending.
fn next<S: Stream + Unpin>(stream: &mut S) -> Option<Option<S::Item>> {
    Polled::new(stream.next()).poll()
}

#[test]
fn stream_of_every_flavour_yields_values_and_ends() {
    fn check<T>(mut stream: impl FusedStream<Item = T> + Unpin, send: impl FnOnce(), is_value: impl Fn(T) -> bool) {
        let mut waiting = Polled::waiting(stream.next());
        send();
        assert!(waiting.is_woken() && waiting.poll().unwrap().is_some_and(&is_value));
        drop(waiting);
        // The sender is gone.
        assert!(next(&mut stream).unwrap().is_none() && stream.is_terminated());
        assert!(next(&mut stream).unwrap().is_none());
    }
    let (sender, receiver) = unbounded();
    check(receiver.into_stream(), move || sender.try_send(1).unwrap(), |n| n == 1);
    let (sender, receiver) = unbounded();
    check(receiver.stream(), move || sender.try_send(2).unwrap(), |n| n == 2);
    let (mut sender, receiver) = spsc::unbounded();
    check(receiver.into_stream(), move || sender.try_send(3).unwrap(), |n| n == 3);
    let (sender, receiver) = watch::channel(0);
    check(receiver.into_stream(), move || sender.send(4).unwrap(), |n| *n == 4);
    let (sender, receiver) = broadcast::channel(1);
    check(receiver.into_stream(), move || sender.send(5).unwrap(), |n| n == Ok(Arc::new(5)));
    let (sender, receiver) = oneshot::channel();
    let set: ReceiverSet<_> = [receiver].into_iter().collect();
    check(set.into_stream(), move || sender.send(6).unwrap(), |(_, got)| got == Ok(6));
}

#[test]
fn stream_reports_missed_values() {
    let (sender, receiver) = broadcast::channel(1);
    (1..=3).for_each(|n| sender.send(n).unwrap());
    drop(sender);
    let all: Vec<_> = Polled::new(receiver.into_stream().collect()).poll().unwrap();
    assert_eq!(all, [Err(broadcast::Lagged(2)), Ok(Arc::new(3))]);
}

#[test]
fn sink_waits_for_room_and_closes() {
    let (sender, receiver) = bounded(1);
    let weak = sender.downgrade();
    let mut sink = sender.into_sink();
    assert_eq!(Polled::new(sink.feed(1)).poll(), Some(Ok(())));
    // The value is in the sink, which is not ready then.
    assert_eq!(Polled::new(sink.feed(2)).poll(), Some(Ok(())));
    assert!(Polled::new(sink.flush()).poll().is_none() && Polled::new(sink.feed(3)).poll().is_none());
    let mut closing = Polled::waiting(sink.close());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(closing.is_woken() && closing.poll() == Some(Ok(())));
    drop(closing);
    assert_eq!(receiver.drain().collect::<Vec<_>>(), [2]);
    assert!(weak.upgrade().is_none() && receiver.is_closed());

    let (sender, mut receiver) = spsc::bounded(1);
    let mut sink = sender.into_sink();
    assert_eq!(Polled::new(sink.send(1)).poll(), Some(Ok(())));
    assert!(Polled::new(sink.send(2)).poll().is_none());
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(anabranch::channel::TryRecvError::Empty)));
    assert_eq!(Polled::new(sink.flush()).poll(), Some(Ok(())));
    assert_eq!(receiver.try_recv(), Ok(2));
}

#[test]
fn sink_returns_value_of_closed_channel() {
    let (sender, receiver) = bounded(1);
    let mut sink = sender.into_sink();
    assert_eq!(Polled::new(sink.feed(1)).poll(), Some(Ok(())));
    assert_eq!(Polled::new(sink.feed(2)).poll(), Some(Ok(())));
    drop(receiver);
    // First the one that waited, then a new one.
    assert_eq!(Polled::new(sink.flush()).poll().unwrap().unwrap_err().into_inner(), 2);
    assert_eq!(Polled::new(sink.send(3)).poll().unwrap().unwrap_err().into_inner(), 3);
    assert_eq!(Polled::new(sink.close()).poll(), Some(Ok(())));
}

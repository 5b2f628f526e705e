//! What iterators, batches and lagging receivers return, the same for all kinds of channels.

#![forbid(unsafe_code)]

use crate::common::{LONG, waits::Polled, watchdog};
use anabranch::{
    Cancelled, Operation, TimedOut,
    channel::{
        ReceiverSet, RecvError, bounded,
        broadcast::{self, ClosedOrLagged, Lagged},
        spsc, unbounded, watch,
    },
    select,
};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(1);

/// Sums the values that arrive until a deadline, for each kind: a partial sum is an error.
#[test]
fn sum_of_cancelled_iterator_is_an_error() {
    watchdog(LONG, || {
        anabranch::run(|cx| {
            macro_rules! check {
                ($sender:ident, $receiver:ident, $send:expr, |$got:ident| $plain:expr) => {{
                    $send;
                    let early = cx.timeout(SHORT, |cx| {
                        let items: Vec<_> = $receiver.iter(cx).map(|item| item.map(|$got| $plain)).collect();
                        assert!(items.len() == 2 && items[0] == Ok(7) && items[1].is_err(), "{items:?}");
                        Ok::<(), TimedOut>(())
                    });
                    assert_eq!(early, Ok(()));
                    $send;
                    let early = cx.timeout(SHORT, |cx| {
                        let sum = $receiver.iter(cx).map(|item| item.map(|$got| $plain)).sum::<Result<u32, _>>();
                        assert!(sum.is_err());
                        Ok::<(), TimedOut>(())
                    });
                    assert_eq!(early, Ok(()));
                    $send;
                    drop($sender);
                    let sum = $receiver.iter(cx).map(|item| item.map(|$got| $plain)).sum::<Result<u32, _>>();
                    assert_eq!(sum, Ok(7));
                }};
            }
            let (sender, receiver) = unbounded();
            check!(sender, receiver, sender.try_send(7).unwrap(), |n| n);
            let (mut sender, mut receiver) = spsc::bounded(2);
            check!(sender, receiver, sender.try_send(7).unwrap(), |n| n);
            let (sender, mut receiver) = watch::channel(0);
            check!(sender, receiver, sender.send(7).unwrap(), |n| *n);
            let (sender, mut receiver) = broadcast::channel(2);
            check!(sender, receiver, sender.send(7).unwrap(), |n| *n);
            let (sender, receiver) = unbounded();
            let mut set = ReceiverSet::from_iter([receiver]);
            check!(sender, set, sender.try_send(7).unwrap(), |got| got.1.unwrap_or(0));
        });
    });
}

#[test]
fn recv_many_respects_limit() {
    let (sender, receiver) = unbounded();
    let (full, rest) = bounded(100);
    let (mut stream, mut outlet) = spsc::unbounded();
    let (cry, mut cries) = broadcast::channel(100);
    anabranch::run(|cx| {
        for limit in [1, 16, 17, 50, 99, 100, 1000] {
            for n in 0..100 {
                sender.try_send(n).unwrap();
                full.try_send(n).unwrap();
                stream.try_send(n).unwrap();
                cry.send(n).unwrap();
            }
            let mut into = Vec::new();
            let expected: Vec<_> = (0..limit.min(100)).collect();
            for receiver in [&receiver, &rest] {
                assert_eq!(receiver.recv_many(cx, &mut into, limit), Ok(expected.len()));
                assert_eq!(std::mem::take(&mut into), expected);
                let left = 100 - expected.len();
                if left > 0 {
                    assert_eq!(cx.block_on(receiver.recv_many_async(&mut into, limit)), Ok(Ok(limit.min(left))));
                }
                receiver.drain().for_each(drop);
                into.clear();
            }
            assert_eq!(outlet.recv_many(cx, &mut into, limit), Ok(expected.len()));
            outlet.drain().for_each(drop);
            let mut into = Vec::new();
            assert_eq!(cries.recv_many(cx, &mut into, limit), Ok(expected.len()));
            cries.drain().for_each(drop);
        }
    });
}

/// Each form of receiving reports once how many values were missed, and continues with the oldest kept value.
#[test]
fn lagging_receiver_is_told_once() {
    watchdog(LONG, || {
        let (sender, mut receiver) = broadcast::channel(2);
        let lag = || (1..=5).for_each(|n| sender.send(n).unwrap());
        let rest = |receiver: &mut broadcast::Receiver<u32>| receiver.drain().map(|n| *n.unwrap()).collect::<Vec<_>>();
        anabranch::run(|cx| {
            lag();
            assert_eq!(receiver.recv(cx), Err(broadcast::RecvError::Lagged(3)));
            assert_eq!((rest(&mut receiver), receiver.lagged()), (vec![4, 5], 3));
            lag();
            let late = Ok(Err(broadcast::ClosedOrLagged::Lagged(3)));
            assert_eq!(receiver.receiving().timeout(cx, Duration::ZERO), late);
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            assert_eq!(receiver.try_recv(), Err(broadcast::TryRecvError::Lagged(3)));
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            assert_eq!(cx.block_on(receiver.receiving().into_future()), Ok(Err(ClosedOrLagged::Lagged(3))));
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            assert_eq!(select!(cx, { got = receiver.receiving() => got.err() }), Ok(Some(ClosedOrLagged::Lagged(3))));
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            let mut many = Vec::new();
            assert_eq!(receiver.recv_many(cx, &mut many, 9), Err(broadcast::RecvError::Lagged(3)));
            assert_eq!((receiver.recv_many(cx, &mut many, 9), many.len()), (Ok(2), 2));
            lag();
            let got: Vec<_> = receiver.drain().map(|got| got.map(|n| *n)).collect();
            assert_eq!(got, [Err(Lagged(3)), Ok(4), Ok(5)]);
            lag();
            let sum = receiver.iter(cx).map(|got| got.map(|n| *n)).sum::<Result<u32, _>>();
            assert_eq!(sum, Err(broadcast::RecvError::Lagged(3)));
            assert_eq!((rest(&mut receiver), receiver.lagged()), (vec![4, 5], 24));
            let mut set = ReceiverSet::from_iter([receiver]);
            lag();
            let got: Vec<_> = set.drain().map(|(_, got)| got.unwrap().map(|n| *n)).collect();
            assert_eq!(got, [Err(Lagged(3)), Ok(4), Ok(5)]);
        });
        let mut waiting = sender.subscribe();
        let mut future = Polled::waiting(waiting.receiving().into_future());
        lag();
        assert_eq!(future.poll(), Some(Err(ClosedOrLagged::Lagged(3))));
    });
}

#[test]
fn cancelled_iterator_ends_after_error() {
    let (_sender, receiver) = unbounded::<u32>();
    let items = anabranch::run(|cx| {
        cx.cancellable(|cx, canceller| {
            canceller.cancel();
            receiver.iter(cx).take(3).collect::<Vec<_>>()
        })
    });
    assert_eq!((items, receiver.try_recv().is_err()), (vec![Err(Cancelled)], true));
    assert_eq!(
        anabranch::run(|cx| cx.cancellable(|cx, c| {
            c.cancel();
            receiver.recv(cx)
        })),
        Err(RecvError::Cancelled)
    );
}

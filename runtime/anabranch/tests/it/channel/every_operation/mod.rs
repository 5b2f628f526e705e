//! Every operation that the table in the documentation of `channel` lists, for each kind of channel, with each kind of
//! `Cx` and in async code. All kinds return the same results.

#[macro_use]
mod checks;
mod completed;

use crate::common::{
    fibers::with_every_cx,
    pool,
    waits::{Polled, until_waiting},
};
use anabranch::{
    Cancelled, Cx, Error, ErrorKind, Operation, WaitError,
    channel::{
        Closed, ClosedError, ReceiverSet, RecvError, Select, SendError, TryRecvError, TrySendError, bounded, broadcast,
        oneshot, rendezvous, spsc, unbounded, watch,
    },
    select,
};
use checks::{SHORT, cancelled};
use std::{collections::VecDeque, sync::Arc, time::Duration};

#[test]
fn mpmc_channels_answer_every_operation() {
    let channels = || [bounded(9), bounded(1 << 20), unbounded()];
    with_every_cx(move |cx| {
        for (sender, receiver) in channels() {
            receives!(cx, receiver, |n| sender.try_send(n).unwrap(), |n: i32| n);
            receives_many!(cx, receiver, |n| sender.try_send(n).unwrap(), |n: i32| n);
            sends!(cx, sender, || receiver.try_recv().unwrap());
            let other = receiver.clone();
            assert!(other.same_channel(&receiver) && sender.is_to(&other) && sender.same_channel(&sender.clone()));
            assert!(!sender.same_channel(&unbounded().0) && !receiver.same_channel(&unbounded().1));
            assert_eq!((sender.capacity(), sender.len(), sender.is_empty()), (receiver.capacity(), 0, true));
            let weak = sender.downgrade();
            sender.try_send(20).unwrap();
            sender.close();
            assert!(weak.upgrade().is_some_and(|again| again.is_closed()));
            is_refused!(cx, sender);
            has_no_room_to_keep!(cx, sender);
            // The sent values are still there.
            assert!(receiver.is_closed() && receiver.len() == 1);
            assert_eq!(receiver.recv(cx), Ok(20));
            is_over!(cx, receiver);
        }
        for (sender, receiver) in channels() {
            let weak = sender.downgrade();
            drop(sender);
            assert!(weak.upgrade().is_none() && weak.clone().upgrade().is_none());
            is_over!(cx, receiver);
            assert_eq!(receiver.recv_many(cx, &mut Vec::new(), 5), Err(RecvError::Closed));
        }
        for (sender, receiver) in channels() {
            drop(receiver);
            is_refused!(cx, sender);
            has_no_room_to_keep!(cx, sender);
        }
        for (sender, receiver) in [bounded(1), bounded(2)] {
            while sender.try_send(0).is_ok() {}
            is_full!(cx, sender);
            assert!(sender.try_reserve().is_err());
            assert_eq!(sender.reserving().timeout(cx, SHORT).err(), Some(WaitError::TimedOut));
            assert!(receiver.drain().all(|n| n == 0));
        }
    });
}

#[test]
fn rendezvous_answers_every_operation() {
    with_every_cx(|cx| {
        let (sender, receiver) = rendezvous();
        is_full!(cx, sender);
        assert_eq!((sender.capacity(), receiver.len()), (Some(0), 0));
        // A waiting sender is what makes a receive ready.
        let mut waiting = VecDeque::new();
        let mut offer = |n| waiting.push_back(Polled::waiting(sender.sending(n).into_future()));
        receives!(cx, receiver, offer, |n: i32| n);
        assert!(waiting.into_iter().all(|mut sent| sent.poll() == Some(Ok(()))));
        // A committed waiting receiver is what makes a send ready.
        let pool = pool(1);
        let receive = pool.spawn({
            let receiver = receiver.clone();
            move |cx| [receiver.recv(cx), receiver.recv(cx)]
        });
        until_waiting(&pool, 1, "Receiver::recv");
        assert!(!sender.is_full());
        assert_eq!(sender.try_send(1), Ok(()));
        until_waiting(&pool, 1, "Receiver::recv");
        assert_eq!(sender.sending(2).deadline(cx, cx.now()), Ok(Ok(())));
        assert_eq!(receive.join(cx).unwrap(), [Ok(1), Ok(2)]);
        let mut receive = Polled::waiting(receiver.receiving().into_future());
        is_full!(cx, sender);
        assert!(receive.poll().is_none());
        drop(receive);
        let (other, gone) = rendezvous();
        drop(gone);
        is_refused!(cx, other);
        drop(sender);
        is_over!(cx, receiver);
    });
}

#[test]
fn spsc_channels_answer_every_operation() {
    let channels = || [spsc::bounded(9), spsc::bounded(500), spsc::unbounded()];
    with_every_cx(move |cx| {
        for (mut sender, mut receiver) in channels() {
            assert!(sender.is_to(&receiver) && !sender.is_to(&spsc::unbounded().1));
            receives!(cx, receiver, |n| sender.try_send(n).unwrap(), |n: i32| n);
            receives_many!(cx, receiver, |n| sender.try_send(n).unwrap(), |n: i32| n);
            sends!(cx, sender, || receiver.try_recv().unwrap());
            sender.send_all(cx, &mut VecDeque::from([1, 2, 3])).unwrap();
            cx.block_on(sender.send_all_async(&mut VecDeque::from([4, 5]))).unwrap().unwrap();
            assert!(receiver.drain().eq(1..6));
            let mut kept = VecDeque::from([6, 7]);
            let none = cancelled(cx, |cx| sender.send_all(cx, &mut kept));
            assert_eq!((none, kept.len()), (Err(SendError::Cancelled(())), 2));
            assert_eq!(sender.capacity(), receiver.capacity());
            sender.try_send(20).unwrap();
            sender.close();
            is_refused!(cx, sender);
            has_no_room_to_keep!(cx, sender);
            assert_eq!(sender.send_all(cx, &mut kept), Err(SendError::Closed(())));
            assert_eq!(cx.block_on(sender.send_all_async(&mut kept)), Ok(Err(Closed)));
            assert_eq!(kept, [6, 7]);
            assert!(receiver.is_closed() && receiver.len() == 1);
            assert_eq!(receiver.recv(cx), Ok(20));
            is_over!(cx, receiver);
        }
        for (sender, mut receiver) in channels() {
            drop(sender);
            is_over!(cx, receiver);
            assert_eq!(receiver.recv_many(cx, &mut Vec::new(), 5), Err(RecvError::Closed));
        }
        for (mut sender, receiver) in channels() {
            drop(receiver);
            is_refused!(cx, sender);
            has_no_room_to_keep!(cx, sender);
        }
        for (mut sender, mut receiver) in [spsc::bounded(1), spsc::bounded(2)] {
            while sender.try_send(0).is_ok() {}
            is_full!(cx, sender);
            assert!(sender.try_reserve().is_err());
            assert_eq!(sender.reserving().timeout(cx, SHORT).err(), Some(WaitError::TimedOut));
            assert!(receiver.drain().all(|n| n == 0));
        }
    });
}

/// One-shot channels are checked with one operation at a time.
#[test]
fn oneshot_channels_answer_every_operation() {
    type Way = fn(&mut oneshot::Receiver<i32>, &Cx<'_>) -> Option<i32>;
    let ways: [Way; 9] = [
        |receiver, cx| receiver.recv(cx).ok(),
        |receiver, cx| receiver.receiving().timeout(cx, Duration::ZERO).ok()?.ok(),
        |receiver, cx| receiver.receiving().timeout(cx, Duration::MAX).ok()?.ok(),
        |receiver, cx| receiver.receiving().deadline(cx, cx.now()).ok()?.ok(),
        |receiver, _| receiver.try_recv().ok(),
        |receiver, cx| cx.block_on(receiver.receiving().into_future()).unwrap().ok(),
        |receiver, cx| select!(cx, { got = receiver.receiving() => got.ok() }).unwrap(),
        |receiver, cx| Select::from_iter([receiver.receiving()]).wait(cx).unwrap().1.ok(),
        |receiver, cx| {
            let mut set = ReceiverSet::from_iter([std::mem::replace(receiver, oneshot::channel().1)]);
            set.recv(cx).unwrap().1.ok()
        },
    ];
    with_every_cx(move |cx| {
        for (n, way) in ways.into_iter().enumerate() {
            let (sender, mut receiver) = oneshot::channel();
            assert!(sender.is_to(&receiver) && !sender.is_to(&oneshot::channel().1));
            assert_eq!(receiver.receiving().timeout(cx, SHORT), Err(WaitError::TimedOut));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            drop(Polled::waiting(receiver.receiving().into_future()));
            assert!(receiver.is_empty() && !receiver.is_closed() && !sender.is_closed());
            sender.send(7).unwrap();
            assert!(!receiver.is_empty());
            assert_eq!(cancelled(cx, |cx| receiver.recv(cx)), Err(RecvError::Cancelled));
            assert_eq!(way(&mut receiver, cx), Some(7), "way {n}");
            is_over!(cx, receiver);
            let (sender, mut receiver) = oneshot::channel();
            drop(sender);
            assert_eq!(way(&mut receiver, cx), None, "way {n}");
            is_over!(cx, receiver);
        }
        let (sender, receiver) = oneshot::channel();
        drop(receiver);
        assert!(sender.is_closed());
        assert_eq!(sender.send(1), Err(ClosedError(1)));
        let (sender, mut receiver) = oneshot::channel();
        receiver.close();
        assert_eq!(sender.send(2), Err(ClosedError(2)));
        is_over!(cx, receiver);
    });
}

#[test]
fn watch_channels_answer_every_operation() {
    with_every_cx(|cx| {
        let (sender, mut receiver) = watch::channel(0);
        receives!(cx, receiver, |n| sender.send(n).unwrap(), |n: Arc<i32>| *n);
        let weak = sender.downgrade();
        let mut late = sender.subscribe();
        let other = receiver.clone();
        assert!(sender.is_to(&late) && late.same_channel(&other) && sender.same_channel(&weak.upgrade().unwrap()));
        assert!(!sender.same_channel(&watch::channel(0).0) && !late.same_channel(&watch::channel(0).1));
        drop((receiver, other));
        assert!(sender.has_receivers() && !late.has_changed());
        sender.send(20).unwrap();
        assert!(late.has_changed() && *late.get() == 20 && *sender.get() == 20);
        sender.close();
        assert_eq!(sender.send(21), Err(ClosedError(21)));
        assert!(late.is_closed() && *late.recv(cx).unwrap() == 20);
        is_over!(cx, late);
        drop(late);
        assert!(!sender.has_receivers());
        drop(sender);
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn broadcast_channels_answer_every_operation() {
    with_every_cx(|cx| {
        use broadcast::{ClosedOrLagged::Closed, RecvError, TryRecvError};
        let (sender, mut receiver) = broadcast::channel(9);
        receives!(cx, receiver, |n| sender.send(n).unwrap(), |n: Arc<i32>| *n);
        receives_many!(cx, receiver, |n| sender.send(n).unwrap(), |n: Arc<i32>| *n, |got| got.unwrap());
        let weak = sender.downgrade();
        let mut late = sender.subscribe();
        let other = receiver.clone();
        assert!(sender.is_to(&late) && late.same_channel(&other) && sender.same_channel(&weak.upgrade().unwrap()));
        assert!(!sender.same_channel(&broadcast::channel(1).0) && !late.same_channel(&broadcast::channel(1).1));
        drop((receiver, other));
        sender.send(20).unwrap();
        assert_eq!((sender.capacity(), late.len(), late.lagged()), (9, 1, 0));
        sender.close();
        assert_eq!(sender.send(21), Err(ClosedError(21)));
        assert!(late.is_closed() && *late.recv(cx).unwrap() == 20);
        is_over!(cx, late);
        drop(late);
        assert!(!sender.has_receivers());
        drop(sender);
        assert!(weak.upgrade().is_none());
    });
}

/// A set of members of one kind, of which one closes in the end.
#[test]
fn sets_answer_every_operation() {
    with_every_cx(|cx| {
        let (sender, receiver) = unbounded();
        let mut set = ReceiverSet::from_iter([receiver, unbounded().1]);
        // The second one returns at once.
        let (_, gone) = set.recv(cx).unwrap();
        assert_eq!((gone, set.len()), (Err(Closed), 1));
        let plain = |(_, n): (_, Result<i32, Closed>)| n.unwrap();
        receives!(cx, set, |n| sender.try_send(n).unwrap(), plain);
        sender.try_send(20).unwrap();
        assert!(set.drain().map(plain).eq([20]));
        drop(sender);
        assert_eq!(set.recv(cx).map(|(_, gone)| gone), Ok(Err(Closed)));
        assert!(set.is_empty());
        assert_eq!(set.try_recv().err(), Some(TryRecvError::Closed));
        assert_eq!(set.recv(cx).err(), Some(RecvError::Closed));
        assert_eq!(set.receiving().timeout(cx, SHORT).map(Result::err), Ok(Some(Closed)));
        assert_eq!(cx.block_on(set.receiving().into_future()).unwrap().err(), Some(Closed));
    });
}

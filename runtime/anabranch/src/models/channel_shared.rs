//! Channels with any number of ends: a value is received once or returned to its sender, a cancelled waiter passes its
//! wake-up on, and closing wakes every waiter.
//!
//! The models use the public operations. loom reports an error if no thread can continue, or if a value is left over.
//! So it finds lost wake-ups and leaks.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::{
    channel::{Receiver, RecvError, Sender, TryRecvError, bounded, rendezvous, unbounded},
    cx::Cx,
};
use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

fn send(sender: &Sender<Parcel>, cx: &Cx<'_>, value: u32) -> bool {
    sender.send(cx, Parcel::new(value)).is_ok()
}

fn recv(receiver: &Receiver<Parcel>, cx: &Cx<'_>) -> Result<u32, RecvError> {
    receiver.recv(cx).map(Parcel::open)
}

fn try_recv(receiver: &Receiver<Parcel>) -> Result<u32, TryRecvError> {
    receiver.try_recv().map(Parcel::open)
}

/// Polls a future once. Drops it if it is not ready.
fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn values_go_through((sender, receiver): (Sender<Parcel>, Receiver<Parcel>)) {
    let sending = spawn(move |cx| (1..=2).all(|n| send(&sender, cx, n)));
    Thread::new().shielded(|cx| {
        assert_eq!([recv(&receiver, cx), recv(&receiver, cx)], [Ok(1), Ok(2)]);
        assert_eq!(recv(&receiver, cx), Err(RecvError::Closed));
    });
    assert!(sending.join().unwrap());
}

#[test]
fn models_channel_shared_values_arrive() {
    explore("shared, room for one", Some(3), || values_go_through(bounded(1)));
    explore("shared, unbounded", Some(3), || values_go_through(unbounded()));
    explore("shared, rendezvous", Some(3), || values_go_through(rendezvous()));
}

#[test]
fn models_channel_shared_two_senders_lose_nothing() {
    explore("shared, two senders", Some(2), || {
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        let sending = [spawn(move |cx| send(&sender, cx, 1)), spawn(move |cx| send(&other, cx, 2))];
        Thread::new().shielded(|cx| {
            let got = [recv(&receiver, cx), recv(&receiver, cx)];
            assert!(got == [Ok(1), Ok(2)] || got == [Ok(2), Ok(1)]);
            assert_eq!(recv(&receiver, cx), Err(RecvError::Closed));
        });
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
    });
}

/// One of two receivers is cancelled during a send. The other then gets the value.
#[test]
fn models_channel_shared_cancelled_receiver_passes_wakeup_on() {
    for is_rendezvous in [false, true] {
        explore("shared, one of two receivers is cancelled", Some(2), move || {
            let root = root();
            let (sender, receiver) = if is_rendezvous { rendezvous() } else { unbounded() };
            let other = receiver.clone();
            let cancelled = spawn_below(&root, move |cx| recv(&receiver, cx));
            let stays = spawn(move |cx| recv(&other, cx));
            Thread::new().shielded(|cx| {
                assert!(send(&sender, cx, 1));
                root.cancel();
                if cancelled.join().unwrap() == Ok(1) {
                    assert!(send(&sender, cx, 1));
                }
            });
            assert_eq!(stays.join().unwrap(), Ok(1));
        });
    }
}

/// A send wakes a receiving future, which is then dropped.
#[test]
fn models_channel_shared_dropped_receive_passes_wakeup_on() {
    explore("shared, a receive is dropped", Some(2), || {
        let (sender, receiver) = unbounded();
        let other = receiver.clone();
        let dropped = spawn(move |_| poll_once(receiver.receiving().into_future()).map(|got| got.map(Parcel::open)));
        let stays = spawn(move |cx| recv(&other, cx));
        Thread::new().shielded(|cx| assert!(send(&sender, cx, 1)));
        if dropped.join().unwrap().is_some() {
            Thread::new().shielded(|cx| assert!(send(&sender, cx, 1)));
        }
        assert_eq!(stays.join().unwrap(), Ok(1));
    });
}

/// A sender is cancelled while a receiver makes room. Its value is sent or returned, and the next sender gets the room.
#[test]
fn models_channel_shared_cancelled_sender_passes_wakeup_on() {
    explore("shared, one of two senders is cancelled", Some(2), || {
        let root = root();
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        assert!(sender.try_send(Parcel::new(0)).is_ok());
        let cancelled = spawn_below(&root, move |cx| send(&sender, cx, 1));
        let stays = spawn(move |cx| send(&other, cx, 2));
        Thread::new().shielded(|cx| {
            assert_eq!(recv(&receiver, cx), Ok(0));
            root.cancel();
            let mut sum = 0;
            while let Ok(n) = recv(&receiver, cx) {
                sum += n;
            }
            assert!(stays.join().unwrap());
            assert_eq!(sum, 2 + u32::from(cancelled.join().unwrap()));
        });
    });
}

#[test]
fn models_channel_shared_cancelled_sender_of_rendezvous() {
    explore("shared, rendezvous, the sender is cancelled", Some(3), || {
        let root = root();
        let (sender, receiver) = rendezvous();
        let sending = spawn_below(&root, move |cx| send(&sender, cx, 1));
        let canceller = spawn(move |_| root.cancel());
        let is_received = Thread::new().shielded(|cx| recv(&receiver, cx)).is_ok();
        assert_eq!(sending.join().unwrap(), is_received);
        canceller.join().unwrap();
    });
}

/// A sending future is dropped. Its value is either sent and received, or dropped with it.
#[test]
fn models_channel_shared_dropped_send_loses_nothing() {
    explore("shared, a send is dropped", Some(3), || {
        let (sender, receiver) = bounded(1);
        assert!(sender.try_send(Parcel::new(0)).is_ok());
        let dropped = spawn(move |_| poll_once(sender.sending(Parcel::new(1)).into_future()).is_some());
        assert_eq!(try_recv(&receiver), Ok(0));
        let is_received = Thread::new().shielded(|cx| recv(&receiver, cx)) == Ok(1);
        assert!(!dropped.join().unwrap() || is_received);
    });
}

/// Values that were sent before the channel closed are received, and no others.
#[test]
fn models_channel_shared_close_keeps_sent_values() {
    for capacity in [0, 1] {
        explore("shared, closed while a sender waits", Some(3), move || {
            let (sender, receiver) = if capacity == 0 { rendezvous() } else { bounded(1) };
            let sending = spawn(move |cx| (1..=2).take_while(|&n| send(&sender, cx, n)).count());
            receiver.close();
            assert!(receiver.is_closed());
            let mut received = 0;
            while try_recv(&receiver).is_ok() {
                received += 1;
            }
            assert_eq!(try_recv(&receiver), Err(TryRecvError::Closed));
            assert_eq!(sending.join().unwrap(), received);
        });
    }
}

/// Once a thread has seen that the channel is closed, no send succeeds, not even one that has waited for room.
#[test]
fn models_channel_shared_closed_channel_accepts_nothing() {
    for capacity in [0, 1] {
        explore("shared, seen to be closed while a sender waits", Some(2), move || {
            let (sender, receiver) = if capacity == 0 { rendezvous() } else { bounded(1) };
            let is_full = sender.try_send(Parcel::new(1)).is_ok();
            let other = receiver.clone();
            let sending = spawn(move |cx| send(&sender, cx, 2));
            let closing = spawn(move |_| other.close());
            if receiver.is_closed() {
                assert_eq!(try_recv(&receiver).is_ok(), is_full);
                assert!(try_recv(&receiver).is_err());
                assert!(!sending.join().unwrap());
            } else {
                drop(receiver);
                sending.join().unwrap();
            }
            closing.join().unwrap();
        });
    }
}

#[test]
fn models_channel_shared_last_sender_drops() {
    explore("shared, two senders go while two receivers wait", Some(2), || {
        let (sender, receiver) = unbounded::<Parcel>();
        let (one, other) = (sender.clone(), receiver.clone());
        let going = spawn(move |_| drop(one));
        let waiting = spawn(move |cx| recv(&other, cx));
        drop(sender);
        assert_eq!(Thread::new().shielded(|cx| recv(&receiver, cx)), Err(RecvError::Closed));
        assert_eq!(waiting.join().unwrap(), Err(RecvError::Closed));
        going.join().unwrap();
    });
}

/// The last receiver is dropped while one sender sends and another waits for room. Sent values are dropped with the
/// channel.
#[test]
fn models_channel_shared_last_receiver_drops() {
    explore("shared, the last receiver goes while a sender waits", Some(3), || {
        let (sender, receiver) = bounded(1);
        let other = receiver.clone();
        let sending = spawn(move |cx| (1..=2).all(|n| send(&sender, cx, n)));
        let going = spawn(move |_| drop(other));
        drop(receiver);
        assert!(!sending.join().unwrap());
        going.join().unwrap();
    });
}

/// A weak sender upgrades to a sender, or finds the channel closed.
#[test]
fn models_channel_shared_weak_sender_upgrades_or_channel_closes() {
    explore("shared, a weak sender", Some(3), || {
        let (sender, receiver) = unbounded();
        let weak = sender.downgrade();
        let going = spawn(move |_| drop(sender));
        // While there is a sender the channel is open.
        let is_sent = weak.upgrade().map(|sender| assert!(sender.try_send(Parcel::new(1)).is_ok())).is_some();
        let got = Thread::new().shielded(|cx| recv(&receiver, cx));
        assert_eq!(got, if is_sent { Ok(1) } else { Err(RecvError::Closed) });
        going.join().unwrap();
        assert!(weak.upgrade().is_none());
    });
}

/// A permit is used, or a waiting sender gets its room.
#[test]
fn models_channel_shared_permit_is_used_or_returned() {
    for is_used in [false, true] {
        explore("shared, room is kept while two wait", Some(2), move || {
            let root = root();
            let (sender, receiver) = bounded(1);
            let permit = sender.try_reserve().unwrap();
            let (one, other) = (sender.clone(), sender.clone());
            let cancelled =
                spawn_below(&root, move |cx| one.reserve(cx).map(|permit| permit.send(Parcel::new(2))).is_ok());
            let stays = spawn(move |cx| send(&other, cx, 3));
            if is_used {
                assert!(permit.send(Parcel::new(1)).is_ok());
            } else {
                drop(permit);
            }
            root.cancel();
            drop(sender);
            let mut sum = 0;
            Thread::new().shielded(|cx| {
                while let Ok(n) = recv(&receiver, cx) {
                    sum += n;
                }
            });
            assert!(stays.join().unwrap());
            assert_eq!(sum, u32::from(is_used) + 2 * u32::from(cancelled.join().unwrap()) + 3);
        });
    }
}

/// A waiting sender gets the room of a dropped permit, and a waiting receiver gets its value.
#[test]
fn models_channel_shared_returned_room_reaches_sender() {
    explore("shared, room is given back while both sides wait", Some(2), || {
        let (sender, receiver) = bounded(1);
        let permit = sender.try_reserve().unwrap();
        let other = sender.clone();
        let receiving = spawn(move |cx| recv(&receiver, cx));
        let sending = spawn(move |cx| send(&other, cx, 1));
        drop(permit);
        assert!(sending.join().unwrap());
        assert_eq!(receiving.join().unwrap(), Ok(1));
    });
}

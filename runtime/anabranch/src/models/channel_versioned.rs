//! Watch and broadcast channels: a waiting receiver sees each new version, and the closing.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::{
    channel::{RecvError, broadcast, watch},
    cx::Cx,
};

fn see(receiver: &mut watch::Receiver<Parcel>, cx: &Cx<'_>) -> Result<u32, RecvError> {
    receiver.recv(cx).map(|parcel| parcel.look())
}

/// Receives the next value, and ignores missed ones.
fn recv(receiver: &mut broadcast::Receiver<Parcel>, cx: &Cx<'_>) -> Result<u32, RecvError> {
    loop {
        let missed = receiver.lagged();
        match receiver.recv(cx) {
            Ok(parcel) => return Ok(parcel.look()),
            Err(broadcast::RecvError::Lagged(more)) => assert_eq!(receiver.lagged(), missed + more),
            Err(broadcast::RecvError::Closed) => return Err(RecvError::Closed),
            Err(broadcast::RecvError::Cancelled) => return Err(RecvError::Cancelled),
        }
    }
}

#[test]
fn models_channel_watch_receivers_see_latest() {
    explore("watch, two wait", Some(2), || {
        let (sender, mut receiver) = watch::channel(Parcel::new(0));
        let mut other = receiver.clone();
        let waiting = spawn(move |cx| assert_eq!(see(&mut other, cx), Ok(1)));
        let sending = spawn(move |_| sender.send(Parcel::new(1)));
        Thread::new().shielded(|cx| {
            assert_eq!(see(&mut receiver, cx), Ok(1));
            assert_eq!(see(&mut receiver, cx), Err(RecvError::Closed));
        });
        waiting.join().unwrap();
        sending.join().unwrap().unwrap();
    });
}

/// Two threads publish. A waiting receiver finally sees the later value, and sees no value twice.
#[test]
fn models_channel_watch_two_senders_publish() {
    explore("watch, two publish", Some(2), || {
        let (sender, mut receiver) = watch::channel(Parcel::new(0));
        let other = sender.clone();
        let sending = [(sender, 1), (other, 2)].map(|(sender, n)| spawn(move |_| sender.send(Parcel::new(n))));
        Thread::new().shielded(|cx| {
            let mut seen = 0;
            while let Ok(n) = see(&mut receiver, cx) {
                assert!(n != seen && n > 0);
                seen = n;
            }
            assert_eq!(receiver.get().look(), seen);
        });
        sending.into_iter().for_each(|sending| sending.join().unwrap().unwrap());
    });
}

/// The first receiver in the queue is cancelled during a send. The other receiver is woken nevertheless.
#[test]
fn models_channel_watch_cancelled_receiver_keeps_no_wakeup() {
    explore("watch, one of two is cancelled", Some(2), || {
        let root = root();
        let (sender, mut receiver) = watch::channel(Parcel::new(0));
        let mut other = receiver.clone();
        let cancelled = spawn_below(&root, move |cx| see(&mut receiver, cx));
        let stays = spawn(move |cx| see(&mut other, cx));
        let canceller = spawn(move |_| root.cancel());
        sender.send(Parcel::new(1)).unwrap();
        assert_eq!(stays.join().unwrap(), Ok(1));
        assert!(matches!(cancelled.join().unwrap(), Ok(1) | Err(RecvError::Cancelled)));
        canceller.join().unwrap();
    });
}

/// Each value is received, or counted as missed.
#[test]
fn models_channel_broadcast_receives_or_counts_every_value() {
    explore("broadcast, room for one", Some(2), || {
        let (sender, mut receiver) = broadcast::channel(1);
        let sending = spawn(move |_| assert!((1..=3).all(|n| sender.send(Parcel::new(n)).is_ok())));
        Thread::new().shielded(|cx| {
            let (mut seen, mut last) = (0, 0);
            while let Ok(n) = recv(&mut receiver, cx) {
                assert!(n > last);
                (seen, last) = (seen + 1, n);
                assert_eq!(seen + receiver.lagged(), u64::from(last));
            }
            assert_eq!(last, 3);
        });
        sending.join().unwrap();
    });
}

#[test]
fn models_channel_broadcast_reaches_two_receivers() {
    explore("broadcast, two receivers", Some(2), || {
        let (sender, mut receiver) = broadcast::channel(2);
        let mut other = receiver.clone();
        let hear_all = |receiver: &mut broadcast::Receiver<Parcel>, cx: &Cx<'_>| {
            assert_eq!(recv(receiver, cx), Ok(1));
            assert_eq!(recv(receiver, cx), Err(RecvError::Closed));
        };
        let waiting = spawn(move |cx| hear_all(&mut other, cx));
        let sending = spawn(move |_| assert!(sender.send(Parcel::new(1)).is_ok()));
        Thread::new().shielded(|cx| hear_all(&mut receiver, cx));
        waiting.join().unwrap();
        sending.join().unwrap();
    });
}

/// A send returns the value if and only if there is no receiver.
#[test]
fn models_channel_broadcast_last_receiver_drops_during_send() {
    explore("broadcast, the receiver goes", None, || {
        let (sender, receiver) = broadcast::channel(1);
        let going = spawn(move |_| drop(receiver));
        match sender.send(Parcel::new(1)) {
            Ok(()) => {}
            Err(back) => assert!(sender.is_closed() && back.into_inner().open() == 1),
        }
        going.join().unwrap();
        assert!(sender.send(Parcel::new(2)).is_err());
    });
}

/// The channel closes while one thread waits and another sends. The receiver gets the sent values, and then the end.
#[test]
fn models_channel_broadcast_closes_during_send() {
    explore("broadcast, closed while one waits", Some(2), || {
        let (sender, mut receiver) = broadcast::channel(1);
        let other = sender.clone();
        let sending = spawn(move |_| sender.send(Parcel::new(1)).is_ok());
        let closing = spawn(move |_| {
            other.close();
            other
        });
        Thread::new().shielded(|cx| {
            let is_received = recv(&mut receiver, cx).is_ok();
            assert_eq!(sending.join().unwrap(), is_received);
            assert_eq!(recv(&mut receiver, cx), Err(RecvError::Closed));
        });
        assert!(closing.join().unwrap().send(Parcel::new(2)).is_err());
    });
}

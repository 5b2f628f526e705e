//! Channels between threads without a `Cx`. A thread that waits for room is woken and retries, and wakes the next one.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, spawn},
};
use crate::{
    channel::{Receiver, Sender, bounded, oneshot, rendezvous, spsc},
    cx::Operation,
    wait::TimedOut,
};
use loom::thread;
use std::time::Duration;

/// Returns a channel that has this many values and no room.
fn full(capacity: usize) -> (Sender<Parcel>, Receiver<Parcel>) {
    let (sender, receiver) = bounded(capacity);
    (0..capacity).for_each(|_| assert!(sender.try_send(Parcel::new(0)).is_ok()));
    (sender, receiver)
}

fn send(sender: Sender<Parcel>, value: u32) -> thread::JoinHandle<bool> {
    thread::spawn(move || sender.send_blocking(Parcel::new(value)).is_ok())
}

fn recv(receiver: &Receiver<Parcel>) -> Option<u32> {
    receiver.recv_blocking().ok().map(Parcel::open)
}

#[test]
fn models_channel_shared_blocking_values_arrive() {
    for make in [|| bounded(1), rendezvous] {
        explore("blocking, two senders", Some(2), move || {
            let (sender, receiver) = make();
            let sending = [send(sender.clone(), 1), send(sender, 2)];
            let got = [recv(&receiver), recv(&receiver)];
            assert!(got == [Some(1), Some(2)] || got == [Some(2), Some(1)]);
            assert!(recv(&receiver).is_none() && sending.into_iter().all(|sending| sending.join().unwrap()));
        });
    }
    explore("blocking, stream and oneshot", Some(3), || {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let (reply, mut replied) = oneshot::channel();
        let sending = thread::spawn(move || {
            (1..=2).for_each(|n| assert!(sender.send_blocking(Parcel::new(n)).is_ok()));
            drop(sender);
            replied.recv_blocking().map(Parcel::open)
        });
        assert!(receiver.iter_blocking().map(Parcel::open).eq([1, 2]));
        assert!(reply.send(Parcel::new(3)).is_ok());
        assert_eq!(sending.join().unwrap(), Ok(3));
    });
}

/// Two senders wait, and room for both is made while the first has been woken and has not retried.
#[test]
fn models_channel_shared_blocking_woken_sender_wakes_next() {
    explore("blocking, room for two waiting senders", Some(2), || {
        let (sender, receiver) = full(2);
        let sending = [send(sender.clone(), 1), send(sender, 2)];
        assert!(receiver.try_recv().is_ok() && receiver.try_recv().is_ok());
        // No more room is made.
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
        assert_eq!(recv(&receiver).unwrap() + recv(&receiver).unwrap(), 3);
    });
    explore("blocking, room for two waiting reservations", Some(2), || {
        let (sender, receiver) = full(2);
        let reserve = |sender: Sender<Parcel>| {
            thread::spawn(move || sender.reserving().blocking().unwrap().send(Parcel::new(1)).is_ok())
        };
        let sending = [reserve(sender.clone()), reserve(sender)];
        assert!(receiver.try_recv().is_ok() && receiver.try_recv().is_ok());
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
        assert_eq!(recv(&receiver).unwrap() + recv(&receiver).unwrap(), 2);
    });
}

/// A thread and a fiber wait for room, in either order.
#[test]
fn models_channel_shared_blocking_woken_sender_wakes_fiber() {
    explore("blocking, a thread and a fiber send", Some(2), || {
        let (sender, receiver) = full(2);
        let other = sender.clone();
        let sending = send(sender, 1);
        let fiber = spawn(move |cx| other.send(cx, Parcel::new(2)).is_ok());
        assert!(receiver.try_recv().is_ok() && receiver.try_recv().is_ok());
        assert!(sending.join().unwrap() && fiber.join().unwrap());
        Thread::new().shielded(|cx| {
            assert_eq!(receiver.recv(cx).unwrap().open() + receiver.recv(cx).unwrap().open(), 3);
        });
    });
}

/// A send times out while room is made. Its value is sent or returned, and the other sender gets the room.
#[test]
fn models_channel_shared_blocking_late_send_returns_or_delivers_value() {
    explore("blocking, one of two sends times out", Some(2), || {
        let (sender, receiver) = full(1);
        let late = thread::spawn({
            let sender = sender.clone();
            move || {
                let mut send = sender.sending(Parcel::new(1));
                match send.blocking_timeout(Duration::from_secs(1)) {
                    Ok(sent) => sent.is_ok(),
                    Err(TimedOut) => send.into_inner().unwrap().open() != 1,
                }
            }
        });
        let sending = send(sender, 2);
        let sum: u32 = receiver.iter_blocking().map(Parcel::open).sum();
        assert_eq!(sum, 2 + u32::from(late.join().unwrap()));
        assert!(sending.join().unwrap());
    });
}

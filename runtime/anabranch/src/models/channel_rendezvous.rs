//! The hand-over of a rendezvous: a value belongs to the receiver whose wait it ends, or stays with its sender.
//!
//! Each model counts the values: an `Ok` on one side means a value on the other. The parcels find a value that is left
//! over or dropped twice. loom finds a lost wake-up, as a thread that sleeps at the end.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::{
    channel::{Receiver, RecvError, Select, Sender, TryRecvError, rendezvous},
    cx::{Cx, Operation},
    sys::parker::Parker,
    wait::WaitError,
};
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

/// In a model a deadline may have passed at any time.
const LONG: Duration = Duration::from_secs(3600);

fn try_send(sender: &Sender<Parcel>, value: u32) -> bool {
    sender.try_send(Parcel::new(value)).is_ok()
}

fn recv(receiver: &Receiver<Parcel>, cx: &Cx<'_>) -> Result<u32, RecvError> {
    receiver.recv(cx).map(Parcel::open)
}

/// Asserts that the channel is empty and that no sender waits.
fn assert_bare(receiver: &Receiver<Parcel>) {
    assert!(receiver.is_empty());
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)));
}

/// Polls a future once. Drops it if it is not ready.
fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Polls a future until it is ready, and sleeps until a wake-up in between.
fn block_on<F: Future>(future: F) -> F::Output {
    let bell = Arc::new(Bell(Parker::new()));
    let waker = Waker::from(Arc::clone(&bell));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => bell.0.park(),
        }
    }
}

/// Wakes a sleeping task.
struct Bell(Parker);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The receiver is cancelled while a sender that does not wait chooses it.
#[test]
fn models_channel_rendezvous_receive_is_cancelled_while_chosen() {
    explore("rendezvous, the chosen receive is cancelled", Some(3), || {
        let root = root();
        let (sender, receiver) = rendezvous();
        let other = receiver.clone();
        let receiving = spawn_below(&root, move |cx| recv(&other, cx));
        let sending = spawn(move |_| try_send(&sender, 1));
        root.cancel();
        let is_sent = sending.join().unwrap();
        assert_eq!(receiving.join().unwrap().is_ok(), is_sent);
        assert_bare(&receiver);
    });
}

/// The deadline of the receiver passes while a sender chooses it, or while one of two arms is chosen.
#[test]
fn models_channel_rendezvous_receive_times_out_while_chosen() {
    for is_selection in [false, true] {
        explore("rendezvous, the chosen receive times out", Some(3), move || {
            let (sender, receiver) = rendezvous::<Parcel>();
            let other = receiver.clone();
            let receiving = spawn(move |cx| {
                if !is_selection {
                    return match other.receiving().timeout(cx, LONG) {
                        Ok(parcel) => Some(parcel.unwrap().open()),
                        Err(error) => {
                            assert_eq!(error, WaitError::TimedOut);
                            None
                        }
                    };
                }
                let mut select = Select::from_iter([other.receiving(), other.receiving()]).biased();
                select.timeout(cx, LONG).ok().map(|(_, got)| got.unwrap().open())
            });
            let is_sent = try_send(&sender, 1);
            assert_eq!(receiving.join().unwrap().is_some(), is_sent);
            assert_bare(&receiver);
        });
    }
}

/// Two senders that do not wait choose one receiver, which then takes a second value.
#[test]
fn models_channel_rendezvous_two_senders_share_receiver() {
    explore("rendezvous, two that do not wait", Some(2), || {
        let (sender, receiver) = rendezvous();
        let other = sender.clone();
        let sending = spawn(move |_| try_send(&other, 1));
        let receiving = spawn(move |cx| {
            let mut sum = 0;
            while let Ok(n) = recv(&receiver, cx) {
                sum += n;
            }
            assert_bare(&receiver);
            sum
        });
        let sent = u32::from(try_send(&sender, 2)) * 2 + u32::from(sending.join().unwrap());
        drop(sender);
        assert_eq!(receiving.join().unwrap(), sent);
    });
}

/// The channel closes while a sender chooses the receiver. A value that was sent is still received.
#[test]
fn models_channel_rendezvous_closes_while_receiver_is_chosen() {
    explore("rendezvous, closed while a receiver is chosen", Some(3), || {
        let (sender, receiver) = rendezvous();
        let (other, closing) = (receiver.clone(), sender.clone());
        let receiving = spawn(move |cx| recv(&other, cx));
        let closing = spawn(move |_| closing.close());
        let was_closed = sender.is_closed();
        let is_sent = try_send(&sender, 1);
        assert!(!(was_closed && is_sent), "sent after the end");
        let got = receiving.join().unwrap();
        assert_eq!(got, if is_sent { Ok(1) } else { Err(RecvError::Closed) });
        closing.join().unwrap();
        assert_bare(&receiver);
    });
}

/// A receive future is polled and dropped during sends. A sender that does not wait never pairs with the future. A
/// sender that waits pairs with the receiver behind it.
#[test]
fn models_channel_rendezvous_future_drops_during_send() {
    explore("rendezvous, a future is dropped", Some(2), || {
        let (sender, receiver) = rendezvous();
        let (others, behind) = (receiver.clone(), receiver.clone());
        let dropped = spawn(move |_| {
            poll_once(others.receiving().into_future()).is_some_and(|got| got.map(Parcel::open) == Ok(1))
        });
        let stays = spawn(move |_| block_on(behind.receiving().into_future()).map(Parcel::open));
        assert!(!try_send(&sender, 9));
        Thread::new().shielded(|cx| {
            assert!(sender.send(cx, Parcel::new(1)).is_ok());
            if dropped.join().unwrap() {
                assert!(sender.send(cx, Parcel::new(1)).is_ok());
            }
        });
        assert_eq!(stays.join().unwrap(), Ok(1));
        assert_bare(&receiver);
    });
}

/// A sending future and a receiving future on two threads pair. Neither is dropped.
#[test]
fn models_channel_rendezvous_two_futures_pair() {
    explore("rendezvous, two futures", Some(3), || {
        let (sender, receiver) = rendezvous();
        let sending = spawn(move |_| block_on(sender.sending(Parcel::new(1)).into_future()).is_ok());
        assert_eq!(block_on(receiver.receiving().into_future()).map(Parcel::open), Ok(1));
        assert!(sending.join().unwrap());
        assert_bare(&receiver);
    });
}

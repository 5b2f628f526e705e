//! One-shot channels and streams: each sent value is received once, with all earlier writes of its sender. Every waiter
//! is woken, and a cancelled waiter leaves nothing behind.

use super::{explore, parcel::Parcel};
use crate::{
    channel::{
        closing::CloseWait,
        packet::{self, State},
        spsc::stream::{consumer::Consumer, producer::Producer, stream, wait::StreamWait},
    },
    cx::attempt::Attempt,
    sys::sync::Arc,
    wait::{
        parked::Parked,
        state_word::WaitNode,
        waitable::{Armed, Ended},
        waiter::{Selected, Waiter},
    },
};
use loom::thread;
use std::collections::VecDeque;

/// The owner of a waiter in a model. It parks.
#[derive(Clone)]
struct Owner(Arc<Parked>);

impl Owner {
    fn new() -> Self {
        Self(Parked::new())
    }

    /// Waits like `Cx::wait`. Returns `false` if the wait was cancelled.
    fn wait(&self, register: impl FnOnce(Armed) -> bool, unregister: impl FnOnce(Ended)) -> bool {
        self.0.waiter.arm(std::ptr::null());
        // SAFETY: the waiter is armed. The callers keep what they register it at until the end of this wait.
        if !register(unsafe { Armed::new(&raw const self.0.waiter, 0) }) {
            if self.0.waiter.disarm() {
                return true;
            }
            return self.0.waiter.selected() != Some(Selected::Cancelled);
        }
        while self.0.waiter.selected().is_none() {
            self.0.parker.park();
        }
        let was_selected = self.0.waiter.selected() != Some(Selected::Cancelled);
        // SAFETY: the waiter was registered, and the wait has ended.
        unregister(unsafe { Ended::new(was_selected) });
        was_selected
    }

    /// Ends the wait, like a deadline or a scope.
    fn cancel(&self) {
        // SAFETY: the waiter is alive.
        if let Some(wake) = unsafe { Waiter::try_select(&raw const self.0.waiter, Selected::Cancelled) } {
            wake.wake();
        }
    }
}

fn recv_once(owner: &Owner, end: packet::Receiving<Parcel>) -> Result<u32, packet::Receiving<Parcel>> {
    loop {
        match end.state() {
            // SAFETY: the slot is full, and only this end takes from it.
            State::Full => return Ok(unsafe { end.take::<Parcel>() }.open()),
            State::Closed => return Err(end),
            State::Empty => {}
        }
        let node = WaitNode::new();
        let is_ready = owner.wait(|armed| end.register(&node, armed), |ended| end.unregister(&node, ended));
        if !is_ready {
            return Err(end);
        }
    }
}

#[test]
fn models_channel_oneshot_value_arrives() {
    explore("oneshot, send", None, || {
        let (sender, receiver) = packet::packet();
        let sending = thread::spawn(move || assert!(sender.send(Parcel::new(7)).is_ok()));
        assert_eq!(recv_once(&Owner::new(), receiver).ok(), Some(7));
        sending.join().unwrap();
    });
}

#[test]
fn models_channel_dropped_oneshot_sender_closes() {
    explore("oneshot, sender dropped", None, || {
        let (sender, receiver) = packet::packet::<Parcel>();
        let going = thread::spawn(move || drop(sender));
        assert!(recv_once(&Owner::new(), receiver).is_err());
        going.join().unwrap();
    });
}

#[test]
fn models_channel_oneshot_receiver_drops_during_send() {
    explore("oneshot, receiver dropped", None, || {
        let (sender, receiver) = packet::packet();
        let sending = thread::spawn(move || sender.send(Parcel::new(7)).is_err_and(|back| back.open() == 7));
        // It comes back if it was refused.
        let is_refused = receiver.refuse().is_ok();
        assert_eq!(sending.join().unwrap(), is_refused);
    });
}

#[test]
fn models_channel_oneshot_receive_is_cancelled_during_send() {
    explore("oneshot, receiver cancelled", Some(3), || {
        let (sender, receiver) = packet::packet();
        let owner = Owner::new();
        let canceller = owner.clone();
        let sending = thread::spawn(move || drop(sender.send(Parcel::new(7))));
        let cancelling = thread::spawn(move || canceller.cancel());
        // Received, or still there to be dropped.
        if let Err(receiver) = recv_once(&owner, receiver) {
            drop(receiver);
        }
        sending.join().unwrap();
        cancelling.join().unwrap();
    });
}

/// Waits until there is no receiver. Returns whether the wait was cancelled.
fn is_cancelled_before_close<A: Attempt>(owner: &Owner, operation: &A) -> bool {
    loop {
        if operation.attempt().is_some() {
            return false;
        }
        let is_ready = owner.wait(|armed| operation.register(armed), |ended| operation.unregister(ended));
        if !is_ready {
            return true;
        }
    }
}

/// A sender that has seen the end of the receiver sends nothing any more, also if the receiver closes and stays.
#[test]
fn models_channel_oneshot_sender_sees_end_of_receiver() {
    for is_dropped in [false, true] {
        explore("oneshot, sender waits for the end", None, move || {
            let (mut sender, receiver) = packet::packet();
            let going =
                thread::spawn(move || if is_dropped { drop(receiver) } else { assert!(receiver.refuse().is_ok()) });
            assert!(!is_cancelled_before_close(&Owner::new(), &sender.closing()));
            assert!(sender.is_refused() && sender.send(Parcel::new(7)).is_err_and(|back| back.open() == 7));
            going.join().unwrap();
        });
    }
}

/// The sender frees the packet while the receiver still ends its wait.
#[test]
fn models_channel_oneshot_sender_leaves_while_receiver_ends() {
    explore("oneshot, cancelled sender", Some(3), || {
        let (mut sender, receiver) = packet::packet::<Parcel>();
        let owner = Owner::new();
        let canceller = owner.clone();
        let going = thread::spawn(move || drop(receiver));
        let cancelling = thread::spawn(move || canceller.cancel());
        is_cancelled_before_close(&owner, &sender.closing());
        drop((sender, owner));
        going.join().unwrap();
        cancelling.join().unwrap();
    });
}

#[test]
fn models_channel_stream_sender_sees_end_of_receiver() {
    explore("stream, sender waits for the end", Some(3), || {
        let (producer, consumer) = stream::<Parcel>(Some(1));
        let going = thread::spawn(move || drop(consumer));
        assert!(!is_cancelled_before_close(&Owner::new(), &CloseWait::new(&producer.at.shared().closing)));
        assert!(producer.is_closed());
        going.join().unwrap();
    });
}

/// Returns `None` if the channel is closed, and `Some(None)` if the wait was cancelled.
fn recv(owner: &Owner, consumer: &mut Consumer<Parcel>) -> Option<Option<u32>> {
    loop {
        match consumer.pop::<Parcel>() {
            Some(Ok(parcel)) => return Some(Some(parcel.open())),
            Some(Err(_)) => return None,
            None => {}
        }
        let wait = StreamWait::new();
        let is_ready = owner
            .wait(|armed| wait.register_consumer(consumer, armed), |ended| wait.unregister_consumer(consumer, ended));
        if !is_ready {
            return Some(None);
        }
    }
}

/// Returns whether the value was sent.
fn send(owner: &Owner, producer: &mut Producer<Parcel>, value: u32) -> bool {
    let mut parcel = Parcel::new(value);
    loop {
        match producer.push(parcel) {
            Ok(()) => return true,
            Err((crate::channel::PushError::Closed, _)) => return false,
            Err((crate::channel::PushError::Full, back)) => parcel = back,
        }
        let wait = StreamWait::new();
        owner.wait(|armed| wait.register_producer(producer, armed), |ended| wait.unregister_producer(producer, ended));
    }
}

fn values_go_through(capacity: Option<usize>, count: u32) {
    let (mut producer, mut consumer) = stream(capacity);
    let sending = thread::spawn(move || {
        let owner = Owner::new();
        assert!((1..=count).all(|n| send(&owner, &mut producer, n)));
    });
    let owner = Owner::new();
    for n in 1..=count {
        assert_eq!(recv(&owner, &mut consumer), Some(Some(n)));
    }
    assert_eq!(recv(&owner, &mut consumer), None);
    sending.join().unwrap();
}

#[test]
fn models_channel_unbounded_stream_keeps_order() {
    explore("stream, unbounded, over two slabs", Some(3), || values_go_through(None, 3));
}

#[test]
fn models_channel_stream_of_capacity_one_keeps_order() {
    explore("stream, bounded, sender waits", Some(3), || values_go_through(Some(1), 2));
}

#[test]
fn models_channel_batch_arrives() {
    explore("stream, batch", Some(3), || {
        let (mut producer, mut consumer) = stream(Some(2));
        let sending = thread::spawn(move || {
            let mut values: VecDeque<_> = (1..=2).map(Parcel::new).collect();
            assert!(producer.push_all(&mut values).is_ok() && values.is_empty());
        });
        let owner = Owner::new();
        assert_eq!(recv(&owner, &mut consumer), Some(Some(1)));
        assert_eq!(recv(&owner, &mut consumer), Some(Some(2)));
        assert_eq!(recv(&owner, &mut consumer), None);
        sending.join().unwrap();
    });
}

/// A send succeeds if and only if the receiver that has closed the stream gets the value.
#[test]
fn models_channel_receiver_closes_during_send() {
    for capacity in [Some(1), None] {
        explore("stream, receiver closes", Some(3), move || {
            let (mut producer, mut consumer) = stream(capacity);
            let sending = thread::spawn(move || send(&Owner::new(), &mut producer, 1));
            consumer.close();
            let is_received = matches!(consumer.pop::<Parcel>(), Some(Ok(_)));
            assert!(consumer.pop::<Parcel>().is_some_and(|end| end.is_err()));
            assert_eq!(sending.join().unwrap(), is_received);
        });
    }
}

/// The drop of the receiver wakes a sender that waits for room, and no value is leaked.
#[test]
fn models_channel_dropped_receiver_wakes_sender() {
    explore("stream, receiver dropped", Some(3), || {
        let (mut producer, consumer) = stream(Some(1));
        let sending = thread::spawn(move || {
            let owner = Owner::new();
            send(&owner, &mut producer, 1) && send(&owner, &mut producer, 2)
        });
        drop(consumer);
        sending.join().unwrap();
    });
}

/// The receiver's wait is cancelled during a send. The receiver gets the value then, or at its next receive.
#[test]
fn models_channel_cancelled_receive_loses_nothing() {
    explore("stream, receiver cancelled", Some(2), || {
        let (mut producer, mut consumer) = stream(None);
        let owner = Owner::new();
        let canceller = owner.clone();
        let sending = thread::spawn(move || assert!(send(&Owner::new(), &mut producer, 1)));
        let cancelling = thread::spawn(move || canceller.cancel());
        let mut got = recv(&owner, &mut consumer);
        cancelling.join().unwrap();
        if got == Some(None) {
            got = recv(&owner, &mut consumer);
        }
        assert_eq!(got, Some(Some(1)));
        sending.join().unwrap();
    });
}

/// One thread uses both ends and becomes the owner. Then another thread uses one of them.
fn an_end_goes(capacity: Option<usize>, goes_the_receiver: bool) {
    let (mut producer, mut consumer) = stream(capacity);
    let owner = Owner::new();
    for n in 1..=2 {
        assert!(send(&owner, &mut producer, n));
        assert_eq!(recv(&owner, &mut consumer), Some(Some(n)));
    }
    if capacity.is_none() {
        // As many as leave a slab behind, for the sender to fill again, while one more is under way.
        (11..=13).for_each(|n| assert!(send(&owner, &mut producer, n)));
        (11..=12).for_each(|n| assert_eq!(recv(&owner, &mut consumer), Some(Some(n))));
        assert!(send(&owner, &mut producer, 14));
        (13..=14).for_each(|n| assert_eq!(recv(&owner, &mut consumer), Some(Some(n))));
    }
    let receive = |mut consumer: Consumer<Parcel>| {
        let owner = Owner::new();
        assert_eq!(recv(&owner, &mut consumer), Some(Some(3)));
        assert_eq!(recv(&owner, &mut consumer), None);
    };
    if goes_the_receiver {
        let receiving = thread::spawn(move || receive(consumer));
        assert!(send(&owner, &mut producer, 3));
        drop(producer);
        receiving.join().unwrap();
    } else {
        let sending = thread::spawn(move || assert!(send(&Owner::new(), &mut producer, 3)));
        receive(consumer);
        sending.join().unwrap();
    }
}

#[test]
fn models_channel_end_of_owned_stream_moves() {
    explore("stream, owned, the receiver goes", Some(2), || an_end_goes(None, true));
    explore("stream, owned, the sender goes", Some(2), || an_end_goes(None, false));
    explore("stream, owned, bounded, the receiver goes", Some(2), || an_end_goes(Some(1), true));
}

/// The owner fills the last slot of a slab. The receiver, now on another thread, frees the slab.
#[test]
fn models_channel_end_of_owned_stream_moves_at_end_of_slab() {
    explore("stream, owned, the last slot of a slab", Some(2), || {
        let (mut producer, mut consumer) = stream(None);
        let owner = Owner::new();
        assert!(send(&owner, &mut producer, 1));
        assert_eq!(recv(&owner, &mut consumer), Some(Some(1)));
        let receiving = thread::spawn(move || {
            let owner = Owner::new();
            assert_eq!(recv(&owner, &mut consumer), Some(Some(2)));
        });
        send(&owner, &mut producer, 2);
        receiving.join().unwrap();
    });
}

/// The end that has moved ends the wait of the owner, whether the wait began before the move or after it.
#[test]
fn models_channel_end_of_owned_stream_moves_and_drops() {
    explore("stream, owned, the sender is dropped elsewhere", Some(2), || {
        let (mut producer, mut consumer) = stream(None);
        let owner = Owner::new();
        for n in 1..=2 {
            assert!(send(&owner, &mut producer, n));
            assert_eq!(recv(&owner, &mut consumer), Some(Some(n)));
        }
        let going = thread::spawn(move || drop(producer));
        assert_eq!(recv(&owner, &mut consumer), None);
        going.join().unwrap();
    });
}

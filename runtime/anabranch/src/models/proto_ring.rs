//! The slots of a bounded conversation. A sent message is received once, with all earlier writes of its sender. A
//! waiting end is woken, also by the drop of the other end. A message that is never received is dropped once, and the
//! block is freed once.

use super::{explore, parcel::Parcel};
use crate::{
    proto::ring::Ring,
    sys::sync::Arc,
    wait::{
        latch::LatchWait,
        parked::Parked,
        state_word::WaitNode,
        waitable::{Armed, Ended, Waitable},
        waiter::{Selected, Waiter},
    },
};
use loom::thread;

/// The owner of a waiter in a model. It parks.
#[derive(Clone)]
struct Owner(Arc<Parked>);

impl Owner {
    fn new() -> Self {
        Self(Parked::new())
    }

    /// Waits for a message like `Cx::wait`. Returns `None` if the wait was cancelled, and `Some(None)` if the other end
    /// is gone.
    fn recv<const N: usize>(&self, end: &mut Ring<Parcel, N>) -> Option<Option<u32>> {
        loop {
            if let Some(received) = end.recv() {
                return Some(received.ok().map(Parcel::open));
            }
            let waiter = &self.0.waiter;
            let node = WaitNode::new();
            waiter.arm(std::ptr::null());
            // SAFETY: the waiter is armed, and unregistered before the node ends.
            let is_registered = end.register(&node, unsafe { Armed::new(waiter, 0) });
            if !is_registered && waiter.disarm() {
                continue;
            }
            while waiter.selected().is_none() {
                self.0.parker.park();
            }
            let was_cancelled = waiter.selected() == Some(Selected::Cancelled);
            if is_registered {
                // SAFETY: registered, and the wait has ended.
                end.unregister(&node, unsafe { Ended::new(!was_cancelled) });
            }
            if was_cancelled {
                return None;
            }
        }
    }

    /// Waits until the other end of a watched pair is gone.
    fn watch<const N: usize>(&self, end: &Ring<Parcel, N>) {
        let waiter = &self.0.waiter;
        while !end.watch().is_notified() {
            let wait = LatchWait::new(end.watch());
            waiter.arm(std::ptr::null());
            // SAFETY: the waiter is armed, and unregistered before the wait ends.
            let is_registered = wait.register(unsafe { Armed::new(waiter, 0) });
            if !is_registered && waiter.disarm() {
                continue;
            }
            while waiter.selected().is_none() {
                self.0.parker.park();
            }
            if is_registered {
                // SAFETY: registered, and the wait has ended.
                wait.unregister(unsafe { Ended::new(true) });
            }
        }
    }

    /// Ends the wait, like a deadline or a scope.
    fn cancel(&self) {
        // SAFETY: the waiter is alive.
        if let Some(wake) = unsafe { Waiter::try_select(&raw const self.0.waiter, Selected::Cancelled) } {
            wake.wake();
        }
    }
}

#[test]
fn models_proto_sides_take_turns_and_reuse_slots() {
    explore("conversation, turns", Some(3), || {
        let (mut client, mut server) = Ring::<_, 2>::pair(1);
        let serving = thread::spawn(move || {
            let owner = Owner::new();
            assert_eq!(owner.recv(&mut server), Some(Some(1)));
            assert!(server.send(Parcel::new(2)).is_ok());
            assert_eq!(owner.recv(&mut server), Some(Some(3)));
            server.leave();
        });
        let owner = Owner::new();
        assert!(client.send(Parcel::new(1)).is_ok());
        assert_eq!(owner.recv(&mut client), Some(Some(2)));
        assert!(client.send(Parcel::new(3)).is_ok());
        client.leave();
        serving.join().unwrap();
    });
}

#[test]
fn models_proto_sender_sends_two_messages_in_a_row() {
    explore("conversation, bursts", Some(3), || {
        let (mut client, mut server) = Ring::<_, 3>::pair(1);
        let serving = thread::spawn(move || {
            let owner = Owner::new();
            assert_eq!(owner.recv(&mut server), Some(Some(1)));
            assert_eq!(owner.recv(&mut server), Some(Some(2)));
            assert!(server.send(Parcel::new(3)).is_ok());
            // The slot of the first message.
            assert_eq!(owner.recv(&mut server), Some(Some(4)));
            server.leave();
        });
        let owner = Owner::new();
        assert!(client.send(Parcel::new(1)).is_ok());
        assert!(client.send(Parcel::new(2)).is_ok());
        assert_eq!(owner.recv(&mut client), Some(Some(3)));
        assert!(client.send(Parcel::new(4)).is_ok());
        client.leave();
        serving.join().unwrap();
    });
}

#[test]
fn models_proto_sender_drops() {
    explore("conversation, sender goes", None, || {
        let (mut client, mut server) = Ring::<_, 2>::pair(1);
        let going = thread::spawn(move || {
            assert!(client.send(Parcel::new(1)).is_ok());
            drop(client);
        });
        let owner = Owner::new();
        assert_eq!(owner.recv(&mut server), Some(Some(1)));
        // It may have gone or not; it does not receive this.
        let _ = server.send(Parcel::new(2)).is_ok() && owner.recv(&mut server) == Some(None);
        going.join().unwrap();
    });
}

#[test]
fn models_proto_receiver_drops_during_sends() {
    explore("conversation, receiver goes", Some(4), || {
        let (mut client, server) = Ring::<_, 3>::pair(1);
        let going = thread::spawn(move || drop(server));
        if client.send(Parcel::new(1)).is_ok() && client.send(Parcel::new(2)).is_ok() {
            assert_eq!(Owner::new().recv(&mut client), Some(None));
        }
        assert!(client.is_used_up());
        going.join().unwrap();
    });
}

#[test]
fn models_proto_both_ends_drop() {
    explore("conversation, both go", None, || {
        let (mut client, server) = Ring::<_, 2>::pair(1);
        let going = thread::spawn(move || drop(server));
        let _ = client.send(Parcel::new(1)).is_ok();
        drop(client);
        going.join().unwrap();
    });
}

#[test]
fn models_proto_receive_is_cancelled() {
    explore("conversation, receiver cancelled", Some(3), || {
        let (mut client, mut server) = Ring::<_, 2>::pair(1);
        let owner = Owner::new();
        let canceller = owner.clone();
        let saying = thread::spawn(move || {
            let _ = client.send(Parcel::new(1)).is_ok();
            drop(client);
        });
        let cancelling = thread::spawn(move || canceller.cancel());
        // Received, or still there to be dropped.
        let received = owner.recv(&mut server);
        assert!(matches!(received, None | Some(Some(1))));
        drop(server);
        saying.join().unwrap();
        cancelling.join().unwrap();
    });
}

#[test]
fn models_proto_connection_watches_receiver() {
    explore("conversation, watched", Some(3), || {
        let (mut endpoint, mut wire) = Ring::<_, 2>::watched_pair(1);
        let going = thread::spawn(move || {
            let owner = Owner::new();
            assert_eq!(owner.recv(&mut endpoint), Some(Some(1)));
            drop(endpoint);
        });
        assert!(wire.send(Parcel::new(1)).is_ok());
        // In place of an answer. All messages have been received or dropped by then.
        Owner::new().watch(&wire);
        assert!(wire.is_closed());
        drop(wire);
        going.join().unwrap();
    });
}

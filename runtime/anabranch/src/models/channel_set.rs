//! Sets of receivers. A value may be sent while a member joins, waits, leaves or is dropped. The set receives it, or
//! the thread that holds the member then.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::{
    channel::{Closed, Member, Receiver, ReceiverSet, RecvError, rendezvous, spsc, unbounded},
    cx::Cx,
};

type Set = ReceiverSet<Receiver<Parcel>>;

fn recv(set: &mut Set, cx: &Cx<'_>) -> Result<(Member, Result<u32, Closed>), RecvError> {
    set.recv(cx).map(|(member, got)| (member, got.map(Parcel::open)))
}

#[test]
fn models_channel_set_receives_while_it_waits() {
    for is_rendezvous in [false, true] {
        explore("set, a message, and the end", Some(3), move || {
            let mut set = Set::new();
            let (sender, receiver) = if is_rendezvous { rendezvous() } else { unbounded() };
            let member = set.insert(receiver);
            let sending = spawn(move |cx| assert!(sender.send(cx, Parcel::new(1)).is_ok()));
            Thread::new().shielded(|cx| {
                assert_eq!(recv(&mut set, cx), Ok((member, Ok(1))));
                assert_eq!(recv(&mut set, cx), Ok((member, Err(Closed))));
                assert_eq!(recv(&mut set, cx), Err(RecvError::Closed));
            });
            sending.join().unwrap();
        });
    }
}

#[test]
fn models_channel_set_receives_from_two_members() {
    explore("set, two members", Some(2), || {
        let mut set = Set::new();
        let (one, first) = unbounded();
        let (two, second) = unbounded();
        let members = [set.insert(first), set.insert(second)];
        let senders = [one.clone(), two.clone()];
        let sending = [(one, 0), (two, 1)].map(|(sender, n)| spawn(move |_| sender.try_send(Parcel::new(n)).is_ok()));
        Thread::new().shielded(|cx| {
            let mut got = [recv(&mut set, cx).unwrap(), recv(&mut set, cx).unwrap()];
            got.sort_by_key(|(member, _)| *member);
            assert_eq!(got, [(members[0], Ok(0)), (members[1], Ok(1))]);
        });
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
        drop(senders);
    });
}

/// A receiver of a stream joins the set during a send.
#[test]
fn models_channel_set_member_joins_during_send() {
    explore("set, a member joins while a message comes", Some(3), || {
        let mut set = ReceiverSet::new();
        let (mut sender, receiver) = spsc::unbounded();
        let sending = spawn(move |_| assert!(sender.try_send(Parcel::new(1)).is_ok()));
        let member = set.insert(receiver);
        Thread::new().shielded(|cx| {
            let (got, parcel) = set.recv(cx).unwrap();
            assert_eq!((got, parcel.map(Parcel::open)), (member, Ok(1)));
            assert_eq!(set.recv(cx).map(|(member, got)| (member, got.is_ok())), Ok((member, false)));
        });
        sending.join().unwrap();
    });
}

/// A member is removed during a notification. The value is still there, for the member or for another receiver.
#[test]
fn models_channel_set_member_leaves_during_notification() {
    for is_dropped in [false, true] {
        explore("set, a member leaves while a message comes", Some(2), move || {
            let mut set = Set::new();
            let (sender, receiver) = unbounded();
            let (other, sender_left) = (receiver.clone(), sender.clone());
            let member = set.insert(receiver);
            assert!(set.try_recv().is_err());
            let sending = spawn(move |_| assert!(sender.try_send(Parcel::new(1)).is_ok()));
            let waiting = spawn(move |cx| other.recv(cx).map(Parcel::open));
            if is_dropped {
                drop(set);
            } else {
                assert!(set.remove(member).is_some());
                // The pending notification of a member that has left has no effect.
                assert!(set.try_recv().is_err());
            }
            assert_eq!(waiting.join().unwrap(), Ok(1));
            sending.join().unwrap();
            drop(sender_left);
        });
    }
}

/// A stream joins with a value in it. This thread owns the bias of the stream.
#[test]
fn models_channel_set_owned_stream_joins() {
    explore("set, an owned stream joins with a value", Some(2), || {
        let (mut sender, mut receiver) = spsc::unbounded();
        for n in 1..=2 {
            assert!(sender.try_send(Parcel::new(n)).is_ok());
            assert_eq!(receiver.try_recv().map(Parcel::open), Ok(n));
        }
        assert!(sender.try_send(Parcel::new(3)).is_ok());
        let mut set = ReceiverSet::from_iter([receiver]);
        assert_eq!(set.try_recv().unwrap().1.map(Parcel::open), Ok(3));
    });
}

/// Returns a set of two streams, and their senders. The calling thread has used both ends of the first stream, so it
/// owns the bias of that stream.
fn owned() -> (ReceiverSet<spsc::Receiver<Parcel>>, spsc::Sender<Parcel>, spsc::Sender<Parcel>) {
    let mut set = ReceiverSet::new();
    let (mut one, first) = spsc::unbounded();
    let (other, second) = spsc::unbounded();
    set.insert(first);
    set.insert(second);
    for n in 1..=2 {
        // After the first round this thread owns the bias of the stream.
        assert!(one.try_send(Parcel::new(n)).is_ok());
        assert_eq!(set.try_recv().unwrap().1.map(Parcel::open), Ok(n));
        assert!(set.try_recv().is_err());
    }
    (set, one, other)
}

/// The two sent values, in any order.
fn both(set: &mut ReceiverSet<spsc::Receiver<Parcel>>, cx: &Cx<'_>) {
    let mut got = [0; 2].map(|_| set.recv(cx).unwrap().1.map(Parcel::open).unwrap());
    got.sort_unstable();
    assert_eq!(got, [3, 4]);
}

/// The owner of one stream and another thread notify the set at the same time.
#[test]
fn models_channel_set_owner_and_another_thread_notify() {
    explore("set, owned, two call", Some(2), || {
        let (mut set, mut one, mut other) = owned();
        let sending = spawn(move |_| {
            assert!(other.try_send(Parcel::new(4)).is_ok());
            other
        });
        assert!(one.try_send(Parcel::new(3)).is_ok());
        Thread::new().shielded(|cx| both(&mut set, cx));
        drop(sending.join().unwrap());
    });
}

/// The set moves to another thread while the owner of one stream notifies it.
#[test]
fn models_channel_set_moves_while_owner_notifies() {
    explore("set, owned, it goes", Some(2), || {
        let (mut set, mut one, mut other) = owned();
        assert!(one.try_send(Parcel::new(3)).is_ok());
        let receiving = spawn(move |cx| {
            both(&mut set, cx);
            set
        });
        assert!(other.try_send(Parcel::new(4)).is_ok());
        drop(receiving.join().unwrap());
    });
}

/// The set moves to another thread, which drops it, while the owner of one stream sends.
#[test]
fn models_channel_set_drops_on_another_thread() {
    explore("set, owned, it ends elsewhere", Some(2), || {
        let (set, mut one, mut other) = owned();
        assert!(one.try_send(Parcel::new(3)).is_ok());
        let ending = spawn(move |_| drop(set));
        drop(other.try_send(Parcel::new(4)));
        ending.join().unwrap();
    });
}

/// This thread has used both ends of a stream. Its sender sends from another thread, while the member begins to wait.
#[test]
fn models_channel_set_sender_moves_while_member_registers() {
    explore("set, the sender of an owned stream goes", Some(2), || {
        let (mut set, mut one, _other) = owned();
        assert!(one.try_send(Parcel::new(3)).is_ok());
        let sending = spawn(move |_| {
            assert!(one.try_send(Parcel::new(4)).is_ok());
            one
        });
        Thread::new().shielded(|cx| both(&mut set, cx));
        drop(sending.join().unwrap());
    });
}

#[test]
fn models_channel_set_wait_is_cancelled() {
    explore("set, cancelled while a message comes", Some(2), || {
        let root = root();
        let (sender, receiver) = unbounded();
        let cancelled = spawn_below(&root, move |cx| {
            let mut set = Set::from_iter([receiver]);
            let got = recv(&mut set, cx);
            (set, got)
        });
        let sending = spawn(move |_| assert!(sender.try_send(Parcel::new(1)).is_ok()));
        root.cancel();
        let (mut set, mut got) = cancelled.join().unwrap();
        if got == Err(RecvError::Cancelled) {
            got = Thread::new().shielded(|cx| recv(&mut set, cx));
        }
        assert_eq!(got.unwrap().1, Ok(1));
        sending.join().unwrap();
    });
}

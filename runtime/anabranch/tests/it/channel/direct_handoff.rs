//! Values that a sender writes directly to a waiting receiver, and operations that are forgotten before they complete:
//! bugs of other crates, tried on these channels.
//!
//! Each test is named after the report, as in `bugs_of_other_crates`.

use crate::common::{Counted, Tally, waits::Polled};
use anabranch::{
    channel::{
        Receiver, ReceiverSet, Sender, TryRecvError, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch,
    },
    select,
};
use std::{cell::RefCell, mem};

/// The number of messages after which a stream detects that one thread has both ends.
const TURNS: usize = if cfg!(miri) { 20 } else { 1000 };

/// A value of one size, with memory of its own: it shows if it is dropped where it never was, or twice.
struct Owned {
    text: String,
    _counted: Counted,
}

fn owned(tally: &Tally) -> Owned {
    Owned { text: "whole".repeat(3), _counted: tally.make() }
}

/// The sender *assigned* the value to the memory of the waiting receiver, so the uninitialised value there was dropped.
#[test]
fn kanal_17_value_for_waiting_receiver_arrives_intact() {
    check_handing_over(owned, |value| assert_eq!(value.text, "wholewholewhole"));
    // And a zero-sized value with a destructor.
    check_handing_over(Nil::new, |_| ());
}

/// No bytes, and a destructor.
struct Nil(());

thread_local!(static NILS: RefCell<Vec<Counted>> = const { RefCell::new(Vec::new()) });

impl Nil {
    fn new(tally: &Tally) -> Self {
        NILS.with_borrow_mut(|nils| nils.push(tally.make()));
        Self(())
    }
}

impl Drop for Nil {
    fn drop(&mut self) {
        drop(NILS.with_borrow_mut(|nils| nils.pop()).expect("no more are dropped than were made"));
    }
}

fn shared_channels<T>() -> [(Sender<T>, Receiver<T>); 4] {
    [rendezvous(), bounded(1), bounded(50), unbounded()]
}

fn check_handing_over<T>(make: impl Fn(&Tally) -> T, look: impl Fn(T)) {
    let tally = Tally::default();
    let all = |got: Vec<T>| got.into_iter().for_each(&look);
    for (sender, receiver) in shared_channels() {
        // To a waiting receiver, in each form of waiting. In a rendezvous a future takes the value of a waiting sender.
        let sender = sender.clone();
        let send = || {
            let mut sending = Polled::new(sender.sending(make(&tally)).into_future());
            assert_eq!(sending.poll().is_none(), sender.capacity() == Some(0));
            sending
        };
        let mut one = Polled::waiting(receiver.receiving().into_future());
        let sending = send();
        look(one.poll().unwrap().unwrap());
        drop(sending);

        let mut batch = Vec::new();
        let mut many = Polled::waiting(receiver.recv_many_async(&mut batch, 3));
        let sending = send();
        assert_eq!(many.poll(), Some(Ok(1)));
        drop((many, sending));
        all(batch);

        let mut chosen = Polled::waiting(async { select!(async, { got = receiver.receiving() => got.ok() }) });
        let sending = send();
        look(chosen.poll().unwrap().unwrap());
        drop(sending);

        let mut set = ReceiverSet::from_iter([receiver.clone()]);
        let mut any = Polled::waiting(set.receiving().into_future());
        let sending = send();
        look(any.poll().unwrap().unwrap().1.unwrap());
        drop(sending);
    }
    // From senders that wait for capacity, by the receiver that frees it.
    for (sender, receiver) in [rendezvous(), bounded(1)] {
        let capacity = sender.capacity().unwrap();
        (0..capacity).for_each(|_| assert!(sender.try_send(make(&tally)).is_ok()));
        let mut first = Polled::waiting(sender.sending(make(&tally)).into_future());
        let mut second =
            Polled::waiting(async { select!(async, { sent = sender.sending(make(&tally)) => sent.is_ok() }) });
        all(receiver.drain().collect());
        assert!(first.poll().unwrap().is_ok() && second.poll().unwrap());
    }
    for (mut sender, mut receiver) in [spsc::bounded(1), spsc::bounded(7), spsc::unbounded()] {
        for _ in 0..TURNS {
            let mut one = Polled::waiting(receiver.receiving().into_future());
            assert!(sender.try_send(make(&tally)).is_ok());
            look(one.poll().unwrap().unwrap());
        }
        while sender.capacity().is_some() && sender.try_send(make(&tally)).is_ok() {}
        if sender.capacity().is_some() {
            let mut waiting = Polled::waiting(sender.sending(make(&tally)).into_future());
            look(receiver.try_recv().unwrap());
            assert!(waiting.poll().unwrap().is_ok());
        }
        all(receiver.drain().collect());
    }
    let (sender, mut receiver) = oneshot::channel();
    let mut one = Polled::waiting(receiver.receiving().into_future());
    assert!(sender.send(make(&tally)).is_ok());
    look(one.poll().unwrap().unwrap());

    let (sender, mut receiver) = watch::channel(make(&tally));
    let mut one = Polled::waiting(receiver.receiving().into_future());
    assert!(sender.send(make(&tally)).is_ok());
    drop(one.poll().unwrap().unwrap());
    drop(one);
    drop((sender, receiver));

    let (sender, mut receiver) = broadcast::channel(2);
    for _ in 0..5 {
        let mut one = Polled::waiting(receiver.receiving().into_future());
        assert!(sender.send(make(&tally)).is_ok());
        drop(one.poll().unwrap().unwrap());
    }
    drop((sender, receiver));
    tally.assert_all_dropped();
}

/// A place was claimed for a value by an operation that was forgotten before it put one there, and the channel dropped
/// what was not there.
#[test]
fn crossbeam_1295_forgotten_operation_leaves_no_value() {
    let tally = Tally::default();
    for (sender, receiver) in [bounded(2), bounded(50), unbounded()] {
        let other = sender.clone();
        // A permit that is neither used nor returned.
        mem::forget(sender.try_reserve().unwrap());
        assert_eq!((receiver.len(), receiver.try_recv().err()), (0, Some(TryRecvError::Empty)));
        assert!(other.try_send(owned(&tally)).is_ok());
        assert_eq!(other.is_full(), sender.capacity() == Some(2));
        assert_eq!(receiver.try_recv().unwrap().text, "wholewholewhole");
        // A permit that is granted to a forgotten future.
        while !sender.is_full() && sender.capacity().is_some() {
            assert!(sender.try_send(owned(&tally)).is_ok());
        }
        if sender.is_full() {
            mem::forget(Polled::waiting(sender.reserving().into_future()));
            assert_eq!(receiver.try_recv().unwrap().text, "wholewholewhole");
            assert!(sender.is_full());
        }
        // A forgotten receive: the value remains for the others.
        receiver.drain().for_each(drop);
        mem::forget(Polled::waiting(receiver.receiving().into_future()));
        let sent = sender.try_send(owned(&tally));
        assert_eq!(sent.is_err(), sender.capacity() == Some(2), "both places are taken");
        drop(sent);
        assert_eq!(receiver.len(), usize::from(sender.capacity() != Some(2)));
    }
    // A value that is offered by a forgotten send is sent, once.
    for (sender, receiver) in [rendezvous(), bounded(1)] {
        let before = sender.try_send(owned(&tally)).is_ok();
        mem::forget(Polled::waiting(sender.sending(owned(&tally)).into_future()));
        mem::forget(Polled::waiting(async {
            select!(async, { _ = sender.sending(owned(&tally)) => () });
        }));
        assert_eq!(receiver.drain().count(), 2 + usize::from(before));
        // To a forgotten future.
        mem::forget(Polled::waiting(receiver.receiving().into_future()));
        assert_eq!(sender.try_send(owned(&tally)).is_ok(), before);
    }
    for (mut sender, mut receiver) in [spsc::bounded(2), spsc::bounded(50), spsc::unbounded()] {
        _ = sender.try_reserve().unwrap();
        assert_eq!((receiver.len(), receiver.try_recv().err()), (0, Some(TryRecvError::Empty)));
        mem::forget(Polled::waiting(receiver.receiving().into_future()));
        assert!(sender.try_send(owned(&tally)).is_ok());
        assert_eq!(receiver.len(), 1);
        while sender.capacity().is_some() && sender.try_send(owned(&tally)).is_ok() {}
        if sender.is_full() {
            mem::forget(Polled::waiting(sender.reserving().into_future()));
            assert_eq!(receiver.try_recv().unwrap().text, "wholewholewhole");
        }
        _ = sender.try_reserve().unwrap();
    }
    {
        let (sender, mut receiver) = oneshot::channel();
        mem::forget(Polled::waiting(receiver.receiving().into_future()));
        assert!(sender.send(owned(&tally)).is_ok());
        let (sender, mut receiver) = broadcast::channel(1);
        mem::forget(Polled::waiting(receiver.receiving().into_future()));
        assert!(sender.send(owned(&tally)).is_ok());
        let (sender, mut receiver) = watch::channel(owned(&tally));
        mem::forget(Polled::waiting(receiver.receiving().into_future()));
        assert!(sender.send(owned(&tally)).is_ok());
    }
    tally.assert_all_dropped();
}

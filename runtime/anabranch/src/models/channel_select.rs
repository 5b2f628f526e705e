//! Selection: it completes one of several operations, and passes on what other threads hand to the others.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::{
    channel::{Receiver, Select, bounded, rendezvous, spsc, unbounded},
    cx::Cx,
    select,
    wait::Cancelled,
};

/// Returns `None` if the wait was cancelled.
fn recv_either(cx: &Cx<'_>, one: &Receiver<Parcel>, other: &Receiver<Parcel>) -> Option<u32> {
    select!(biased cx, {
        got = one.receiving() => got.ok()?.open(),
        got = other.receiving() => got.ok()?.open(),
    })
    .ok()
}

#[test]
fn models_channel_select_each_value_is_received_once() {
    explore("select, two receives", Some(3), || {
        let (one, first) = unbounded();
        let (two, second) = unbounded();
        let (keep_one, keep_two) = (one.clone(), two.clone());
        let sending = [(one, 1), (two, 2)].map(|(sender, n)| spawn(move |_| sender.try_send(Parcel::new(n)).is_ok()));
        Thread::new().shielded(|cx| {
            let got = [recv_either(cx, &first, &second), recv_either(cx, &first, &second)];
            assert!(got == [Some(1), Some(2)] || got == [Some(2), Some(1)]);
        });
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
        drop((keep_one, keep_two));
    });
}

/// A selection between a send into one rendezvous and a receive from another completes one of them, and the other side
/// knows which.
#[test]
fn models_channel_select_completes_send_or_receive() {
    explore("select, a send and a receive", Some(3), || {
        let (out, from_out) = rendezvous();
        let (into, incoming) = rendezvous();
        let taking = spawn(move |cx| from_out.recv(cx).map(Parcel::open));
        let sending = spawn(move |cx| into.send(cx, Parcel::new(2)).is_ok());
        let is_sent = Thread::new().shielded(|cx| {
            select!(biased cx, {
                sent = out.sending(Parcel::new(1)) => {
                    assert!(sent.is_ok());
                    true
                }
                got = incoming.receiving() => {
                    assert_eq!(got.map(Parcel::open), Ok(2));
                    false
                }
            })
            .unwrap()
        });
        drop((out, incoming));
        assert_eq!(taking.join().unwrap().is_ok(), is_sent);
        assert_eq!(sending.join().unwrap(), !is_sent);
    });
}

/// Each of two threads selects between a send into a rendezvous channel and a receive from it. They pair with each
/// other, and neither pairs with itself.
#[test]
fn models_channel_select_does_not_pair_with_itself() {
    explore("select, a send and a receive, both in one", Some(2), || {
        let (sender, receiver) = rendezvous();
        let (to, from) = (sender.clone(), receiver.clone());
        let other = spawn(move |cx| {
            select!(biased cx, {
                got = from.receiving() => got.ok().map(Parcel::open),
                sent = to.sending(Parcel::new(1)) => sent.is_err().then_some(0),
            })
            .unwrap()
        });
        let got = Thread::new().shielded(|cx| {
            select!(biased cx, {
                sent = sender.sending(Parcel::new(2)) => sent.is_err().then_some(0),
                got = receiver.receiving() => got.ok().map(Parcel::open),
            })
            .unwrap()
        });
        let got_there = other.join().unwrap();
        assert!((got, got_there) == (None, Some(2)) || (got, got_there) == (Some(1), None));
    });
}

/// Two threads select from the same two channels with one value each. Each thread gets one value.
#[test]
fn models_channel_select_two_selections_share_values() {
    explore("select, two select from two", Some(3), || {
        let (one, first) = unbounded();
        let (two, second) = unbounded();
        let (third, fourth) = (first.clone(), second.clone());
        let other = spawn(move |cx| recv_either(cx, &fourth, &third).unwrap());
        let sending = spawn(move |_| {
            assert!(one.try_send(Parcel::new(1)).is_ok() && two.try_send(Parcel::new(2)).is_ok());
            (one, two)
        });
        let got = Thread::new().shielded(|cx| recv_either(cx, &first, &second).unwrap());
        assert_eq!(got + other.join().unwrap(), 3);
        sending.join().unwrap();
    });
}

#[test]
fn models_channel_select_cancelled_takes_nothing() {
    explore("select, cancelled", Some(3), || {
        let root = root();
        let (one, first) = unbounded::<Parcel>();
        let (full, rest) = bounded::<Parcel>(1);
        assert!(full.try_send(Parcel::new(10)).is_ok());
        let other = first.clone();
        let selecting = spawn_below(&root, move |cx| {
            Ok::<u32, Cancelled>(select!(biased cx, {
                sent = full.sending(Parcel::new(20)) => sent.map(|()| 0).unwrap_or(99),
                got = other.receiving() => got.unwrap().open(),
            })?)
        });
        let sending = spawn(move |_| assert!(one.try_send(Parcel::new(1)).is_ok()));
        root.cancel();
        let outcome = selecting.join().unwrap();
        sending.join().unwrap();
        let is_received = outcome == Ok(1);
        assert!(is_received || outcome == Err(Cancelled));
        assert_eq!(first.try_recv().is_ok(), !is_received);
        assert_eq!(rest.drain().count(), 1);
    });
}

/// A selection among any number of operations of one type can be used repeatedly.
#[test]
fn models_channel_select_can_be_reused() {
    explore("select, a list of receives", Some(3), || {
        let (one, first) = rendezvous();
        let (two, second) = rendezvous();
        let sending = spawn(move |cx| {
            assert!(one.send(cx, Parcel::new(1)).is_ok());
            assert!(two.send(cx, Parcel::new(2)).is_ok());
        });
        let receivers = [first, second];
        let mut select = receivers.iter().map(|receiver| receiver.receiving()).collect::<Select<_>>().biased();
        Thread::new().shielded(|cx| {
            assert_eq!(select.wait(cx).map(|(index, got)| (index, got.unwrap().open())), Ok((0, 1)));
            select.swap_remove(0);
            assert_eq!(select.wait(cx).map(|(index, got)| (index, got.unwrap().open())), Ok((0, 2)));
        });
        sending.join().unwrap();
    });
}

/// Receives from streams stay registered between two waits: during a send, during a removal, and at the end of all
/// streams.
#[test]
fn models_channel_select_keeps_streams_registered() {
    explore("select, a list of streams", Some(2), || {
        let (mut one, mut first) = spsc::unbounded();
        let (mut two, mut second) = spsc::unbounded();
        assert!(one.try_send(Parcel::new(1)).is_ok());
        let mut select = Select::from_iter([first.receiving(), second.receiving()]);
        let got = Thread::new().shielded(|cx| select.wait(cx)).unwrap();
        assert_eq!((got.0, got.1.unwrap().open()), (0, 1));
        let sending = spawn(move |_| {
            assert!(two.try_send(Parcel::new(2)).is_ok() && one.try_send(Parcel::new(3)).is_ok());
            (one, two)
        });
        let got = Thread::new().shielded(|cx| select.wait(cx)).unwrap();
        let of_second = got.0 == 1;
        assert_eq!(got.1.unwrap().open(), if of_second { 2 } else { 3 });
        // What is taken out may just be called; the other one gets its index.
        drop(select.swap_remove(usize::from(of_second)));
        let got = Thread::new().shielded(|cx| select.wait(cx)).unwrap();
        assert_eq!((got.0, got.1.unwrap().open()), (0, if of_second { 3 } else { 2 }));
        drop(select);
        sending.join().unwrap();
    });
}

//! A rendezvous: a value that was sent is the chosen receiver's, and nobody else can take it.
#![forbid(unsafe_code)]

mod common;
#[path = "common/waits.rs"]
mod waits;

use anabranch::{
    channel::{ReceiverSet, Select, SendTimeoutError, TryRecvError, TrySendError, rendezvous},
    select,
};
use common::{LONG, Tally, one_thread, pool, watchdog};
use std::time::Duration;
use waits::{Polled, until_waiting};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn the_sender_cannot_take_back_what_it_has_sent() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let pool = pool(1);
        let other = receiver.clone();
        let chosen = pool.spawn(move |cx| other.recv(cx));
        until_waiting(&pool, 1, "Receiver::recv");
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!((receiver.len(), receiver.try_recv()), (0, Err(TryRecvError::Empty)));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(pool.run(|cx| chosen.join(cx)).unwrap(), Ok(1));
    });
}

/// On one thread, so that the chosen receiver has no chance to run before the channel is closed.
#[test]
fn a_chosen_receiver_has_its_value_when_the_channel_is_closed() {
    watchdog(LONG, || {
        waits::on_a_fiber(&one_thread().build().unwrap(), |cx| {
            let (sender, receiver) = rendezvous();
            cx.scope(|s| {
                let chosen = [0, 1].map(|_| {
                    let receiver = receiver.clone();
                    s.spawn(move |cx| receiver.recv(cx))
                });
                until_waiting_in(cx, 2);
                assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
                sender.close();
                assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
                let mut got = chosen.map(|chosen| chosen.join(cx).unwrap().unwrap());
                got.sort_unstable();
                assert_eq!(got, [1, 2]);
            });
        });
    });
}

fn until_waiting_in(cx: &anabranch::Cx<'_>, count: usize) {
    let receives = || anabranch::fibers().iter().filter(|fiber| fiber.waits_for() == Some("Receiver::recv")).count();
    while receives() != count {
        cx.yield_now();
    }
}

/// One who waits in a selection is handed the value by the arm that was chosen.
#[test]
fn a_selection_that_was_chosen_receives() {
    watchdog(LONG, || {
        let pool = pool(1);
        let ((one, first), (two, second)) = (rendezvous(), rendezvous());
        let (first, second) = (first, second);
        let keep = [first.clone(), second.clone()];
        let chosen = pool.spawn(move |cx| {
            let got = select!(cx, { got = first.receiving() => got, got = second.receiving() => got });
            let mut select: Select<_> = [&first, &second].into_iter().map(|receiver| receiver.receiving()).collect();
            (got.unwrap(), select.wait(cx).unwrap())
        });
        until_waiting(&pool, 1, "select!");
        assert_eq!(two.try_send(2), Ok(()));
        assert!(keep.iter().all(|receiver| receiver.try_recv() == Err(TryRecvError::Empty)));
        until_waiting(&pool, 1, "Select::wait");
        assert_eq!(one.try_send(1), Ok(()));
        assert!(keep.iter().all(|receiver| receiver.try_recv() == Err(TryRecvError::Empty)));
        assert_eq!(pool.run(|cx| chosen.join(cx)).unwrap(), (Ok(2), (0, Ok(1))));
    });
}

/// A future that `try_send` has chosen is dropped: the value goes to another that waits.
#[test]
fn what_a_dropped_future_was_handed_goes_to_one_that_waits() {
    let tally = Tally::default();
    let (sender, receiver) = rendezvous();
    let first = Polled::waiting(receiver.recv_async());
    let mut second = Polled::waiting(receiver.recv_async());
    assert!(sender.try_send((1, tally.make())).is_ok());
    drop(first);
    assert!(second.is_woken() && receiver.is_empty());
    assert_eq!(second.poll().unwrap().unwrap().0, 1);
    // One that has a fiber to give it to.
    watchdog(LONG, || {
        let (pool, other) = (pool(1), receiver.clone());
        let future = Polled::waiting(receiver.recv_async());
        assert!(sender.try_send((2, tally.make())).is_ok());
        let fiber = pool.spawn(move |cx| other.recv(cx).map(|(n, _)| n));
        until_waiting(&pool, 1, "Receiver::recv");
        drop(future);
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(2));
        assert!(receiver.is_empty());
    });
    tally.assert_all_dropped();
}

/// .. or stays for the next receive, in order, and is counted: it was sent, and nobody has it.
#[test]
fn what_a_dropped_future_was_handed_stays_for_the_next_receive() {
    let (sender, receiver) = rendezvous();
    let futures = [0, 1].map(|_| Polled::waiting(receiver.recv_async()));
    assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
    assert_eq!((receiver.len(), receiver.try_recv()), (0, Err(TryRecvError::Empty)));
    drop(futures);
    assert_eq!((sender.len(), receiver.len(), receiver.is_empty()), (2, 2, false));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    let mut sending = Polled::waiting(sender.send_async(3));
    assert_eq!((receiver.try_recv(), sending.poll(), receiver.len()), (Ok(1), None, 1));
    assert_eq!(anabranch::run(|cx| receiver.recv(cx)), Ok(2));
    assert_eq!((receiver.try_recv(), sending.poll()), (Ok(3), Some(Ok(()))));
    assert_eq!((receiver.try_recv(), receiver.is_empty()), (Err(TryRecvError::Empty), true));
}

/// Whoever ends when the channel is closed and empty has all that was sent.
#[test]
fn what_a_dropped_future_was_handed_outlasts_a_close() {
    for is_closed_first in [false, true] {
        let (sender, receiver) = rendezvous();
        let future = Polled::waiting(receiver.recv_async());
        assert_eq!(sender.try_send(1), Ok(()));
        if is_closed_first {
            sender.close();
            drop(future);
        } else {
            drop(future);
            drop(sender);
        }
        let mut got = Vec::new();
        while !(receiver.is_closed() && receiver.is_empty()) {
            got.extend(receiver.try_recv());
        }
        assert_eq!((got, receiver.try_recv()), (vec![1], Err(TryRecvError::Closed)));
    }
}

/// With the last receiver it is dropped, once.
#[test]
fn what_a_dropped_future_was_handed_is_dropped_with_the_last_receiver() {
    let tally = Tally::default();
    let (sender, receiver) = rendezvous();
    let future = Polled::waiting(receiver.recv_async());
    assert!(sender.try_send(tally.make()).is_ok());
    drop(future);
    drop(receiver);
    tally.assert_all_dropped();
    assert!(sender.is_empty());
}

/// A set that waits is woken for it, and so is a wait that begins later.
#[test]
fn a_set_receives_what_a_dropped_future_was_handed() {
    let (sender, receiver) = rendezvous();
    let mut set = ReceiverSet::from_iter([receiver.clone()]);
    let mut receiving = Polled::waiting(set.recv_async());
    let future = Polled::waiting(receiver.recv_async());
    assert_eq!(sender.try_send(1), Ok(()));
    assert!(!receiving.is_woken());
    drop(future);
    assert!(receiving.is_woken());
    assert_eq!(receiving.poll().map(|got| got.unwrap().1), Some(Ok(1)));
}

/// A sender that may wait does not end before its value has been received: not by a future that is woken and dropped.
#[test]
fn what_is_sent_by_one_who_may_wait_is_not_lost_with_a_future() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let first = Polled::waiting(receiver.recv_async());
        let second = Polled::waiting(receiver.recv_async());
        let mut sending = Polled::waiting(sender.send_async(1));
        assert!(first.is_woken() && !second.is_woken());
        drop(first);
        assert!(second.is_woken());
        drop(second);
        assert!(sending.poll().is_none() && receiver.is_empty());
        assert_eq!((receiver.try_recv(), sending.poll()), (Ok(1), Some(Ok(()))));

        let mut future = Polled::waiting(receiver.recv_async());
        anabranch::run(|cx| {
            assert_eq!(sender.send_timeout(cx, 2, SHORT), Err(SendTimeoutError::TimedOut(2)));
        });
        // It was woken for what is not there any more.
        assert!(future.is_woken() && future.poll().is_none());
        let mut sending = Polled::waiting(sender.send_async(3));
        assert_eq!((future.poll(), sending.poll()), (Some(Ok(3)), Some(Ok(()))));
    });
}

#[test]
fn a_selection_with_a_default_meets_a_future_that_waits() {
    let (sender, receiver) = rendezvous();
    let send =
        |n| anabranch::run(|cx| select!(cx, { sent = sender.sending(n) => sent.is_ok(), default => false }).unwrap());
    assert!(!send(1));
    let mut future = Polled::waiting(receiver.recv_async());
    assert!(send(2));
    assert_eq!(future.poll(), Some(Ok(2)));
    let mut future = Polled::waiting(receiver.recv_async());
    assert_eq!(Select::from_iter([sender.sending(3)]).try_now(), Some((0, Ok(()))));
    assert_eq!(future.poll(), Some(Ok(3)));
}

/// A set takes a value from a sender that waits, when it is asked: nothing is sent to one that is not in use.
#[test]
fn a_set_that_is_not_used_accepts_nothing() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let mut set = ReceiverSet::new();
        let member = set.insert(receiver);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        anabranch::run(|cx| {
            assert_eq!(sender.send_timeout(cx, 2, SHORT), Err(SendTimeoutError::TimedOut(2)));
        });
        assert_eq!(set.try_recv(), Err(TryRecvError::Empty));
        let mut sending = Polled::waiting(sender.send_async(3));
        assert_eq!((set.try_recv(), sending.poll()), (Ok((member, Ok(3))), Some(Ok(()))));
        // One that waits is woken, in each way to wait.
        let mut receiving = Polled::waiting(set.recv_async());
        let mut again = Polled::waiting(sender.send_async(4));
        assert!(receiving.is_woken());
        assert_eq!((receiving.poll(), again.poll()), (Some(Ok((member, Ok(4)))), Some(Ok(()))));
        drop((receiving, sending, again));
        let pool = pool(1);
        let sent = pool.spawn(move |cx| (0..100).try_for_each(|n| sender.send(cx, n)));
        let got: Vec<u32> = pool.run(|cx| (0..100).map(|_| set.recv(cx).unwrap().1.unwrap()).collect());
        assert!(got.into_iter().eq(0..100));
        assert_eq!(pool.run(|cx| sent.join(cx)).unwrap(), Ok(()));
    });
}

/// A set that goes, or a member that leaves it, wakes another who would receive what it was woken for.
#[test]
fn a_set_that_was_woken_and_goes_passes_it_on() {
    let (sender, receiver) = rendezvous();
    let mut set = ReceiverSet::from_iter([receiver.clone()]);
    let mut future = Polled::waiting(receiver.recv_async());
    let mut sending = Polled::waiting(sender.send_async(1));
    assert!(!future.is_woken());
    assert_eq!(set.drain().next().map(|(_, got)| got), Some(Ok(1)));
    assert_eq!(sending.poll(), Some(Ok(())));
    let mut sending = Polled::waiting(sender.send_async(2));
    drop((set, receiver.clone()));
    assert!(future.is_woken());
    assert_eq!((future.poll(), sending.poll()), (Some(Ok(2)), Some(Ok(()))));
}

/// Fibers that wait are handed values while others look for some: each value comes once, to whoever it was for.
#[test]
fn many_meet() {
    watchdog(LONG, || {
        let pool = pool(2);
        let sum = pool.run(|cx| {
            let (sender, receiver) = rendezvous::<u64>();
            cx.scope(|s| {
                for first in [0, 1] {
                    let (sender, receiver) = (sender.clone(), receiver.clone());
                    s.spawn(move |cx| {
                        for n in (first..400).step_by(2) {
                            sender.send(cx, n).unwrap();
                            // What it has sent is another's.
                            if n % 5 == 0
                                && let Ok(other) = receiver.try_recv()
                            {
                                sender.send(cx, other).unwrap();
                            }
                        }
                    });
                }
                drop(sender);
                let receiving = [0, 1, 2].map(|kind| {
                    let receiver = receiver.clone();
                    s.spawn(move |cx| {
                        let mut sum = 0;
                        loop {
                            let got = match kind {
                                0 => receiver.recv(cx).ok(),
                                1 => cx.block_on(receiver.recv_async()).unwrap().ok(),
                                _ => select!(cx, { got = receiver.receiving() => got.ok() }).unwrap(),
                            };
                            let Some(n) = got else { return sum };
                            sum += n;
                        }
                    })
                });
                drop(receiver);
                receiving.map(|receiving| receiving.join(cx).unwrap()).into_iter().sum::<u64>()
            })
        });
        assert_eq!(sum, (0..400).sum());
    });
}

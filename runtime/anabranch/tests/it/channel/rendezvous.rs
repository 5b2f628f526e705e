//! Channels of capacity zero: a sent value belongs to the chosen receiver.
#![forbid(unsafe_code)]

use crate::common::{
    LONG, Tally, one_thread, pool,
    waits::{Polled, on_a_fiber, on_the_only_thread, until_waiting},
    watchdog,
};
use anabranch::{
    Operation, WaitError,
    channel::{ReceiverSet, Select, TryRecvError, TrySendError, rendezvous},
    select,
};
use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn sent_value_cannot_be_taken_back() {
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
fn chosen_receiver_keeps_value_after_close() {
    watchdog(LONG, || {
        on_a_fiber(&one_thread().build().unwrap(), |cx| {
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
    let receives =
        || anabranch::fiber::fibers().iter().filter(|fiber| fiber.waits_for() == Some("Receiver::recv")).count();
    while receives() != count {
        cx.yield_now();
    }
}

/// A waiting selection gets the value through the chosen arm.
#[test]
fn chosen_selection_receives() {
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

/// What `try_send` has sent was received. So it meets no future, which may be dropped before it is polled. A sender
/// that waits does.
#[test]
fn try_send_does_not_pair_with_pending_future() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let mut future = Polled::waiting(receiver.receiving().into_future());
        assert!(sender.is_full());
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        assert!(!future.is_woken() && receiver.is_empty());
        let pool = pool(1);
        let other = sender.clone();
        let sent = pool.spawn(move |cx| other.send(cx, 2));
        until_waiting(&pool, 1, "Sender::send");
        assert!(future.is_woken());
        assert_eq!(future.poll(), Some(Ok(2)));
        assert_eq!(pool.run(|cx| sent.join(cx)).unwrap(), Ok(()));
        // An async selection, and a fiber that blocks on a future.
        let selection = Polled::waiting(async { select!(async, { got = receiver.receiving() => got }) });
        let blocked = pool.spawn({
            let receiver = receiver.clone();
            move |cx| cx.block_on(receiver.receiving().into_future())
        });
        until_waiting(&pool, 1, "future");
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        drop(selection);
        assert_eq!(pool.run(|cx| sender.send(cx, 4)), Ok(()));
        assert_eq!(pool.run(|cx| blocked.join(cx)).unwrap().unwrap(), Ok(4));
    });
}

/// A value comes back to its sender if its receiver goes without it, and the channel keeps nothing.
#[test]
fn dropped_receive_leaves_nothing() {
    let tally = Tally::default();
    let (sender, receiver) = rendezvous();
    for is_sending in [false, true] {
        let future = Polled::waiting(receiver.receiving().into_future());
        assert!(sender.try_send(tally.make()).is_err_and(|error| error.is_full()));
        let mut sending = Polled::new(sender.sending(tally.make()).into_future());
        if is_sending {
            assert!(sending.poll().is_none() && future.is_woken());
        }
        drop(future);
        assert_eq!((sender.len(), receiver.len(), receiver.is_empty()), (0, 0, true));
        assert_eq!(receiver.try_recv().is_ok(), is_sending);
        assert!(!is_sending || sending.poll().is_some_and(|sent| sent.is_ok()));
    }
    // A close takes nothing from a sender whose receiver has gone.
    let future = Polled::waiting(receiver.receiving().into_future());
    let mut sending = Polled::waiting(sender.sending(tally.make()).into_future());
    drop(future);
    sender.close();
    assert_eq!(receiver.try_recv().err(), Some(TryRecvError::Closed));
    assert!(sending.poll().is_some_and(|sent| sent.is_err()) && receiver.is_empty());
    tally.assert_all_dropped();
}

/// A receive that ended otherwise before a sender came does not count as one that waits.
#[test]
fn cancelled_or_late_receive_gets_nothing() {
    watchdog(LONG, || {
        on_the_only_thread(|cx| {
            let (sender, receiver) = rendezvous();
            for (wait, error) in [(SHORT, WaitError::TimedOut), (LONG, WaitError::Cancelled)] {
                let other = receiver.clone();
                let chosen = anabranch::spawn(move |cx| other.receiving().timeout(cx, wait));
                until_waiting_in(cx, 1);
                if error == WaitError::Cancelled {
                    chosen.cancel();
                    // Its wait is over, although it has not run since.
                    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
                }
                assert_eq!(chosen.join(cx).unwrap(), Err(error));
                assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
            }
            assert_eq!((receiver.len(), receiver.try_recv()), (0, Err(TryRecvError::Empty)));
        });
    });
}

fn ready<R>(poll: Poll<R>) -> Option<R> {
    match poll {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Either of two futures in one task may be polled first.
#[test]
fn two_futures_of_one_task_pair() {
    let (sender, receiver) = rendezvous();
    for is_sender_first in [false, true] {
        let (mut sent, mut got) = (None, None);
        let (mut sending, mut receiving) =
            (pin!(sender.sending(7).into_future()), pin!(receiver.receiving().into_future()));
        let mut both = Polled::new(poll_fn(|context| {
            for is_sender in [is_sender_first, !is_sender_first] {
                if is_sender && sent.is_none() {
                    sent = ready(sending.as_mut().poll(context));
                } else if !is_sender && got.is_none() {
                    got = ready(receiving.as_mut().poll(context));
                }
            }
            if sent.is_some() && got.is_some() { Poll::Ready(()) } else { Poll::Pending }
        }));
        // Each poll but the first follows a wake-up.
        let mut wakes = 0;
        while both.poll().is_none() {
            assert!(both.wakes() > wakes, "nobody wakes the task");
            wakes = both.wakes();
        }
        drop(both);
        assert_eq!((sent, got), (Some(Ok(())), Some(Ok(7))));
    }
}

/// A sender that may wait does not end before its value has been received: not by a future that is woken and dropped.
#[test]
fn waiting_send_survives_dropped_receive_future() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let first = Polled::waiting(receiver.receiving().into_future());
        let second = Polled::waiting(receiver.receiving().into_future());
        let mut sending = Polled::waiting(sender.sending(1).into_future());
        assert!(first.is_woken() && !second.is_woken());
        drop(first);
        assert!(second.is_woken());
        drop(second);
        assert!(sending.poll().is_none() && receiver.is_empty());
        assert_eq!((receiver.try_recv(), sending.poll()), (Ok(1), Some(Ok(()))));

        let mut future = Polled::waiting(receiver.receiving().into_future());
        anabranch::run(|cx| {
            assert_eq!(sender.sending(2).timeout(cx, SHORT), Err(WaitError::TimedOut));
        });
        // It was woken for what is not there any more.
        assert!(future.is_woken() && future.poll().is_none());
        let mut sending = Polled::waiting(sender.sending(3).into_future());
        assert_eq!((future.poll(), sending.poll()), (Some(Ok(3)), Some(Ok(()))));
    });
}

/// As `try_send`: it meets a fiber that waits, and no future.
#[test]
fn selection_with_default_pairs_with_committed_receiver() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let pool = pool(1);
        let send =
            |n| pool.run(|cx| select!(cx, { sent = sender.sending(n) => sent.is_ok(), default => false }).unwrap());
        let mut send_async =
            Polled::new(async { select!(async, { sent = sender.sending(1) => sent.is_ok(), default => false }) });
        let future = Polled::waiting(receiver.receiving().into_future());
        assert!(!send(1) && send_async.poll() == Some(false));
        assert_eq!(Select::from_iter([sender.sending(1)]).try_now(), None);
        drop(future);
        let receiving = pool.spawn({
            let receiver = receiver.clone();
            move |cx| [receiver.recv(cx), receiver.recv(cx)]
        });
        until_waiting(&pool, 1, "Receiver::recv");
        assert!(send(2));
        until_waiting(&pool, 1, "Receiver::recv");
        assert_eq!(Select::from_iter([sender.sending(3)]).try_now(), Some((0, Ok(()))));
        assert_eq!(pool.run(|cx| receiving.join(cx)).unwrap(), [Ok(2), Ok(3)]);
    });
}

/// A set takes a value from a sender that waits, when it is asked: nothing is sent to one that is not in use.
#[test]
fn unused_set_accepts_nothing() {
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let mut set = ReceiverSet::new();
        let member = set.insert(receiver);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        anabranch::run(|cx| {
            assert_eq!(sender.sending(2).timeout(cx, SHORT), Err(WaitError::TimedOut));
        });
        assert_eq!(set.try_recv(), Err(TryRecvError::Empty));
        let mut sending = Polled::waiting(sender.sending(3).into_future());
        assert_eq!((set.try_recv(), sending.poll()), (Ok((member, Ok(3))), Some(Ok(()))));
        // One that waits is woken, in each way to wait.
        let mut receiving = Polled::waiting(set.receiving().into_future());
        let mut again = Polled::waiting(sender.sending(4).into_future());
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

/// A dropped set, or a removed member, wakes another receiver for the value that it was woken for.
#[test]
fn dropped_set_passes_wakeup_on() {
    let (sender, receiver) = rendezvous();
    let mut set = ReceiverSet::from_iter([receiver.clone()]);
    let mut future = Polled::waiting(receiver.receiving().into_future());
    let mut sending = Polled::waiting(sender.sending(1).into_future());
    assert!(!future.is_woken());
    assert_eq!(set.drain().next().map(|(_, got)| got), Some(Ok(1)));
    assert_eq!(sending.poll(), Some(Ok(())));
    let mut sending = Polled::waiting(sender.sending(2).into_future());
    drop((set, receiver.clone()));
    assert!(future.is_woken());
    assert_eq!((future.poll(), sending.poll()), (Some(Ok(2)), Some(Ok(()))));
}

/// Waiting fibers are handed values while others try to receive: each value arrives once, at the chosen receiver.
#[test]
fn many_senders_and_receivers_pair() {
    watchdog(LONG, || {
        let pool = pool(2);
        let sum = pool.run(|cx| {
            let (sender, receiver) = rendezvous::<Box<u64>>();
            cx.scope(|s| {
                for first in [0, 1] {
                    let (sender, receiver) = (sender.clone(), receiver.clone());
                    s.spawn(move |cx| {
                        for n in (first..400).step_by(2) {
                            sender.send(cx, Box::new(n)).unwrap();
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
                                1 => cx.block_on(receiver.receiving().into_future()).unwrap().ok(),
                                _ => select!(cx, { got = receiver.receiving() => got.ok() }).unwrap(),
                            };
                            let Some(n) = got else { return sum };
                            sum += *n;
                        }
                    })
                });
                drop(receiver);
                receiving.map(|receiving| receiving.join(cx).unwrap()).into_iter().sum::<u64>()
            })
        });
        assert_eq!(sum, (0..400).sum::<u64>());
    });
}

//! Bugs in the drop, cancel and close paths of other channel crates, tried on these channels. Each test is named after
//! the report.
//!
//! Others are beside their subject: `dropped_receive_passes_wakeup_on` (flume, iroh 2536) and
//! `dropped_send_futures_leave_nothing` in `mpmc_close`, `oneshot_futures_may_be_dropped_in_every_state` (the crate
//! `oneshot`) in `oneshot`, `dropped_futures_lose_no_value` (crossfire) in `spsc_close`, kanal 17 and crossbeam 1295
//! in `direct_handoff`, crossbeam 1301 in `tests/memory`, kanal 33 and RUSTSEC-2026-0221 (event-listener) in
//! `send_and_sync`.

use crate::common::{LONG, Tally, in_pools, waits::Polled, watchdog};
use anabranch::{
    channel::{Receiver, Sender, TryRecvError, TrySendError, bounded, broadcast, oneshot, rendezvous, spsc, unbounded},
    fiber::sleep_async,
    select,
};
use std::{hint, sync::Barrier, thread, time::Duration};

/// Runs both at the same time, with another offset in each round.
fn at_once<A: Send, B: Send>(round: u32, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let start = Barrier::new(2);
    let pause = |n: u32| (0..n % 50).for_each(|_| hint::spin_loop());
    thread::scope(|s| {
        let other = s.spawn(|| {
            start.wait();
            pause(round / 7);
            b()
        });
        start.wait();
        pause(round);
        (a(), other.join().unwrap())
    })
}

const ROUNDS: u32 = if cfg!(miri) { 4 } else { 400 };

fn shared<T>() -> [(Sender<T>, Receiver<T>); 4] {
    [rendezvous(), bounded(1), bounded(50), unbounded()]
}

/// A sender allocated the first block while the receiver was dropped, and the block leaked or was used after free.
#[test]
fn crossbeam_971_receiver_drops_during_first_send() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..ROUNDS {
            for (sender, receiver) in shared() {
                let value = tally.make();
                at_once(round, || drop(sender.try_send(value)), || drop(receiver));
            }
            let ((mut sender, receiver), value) = (spsc::unbounded(), tally.make());
            at_once(round, || drop(sender.try_send(value)), || drop(receiver));
            let ((sender, receiver), value) = (oneshot::channel(), tally.make());
            at_once(round, || drop(sender.send(value)), || drop(receiver));
            let ((sender, receiver), value) = (broadcast::channel(2), tally.make());
            at_once(round, || drop(sender.send(value)), || drop(receiver));
            assert_eq!(tally.made(), tally.dropped());
        }
        tally.assert_all_dropped();
    });
}

/// Both ends dropped the remaining values.
#[test]
fn rustsec_2025_0024_both_ends_drop_concurrently() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..ROUNDS {
            let many = round % 40;
            let (sender, receiver) = unbounded();
            (0..many).for_each(|_| sender.try_send(tally.make()).unwrap());
            at_once(round, || drop(sender), || drop(receiver));
            let (mut sender, receiver) = spsc::unbounded();
            (0..many).for_each(|_| sender.try_send(tally.make()).unwrap());
            at_once(round, || drop(sender), || drop(receiver));
            let (sender, receiver) = broadcast::channel(20);
            (0..many).for_each(|_| sender.send(tally.make()).unwrap());
            at_once(round, || drop(sender), || drop(receiver));
            assert_eq!(tally.made(), tally.dropped());
        }
        tally.assert_all_dropped();
    });
}

/// The closing receiver raced with the sender, for the value and for the waker.
#[test]
fn rustsec_2021_0124_oneshot_closes_during_send() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..2 * ROUNDS {
            let (sender, mut receiver) = oneshot::channel();
            let value = tally.make();
            if round % 2 == 0 {
                assert!(Polled::new(receiver.receiving().into_future()).poll().is_none());
            }
            let (sent, received) = at_once(
                round,
                || sender.send(value).is_ok(),
                || {
                    receiver.close();
                    let received = receiver.try_recv();
                    assert!(!matches!(received, Err(TryRecvError::Empty)), "closed and empty is closed");
                    received.is_ok()
                },
            );
            assert_eq!(sent, received);
        }
        tally.assert_all_dropped();
    });
}

/// The future of a receive was dropped while the value arrived, and both sides used the waker.
#[test]
fn kanal_35_waiting_oneshot_drops_during_send() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..2 * ROUNDS {
            let (sender, mut receiver) = oneshot::channel();
            let value = tally.make();
            let waiting = Polled::waiting(async move { receiver.receiving().await });
            at_once(
                round,
                || if round % 3 > 0 { drop(sender.send(value)) } else { drop((sender, value)) },
                || drop(waiting),
            );
        }
        tally.assert_all_dropped();
    });
}

/// A value that was handed to the future of a receive was dropped with it, after the send had succeeded.
#[test]
fn kanal_24_dropped_receive_passes_value_to_another() {
    for (sender, receiver) in shared() {
        for kind in 0..3 {
            let (_other, idle) = unbounded::<u8>();
            let future: std::pin::Pin<Box<dyn Future<Output = ()> + '_>> = match kind {
                0 => Box::pin(async { _ = receiver.receiving().await }),
                1 => Box::pin(async {
                    let mut both = Vec::new();
                    _ = receiver.recv_many_async(&mut both, 2).await;
                }),
                _ => Box::pin(async {
                    select!(async, {
                        _ = receiver.receiving() => (),
                        _ = idle.receiving() => (),
                    });
                }),
            };
            let waiting = Polled::waiting(future);
            let _sending = Polled::begun(sender.sending(7));
            assert!(waiting.is_woken());
            drop(waiting);
            assert_eq!(receiver.try_recv(), Ok(7));
        }
    }
    for (mut sender, mut receiver) in [spsc::bounded(1), spsc::unbounded()] {
        let waiting = Polled::waiting(receiver.receiving().into_future());
        sender.try_send(7).unwrap();
        assert!(waiting.is_woken());
        drop(waiting);
        assert_eq!(receiver.try_recv(), Ok(7));
    }
}

/// The values of the arms that were not chosen were lost.
#[test]
fn kanal_50_losing_arms_lose_no_value() {
    in_pools(|pool| {
        for channels in [[rendezvous(), rendezvous()], [bounded(1), bounded(1)]] {
            let mut tasks = Vec::new();
            let receivers = channels.map(|(sender, receiver)| {
                tasks.push(pool.spawn_async(async move {
                    for n in 0..200_u64 {
                        sender.sending(n).await.unwrap();
                    }
                }));
                receiver
            });
            let task = pool.spawn_async(async move {
                let [a, b] = receivers;
                let mut next = [0, 0];
                while next != [200, 200] {
                    select!(async, {
                        n = a.receiving() => if let Ok(n) = n {
                            assert_eq!(n, next[0]);
                            next[0] += 1;
                        } else {
                            while let Ok(n) = b.receiving().await {
                                assert_eq!(n, next[1]);
                                next[1] += 1;
                            }
                        },
                        n = b.receiving() => if let Ok(n) = n {
                            assert_eq!(n, next[1]);
                            next[1] += 1;
                        } else {
                            while let Ok(n) = a.receiving().await {
                                assert_eq!(n, next[0]);
                                next[0] += 1;
                            }
                        },
                    });
                }
            });
            pool.run(|cx| tasks.into_iter().chain([task]).for_each(|task| task.join(cx).unwrap()));
        }
    });
}

/// A receiver that found the senders dropped missed the values that they had sent just before.
#[test]
fn flume_120_recv_after_sender_drop_drains() {
    watchdog(LONG, || {
        for round in 0..ROUNDS {
            let receive = |receiver: Receiver<u32>| anabranch::run(|cx| receiver.recv(cx));
            for (sender, receiver) in [bounded(1), unbounded()] {
                let send = move || sender.try_send(round).unwrap();
                assert_eq!(at_once(round, send, || receive(receiver)).1, Ok(round));
            }
            let (mut sender, mut receiver) = spsc::unbounded();
            let send = move || sender.try_send(round).unwrap();
            assert_eq!(at_once(round, send, || anabranch::run(|cx| receiver.recv(cx))).1, Ok(round));
            let (sender, mut receiver) = oneshot::channel();
            let send = move || sender.send(round).unwrap();
            assert_eq!(at_once(round, send, || anabranch::run(|cx| receiver.recv(cx))).1, Ok(round));
        }
    });
}

/// Values sent during the drop of the receiver stayed in the channel until the last sender was dropped.
#[test]
fn futures_909_dropped_receiver_drops_values() {
    /// The most values to send, since the receiver may be late.
    const MOST: u32 = 300;
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..ROUNDS {
            for (sender, receiver) in [bounded(50), unbounded()] {
                let send = || (0..MOST).all(|_| !matches!(sender.try_send(tally.make()), Err(TrySendError::Closed(_))));
                at_once(round, send, || {
                    drop(receiver.try_recv());
                    drop(receiver);
                });
                assert!(sender.is_closed());
                assert_eq!(tally.made(), tally.dropped(), "with the sender still there");
            }
            for (mut sender, receiver) in [spsc::bounded(50), spsc::unbounded()] {
                at_once(
                    round,
                    || (0..MOST).all(|_| !matches!(sender.try_send(tally.make()), Err(TrySendError::Closed(_)))),
                    || drop(receiver),
                );
                assert_eq!(tally.made(), tally.dropped(), "with the sender still there");
            }
        }
        tally.assert_all_dropped();
    });
}

/// The wakeup went to a waiter that had just been cancelled, and no other waiter was woken.
#[test]
fn crossfire_22_wakeup_of_cancelled_waiter_is_passed_on() {
    watchdog(LONG, || {
        for round in 0..ROUNDS {
            // Of receivers, for a value.
            for (sender, receiver) in shared() {
                let first = Polled::waiting(receiver.receiving().into_future());
                let mut second = Polled::waiting(receiver.receiving().into_future());
                let (_sending, ()) =
                    at_once(round, || Polled::begun(sender.sending(round).into_future()), || drop(first));
                assert_eq!(second.poll(), Some(Ok(round)));
            }
            // Of senders, for capacity.
            let (sender, receiver) = bounded(1);
            sender.try_send(0).unwrap();
            let first = Polled::waiting(sender.sending(1).into_future());
            let mut second = Polled::waiting(sender.sending(2).into_future());
            let (got, ()) = at_once(round, || receiver.try_recv(), || drop(first));
            assert_eq!(got, Ok(0));
            match receiver.try_recv() {
                Ok(1) => assert_eq!(receiver.try_recv(), Ok(2)),
                got => assert_eq!(got, Ok(2)),
            }
            assert!(matches!(second.poll(), Some(Ok(()))));
        }
    });
}

/// Many waiters are cancelled and woken at the same time. In the end none waits for an available value.
#[test]
fn crossfire_23_cancelled_waiters_do_not_stop_the_others() {
    in_pools(|pool| {
        let (sender, receiver) = bounded(1);
        let tasks: Vec<_> = (0..8_u64)
            .map(|id| {
                let (sender, receiver) = (sender.clone(), receiver.clone());
                pool.spawn_async(async move {
                    let (mut sent, mut received) = (0_u64, 0_u64);
                    for n in 0..100 {
                        let time = sleep_async(Duration::from_micros((n * 13 + id * 7) % 60));
                        select!(async, {
                            done = sender.sending(()) => sent += u64::from(done.is_ok()),
                            done = receiver.receiving() => received += u64::from(done.is_ok()),
                            () = time => (),
                        });
                    }
                    (sent, received)
                })
            })
            .collect();
        let (sent, received) = pool
            .run(|cx| tasks.into_iter().map(|task| task.join(cx).unwrap()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)));
        assert_eq!(sent, received + receiver.len() as u64);
    });
}

//! Capacity in channels with many senders and receivers: reserved, returned, and passed to waiting senders.

use crate::common::{LONG, fibers::until_waiting, in_pools, panic_text, pool, waits::Polled, watchdog};
use anabranch::{
    Operation, TimedOut, WaitError,
    channel::{Closed, SendError, TryRecvError, TrySendError, bounded, rendezvous, unbounded},
    select,
};
use std::{thread, time::Duration};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn permit_reserves_capacity() {
    watchdog(LONG, || {
        let (sender, receiver) = bounded(2);
        pool(1).run(|cx| {
            let one = sender.reserve(cx).unwrap();
            let two = sender.try_reserve().unwrap();
            assert!(sender.try_reserve().is_err());
            assert!(matches!(sender.try_send(0), Err(TrySendError::Full(0))));
            // One sender that waits for capacity and is dropped, and one that stays.
            let gone = Polled::waiting(sender.reserving().into_future());
            let mut waiting = Polled::waiting(sender.sending(3).into_future());
            drop(one);
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            drop(gone);
            assert_eq!(waiting.poll().map(|sent| sent.is_ok()), Some(true));
            two.send(4).unwrap();
            assert_eq!(receiver.drain().collect::<Vec<_>>(), [3, 4]);
            let late = sender.reserve(cx).unwrap();
            receiver.close();
            assert_eq!(late.send(5).unwrap_err().0, 5);
            assert!(sender.reserve(cx).is_err());
        });
    });
}

#[test]
fn dropped_permit_wakes_receiver_of_next_value() {
    watchdog(LONG, || {
        let (sender, receiver) = bounded(1);
        let permit = sender.try_reserve().unwrap();
        let sending = Polled::waiting(sender.sending(1).into_future());
        let mut receiving = Polled::waiting(receiver.receiving().into_future());
        drop(permit);
        assert_eq!((sending.wakes(), receiving.wakes()), (1, 1));
        assert_eq!(receiving.poll(), Some(Ok(1)));
    });
}

#[test]
fn reserve_works_in_all_forms() {
    in_pools(|pool| {
        let (sender, receiver) = bounded(1);
        pool.run(|cx| {
            let permit = sender.reserving().timeout(cx, SHORT).unwrap().unwrap();
            assert_eq!(sender.reserving().timeout(cx, SHORT).err(), Some(WaitError::TimedOut));
            let late = cx.now();
            assert_eq!(sender.reserving().deadline(cx, late).err(), Some(WaitError::TimedOut));
            permit.send(1).unwrap();
            assert!(sender.is_to(&receiver) && !sender.is_to(&unbounded().1));
            assert!(select!(cx, { room = sender.reserving() => room.is_ok(), default => false }) == Ok(false));
            assert_eq!(receiver.recv(cx), Ok(1));
            let kept = select!(cx, { room = sender.reserving() => room.unwrap() }).unwrap();
            assert!(sender.try_reserve().is_err());
            drop(kept);
            receiver.close();
            assert_eq!(sender.reserving().timeout(cx, SHORT).unwrap().err(), Some(Closed));
        });
        let (sender, receiver) = unbounded();
        (0..40).for_each(|n| sender.try_send(n).unwrap());
        drop(sender);
        let task = pool.spawn_async(async move {
            let (mut got, mut counts) = (Vec::new(), Vec::new());
            assert_eq!(receiver.recv_many_async(&mut got, 0).await, Ok(0));
            while let Ok(count) = receiver.recv_many_async(&mut got, 100).await {
                counts.push(count);
            }
            (got, counts)
        });
        let (got, counts) = pool.run(|cx| task.join(cx)).unwrap();
        assert!(got.into_iter().eq(0..40));
        assert_eq!(counts, [40]);
    });
}

/// Two receivers wait, and one is woken for the only value that fits. A second value waits with its sender, and moves
/// into the buffer when the first is taken. That value is for the other receiver, whichever receive freed the capacity.
#[test]
fn value_moved_into_buffer_wakes_receiver() {
    watchdog(LONG, || {
        let pool = pool(1);
        for is_batch in [false, true] {
            let (sender, receiver) = bounded(1);
            let receivers = [0, 1].map(|_| {
                let receiver = receiver.clone();
                pool.spawn(move |cx| {
                    let mut got = Vec::new();
                    if is_batch { receiver.recv_many(cx, &mut got, 1).map(|_| got[0]) } else { receiver.recv(cx) }
                })
            });
            until_waiting(&pool, 2);
            let sends = sender.clone();
            let sending = pool.spawn(move |cx| (1..=2).try_for_each(|n| sends.send(cx, n)));
            pool.run(|cx| {
                sending.join(cx).unwrap().unwrap();
                // The channel is still open, so no other wake-up will come.
                let sum: i32 = receivers.into_iter().map(|handle| handle.join(cx).unwrap().unwrap()).sum();
                assert_eq!(sum, 3);
            });
            drop(sender);
        }
    });
}

#[test]
fn many_permits_are_an_iterator_that_returns_the_rest() {
    let (sender, receiver) = bounded(4);
    let mut permits = sender.try_reserve_many(3).unwrap();
    assert_eq!((permits.len(), permits.size_hint()), (3, (3, Some(3))));
    permits.next().unwrap().send(1).unwrap();
    let second = permits.next().unwrap();
    assert_eq!(sender.try_reserve_many(2).err(), Some(TrySendError::Full(())));
    drop(permits);
    let two = sender.try_reserve_many(2).unwrap();
    assert!(sender.try_send(9).is_err());
    second.send(2).unwrap();
    assert_eq!(two.map(|permit| permit.send(3)).filter(Result::is_ok).count(), 2);
    assert_eq!(receiver.drain().collect::<Vec<_>>(), [1, 2, 3, 3]);
    assert_eq!(sender.try_reserve_many(0).unwrap().count(), 0);
    assert_eq!(sender.try_reserve_many(5).err(), Some(TrySendError::Full(())));
    assert_eq!(sender.try_reserve_many(usize::MAX).err(), Some(TrySendError::Full(())));
    let late = sender.try_reserve_many(1).unwrap();
    receiver.close();
    assert_eq!(late.map(|permit| permit.send(4).unwrap_err().0).collect::<Vec<_>>(), [4]);
    assert_eq!(sender.try_reserve_many(0).err(), Some(TrySendError::Closed(())));
    let (sender, _receiver) = unbounded::<u32>();
    assert_eq!(sender.try_reserve_many(100_000).unwrap().len(), 100_000);
}

#[test]
fn more_permits_than_capacity_panic() {
    let (sender, _receiver) = bounded::<u32>(2);
    assert!(panic_text(|| drop(sender.reserving_many(3))).contains("fewer values"));
    let (sender, _receiver) = rendezvous::<u32>();
    assert!(panic_text(|| drop(sender.reserving_many(1))).contains("rendezvous"));
    assert_eq!(sender.try_reserve_many(1).err(), Some(TrySendError::Full(())));
}

/// Smaller requests would take each room as it becomes free.
#[test]
fn free_room_is_set_aside_for_many_permits() {
    let (sender, receiver) = bounded(3);
    (0..3).for_each(|n| sender.try_send(n).unwrap());
    let mut many = Polled::waiting(sender.reserving_many(3).into_future());
    let mut behind = Polled::waiting(sender.sending(9).into_future());
    for n in 0..3 {
        assert!(!many.is_woken() && sender.try_send(7).is_err());
        assert_eq!(receiver.try_recv(), Ok(n));
    }
    let permits = many.poll().unwrap().unwrap();
    assert!(permits.len() == 3 && !behind.is_woken());
    drop(permits);
    assert!(behind.poll().unwrap().is_ok());
    // Room that is free when the wait begins is set aside, too.
    let (sender, receiver) = bounded(2);
    sender.try_send(1).unwrap();
    let mut many = Polled::waiting(sender.reserving_many(2).into_future());
    assert!(sender.try_send(2).is_err());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(many.poll().unwrap().unwrap().len(), 2);
}

#[test]
fn wait_for_many_permits_that_ends_returns_what_was_set_aside() {
    let (sender, receiver) = bounded(3);
    let held = sender.try_reserve_many(2).unwrap();
    let many = Polled::waiting(sender.reserving_many(3).into_future());
    let mut behind = [1, 2].map(|n| Polled::waiting(sender.sending(n).into_future()));
    drop(held);
    assert!(behind.iter().all(|waiting| !waiting.is_woken()) && sender.try_send(0).is_err());
    drop(many);
    assert!(behind.iter_mut().all(|waiting| waiting.poll().is_some_and(|sent| sent.is_ok())));
    assert_eq!(receiver.drain().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(sender.try_reserve_many(3).unwrap().len(), 3);
    // Permits that were handed to a future which is dropped without a poll.
    let held = sender.try_reserve().unwrap();
    let handed = Polled::waiting(sender.reserving_many(3).into_future());
    drop(held);
    assert!(handed.is_woken() && sender.try_reserve().is_err());
    drop(handed);
    assert_eq!(sender.try_reserve_many(3).unwrap().len(), 3);
}

#[test]
fn closing_ends_waits_for_many_permits() {
    let (sender, receiver) = bounded::<u32>(2);
    let held = sender.try_reserve().unwrap();
    let mut many = Polled::waiting(sender.reserving_many(2).into_future());
    receiver.close();
    assert_eq!(many.poll().unwrap().err(), Some(Closed));
    drop((many, held));
    assert_eq!(sender.try_reserve_many(1).err(), Some(TrySendError::Closed(())));
}

#[test]
fn reserve_many_works_in_all_forms() {
    in_pools(|pool| {
        let (sender, receiver) = bounded(2);
        pool.run(|cx| {
            let two = sender.reserve_many(cx, 2).unwrap();
            assert_eq!(sender.reserving_many(1).timeout(cx, SHORT).err(), Some(WaitError::TimedOut));
            let late = cx.now();
            assert_eq!(sender.reserving_many(2).deadline(cx, late).err(), Some(WaitError::TimedOut));
            assert_eq!(select!(cx, { two = sender.reserving_many(2) => two.is_ok(), default => false }), Ok(false));
            two.for_each(|permit| permit.send(1).unwrap());
            cx.join(
                |cx| assert_eq!(sender.reserve_many(cx, 2).unwrap().len(), 2),
                |cx| assert_eq!((receiver.recv(cx), receiver.recv(cx)), (Ok(1), Ok(1))),
            );
            let kept = select!(cx, { two = sender.reserving_many(2) => two.unwrap() }).unwrap();
            assert!(sender.try_reserve().is_err());
            drop(kept);
            receiver.close();
            assert_eq!(sender.reserve_many(cx, 1).err(), Some(SendError::Closed(())));
        });
    });
}

#[test]
fn plain_thread_reserves_many() {
    watchdog(LONG, || {
        let (sender, receiver) = bounded(3);
        (0..3).for_each(|n| sender.try_send(n).unwrap());
        assert_eq!(sender.reserving_many(2).blocking_timeout(SHORT).err(), Some(TimedOut));
        let reserving = thread::spawn(move || {
            for _ in 0..100 {
                sender.reserving_many(3).blocking().unwrap().for_each(|permit| permit.send(7).unwrap());
            }
            sender
        });
        assert_eq!(receiver.iter_blocking().take(303).filter(|n| *n == 7).count(), 300);
        let sender = reserving.join().unwrap();
        let full = sender.try_reserve_many(3).unwrap();
        let other = sender.clone();
        let reserving = thread::spawn(move || other.reserving_many(1).blocking().err());
        receiver.close();
        assert_eq!((full.len(), reserving.join().unwrap()), (3, Some(Closed)));
    });
}

/// Several fibers reserve different numbers of permits, some are cancelled: no room is lost, and none is given twice.
#[test]
fn concurrent_reservations_lose_no_room() {
    watchdog(LONG, || {
        in_pools(|pool| {
            let (sender, receiver) = bounded(4);
            pool.run(|cx| {
                let sums = cx.join(
                    |cx| {
                        cx.scope(|s| {
                            let mut set = s.join_set();
                            for fiber in 0..12 {
                                let sender = sender.clone();
                                let handle = set.spawn(move |cx| {
                                    let mut sent = 0;
                                    for round in 0..20 {
                                        let count = 1 + (fiber + round) % 4;
                                        let Ok(permits) = sender.reserve_many(cx, count) else { break };
                                        permits.skip(round % 2).for_each(|permit| {
                                            permit.send(1).unwrap();
                                            sent += 1;
                                        });
                                    }
                                    sent
                                });
                                if fiber % 3 == 0 {
                                    handle.cancel();
                                }
                                cx.yield_now();
                            }
                            let mut sum = 0;
                            while let Some(sent) = set.join_next(cx).unwrap() {
                                sum += sent;
                            }
                            sender.close();
                            sum
                        })
                    },
                    |cx| receiver.iter(cx).sum::<Result<u32, _>>().unwrap(),
                );
                assert_eq!(sums.0, sums.1);
            });
        });
    });
}

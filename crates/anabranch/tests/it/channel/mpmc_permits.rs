//! Capacity in channels with many senders and receivers: reserved, returned, and passed to waiting senders.

use crate::common::{LONG, fibers::until_waiting, in_pools, pool, waits::Polled, watchdog};
use anabranch::{
    channel::{ReserveTimeoutError, TryRecvError, TrySendError, bounded, unbounded},
    select,
};
use std::time::Duration;

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
            let gone = Polled::waiting(sender.reserve_async());
            let mut waiting = Polled::waiting(sender.send_async(3));
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
        let sending = Polled::waiting(sender.send_async(1));
        let mut receiving = Polled::waiting(receiver.recv_async());
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
            let permit = sender.reserve_timeout(cx, SHORT).unwrap();
            assert_eq!(sender.reserve_timeout(cx, SHORT).err(), Some(ReserveTimeoutError::TimedOut));
            let late = cx.now();
            assert_eq!(sender.reserve_deadline(cx, late).err(), Some(ReserveTimeoutError::TimedOut));
            permit.send(1).unwrap();
            assert!(sender.is_to(&receiver) && !sender.is_to(&unbounded().1));
            assert!(select!(cx, { room = sender.reserving() => room.is_ok(), default => false }) == Ok(false));
            assert_eq!(receiver.recv(cx), Ok(1));
            let kept = select!(cx, { room = sender.reserving() => room.unwrap() }).unwrap();
            assert!(sender.try_reserve().is_err());
            drop(kept);
            receiver.close();
            assert_eq!(sender.reserve_timeout(cx, SHORT).err(), Some(ReserveTimeoutError::Closed));
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

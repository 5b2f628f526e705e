//! Channels with many senders and receivers that close, and waits that are abandoned: no value is lost, and a failed
//! send returns its value.

use crate::common::{
    LONG, Tally,
    fibers::{until, waiting},
    in_pools, pool,
    waits::Polled,
    watchdog,
};
use anabranch::WaitError;
use anabranch::channel::{
    Closed, Operation, Receiver, RecvError, SendError, Sender, TrySendError, bounded, rendezvous, unbounded,
};
use std::time::Duration;

fn channels<T>() -> [(Sender<T>, Receiver<T>); 5] {
    [rendezvous(), bounded(1), bounded(2), bounded(100), unbounded()]
}

#[test]
fn failed_send_returns_value() {
    watchdog(LONG, || {
        pool(2).run(|cx| {
            let tally = Tally::default();
            let (sender, receiver) = bounded(1);
            sender.send(cx, tally.make()).unwrap();
            assert!(matches!(sender.try_send(tally.make()), Err(TrySendError::Full(_))));
            assert!(matches!(sender.sending(tally.make()).timeout(cx, SHORT), Err(WaitError::TimedOut)));
            let is_back = cx.scope(|s| {
                let handle = s.spawn(|cx| matches!(sender.send(cx, tally.make()), Err(SendError::Cancelled(_))));
                cx.sleep(SHORT).unwrap();
                s.cancel();
                handle.join(cx).unwrap()
            });
            assert!(is_back);
            receiver.close();
            assert!(matches!(sender.send(cx, tally.make()), Err(SendError::Closed(_))));
            assert!(receiver.recv(cx).is_ok());
            assert!(matches!(receiver.recv(cx), Err(RecvError::Closed)));
            tally.assert_all_dropped();
        });
    });
}

#[test]
fn close_wakes_all_waiters() {
    in_pools(|pool| {
        for last in [false, true] {
            for (sender, receiver) in channels::<usize>() {
                let receiving: Vec<_> = (0..4)
                    .map(|_| {
                        let receiver = receiver.clone();
                        pool.spawn(move |cx| receiver.recv(cx))
                    })
                    .collect();
                until(|| waiting(pool) == 4);
                pool.run(|cx| {
                    if last {
                        drop(sender)
                    } else {
                        receiver.close()
                    }
                    for handle in receiving {
                        assert_eq!(handle.join(cx).unwrap(), Err(RecvError::Closed));
                    }
                });
            }
            for (sender, receiver) in [rendezvous(), bounded(1)] {
                let capacity = sender.capacity().unwrap();
                let sending: Vec<_> = (0..4)
                    .map(|n| {
                        let sender = sender.clone();
                        pool.spawn(move |cx| sender.send(cx, n))
                    })
                    .collect();
                until(|| waiting(pool) == 4 - capacity);
                pool.run(|cx| {
                    if last {
                        drop(receiver)
                    } else {
                        sender.close()
                    }
                    let results: Vec<_> = sending.into_iter().map(|handle| handle.join(cx).unwrap()).collect();
                    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), capacity);
                    for (n, result) in results.into_iter().enumerate() {
                        assert!(result.is_ok() || matches!(result, Err(SendError::Closed(m)) if m == n));
                    }
                });
            }
        }
    });
}

/// Senders and receivers are cancelled repeatedly: no value is lost or duplicated.
#[test]
fn cancellation_loses_no_value() {
    in_pools(|pool| {
        for (sender, receiver) in channels() {
            const N: usize = 200;
            let sending: Vec<_> = (0..3)
                .map(|id| {
                    let sender = sender.clone();
                    pool.spawn(move |cx| {
                        for n in 0..N {
                            let mut value = (id, n);
                            loop {
                                let mut send = sender.sending(value);
                                match send.timeout(cx, Duration::from_micros(40 + n as u64 % 50)) {
                                    Ok(sent) => break sent.unwrap(),
                                    Err(_) => value = send.into_inner().unwrap(),
                                }
                            }
                        }
                    })
                })
                .collect();
            drop(sender);
            let receiving: Vec<_> = (0..2)
                .map(|_| {
                    let receiver = receiver.clone();
                    pool.spawn(move |cx| {
                        let mut got = Vec::new();
                        loop {
                            match receiver.receiving().timeout(cx, Duration::from_micros(40 + got.len() as u64 % 70)) {
                                Ok(Ok(value)) => got.push(value),
                                Ok(Err(Closed)) => break,
                                Err(error) => assert_eq!(error, WaitError::TimedOut),
                            }
                        }
                        got
                    })
                })
                .collect();
            pool.run(|cx| {
                sending.into_iter().for_each(|handle| handle.join(cx).unwrap());
                let mut got: Vec<_> = receiving.into_iter().flat_map(|handle| handle.join(cx).unwrap()).collect();
                got.sort_unstable();
                assert!(got.into_iter().eq((0..3).flat_map(|id| (0..N).map(move |n| (id, n)))));
            });
        }
    });
}

/// A receiver was woken, and its future is dropped: the next one is woken in its place. flume once lost this wake-up.
#[test]
fn dropped_receive_passes_wakeup_on() {
    for (sender, receiver) in channels() {
        let [first, second, mut third] = [(); 3].map(|()| Polled::waiting(receiver.receiving().into_future()));
        // A waiter that leaves from the middle of the queue is skipped.
        let second_bell = second.forsake();
        let _sending = Polled::begun(sender.sending(7).into_future());
        assert_eq!([first.wakes(), second_bell.wakes(), third.wakes()], [1, 0, 0]);
        let first_bell = first.forsake();
        assert_eq!([first_bell.wakes(), second_bell.wakes(), third.wakes()], [1, 0, 1]);
        assert_eq!(third.poll(), Some(Ok(7)));
        // Without another receiver the value stays.
        let last = Polled::waiting(receiver.receiving().into_future());
        let _sending = Polled::begun(sender.sending(8).into_future());
        drop((last, third));
        assert_eq!(receiver.try_recv(), Ok(8));
    }
}

/// The future of a sender is dropped: its value is dropped once or received once, and the next sender gets its
/// capacity.
#[test]
fn dropped_send_futures_leave_nothing() {
    let tally = Tally::default();
    let (sender, receiver) = bounded(1);
    sender.try_send(tally.make()).unwrap();
    let [first, second, mut third] = [(); 3].map(|()| Polled::waiting(sender.sending(tally.make()).into_future()));
    drop(first);
    assert_eq!(tally.dropped(), 1);
    // The second is taken in, so that dropping it does not drop the value.
    drop(receiver.try_recv().unwrap());
    drop(second);
    assert_eq!((tally.dropped(), receiver.len()), (2, 1));
    drop(receiver.try_recv().unwrap());
    assert_eq!(third.poll().map(|sent| sent.is_ok()), Some(true));
    drop((third, receiver));
    tally.assert_all_dropped();
}

#[test]
fn last_receiver_drops_remaining_values() {
    let tally = Tally::default();
    for (sender, receiver) in [bounded(100), unbounded()] {
        let other = receiver.clone();
        (0..50).for_each(|_| sender.try_send(tally.make()).unwrap());
        drop(receiver);
        assert_eq!(other.len(), 50);
        drop(other);
        assert_eq!(tally.made(), tally.dropped());
        assert!(sender.is_closed() && sender.try_send(tally.make()).is_err());
    }
    // A value that holds its own channel's sender: no lock is held while it is dropped.
    let (sender, receiver) = unbounded();
    struct Own(#[allow(dead_code, reason = "dropped")] Sender<Own>);
    assert!(sender.try_send(Own(sender.clone())).is_ok());
    drop(receiver);
    tally.assert_all_dropped();
}

#[test]
fn cancelled_receive_differs_from_closed_channel() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (sender, receiver) = rendezvous::<u8>();
        let handle = pool.spawn(move |cx| receiver.recv(cx));
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(RecvError::Cancelled));
        assert_eq!(sender.try_send(1).map_err(|error| error.is_full()), Err(false));
        let (sender, receiver) = unbounded::<u8>();
        drop(sender);
        assert_eq!(pool.run(|cx| cx.block_on(receiver.receiving().into_future())), Ok(Err(Closed)));
    });
}

const SHORT: Duration = Duration::from_millis(1);

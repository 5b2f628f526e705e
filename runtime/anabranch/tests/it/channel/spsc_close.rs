//! Streams that close, and waits that are abandoned: every value is received once or dropped once.

use crate::common::{LONG, Tally, in_pools, pool, waits::Polled, watchdog};
use anabranch::{
    Cancelled, Cx, Operation, WaitError,
    channel::{Closed, RecvError, SendError, TryRecvError, TrySendError, oneshot, spsc},
};
use std::{collections::VecDeque, thread, time::Duration};

const SHORT: Duration = Duration::from_millis(1);

fn streams<T>() -> [(spsc::Sender<T>, spsc::Receiver<T>); 4] {
    [spsc::bounded(1), spsc::bounded(2), spsc::bounded(100), spsc::unbounded()]
}

#[test]
fn failed_send_returns_value() {
    watchdog(LONG, || {
        pool(2).run(|cx| {
            let tally = Tally::default();
            let (mut sender, mut receiver) = spsc::bounded(1);
            sender.send(cx, tally.make()).unwrap();
            assert!(matches!(sender.try_send(tally.make()), Err(TrySendError::Full(_))));
            assert!(matches!(sender.sending(tally.make()).timeout(cx, SHORT), Err(WaitError::TimedOut)));
            let late = cx.timeout(SHORT, |cx| {
                let sent = sender.send(cx, tally.make());
                assert!(matches!(sent, Err(SendError::Cancelled(_))));
                sent.map_err(|_| WaitError::Cancelled)
            });
            assert_eq!(late, Err(WaitError::TimedOut));
            let mut batch = VecDeque::from([tally.make(), tally.make()]);
            let late = cx.timeout(SHORT, |cx| sender.send_all(cx, &mut batch).map_err(|_| WaitError::Cancelled));
            assert_eq!(late, Err(WaitError::TimedOut));
            assert_eq!(batch.len(), 2);
            receiver.close();
            assert!(matches!(sender.send(cx, tally.make()), Err(SendError::Closed(_))));
            assert_eq!(sender.send_all(cx, &mut batch), Err(SendError::Closed(())));
            assert_eq!(batch.len(), 2);
            assert!(receiver.recv(cx).is_ok());
            assert!(matches!(receiver.recv(cx), Err(RecvError::Closed)));
            drop(batch);
            tally.assert_all_dropped();
        });
    });
}

#[test]
fn dropping_one_end_wakes_the_other() {
    in_pools(|pool| {
        pool.run(|cx| {
            for closes in [false, true] {
                for (mut sender, mut receiver) in streams::<u8>() {
                    let (received, _sender) = cx.join(
                        move |cx| receiver.recv(cx),
                        move |cx| {
                            cx.sleep(SHORT).unwrap();
                            if closes {
                                sender.close()
                            }
                            closes.then_some(sender)
                        },
                    );
                    assert_eq!(received, Err(RecvError::Closed));
                }
                let (mut sender, mut receiver) = spsc::bounded(1);
                sender.try_send(1).unwrap();
                let (sent, _receiver) = cx.join(
                    move |cx| sender.send(cx, 2),
                    move |cx| {
                        cx.sleep(SHORT).unwrap();
                        if closes {
                            receiver.close()
                        }
                        closes.then_some(receiver)
                    },
                );
                assert!(matches!(sent, Err(SendError::Closed(2))));
            }
        });
    });
}

#[test]
fn cancelled_scope_neither_sends_nor_receives() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (mut sender, mut receiver) = spsc::unbounded();
        sender.try_send(1).unwrap();
        let handle = pool.spawn(move |cx: &Cx<'_>| {
            assert_eq!(cx.sleep(LONG), Err(Cancelled));
            assert_eq!(receiver.recv(cx), Err(RecvError::Cancelled));
            assert!(matches!(sender.send(cx, 2), Err(SendError::Cancelled(2))));
            receiver.drain().collect::<Vec<_>>()
        });
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), [1]);
    });
}

/// Both sides are cancelled repeatedly while values are sent: none is lost or duplicated.
#[test]
fn cancellation_loses_no_value() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            const N: usize = 300;
            // Both begin before either is busy.
            let (begun, mut has_begun) = oneshot::channel();
            let (met, mut has_met) = oneshot::channel();
            let sending = pool.spawn(move |cx| {
                has_begun.recv(cx).unwrap();
                met.send(()).unwrap();
                for n in 0..N {
                    let mut value = n;
                    loop {
                        let mut send = sender.sending(value);
                        match send.timeout(cx, Duration::from_micros(n as u64 % 50)) {
                            Ok(sent) => break sent.unwrap(),
                            Err(_) => value = send.into_inner().unwrap(),
                        }
                    }
                }
            });
            let receiving = pool.spawn(move |cx| {
                let mut got = Vec::new();
                begun.send(()).unwrap();
                has_met.recv(cx).unwrap();
                loop {
                    match receiver.receiving().timeout(cx, Duration::from_micros(got.len() as u64 % 70)) {
                        Ok(Ok(n)) => got.push(n),
                        Ok(Err(Closed)) => break,
                        Err(error) => assert_eq!(error, WaitError::TimedOut),
                    }
                }
                got
            });
            pool.run(|cx| {
                sending.join(cx).unwrap();
                assert!(receiving.join(cx).unwrap().into_iter().eq(0..N));
            });
        }
    });
}

/// Futures are polled and dropped while values arrive: flume and crossfire lost wakeups here.
#[test]
fn dropped_futures_lose_no_value() {
    watchdog(LONG, || {
        for (mut sender, mut receiver) in streams() {
            let sending = thread::spawn(move || {
                let mut n = 0;
                while n < 3000 {
                    // A dropped send has sent nothing.
                    if Polled::new(sender.sending(n).into_future()).poll().is_some() {
                        n += 1
                    } else {
                        thread::yield_now()
                    }
                }
            });
            let mut next = 0;
            loop {
                match Polled::new(receiver.receiving().into_future()).poll() {
                    Some(Ok(n)) => {
                        assert_eq!(n, next);
                        next += 1;
                    }
                    Some(Err(Closed)) => break,
                    None => thread::yield_now(),
                }
            }
            assert_eq!(next, 3000);
            sending.join().unwrap();
        }
    });
}

/// The receiver closes or is dropped midway: unreceived values are dropped, unsent ones are returned.
#[test]
fn each_value_is_dropped_once() {
    watchdog(LONG, || {
        for round in 0..100 {
            for (mut sender, mut receiver) in streams() {
                let tally = Tally::default();
                let sending = thread::spawn({
                    let tally = tally.clone();
                    move || {
                        let mut sent = 0;
                        for _ in 0..round {
                            match sender.try_send(tally.make()) {
                                Ok(()) => sent += 1,
                                Err(TrySendError::Full(_)) => {}
                                Err(TrySendError::Closed(_)) => break,
                            }
                        }
                        sent
                    }
                });
                let mut received = 0;
                while received < round / 2 {
                    match receiver.try_recv() {
                        Ok(_) => received += 1,
                        Err(TryRecvError::Empty) => thread::yield_now(),
                        Err(TryRecvError::Closed) => break,
                    }
                }
                if round % 2 == 0 {
                    // Values sent before the close arrive, and no others.
                    receiver.close();
                    loop {
                        match receiver.try_recv() {
                            Ok(_) => received += 1,
                            Err(TryRecvError::Empty) => unreachable!("closed"),
                            Err(TryRecvError::Closed) => break,
                        }
                    }
                    assert_eq!(sending.join().unwrap(), received);
                } else {
                    drop(receiver);
                    sending.join().unwrap();
                }
                assert_eq!(tally.made(), tally.dropped());
            }
        }
    });
}

/// A future that is leaked while it waits must not make a slot that is full look as if it were free.
#[test]
fn forgotten_send_leaves_stream_full() {
    let (mut sender, mut receiver) = spsc::bounded(1);
    sender.try_send(1).unwrap();
    std::mem::forget(Polled::waiting(async { sender.sending(2).await }));
    assert!(sender.is_full());
    assert!(matches!(sender.try_send(3), Err(TrySendError::Full(3))));
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    sender.try_send(4).unwrap();
    assert_eq!(receiver.try_recv(), Ok(4));
}

/// A sender that comes upon the end of a stream puts its value down for a moment: a receiver that looks again must not
/// take it.
#[test]
fn closed_stream_stays_closed() {
    watchdog(LONG, || {
        for _ in 0..300 {
            let tally = Tally::default();
            let (mut sender, mut receiver) = spsc::unbounded();
            let sending = thread::spawn({
                let tally = tally.clone();
                move || (0..50).filter(|_| sender.try_send(tally.make()).is_ok()).count()
            });
            receiver.close();
            let received = receiver.drain().count();
            while !sending.is_finished() {
                assert!(matches!(receiver.try_recv(), Err(TryRecvError::Closed)));
                assert!(receiver.is_empty());
                assert_eq!(receiver.len(), 0);
            }
            assert_eq!(sending.join().unwrap(), received);
            tally.assert_all_dropped();
        }
    });
}

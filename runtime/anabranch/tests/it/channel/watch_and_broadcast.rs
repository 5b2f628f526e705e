//! Watch and broadcast channels, and services.

use crate::common::{LONG, Tally, in_pools, pool, watchdog};
use anabranch::{
    Operation, WaitError,
    channel::{CallError, Closed, RecvError, TryRecvError, broadcast, oneshot, watch},
    select,
};
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn watch_receiver_sees_latest_and_never_older() {
    in_pools(|pool| {
        let (sender, receiver) = watch::channel(0);
        let watching: Vec<_> = (0..4)
            .map(|_| {
                let mut receiver = receiver.clone();
                pool.spawn(move |cx| {
                    let mut last = 0;
                    while let Ok(value) = receiver.recv(cx) {
                        assert!(*value > last);
                        last = *value;
                    }
                    last
                })
            })
            .collect();
        let sending = pool.spawn(move |cx| {
            for n in 1..=500 {
                sender.send(n).unwrap();
                cx.yield_now();
            }
        });
        pool.run(|cx| {
            sending.join(cx).unwrap();
            for handle in watching {
                assert_eq!(handle.join(cx).unwrap(), 500);
            }
        });
    });
}

#[test]
fn watch_results_follow_versions_and_close() {
    watchdog(LONG, || {
        let tally = Tally::default();
        let (sender, mut receiver) = watch::channel(tally.make());
        assert!(matches!(receiver.try_recv(), Err(TryRecvError::Empty)) && !receiver.has_changed());
        sender.send(tally.make()).unwrap();
        sender.clone().send(tally.make()).unwrap();
        assert_eq!(tally.dropped(), 2);
        assert!(receiver.has_changed());
        assert!(Arc::ptr_eq(&receiver.get(), &sender.get()));
        assert!(receiver.try_recv().is_ok());
        pool(1).run(|cx| {
            assert!(matches!(receiver.receiving().timeout(cx, SHORT), Err(WaitError::TimedOut)));
            sender.send(tally.make()).unwrap();
            drop(sender);
            assert!(receiver.is_closed());
            assert!(receiver.recv(cx).is_ok());
            assert!(matches!(receiver.recv(cx), Err(RecvError::Closed)));
        });
        drop(receiver);
        tally.assert_all_dropped();
    });
}

#[test]
fn each_receiver_gets_each_broadcast() {
    in_pools(|pool| {
        let (sender, receiver) = broadcast::channel(2000);
        let receiving: Vec<_> = (0..4)
            .map(|_| {
                let mut receiver = receiver.clone();
                pool.spawn(move |cx| {
                    let mut next = [0; 2];
                    for got in receiver.iter(cx) {
                        let (id, n): (usize, u32) = *got.unwrap();
                        assert_eq!(n, next[id]);
                        next[id] += 1;
                    }
                    (next, receiver.lagged())
                })
            })
            .collect();
        drop(receiver);
        let sending: Vec<_> = (0..2)
            .map(|id| {
                let sender = sender.clone();
                pool.spawn(move |cx| {
                    for n in 0..500 {
                        sender.send((id, n)).unwrap();
                        if n % 7 == 0 {
                            cx.yield_now();
                        }
                    }
                })
            })
            .collect();
        drop(sender);
        pool.run(|cx| {
            sending.into_iter().for_each(|handle| handle.join(cx).unwrap());
            for handle in receiving {
                assert_eq!(handle.join(cx).unwrap(), ([500; 2], 0));
            }
        });
    });
}

#[test]
fn slow_receiver_misses_oldest_and_is_told() {
    let tally = Tally::default();
    let (sender, mut receiver) = broadcast::channel(3);
    (0..10).for_each(|n| assert!(sender.send((n, tally.make())).is_ok()));
    assert_eq!((receiver.len(), tally.dropped()), (3, 7));
    let mut late = sender.subscribe();
    assert!(late.is_empty() && matches!(late.try_recv(), Err(broadcast::TryRecvError::Empty)));
    assert_eq!(receiver.try_recv().err(), Some(broadcast::TryRecvError::Lagged(7)));
    assert_eq!((receiver.lagged(), receiver.len()), (7, 3));
    assert_eq!(receiver.try_recv().unwrap().0, 7);
    sender.send((10, tally.make())).unwrap_or_else(|_| unreachable!());
    assert_eq!(receiver.try_recv().unwrap().0, 8);
    assert_eq!(late.try_recv().unwrap().0, 10);
    drop((receiver, late));
    assert!(sender.is_closed() && sender.send((11, tally.make())).is_err());
    drop(sender);
    tally.assert_all_dropped();
}

#[test]
fn futures_and_selections_receive_versions() {
    watchdog(LONG, || {
        let (sender, mut one) = broadcast::channel(4);
        let (setting, mut settings) = watch::channel(0);
        let mut two = one.clone();
        let mut context = Context::from_waker(Waker::noop());
        {
            // One future is dropped while it waits; the other is woken all the same.
            let mut stays = pin!(one.receiving().into_future());
            let mut goes = Box::pin(two.receiving().into_future());
            assert!(goes.as_mut().poll(&mut context).is_pending());
            assert!(stays.as_mut().poll(&mut context).is_pending());
            drop(goes);
            sender.send(1).unwrap();
            assert_eq!(stays.poll(&mut context), Poll::Ready(Ok(Arc::new(1))));
        }
        pool(1).run(|cx| {
            let got = select!(biased cx, {
                n = settings.receiving() => n.map(|n| *n),
                n = two.receiving() => n.map(|n| *n).map_err(|_| Closed),
            });
            assert_eq!(got, Ok(Ok(1)));
            setting.send(5).unwrap();
            let got = select!(biased cx, {
                n = settings.receiving() => n.map(|n| *n),
                n = two.receiving() => n.map(|n| *n).map_err(|_| Closed),
            });
            assert_eq!(got, Ok(Ok(5)));
            drop(sender);
            assert_eq!(cx.block_on(two.receiving().into_future()), Ok(Err(broadcast::ClosedOrLagged::Closed)));
        });
    });
}

#[test]
fn watch_receivers_on_threads_see_latest() {
    watchdog(LONG, || {
        let (sender, receiver) = watch::channel(0);
        thread::scope(|s| {
            for _ in 0..3 {
                let mut receiver = receiver.clone();
                s.spawn(move || anabranch::run(|cx| assert_eq!(*receiver.iter(cx).last().unwrap().unwrap(), 1000)));
            }
            (1..=1000).for_each(|n| sender.send(n).unwrap());
            drop(sender);
        });
    });
}

#[test]
fn services_answer() {
    in_pools(|pool| {
        let service = pool.spawn_service(|cx, requests| {
            let mut answered = 0;
            for (n, reply) in requests.iter(cx).map(Result::unwrap) {
                let reply: oneshot::Sender<u64> = reply;
                // One is never answered.
                if n != 13 {
                    reply.send(n * n).unwrap();
                    answered += 1;
                }
            }
            answered
        });
        pool.run(|cx| {
            cx.scope(|s| {
                for n in 0..20 {
                    let client = service.requests().clone();
                    s.spawn(move |cx| {
                        let answer = client.call(cx, |reply| (n, reply));
                        assert_eq!(answer, if n == 13 { Err(CallError::Closed) } else { Ok(n * n) });
                    });
                }
            });
            let late = service.requests().downgrade();
            assert_eq!(service.stop(cx).unwrap(), 19);
            assert!(late.upgrade().is_none());
        });
    });
}

/// A service ends or panics while requests wait: pending requests fail, and later ones too.
#[test]
fn requests_fail_when_service_ends_early() {
    in_pools(|pool| {
        for panics in [false, true] {
            let tally = Tally::default();
            let service = pool.spawn_service(move |cx, requests| {
                let (_kept, reply): (_, oneshot::Sender<u32>) = requests.recv(cx).unwrap();
                assert!(!panics, "no more today");
                reply.send(1).unwrap();
                "enough"
            });
            pool.run(|cx| {
                let asked = |reply| (tally.make(), reply);
                // The first request is answered, and those behind it are not, whatever their progress.
                let answers: Vec<_> = cx.scope(|s| {
                    let clients: Vec<_> = (0..10)
                        .map(|_| {
                            let client = service.requests().clone();
                            s.spawn(move |cx| client.call(cx, asked))
                        })
                        .collect();
                    clients.into_iter().map(|client| client.join(s).unwrap()).collect()
                });
                let answered = answers.iter().filter(|answer| **answer == Ok(1)).count();
                assert_eq!(answered, usize::from(!panics));
                assert!(answers.iter().all(|answer| matches!(answer, Ok(1) | Err(CallError::Closed))));
                assert_eq!(service.call(cx, asked), Err(CallError::Closed));
                let ended = service.stop(cx);
                if panics {
                    assert!(ended.unwrap_err().to_string().contains("no more today"));
                } else {
                    assert_eq!(ended.unwrap(), "enough");
                }
            });
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn close_ends_waits_and_keeps_values() {
    watchdog(LONG, || {
        let tally = Tally::default();
        let (setting, mut settings) = watch::channel(tally.make());
        let (cry, mut cries) = broadcast::channel(2);
        setting.send(tally.make()).unwrap();
        cry.send(tally.make()).unwrap();
        let (setting_too, cry_too) = (setting.clone(), cry.clone());
        let pool = pool(1);
        let waiting = pool.spawn({
            let (mut settings, mut cries) = (setting.subscribe(), cry.subscribe());
            move |cx| (settings.recv(cx).err(), cries.recv(cx).err())
        });
        pool.run(|cx| {
            cx.sleep(SHORT).unwrap();
            setting.close();
            cry.close();
            assert_eq!(waiting.join(cx).unwrap(), (Some(RecvError::Closed), Some(broadcast::RecvError::Closed)));
        });
        // The close holds for all senders, and earlier values remain. A refused value is returned.
        assert!(setting_too.is_closed() && cry_too.is_closed() && cry_too.has_receivers());
        let back = (setting_too.send(tally.make()).unwrap_err(), cry_too.send(tally.make()).unwrap_err());
        drop((back.0.into_inner(), back.1.into_inner()));
        assert!(settings.try_recv().is_ok() && cries.try_recv().is_ok());
        assert!(matches!(settings.try_recv(), Err(TryRecvError::Closed)));
        assert!(matches!(cries.try_recv(), Err(broadcast::TryRecvError::Closed)));
        drop((setting, setting_too, settings, cry, cry_too, cries));
        tally.assert_all_dropped();
    });
}

#[test]
fn weak_senders_upgrade_and_same_channel_compares() {
    let (setting, settings) = watch::channel(0);
    let (cry, mut cries) = broadcast::channel(2);
    let (other_setting, _) = watch::channel(0);
    let (other_cry, _) = broadcast::channel::<u8>(2);
    let (weak_setting, weak_cry) = (setting.downgrade().clone(), cry.downgrade().clone());
    let again = (weak_setting.upgrade().unwrap(), weak_cry.upgrade().unwrap());
    assert!(again.0.same_channel(&setting) && !again.0.same_channel(&other_setting));
    assert!(again.1.same_channel(&cry) && !again.1.same_channel(&other_cry));
    assert!(again.0.is_to(&settings) && again.1.is_to(&cries) && !other_cry.is_to(&cries));
    assert_eq!(cry.capacity(), 2);
    drop((setting, cry));
    // The channels are open for as long as there is one sender.
    assert!(!settings.is_closed() && again.1.send(1).is_ok());
    drop(again);
    assert!(weak_setting.upgrade().is_none() && weak_cry.upgrade().is_none());
    assert!(settings.is_closed() && cries.is_closed() && cries.drain().map(|n| *n.unwrap()).eq([1]));
}

/// The last receiver of a broadcast drops what is kept for receivers; those that come later begin with nothing.
#[test]
fn broadcast_without_receivers_keeps_nothing() {
    let tally = Tally::default();
    let (sender, receiver) = broadcast::channel(10);
    let other = receiver.clone();
    (0..5).for_each(|_| sender.send(tally.make()).unwrap());
    drop(receiver);
    assert_eq!(tally.dropped(), 0);
    drop(other);
    assert_eq!(tally.dropped(), 5);
    assert!(sender.is_closed() && !sender.has_receivers());
    drop(sender.send(tally.make()).unwrap_err());
    let mut late = sender.subscribe();
    assert!(!sender.is_closed() && late.is_empty());
    sender.send(tally.make()).unwrap();
    assert_eq!((late.len(), late.lagged()), (1, 0));
    drop(late.try_recv().unwrap());
    drop((sender, late));
    tally.assert_all_dropped();
}

/// Receivers subscribe and leave while values are sent. Each sees all values sent during its lifetime.
#[test]
fn broadcast_receivers_may_subscribe_and_leave() {
    watchdog(LONG, || {
        let (sender, first) = broadcast::channel(1 << 14);
        drop(first);
        thread::scope(|s| {
            for _ in 0..3 {
                let sender = sender.clone();
                s.spawn(move || {
                    for round in 0..300 {
                        let mut receiver = sender.subscribe();
                        let mut last = None;
                        for n in 0..round % 7 {
                            sender.send(n).unwrap();
                            last = Some(n);
                        }
                        let got: Vec<_> = receiver.drain().map(|n| *n.unwrap()).collect();
                        assert_eq!(receiver.lagged(), 0);
                        // Its own values are among them, in order.
                        let mut own = 0..round % 7;
                        let mut next = own.next();
                        for n in got {
                            if Some(n) == next {
                                next = own.next();
                            }
                        }
                        assert_eq!(next, None, "after {last:?}");
                    }
                });
            }
        });
    });
}

#[test]
fn broadcasts_are_received_in_batches() {
    in_pools(|pool| {
        let (sender, mut receiver) = broadcast::channel(100);
        (0..10).for_each(|n| sender.send(n).unwrap());
        let mut batch = Vec::new();
        pool.run(|cx| {
            assert_eq!(receiver.recv_many(cx, &mut batch, 4), Ok(4));
            assert_eq!(receiver.recv_many(cx, &mut batch, 0), Ok(0));
            let task = pool.spawn_async(async move {
                let count = receiver.recv_many_async(&mut batch, 100).await;
                (count, batch)
            });
            let (count, batch) = task.join(cx).unwrap();
            assert_eq!(count, Ok(6));
            assert!(batch.into_iter().map(|n| *n).eq(0..10));
        });
    });
}

//! Channels with many senders and receivers: order, closing, cancelling, reserving, and what is dropped when.

mod common;
#[path = "common/waits.rs"]
mod waits;

use anabranch::{
    Pool,
    channel::{
        Closed, Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError,
        bounded, rendezvous, unbounded,
    },
    select,
};
use common::{
    LONG, Tally,
    fibers::{until, until_waiting, waiting},
    in_pools, pool, watchdog,
};
use proptest::prelude::*;
use std::{collections::VecDeque, thread, time::Duration};
use waits::Polled;

const SHORT: Duration = Duration::from_millis(1);

fn channels<T>() -> [(Sender<T>, Receiver<T>); 5] {
    [rendezvous(), bounded(1), bounded(2), bounded(100), unbounded()]
}

/// Who sent it, and its number.
type Numbered = (usize, usize);

/// Each of `senders` sends so many; `receivers` take them all. Whether each came once, and in the order of its sender.
fn exchange(pool: &Pool, (sender, receiver): (Sender<Numbered>, Receiver<Numbered>), senders: usize, receivers: usize) {
    const N: usize = 300;
    let got = pool.run(|cx| {
        cx.scope(|s| {
            for id in 0..senders {
                let sender = sender.clone();
                s.spawn(move |cx| (0..N).try_for_each(|n| sender.send(cx, (id, n))).unwrap());
            }
            drop(sender);
            let handles: Vec<_> = (0..receivers)
                .map(|_| {
                    let receiver = receiver.clone();
                    s.spawn(move |cx| receiver.iter(cx).collect::<Vec<_>>())
                })
                .collect();
            handles.into_iter().map(|handle| handle.join(cx).unwrap()).collect::<Vec<_>>()
        })
    });
    for list in &got {
        let mut next = vec![0; senders];
        for &(id, n) in list {
            assert!(n >= next[id], "the order of a sender");
            next[id] = n + 1;
        }
    }
    let mut all = got.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq((0..senders).flat_map(|id| (0..N).map(move |n| (id, n)))));
}

#[test]
fn each_value_comes_once_and_in_order() {
    in_pools(|pool| {
        for (senders, receivers) in [(1, 1), (5, 1), (1, 5), (4, 4)] {
            for channel in channels() {
                exchange(pool, channel, senders, receivers);
            }
        }
    });
}

#[test]
fn between_threads() {
    watchdog(LONG, || {
        for (sender, receiver) in channels() {
            thread::scope(|s| {
                for _ in 0..3 {
                    let sender = sender.clone();
                    s.spawn(move || anabranch::run(|cx| (0..1000).try_for_each(|n| sender.send(cx, n)).unwrap()));
                }
                drop(sender);
                let sums: Vec<_> =
                    (0..2).map(|_| s.spawn(|| anabranch::run(|cx| receiver.iter(cx).sum::<u64>()))).collect();
                assert_eq!(sums.into_iter().map(|sum| sum.join().unwrap()).sum::<u64>(), 3 * 499_500);
            });
        }
    });
}

#[test]
fn between_tasks() {
    in_pools(|pool| {
        for (sender, receiver) in channels() {
            let sending: Vec<_> = (0..3)
                .map(|_| {
                    let sender = sender.clone();
                    pool.spawn_async(async move {
                        for n in 0..200_u64 {
                            sender.send_async(n).await.unwrap();
                        }
                    })
                })
                .collect();
            drop(sender);
            let receiving = pool.spawn_async(async move {
                let mut sum = 0;
                while let Ok(n) = receiver.recv_async().await {
                    sum += n;
                }
                sum
            });
            pool.run(|cx| {
                sending.into_iter().for_each(|handle| handle.join(cx).unwrap());
                assert_eq!(receiving.join(cx).unwrap(), 3 * 19_900);
            });
        }
    });
}

#[test]
fn what_was_not_sent_comes_back() {
    watchdog(LONG, || {
        pool(2).run(|cx| {
            let tally = Tally::default();
            let (sender, receiver) = bounded(1);
            sender.send(cx, tally.make()).unwrap();
            assert!(matches!(sender.try_send(tally.make()), Err(TrySendError::Full(_))));
            assert!(matches!(sender.send_timeout(cx, tally.make(), SHORT), Err(SendTimeoutError::TimedOut(_))));
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
fn closing_wakes_all_who_wait() {
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

/// Senders and receivers are cancelled over and over: none is lost, none comes twice.
#[test]
fn nothing_is_lost_to_cancellation() {
    in_pools(|pool| {
        for (sender, receiver) in channels() {
            const N: usize = 200;
            let sending: Vec<_> = (0..3)
                .map(|id| {
                    let sender = sender.clone();
                    pool.spawn(move |cx| {
                        for n in 0..N {
                            let mut value = (id, n);
                            while let Err(error) =
                                sender.send_timeout(cx, value, Duration::from_micros(40 + n as u64 % 50))
                            {
                                value = error.into_inner();
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
                            match receiver.recv_timeout(cx, Duration::from_micros(40 + got.len() as u64 % 70)) {
                                Ok(value) => got.push(value),
                                Err(RecvTimeoutError::TimedOut) => {}
                                Err(error) => break assert_eq!(error, RecvTimeoutError::Closed),
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
fn a_dropped_receive_passes_its_wake_up_on() {
    for (sender, receiver) in channels() {
        let [first, second, mut third] = [(); 3].map(|()| Polled::waiting(receiver.recv_async()));
        // One that leaves from the middle is passed over.
        let second_bell = second.forsake();
        sender.try_send(7).unwrap();
        assert_eq!([first.wakes(), second_bell.wakes(), third.wakes()], [1, 0, 0]);
        let first_bell = first.forsake();
        assert_eq!([first_bell.wakes(), second_bell.wakes(), third.wakes()], [1, 0, 1]);
        assert_eq!(third.poll(), Some(Ok(7)));
        // And with nobody to pass it on to, the value stays.
        let last = Polled::waiting(receiver.recv_async());
        sender.try_send(8).unwrap();
        drop((last, third));
        assert_eq!(receiver.try_recv(), Ok(8));
    }
}

/// A sender whose future is dropped: its value is dropped once, or received once, and room goes to the next.
#[test]
fn dropped_sends() {
    let tally = Tally::default();
    let (sender, receiver) = bounded(1);
    sender.try_send(tally.make()).unwrap();
    let [first, second, mut third] = [(); 3].map(|()| Polled::waiting(sender.send_async(tally.make())));
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
fn permits_keep_room() {
    watchdog(LONG, || {
        let (sender, receiver) = bounded(2);
        pool(1).run(|cx| {
            let one = sender.reserve(cx).unwrap();
            let two = sender.try_reserve().unwrap();
            assert!(sender.try_reserve().is_none());
            assert!(matches!(sender.try_send(0), Err(TrySendError::Full(0))));
            // One who waits for room and goes, and one who stays.
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
fn a_permit_given_back_wakes_a_receiver_for_the_value_that_moves_up() {
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
fn the_last_receiver_drops_what_is_left() {
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
fn ends_and_what_they_say() {
    let (sender, receiver) = unbounded();
    let (other, _) = unbounded::<u8>();
    let weak = sender.downgrade();
    assert!(sender.same_channel(&weak.upgrade().unwrap()) && !sender.same_channel(&other));
    assert!(receiver.same_channel(&receiver.clone()));
    sender.try_send(1).unwrap();
    drop(sender);
    assert!(weak.upgrade().is_none() && receiver.is_closed());
    assert_eq!((receiver.len(), receiver.try_recv()), (1, Ok(1)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!((bounded::<u8>(3).0.capacity(), unbounded::<u8>().0.capacity()), (Some(3), None));
    assert!(rendezvous::<u8>().0.is_full());
}

#[test]
fn many_at_a_time() {
    in_pools(|pool| {
        for (sender, receiver) in channels() {
            let sending = pool.spawn(move |cx| (0..500).try_for_each(|n| sender.send(cx, n)).unwrap());
            pool.run(|cx| {
                let mut all = Vec::new();
                while let Ok(count) = receiver.recv_many(cx, &mut all, 7) {
                    assert!((1..=7).contains(&count));
                }
                assert!(all.into_iter().eq(0..500));
                sending.join(cx).unwrap();
            });
        }
    });
}

#[test]
fn a_cancelled_receive_is_told_apart_from_a_closed_channel() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (sender, receiver) = rendezvous::<u8>();
        let handle = pool.spawn(move |cx| receiver.recv(cx));
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(RecvError::Cancelled));
        assert_eq!(sender.try_send(1).map_err(|error| error.is_full()), Err(false));
        let (sender, receiver) = unbounded::<u8>();
        drop(sender);
        assert_eq!(pool.run(|cx| cx.block_on(receiver.recv_async())), Ok(Err(Closed)));
    });
}

#[derive(Debug, Clone)]
enum Step {
    Send,
    Recv,
    Many(usize),
    Reserve,
    Spend,
    GiveBack,
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => Just(Step::Send),
        10 => Just(Step::Recv),
        2 => (1..20_usize).prop_map(Step::Many),
        3 => Just(Step::Reserve),
        2 => Just(Step::Spend),
        1 => Just(Step::GiveBack),
        1 => Just(Step::Close),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without concurrency a channel is a queue.
    #[test]
    fn a_channel_is_a_queue(capacity in proptest::option::of(1..40_usize), steps in steps()) {
        let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
        let room = capacity.unwrap_or(usize::MAX);
        let (mut model, mut permits) = (VecDeque::new(), Vec::new());
        let (mut next, mut is_closed) = (0_u64, false);
        for step in steps {
            next += 1;
            let is_full = model.len() + permits.len() >= room;
            match step {
                Step::Send => match sender.try_send(next) {
                    Ok(()) => {
                        prop_assert!(!is_closed && !is_full);
                        model.push_back(next);
                    }
                    Err(TrySendError::Full(_)) => prop_assert!(!is_closed && is_full),
                    Err(TrySendError::Closed(_)) => prop_assert!(is_closed),
                },
                Step::Recv => match receiver.try_recv() {
                    Ok(value) => prop_assert_eq!(Some(value), model.pop_front()),
                    Err(TryRecvError::Empty) => prop_assert!(!is_closed && model.is_empty()),
                    Err(TryRecvError::Closed) => prop_assert!(is_closed && model.is_empty()),
                },
                Step::Many(limit) => {
                    if !model.is_empty() {
                        let mut got = Vec::new();
                        let count = anabranch::run(|cx| receiver.recv_many(cx, &mut got, limit)).unwrap();
                        prop_assert_eq!(count, got.len());
                        prop_assert_eq!(count, limit.min(model.len()).min(16));
                        prop_assert!(got.into_iter().eq(model.drain(..count)));
                    }
                }
                Step::Reserve => match sender.try_reserve() {
                    Some(permit) => {
                        prop_assert!(!is_closed && !is_full);
                        permits.push(permit);
                    }
                    None => prop_assert!(is_closed || is_full),
                },
                Step::Spend => if let Some(permit) = permits.pop() {
                    match permit.send(next) {
                        Ok(()) => {
                            prop_assert!(!is_closed);
                            model.push_back(next);
                        }
                        Err(_) => prop_assert!(is_closed),
                    }
                },
                Step::GiveBack => drop(permits.pop()),
                Step::Close => {
                    sender.close();
                    is_closed = true;
                }
            }
            prop_assert_eq!(receiver.len(), model.len());
            prop_assert_eq!(receiver.is_closed(), is_closed);
        }
    }
}

#[test]
fn room_in_a_channel_in_all_shapes() {
    in_pools(|pool| {
        let (sender, receiver) = bounded(1);
        pool.run(|cx| {
            let permit = sender.reserve_timeout(cx, SHORT).unwrap();
            assert_eq!(sender.reserve_timeout(cx, SHORT).err(), Some(RecvTimeoutError::TimedOut));
            let late = cx.now();
            assert_eq!(sender.reserve_until(cx, late).err(), Some(RecvTimeoutError::TimedOut));
            permit.send(1).unwrap();
            assert!(sender.is_to(&receiver) && !sender.is_to(&unbounded().1));
            assert!(select!(cx, { room = sender.reserving() => room.is_ok(), default => false }) == Ok(false));
            assert_eq!(receiver.recv(cx), Ok(1));
            let kept = select!(cx, { room = sender.reserving() => room.unwrap() }).unwrap();
            assert!(sender.try_reserve().is_none());
            drop(kept);
            receiver.close();
            assert_eq!(sender.reserve_timeout(cx, SHORT).err(), Some(RecvTimeoutError::Closed));
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
        assert_eq!(counts, [16, 16, 8]);
    });
}

/// Two receivers wait, and one is woken for the only value that fits. A second value waits with its sender, and moves up when the
/// first is taken: that is a value for the other receiver, whoever has made room for it.
#[test]
fn what_moves_up_wakes_a_receiver() {
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

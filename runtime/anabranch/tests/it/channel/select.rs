//! `select!`: fair or biased, with a default, with deadlines, and without losing a value.

use crate::common::{LONG, Tally, fibers::with_every_cx, in_pools, pool, waits::Polled, watchdog};
use anabranch::{
    Cancelled, Cx, WaitError,
    channel::{
        self, Closed, Operation, Receiver, Select, Sender, bounded, broadcast, oneshot, rendezvous, spsc, unbounded,
        watch,
    },
    select,
    sync::Trigger,
};
use std::{fmt::Debug, sync::Arc, thread, time::Duration};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn select_completes_each_kind_of_operation() {
    in_pools(|pool| {
        pool.run(|cx| {
            let (shared, mut stream) = (unbounded::<u8>(), spsc::bounded::<u8>(1));
            let (reply, mut result) = oneshot::channel::<u8>();
            let mut trigger = Trigger::new();
            let signal = trigger.signal();
            let mut reply = Some(reply);
            for turn in 0..5 {
                match turn {
                    0 => shared.0.try_send(0).unwrap(),
                    1 => stream.0.try_send(1).unwrap(),
                    2 => reply.take().unwrap().send(2).unwrap(),
                    3 => signal.send(),
                    _ => {}
                }
                let got = select!(biased cx, {
                    n = shared.1.receiving() => n.unwrap(),
                    n = stream.1.receiving() => n.unwrap(),
                    // Once it has been received from, the channel is closed.
                    n = result.receiving() => {
                        if n == Err(Closed) { 3 } else { n.unwrap() }
                    }
                    () = trigger.waiting() => 3,
                    () = cx.sleeping(SHORT) => 4,
                });
                assert_eq!(got, Ok(turn.min(3)));
            }
        });
    });
}

#[test]
fn select_waits_until_an_operation_is_ready() {
    in_pools(|pool| {
        let (a, from_a) = rendezvous();
        let (b, from_b) = bounded(1);
        let sending: Vec<_> = (0..2)
            .map(|id| {
                let (a, b) = (a.clone(), b.clone());
                pool.spawn(move |cx| {
                    for n in 0..300 {
                        if id == 0 { a.send(cx, n).unwrap() } else { b.send(cx, n).unwrap() }
                    }
                })
            })
            .collect();
        drop((a, b));
        pool.run(|cx| {
            let mut next = [0, 0];
            let mut open = 2;
            while open > 0 {
                let (id, n) = select!(cx, {
                    n = from_a.receiving() => (0, n),
                    n = from_b.receiving() => (1, n),
                })
                .unwrap();
                match n {
                    Ok(n) => {
                        assert_eq!(n, next[id]);
                        next[id] += 1;
                    }
                    // Then the other is all there is.
                    Err(Closed) => {
                        open = 0;
                        let rest = if id == 0 { &from_b } else { &from_a };
                        rest.iter(cx).map(Result::unwrap).for_each(|n| {
                            assert_eq!(n, next[1 - id]);
                            next[1 - id] += 1;
                        });
                    }
                }
            }
            assert_eq!(next, [300, 300]);
            sending.into_iter().for_each(|handle| handle.join(cx).unwrap());
        });
    });
}

/// Two sides select over sends and receives between them: each value goes once.
#[test]
fn sends_and_receives_of_selections_pair() {
    in_pools(|pool| {
        for (forth, back) in [(rendezvous(), rendezvous()), (bounded(1), bounded(2))] {
            let mut handles = Vec::new();
            for (sender, receiver) in [(forth.0.clone(), back.1.clone()), (back.0.clone(), forth.1.clone())] {
                handles.push(pool.spawn(move |cx| {
                    let (mut sent, mut received) = (0_u64, 0_u64);
                    while sent < 200 || received < 200 {
                        select!(cx, {
                            result = sender.sending(sent) => {
                                result.unwrap();
                                sent += 1;
                            }
                            n = receiver.receiving() => {
                                assert_eq!(n, Ok(received));
                                received += 1;
                            }
                        })
                        .unwrap();
                        if sent == 200 {
                            while received < 200 {
                                assert_eq!(receiver.recv(cx), Ok(received));
                                received += 1;
                            }
                        }
                    }
                }));
            }
            pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap()));
        }
    });
}

/// A selection that would send to a rendezvous, or receive from it, does not pair with itself. It once did: the
/// selection looped, and no other fiber of its thread ran.
#[test]
fn selection_does_not_pair_with_itself() {
    fn either(cx: &Cx<'_>, (sender, receiver): &(Sender<u32>, Receiver<u32>)) -> Result<Option<u32>, Cancelled> {
        select!(cx, {
            sent = sender.sending(1) => { sent.unwrap(); None },
            got = receiver.receiving() => got.ok(),
            // The same once more: it is in each queue twice.
            sent = sender.sending(2) => { sent.unwrap(); None },
            got = receiver.receiving() => got.ok(),
        })
    }
    with_every_cx(|cx| {
        let channel = rendezvous();
        let limited = cx.timeout(SHORT, |cx| Ok::<_, WaitError>(either(cx, &channel)?));
        assert_eq!(limited, Err(WaitError::TimedOut));
        // Another selection does pair with it, in both directions.
        cx.scope(|s| {
            let other = s.spawn(|cx| channel.1.recv(cx));
            assert_eq!(either(cx, &channel), Ok(None));
            assert!(matches!(other.join(cx).unwrap(), Ok(1 | 2)));
            let other = s.spawn(|cx| channel.0.send(cx, 3));
            assert_eq!(either(cx, &channel), Ok(Some(3)));
            assert_eq!(other.join(cx).unwrap(), Ok(()));
            // Two selections that can do either pair too: one of them sends.
            let other = s.spawn(|cx| either(cx, &channel).unwrap());
            let here = either(cx, &channel).unwrap();
            assert_eq!(here.is_some(), other.join(cx).unwrap().is_none());
        });
    });
    watchdog(LONG, || {
        let (sender, receiver) = rendezvous();
        let mut waiting = Polled::waiting(async {
            select!(async, {
                sent = sender.sending(1) => { sent.unwrap(); None },
                got = receiver.receiving() => got.ok(),
            })
        });
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(waiting.poll(), Some(None));
        let mut waiting = Polled::waiting(async {
            select!(async, {
                got = receiver.receiving() => got.ok(),
                sent = sender.sending(1) => { sent.unwrap(); None },
            })
        });
        let mut sending = Polled::waiting(sender.sending(2).into_future());
        assert_eq!(waiting.poll(), Some(Some(2)));
        assert_eq!(sending.poll(), Some(Ok(())));
    });
}

#[test]
fn default_runs_only_if_nothing_is_ready() {
    watchdog(LONG, || {
        pool(1).run(|cx| {
            let tally = Tally::default();
            let (sender, receiver) = bounded(1);
            for turn in 0..3 {
                let done = select!(cx, {
                    sent = sender.sending(tally.make()) => {
                        assert!(sent.is_ok());
                        "sent"
                    }
                    default => "full",
                });
                assert_eq!(done, Ok(if turn == 0 { "sent" } else { "full" }));
            }
            assert_eq!((tally.made(), tally.dropped()), (3, 2));
            drop(receiver);
            tally.assert_all_dropped();
        });
    });
}

#[test]
fn select_is_fair_and_biased_select_is_ordered() {
    watchdog(LONG, || {
        pool(1).run(|cx| {
            let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| unbounded()).unzip();
            let mut counts = [0; 4];
            for sender in &senders {
                (0..4000).for_each(|n| sender.try_send(n).unwrap());
            }
            let mut fair: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
            for _ in 0..4000 {
                counts[fair.wait(cx).unwrap().0] += 1;
            }
            assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
            drop(fair);
            let mut biased = receivers.iter().map(|receiver| receiver.receiving()).collect::<Select<_>>().biased();
            for _ in 0..100 {
                assert_eq!(biased.wait(cx).unwrap().0, 0);
            }
        });
    });
}

/// Receives from streams go on waiting between the waits of a selection: used in all ways, one after the other, it
/// loses nothing.
#[test]
fn spsc_receives_persist_across_selections() {
    in_pools(|pool| {
        let tally = Tally::default();
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) =
            (0..8).map(|n| if n % 2 == 0 { spsc::unbounded() } else { spsc::bounded(1) }).unzip();
        let (mut late, mut latest) = spsc::unbounded();
        let made = tally.clone();
        let sending = pool.spawn(move |cx| {
            for n in 0..400 {
                let sender = &mut senders[n * 5 % 8];
                assert!(sender.send(cx, (n, made.make())).is_ok());
                if n == 100 {
                    late.send(cx, (400, made.make())).unwrap();
                }
                if n % 7 == 0 {
                    cx.yield_now();
                }
            }
            drop(senders);
            late.send(cx, (401, made.make())).unwrap();
            late
        });
        pool.run(|cx| {
            let mut select: Select<_> = receivers.iter_mut().map(spsc::Receiver::receiving).collect();
            let mut names: Vec<_> = (0..8).collect();
            let (mut last, mut came, mut open) = ([None; 9], 0, 8);
            let mut latest = Some(&mut latest);
            while open > 0 {
                let done = match came % 4 {
                    0 => select.try_now(),
                    1 => select.timeout(cx, SHORT).ok(),
                    2 if came % 16 == 2 => Some(cx.block_on(select.wait_async()).unwrap()),
                    _ => Some(select.wait(cx).unwrap()),
                };
                let Some((index, got)) = done else {
                    cx.yield_now();
                    continue;
                };
                match got {
                    Ok((n, _)) => {
                        assert!(last[names[index]].replace(n).is_none_or(|before| before < n), "{n} too late");
                        came += 1;
                    }
                    Err(Closed) => {
                        select.swap_remove(index);
                        names.swap_remove(index);
                        open -= 1;
                    }
                }
                if came == 60
                    && let Some(receiver) = latest.take()
                {
                    assert_eq!(select.push(receiver.receiving()), names.len());
                    names.push(8);
                }
            }
            assert_eq!(select.len(), 1);
            drop(sending.join(cx).unwrap());
            let mut select = select.biased();
            if came == 401 {
                assert!(matches!(select.wait(cx), Ok((0, Ok((401, _))))));
                came += 1;
            }
            assert!(came == 402 && matches!(select.wait(cx), Ok((0, Err(Closed)))));
        });
        assert_eq!(latest.try_recv().err(), Some(channel::TryRecvError::Closed));
        tally.assert_all_dropped();
    });
}

/// Receives from what many look at, waited for again and again: each waits for what it has not received yet. They
/// waited for what comes after the first, which had come, and so went round and round.
#[test]
fn watch_can_be_selected_repeatedly() {
    fn follow<E: Debug + PartialEq, O: Operation<Done = Result<Arc<u32>, E>>>(
        cx: &Cx<'_>,
        operations: [O; 2],
        mut senders: Vec<impl Fn(u32)>,
        closed: E,
    ) {
        let mut select = Select::from_iter(operations);
        for n in 0..4 {
            assert_eq!(select.timeout(cx, SHORT), Err(WaitError::TimedOut));
            let index = n as usize % 2;
            senders[index](n);
            assert_eq!(select.wait(cx), Ok((index, Ok(Arc::new(n)))));
        }
        senders.pop();
        assert_eq!(select.wait(cx), Ok((1, Err(closed))));
    }
    with_every_cx(|cx| {
        let [(one, mut first), (two, mut second)] = [9, 9].map(watch::channel);
        let senders = [one, two].map(|sender| move |n| sender.send(n).unwrap());
        follow(cx, [first.receiving(), second.receiving()], senders.into(), Closed);
        let [(one, mut first), (two, mut second)] = [1, 2].map(broadcast::channel);
        let senders = [one, two].map(|sender| move |n| sender.send(n).unwrap());
        follow(cx, [first.receiving(), second.receiving()], senders.into(), broadcast::ClosedOrLagged::Closed);
    });
}

/// A selection that is forgotten has left its waiters behind: the receivers can be used again all the same.
#[test]
fn forgotten_selection_loses_nothing() {
    pool(1).run(|cx| {
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..2).map(|_| spsc::unbounded()).unzip();
        let mut select: Select<_> = receivers.iter_mut().map(spsc::Receiver::receiving).collect();
        for n in 0..4 {
            senders[n % 2].try_send(n).unwrap();
            assert_eq!(select.wait(cx), Ok((n % 2, Ok(n))));
        }
        std::mem::forget(select);
        senders[0].try_send(4).unwrap();
        assert_eq!(receivers[0].recv(cx), Ok(4));
        let mut select: Select<_> = receivers.iter_mut().map(spsc::Receiver::receiving).collect();
        for n in 5..9 {
            senders[n % 2].try_send(n).unwrap();
            assert_eq!(select.wait(cx), Ok((n % 2, Ok(n))));
        }
        drop(senders);
        assert!(matches!(select.wait(cx), Ok((_, Err(Closed)))));
    });
}

#[test]
fn arms_may_break_continue_and_return() {
    fn sum(cx: &anabranch::Cx<'_>, receiver: &channel::Receiver<u32>) -> Result<u32, Closed> {
        let mut sum = 0;
        loop {
            let n = select!(cx, {
                n = receiver.receiving() => n?,
                () = cx.sleeping(LONG) => break,
            })
            .unwrap();
            if n == 0 {
                return Ok(sum);
            }
            sum += n;
        }
        Ok(0)
    }
    watchdog(LONG, || {
        anabranch::run(|cx| {
            let (sender, receiver) = unbounded();
            [1, 2, 3, 0].into_iter().for_each(|n| sender.try_send(n).unwrap());
            assert_eq!(sum(cx, &receiver), Ok(6));
            sender.close();
            assert_eq!(sum(cx, &receiver), Err(Closed));
        });
    });
}

#[test]
fn cancelled_selection_completes_nothing() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (_sender, receiver) = unbounded::<u8>();
        let (full, _other) = bounded(1);
        full.try_send(1).unwrap();
        let handle = pool.spawn(move |cx| {
            select!(cx, {
                _ = receiver.receiving() => (),
                _ = full.sending(2) => (),
            })
        });
        pool.run(|cx| cx.sleep(SHORT)).unwrap();
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(Cancelled));
    });
}

/// Many threads and fibers select over the same channels, with deadlines: each value comes once.
#[test]
fn concurrent_selections_lose_nothing() {
    watchdog(LONG, || {
        let (senders, receivers): (Vec<_>, Vec<_>) = [rendezvous(), bounded(1), unbounded()].into_iter().unzip();
        let mut threads = Vec::new();
        for sender in senders {
            threads.push(thread::spawn(move || {
                anabranch::run(|cx| (1..=500_u64).for_each(|n| sender.send(cx, n).unwrap()));
                0
            }));
        }
        for _ in 0..3 {
            let receivers = receivers.clone();
            threads.push(thread::spawn(move || {
                anabranch::run(|cx| {
                    let mut sum = 0;
                    let mut closed = [false; 3];
                    while closed.contains(&false) {
                        let (index, got) = select!(cx, {
                            n = receivers[0].receiving() => (0, n),
                            n = receivers[1].receiving() => (1, n),
                            n = receivers[2].receiving() => (2, n),
                            () = cx.sleeping(Duration::from_micros(50)) => (3, Ok(0)),
                        })
                        .unwrap();
                        match got {
                            Ok(n) => sum += n,
                            Err(Closed) => closed[index] = true,
                        }
                    }
                    sum
                })
            }));
        }
        let sum: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 3 * 125_250);
    });
}

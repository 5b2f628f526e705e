//! What a selection chooses, what an iterator ends with, and what a receive of many and a lagging receiver get: the
//! same of all flavours.
#![forbid(unsafe_code)]

use crate::common::{Counted, LONG, Tally, panic_text, waits::Polled, watchdog};
use anabranch::{
    Cancelled, TimedOut,
    channel::{
        Closed, ReceiverSet, RecvError, Select, bounded,
        broadcast::{self, ClosedOrLagged, Lagged},
        oneshot, spsc, unbounded, watch,
    },
    select,
};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(1);

/// How often is chosen. Each of `n` equal choices is made within a tenth of `ROUNDS / n`, or within seven standard
/// deviations.
const ROUNDS: usize = 12_000;

#[track_caller]
fn assert_uniform(counts: &[usize]) {
    let (all, share) = (counts.iter().sum::<usize>(), ROUNDS / counts.len());
    assert!(all == ROUNDS && counts.iter().all(|count| count.abs_diff(share) < share / 10), "{counts:?}");
}

/// Wherever the ready ones are among the arms.
#[test]
fn each_ready_arm_is_as_likely_as_the_others() {
    let ((_open, idle), (full, ready)) = (unbounded::<u32>(), unbounded::<u32>());
    (0..10 * ROUNDS).for_each(|_| full.try_send(0).unwrap());
    anabranch::run(|cx| {
        let mut counts = [0; 2];
        for _ in 0..ROUNDS {
            counts[select!(cx, {
                _ = idle.receiving() => unreachable!(),
                _ = idle.receiving() => unreachable!(),
                _ = ready.receiving() => 0,
                _ = ready.receiving() => 1,
            })
            .unwrap()] += 1;
        }
        assert_uniform(&counts);
        let mut counts = [0; 3];
        for _ in 0..ROUNDS {
            counts[select!(cx, {
                _ = ready.receiving() => 0,
                _ = ready.receiving() => 1,
                _ = idle.receiving() => unreachable!(),
                _ = idle.receiving() => unreachable!(),
                _ = ready.receiving() => 2,
                default => unreachable!(),
            })
            .unwrap()] += 1;
        }
        assert_uniform(&counts);
        let mut counts = [0; 3];
        for _ in 0..ROUNDS {
            let choice = async {
                select!(async, {
                    _ = ready.receiving() => 0,
                    _ = idle.receiving() => unreachable!(),
                    _ = idle.receiving() => unreachable!(),
                    _ = ready.receiving() => 1,
                    _ = ready.receiving() => 2,
                })
            };
            counts[cx.block_on(choice).unwrap()] += 1;
        }
        assert_uniform(&counts);
    });
}

/// New or used again, with a `cx`, without waiting, and in async code.
#[test]
fn each_ready_operation_of_a_list_is_as_likely_as_the_others() {
    let ((_open, idle), (full, ready)) = (unbounded::<u32>(), unbounded::<u32>());
    (0..10 * ROUNDS).for_each(|_| full.try_send(0).unwrap());
    let list = || Select::from_iter([&idle, &idle, &ready, &ready, &idle, &ready].map(|receiver| receiver.receiving()));
    anabranch::run(|cx| {
        let mut again = list();
        for way in 0..4 {
            let mut counts = [0; 6];
            for _ in 0..ROUNDS {
                let index = match way {
                    0 => list().wait(cx).unwrap().0,
                    1 => again.wait(cx).unwrap().0,
                    2 => list().try_now().unwrap().0,
                    _ => cx.block_on(again.wait_async()).unwrap().0,
                };
                counts[index] += 1;
            }
            let [0, 0, a, b, 0, c] = counts else { panic!("an idle one was chosen: {counts:?}") };
            assert_uniform(&[a, b, c]);
        }
    });
}

/// Those that are ready change from one choice to the next: none is left out for ever.
#[test]
fn none_is_left_out_where_the_ready_ones_change() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| unbounded::<()>()).unzip();
    let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
    let mut counts = [0; 4];
    for n in 0..ROUNDS {
        let ready = if n % 2 == 0 { [0, 1] } else { [2, 3] };
        ready.iter().for_each(|&index: &usize| senders[index].try_send(()).unwrap());
        counts[select.try_now().unwrap().0] += 1;
        receivers.iter().for_each(|receiver| receiver.drain().for_each(drop));
    }
    assert_uniform(&counts);
}

/// Each member that has something has its turn before another has two.
#[test]
fn members_of_a_set_take_turns() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..7).map(|_| unbounded::<usize>()).unzip();
    let mut set = ReceiverSet::from_iter(receivers);
    let ready = [2, 3, 6];
    ready.iter().for_each(|&index| (0..ROUNDS).for_each(|_| senders[index].try_send(index).unwrap()));
    for _ in 0..ROUNDS / 3 {
        let mut turn: Vec<_> = (0..3).map(|_| set.try_recv().unwrap().1.unwrap()).collect();
        turn.sort_unstable();
        assert_eq!(turn, ready);
    }
}

/// Sums what comes until a deadline, of each flavour: the sum of a part is none.
#[test]
fn a_sum_that_was_cancelled_is_none() {
    watchdog(LONG, || {
        anabranch::run(|cx| {
            macro_rules! check {
                ($sender:ident, $receiver:ident, $send:expr, |$got:ident| $plain:expr) => {{
                    $send;
                    let early = cx.timeout(SHORT, |cx| {
                        let items: Vec<_> = $receiver.iter(cx).map(|item| item.map(|$got| $plain)).collect();
                        assert!(items.len() == 2 && items[0] == Ok(7) && items[1].is_err(), "{items:?}");
                        Ok::<(), TimedOut>(())
                    });
                    assert_eq!(early, Ok(()));
                    $send;
                    let early = cx.timeout(SHORT, |cx| {
                        let sum = $receiver.iter(cx).map(|item| item.map(|$got| $plain)).sum::<Result<u32, _>>();
                        assert!(sum.is_err());
                        Ok::<(), TimedOut>(())
                    });
                    assert_eq!(early, Ok(()));
                    $send;
                    drop($sender);
                    let sum = $receiver.iter(cx).map(|item| item.map(|$got| $plain)).sum::<Result<u32, _>>();
                    assert_eq!(sum, Ok(7));
                }};
            }
            let (sender, receiver) = unbounded();
            check!(sender, receiver, sender.try_send(7).unwrap(), |n| n);
            let (mut sender, mut receiver) = spsc::bounded(2);
            check!(sender, receiver, sender.try_send(7).unwrap(), |n| n);
            let (sender, mut receiver) = watch::channel(0);
            check!(sender, receiver, sender.send(7).unwrap(), |n| *n);
            let (sender, mut receiver) = broadcast::channel(2);
            check!(sender, receiver, sender.send(7).unwrap(), |n| *n);
            let (sender, receiver) = unbounded();
            let mut set = ReceiverSet::from_iter([receiver]);
            check!(sender, set, sender.try_send(7).unwrap(), |got| got.1.unwrap_or(0));
        });
    });
}

#[test]
fn many_are_received_up_to_the_limit() {
    let (sender, receiver) = unbounded();
    let (full, rest) = bounded(100);
    let (mut stream, mut outlet) = spsc::unbounded();
    let (cry, mut cries) = broadcast::channel(100);
    anabranch::run(|cx| {
        for limit in [1, 16, 17, 50, 99, 100, 1000] {
            for n in 0..100 {
                sender.try_send(n).unwrap();
                full.try_send(n).unwrap();
                stream.try_send(n).unwrap();
                cry.send(n).unwrap();
            }
            let mut into = Vec::new();
            let expected: Vec<_> = (0..limit.min(100)).collect();
            for receiver in [&receiver, &rest] {
                assert_eq!(receiver.recv_many(cx, &mut into, limit), Ok(expected.len()));
                assert_eq!(std::mem::take(&mut into), expected);
                let left = 100 - expected.len();
                if left > 0 {
                    assert_eq!(cx.block_on(receiver.recv_many_async(&mut into, limit)), Ok(Ok(limit.min(left))));
                }
                receiver.drain().for_each(drop);
                into.clear();
            }
            assert_eq!(outlet.recv_many(cx, &mut into, limit), Ok(expected.len()));
            outlet.drain().for_each(drop);
            let mut into = Vec::new();
            assert_eq!(cries.recv_many(cx, &mut into, limit), Ok(expected.len()));
            cries.drain().for_each(drop);
        }
    });
}

/// Each is a member until it has given its value, or its sender has gone.
#[test]
fn replies_in_a_set_are_one_item_each() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
    let mut set = ReceiverSet::from_iter(receivers);
    for (n, sender) in senders.into_iter().enumerate() {
        if n < 2 { sender.send(n).unwrap() } else { drop(sender) }
    }
    assert!(set.drain().map(|(_, got)| got).eq([Ok(0), Ok(1), Err(Closed)]));
    assert!(set.is_empty());
}

/// In each way to receive: it is told once how many it has missed, and goes on with the oldest that is kept.
#[test]
fn a_receiver_that_lags_is_told() {
    watchdog(LONG, || {
        let (sender, mut receiver) = broadcast::channel(2);
        let lag = || (1..=5).for_each(|n| sender.send(n).unwrap());
        let rest = |receiver: &mut broadcast::Receiver<u32>| receiver.drain().map(|n| *n.unwrap()).collect::<Vec<_>>();
        anabranch::run(|cx| {
            lag();
            assert_eq!(receiver.recv(cx), Err(broadcast::RecvError::Lagged(3)));
            assert_eq!((rest(&mut receiver), receiver.lagged()), (vec![4, 5], 3));
            lag();
            let late = Err(broadcast::RecvTimeoutError::Lagged(3));
            assert_eq!(receiver.recv_timeout(cx, Duration::ZERO), late);
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            assert_eq!(receiver.try_recv(), Err(broadcast::TryRecvError::Lagged(3)));
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            assert_eq!(cx.block_on(receiver.recv_async()), Ok(Err(ClosedOrLagged::Lagged(3))));
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            assert_eq!(select!(cx, { got = receiver.receiving() => got.err() }), Ok(Some(ClosedOrLagged::Lagged(3))));
            assert_eq!(rest(&mut receiver), [4, 5]);
            lag();
            let mut many = Vec::new();
            assert_eq!(receiver.recv_many(cx, &mut many, 9), Err(broadcast::RecvError::Lagged(3)));
            assert_eq!((receiver.recv_many(cx, &mut many, 9), many.len()), (Ok(2), 2));
            lag();
            let got: Vec<_> = receiver.drain().map(|got| got.map(|n| *n)).collect();
            assert_eq!(got, [Err(Lagged(3)), Ok(4), Ok(5)]);
            lag();
            let sum = receiver.iter(cx).map(|got| got.map(|n| *n)).sum::<Result<u32, _>>();
            assert_eq!(sum, Err(broadcast::RecvError::Lagged(3)));
            assert_eq!((rest(&mut receiver), receiver.lagged()), (vec![4, 5], 24));
            let mut set = ReceiverSet::from_iter([receiver]);
            lag();
            let got: Vec<_> = set.drain().map(|(_, got)| got.unwrap().map(|n| *n)).collect();
            assert_eq!(got, [Err(Lagged(3)), Ok(4), Ok(5)]);
        });
        let mut waiting = sender.subscribe();
        let mut future = Polled::waiting(waiting.recv_async());
        lag();
        assert_eq!(future.poll(), Some(Err(ClosedOrLagged::Lagged(3))));
    });
}

/// One whose drop panics.
struct Bomb(Counted);

impl Drop for Bomb {
    fn drop(&mut self) {
        let _ = &self.0;
        panic!("bomb");
    }
}

/// All of them panic, and all are dropped once. The first panic goes on, unless another is under way.
#[test]
fn many_values_whose_drop_panics() {
    fn check(tally: &Tally, channel: impl Fn() -> Box<dyn FnOnce()>) {
        let before = tally.dropped();
        assert_eq!(panic_text(channel()), "bomb");
        assert_eq!((tally.made(), tally.dropped()), (before + 5, before + 5));
        let drop_all = channel();
        let unwinding = || {
            struct Late<F: FnOnce()>(Option<F>);
            impl<F: FnOnce()> Drop for Late<F> {
                fn drop(&mut self) {
                    self.0.take().unwrap()();
                }
            }
            let _late = Late(Some(drop_all));
            panic!("another");
        };
        assert_eq!(panic_text(unwinding), "another");
        assert_eq!(tally.made(), tally.dropped());
    }
    let tally = Tally::default();
    let five = || (0..5).map(|_| Bomb(tally.make()));
    for capacity in [Some(5), None] {
        check(&tally, || {
            let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
            five().for_each(|bomb| std::mem::forget(sender.try_send(bomb)));
            Box::new(move || drop((receiver, sender)))
        });
        check(&tally, || {
            let (mut sender, receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
            five().for_each(|bomb| std::mem::forget(sender.try_send(bomb)));
            Box::new(move || drop((receiver, sender)))
        });
    }
    check(&tally, || {
        let (sender, receiver) = broadcast::channel(5);
        five().for_each(|bomb| std::mem::forget(sender.send(bomb)));
        Box::new(move || drop((receiver, sender)))
    });
    check(&tally, || {
        let set: ReceiverSet<_> = five()
            .map(|bomb| {
                let (sender, receiver) = unbounded();
                std::mem::forget(sender.try_send(bomb));
                receiver
            })
            .collect();
        Box::new(move || drop(set))
    });
}

#[test]
fn an_iterator_that_was_cancelled_ends() {
    let (_sender, receiver) = unbounded::<u32>();
    let items = anabranch::run(|cx| {
        cx.cancellable(|cx, canceller| {
            canceller.cancel();
            receiver.iter(cx).take(3).collect::<Vec<_>>()
        })
    });
    assert_eq!((items, receiver.try_recv().is_err()), (vec![Err(Cancelled)], true));
    assert_eq!(
        anabranch::run(|cx| cx.cancellable(|cx, c| {
            c.cancel();
            receiver.recv(cx)
        })),
        Err(RecvError::Cancelled)
    );
}

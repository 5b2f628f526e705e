//! Channels with many senders and receivers: which values arrive, in which order, and what the ends report.

use crate::common::{LONG, in_pools, watchdog};
use anabranch::{
    Cancelled, Pool,
    channel::{Receiver, Sender, TryRecvError, TrySendError, bounded, rendezvous, unbounded},
};
use proptest::prelude::*;
use std::{collections::VecDeque, thread};

fn channels<T>() -> [(Sender<T>, Receiver<T>); 5] {
    [rendezvous(), bounded(1), bounded(2), bounded(100), unbounded()]
}

/// The sender and the sequence number.
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
                    s.spawn(move |cx| receiver.iter(cx).map(Result::unwrap).collect::<Vec<_>>())
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
fn each_value_arrives_once_and_in_order() {
    in_pools(|pool| {
        for (senders, receivers) in [(1, 1), (5, 1), (1, 5), (4, 4)] {
            for channel in channels() {
                exchange(pool, channel, senders, receivers);
            }
        }
    });
}

#[test]
fn values_arrive_between_threads() {
    watchdog(LONG, || {
        for (sender, receiver) in channels() {
            thread::scope(|s| {
                for _ in 0..3 {
                    let sender = sender.clone();
                    s.spawn(move || anabranch::run(|cx| (0..1000).try_for_each(|n| sender.send(cx, n)).unwrap()));
                }
                drop(sender);
                let sums: Vec<_> = (0..2)
                    .map(|_| s.spawn(|| anabranch::run(|cx| receiver.iter(cx).sum::<Result<u64, Cancelled>>())))
                    .collect();
                assert_eq!(sums.into_iter().map(|sum| sum.join().unwrap().unwrap()).sum::<u64>(), 3 * 499_500);
            });
        }
    });
}

#[test]
fn values_arrive_between_tasks() {
    in_pools(|pool| {
        for (sender, receiver) in channels() {
            let sending: Vec<_> = (0..3)
                .map(|_| {
                    let sender = sender.clone();
                    pool.spawn_async(async move {
                        for n in 0..200_u64 {
                            sender.sending(n).await.unwrap();
                        }
                    })
                })
                .collect();
            drop(sender);
            let receiving = pool.spawn_async(async move {
                let mut sum = 0;
                while let Ok(n) = receiver.receiving().await {
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
fn ends_report_length_capacity_and_close() {
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
fn values_arrive_in_batches() {
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
    fn channel_behaves_like_queue(capacity in proptest::option::of(1..40_usize), steps in steps()) {
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
                        prop_assert_eq!(count, limit.min(model.len()));
                        prop_assert!(got.into_iter().eq(model.drain(..count)));
                    }
                }
                Step::Reserve => match sender.try_reserve().ok() {
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

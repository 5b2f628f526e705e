//! Streams with one sender and one receiver: values arrive in order, for every form of waiting.

use crate::common::{LONG, in_pools, watchdog};
use anabranch::{
    Cx, Operation, WaitError,
    channel::{Closed, TryRecvError, TrySendError, spsc},
};
use proptest::prelude::*;
use std::{
    collections::VecDeque,
    future::Future,
    task::{Context, Waker},
    thread,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(1);

fn streams<T>() -> [(spsc::Sender<T>, spsc::Receiver<T>); 4] {
    [spsc::bounded(1), spsc::bounded(2), spsc::bounded(100), spsc::unbounded()]
}

#[test]
fn values_arrive_in_order() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            pool.run(|cx| {
                cx.join(
                    move |cx| (0..2000).try_for_each(|n| sender.send(cx, n)).unwrap(),
                    move |cx| assert!(receiver.iter(cx).eq((0..2000).map(Ok))),
                );
            });
        }
    });
}

#[test]
fn values_arrive_between_threads() {
    for (mut sender, mut receiver) in streams() {
        watchdog(LONG, || {
            thread::scope(|s| {
                s.spawn(|| anabranch::run(|cx| (0..5000).try_for_each(|n| sender.send(cx, n)).unwrap()));
                anabranch::run(|cx| (0..5000).for_each(|n| assert_eq!(receiver.recv(cx), Ok(n))));
            });
        });
    }
}

#[test]
fn values_arrive_between_tasks() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            let sending = pool.spawn_async(async move {
                for n in 0..1000 {
                    sender.sending(n).await.unwrap();
                }
            });
            let receiving = pool.spawn_async(async move {
                for n in 0..1000 {
                    assert_eq!(receiver.receiving().await, Ok(n));
                }
                assert_eq!(receiver.receiving().await, Err(Closed));
            });
            pool.run(|cx| {
                sending.join(cx).unwrap();
                receiving.join(cx).unwrap();
            });
        }
    });
}

#[test]
fn batches_arrive_in_order() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            pool.run(|cx| {
                cx.join(
                    move |cx| {
                        for batch in 0..50 {
                            let mut values: VecDeque<_> = (batch * 37..(batch + 1) * 37).collect();
                            sender.send_all(cx, &mut values).unwrap();
                            assert!(values.is_empty());
                        }
                    },
                    move |cx| {
                        let mut all = Vec::new();
                        while receiver.recv_many(cx, &mut all, 10).is_ok() {}
                        assert!(all.into_iter().eq(0..50 * 37));
                    },
                );
            });
        }
    });
}

#[test]
fn values_of_every_size_arrive() {
    fn check<T: Clone + PartialEq + std::fmt::Debug>(value: T) {
        for (mut sender, mut receiver) in streams() {
            for _ in 0..100 {
                assert!(sender.try_send(value.clone()).is_ok());
                assert_eq!(receiver.try_recv().unwrap(), value);
            }
        }
    }
    check(());
    check(1_u8);
    check([7_u64; 100]);
    #[derive(Clone, PartialEq, Debug)]
    #[repr(align(128))]
    struct Aligned(u8);
    check(Aligned(3));
}

#[test]
fn reserve_works_in_all_forms() {
    in_pools(|pool| {
        let (mut sender, mut receiver) = spsc::bounded(1);
        pool.run(|cx| {
            sender.try_reserve().unwrap().send(1).unwrap();
            assert!(sender.try_reserve().is_err());
            assert_eq!(sender.reserving().timeout(cx, SHORT).err(), Some(WaitError::TimedOut));
            let late = cx.now();
            assert_eq!(sender.reserving().deadline(cx, late).err(), Some(WaitError::TimedOut));
            assert_eq!(receiver.recv(cx), Ok(1));
            drop(sender.reserving().timeout(cx, SHORT).unwrap().unwrap());
            let sending = pool.spawn_async(async move {
                sender.reserving().await.unwrap().send(2).unwrap();
                let mut values: VecDeque<_> = (3..20).collect();
                sender.send_all_async(&mut values).await.unwrap();
                let mut more = VecDeque::from([20, 21]);
                (sender.send_all_async(&mut more).await, more.len())
            });
            let receiving = pool.spawn_async(async move {
                let mut got = Vec::new();
                while got.len() < 18 {
                    let left = 18 - got.len();
                    receiver.recv_many_async(&mut got, left).await.unwrap();
                }
                got
            });
            assert!(receiving.join(cx).unwrap().into_iter().eq(2..20));
            let (sent, left) = sending.join(cx).unwrap();
            // One of the last two may have been sent before the receiver was dropped.
            assert!(sent == Err(Closed) && (1..=2).contains(&left));
        });
    });
}

#[derive(Debug, Clone)]
enum Step {
    Send,
    SendAll(usize),
    Recv,
    Drain,
    CloseSender,
    CloseReceiver,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => Just(Step::Send),
        3 => (0..40_usize).prop_map(Step::SendAll),
        12 => Just(Step::Recv),
        1 => Just(Step::Drain),
        1 => Just(Step::CloseSender),
        1 => Just(Step::CloseReceiver),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without concurrency a stream is a queue.
    #[test]
    fn stream_behaves_like_queue(capacity in proptest::option::of(1..40_usize), steps in steps()) {
        let (mut sender, mut receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
        let room = capacity.unwrap_or(usize::MAX);
        let mut model = VecDeque::new();
        let (mut next, mut is_closed) = (0_u64, false);
        for step in steps {
            match step {
                Step::Send => {
                    match sender.try_send(next) {
                        Ok(()) => {
                            prop_assert!(!is_closed && model.len() < room);
                            model.push_back(next);
                        }
                        Err(TrySendError::Full(_)) => prop_assert!(!is_closed && model.len() == room),
                        Err(TrySendError::Closed(_)) => prop_assert!(is_closed),
                    }
                    next += 1;
                }
                // Not more than the free capacity, so that it need not wait.
                Step::SendAll(count) => {
                    let count = count.min(room - model.len());
                    let mut values: VecDeque<_> = (next..next + count as u64).collect();
                    next += count as u64;
                    if !is_closed {
                        model.extend(&values);
                    }
                    let sent = anabranch::run(|cx| sender.send_all(cx, &mut values));
                    prop_assert_eq!(sent.is_ok(), !is_closed || count == 0);
                    prop_assert_eq!(values.len(), if is_closed { count } else { 0 });
                }
                Step::Recv => match receiver.try_recv() {
                    Ok(value) => prop_assert_eq!(Some(value), model.pop_front()),
                    Err(TryRecvError::Empty) => prop_assert!(!is_closed && model.is_empty()),
                    Err(TryRecvError::Closed) => prop_assert!(is_closed && model.is_empty()),
                },
                Step::Drain => prop_assert!(receiver.drain().eq(model.drain(..))),
                Step::CloseSender => {
                    sender.close();
                    is_closed = true;
                }
                Step::CloseReceiver => {
                    receiver.close();
                    is_closed = true;
                }
            }
            prop_assert_eq!(receiver.len(), model.len());
            prop_assert_eq!(receiver.is_empty(), model.is_empty());
            prop_assert_eq!(receiver.is_closed(), is_closed);
            prop_assert_eq!(sender.is_full(), !is_closed && model.len() == room);
        }
    }
}

/// After so many messages the thread that uses both ends owns the stream exclusively.
const LONG_ENOUGH: u64 = 3000;

/// The receiver waits for each value, at every position of a slab, also once no atomic exchange is made.
#[test]
fn exclusive_sender_wakes_waiting_receiver() {
    in_pools(|pool| {
        for room in [None, Some(1), Some(7)] {
            let make = || room.map_or_else(spsc::unbounded, spsc::bounded);
            let ((mut there, mut asked), (mut back, mut answered)) = (make(), make());
            let talking = pool.spawn(move |cx| {
                cx.join(
                    move |cx| {
                        for n in 0..LONG_ENOUGH {
                            there.send(cx, n).unwrap();
                            assert_eq!(answered.recv(cx), Ok(n + 1));
                        }
                    },
                    move |cx| {
                        while let Ok(n) = asked.recv(cx) {
                            back.send(cx, n + 1).unwrap();
                        }
                    },
                );
            });
            pool.run(|cx| talking.join(cx)).unwrap();
        }
    });
}

/// A send that was forgotten while it waited for capacity is not taken for a waiting receiver.
#[test]
fn forgotten_send_is_not_taken_for_a_receiver() {
    let (mut sender, mut receiver) = spsc::bounded(3);
    anabranch::run(|cx| {
        for n in 0..LONG_ENOUGH {
            sender.send(cx, n).unwrap();
            assert_eq!(receiver.recv(cx), Ok(n));
        }
        (1..=3).for_each(|n| sender.try_send(n).unwrap());
        let mut forgotten = Box::pin(sender.sending(4).into_future());
        assert!(forgotten.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        std::mem::forget(forgotten);
        let send = move |cx: &Cx<'_>| {
            // A send in a scope without earlier waits takes another path.
            cx.sleep(SHORT).unwrap();
            sender.send(cx, 5).unwrap();
        };
        cx.join(send, move |cx| {
            cx.sleep(3 * SHORT).unwrap();
            assert!(receiver.iter(cx).eq([1, 2, 3, 5].map(Ok)));
        });
    });
}

/// Neither aborts the process.
#[test]
fn capacity_without_memory_panics() {
    // More bytes than any address space has.
    let capacity = 1 << (usize::BITS - 6);
    let text = crate::common::panic_text(|| drop(spsc::bounded::<u64>(capacity)));
    assert_eq!(text, format!("there is no memory for a stream of {capacity} values"));
    let text = crate::common::panic_text(|| drop(anabranch::channel::broadcast::channel::<u64>(capacity)));
    assert_eq!(text, format!("there is no memory for a broadcast of {capacity} values"));
}

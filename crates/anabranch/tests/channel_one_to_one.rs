//! One-shot channels and streams: every value is received once or dropped once, whatever is closed, cancelled or dropped.

mod common;
#[path = "common/waits.rs"]
mod waits;

use anabranch::{
    Cancelled, Cx, WaitError,
    channel::{
        Closed, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, oneshot, spsc,
    },
};
use common::{LONG, Tally, in_pools, pool, watchdog};
use proptest::prelude::*;
use std::{
    collections::VecDeque,
    future::Future,
    task::{Context, Waker},
    thread,
    time::Duration,
};
use waits::Polled;

const SHORT: Duration = Duration::from_millis(1);

fn streams<T>() -> [(spsc::Sender<T>, spsc::Receiver<T>); 4] {
    [spsc::bounded(1), spsc::bounded(2), spsc::bounded(100), spsc::unbounded()]
}

// ---- one-shot ----

#[test]
fn oneshot_drops_each_value_once_however_it_ends() {
    let tally = Tally::default();
    // Sent and received; sent and not received; not sent; refused; closed before and after.
    let (sender, mut receiver) = oneshot::channel();
    sender.send(tally.make()).unwrap();
    drop(receiver.try_recv().unwrap());
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Closed)));
    let (sender, receiver) = oneshot::channel();
    sender.send(tally.make()).unwrap();
    drop(receiver);
    let (sender, mut receiver) = oneshot::channel::<common::Counted>();
    drop(sender);
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Closed)));
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    assert!(sender.is_closed());
    drop(sender.send(tally.make()).unwrap_err().0);
    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    assert!(receiver.is_closed());
    assert!(sender.send(tally.make()).is_err());
    let (sender, mut receiver) = oneshot::channel();
    sender.send(tally.make()).unwrap();
    receiver.close();
    assert!(!receiver.is_empty());
    assert!(receiver.try_recv().is_ok());
    tally.assert_all_dropped();
}

#[test]
fn oneshot_between_fibers() {
    in_pools(|pool| {
        pool.run(|cx| {
            for _ in 0..200 {
                let (sender, mut receiver) = oneshot::channel();
                let (ask, mut asked) = oneshot::channel();
                let (sum, ()) = cx.join(
                    move |cx| {
                        ask.send(20).unwrap();
                        receiver.recv(cx).unwrap() + 1
                    },
                    move |cx| sender.send(asked.recv(cx).unwrap() * 2).unwrap(),
                );
                assert_eq!(sum, 41);
            }
        });
    });
}

#[test]
fn oneshot_wakes_a_receiver_when_the_sender_is_dropped() {
    in_pools(|pool| {
        pool.run(|cx| {
            let (sender, mut receiver) = oneshot::channel::<u8>();
            let (received, ()) = cx.join(
                move |cx| receiver.recv(cx),
                move |cx| {
                    cx.sleep(SHORT).unwrap();
                    drop(sender);
                },
            );
            assert_eq!(received, Err(RecvError::Closed));
        });
    });
}

/// Polled, then dropped, while the other side sends or goes: the crate `oneshot` once freed the waker twice here.
#[test]
fn oneshot_futures_may_be_dropped_in_every_state() {
    let tally = Tally::default();
    for sends in [false, true] {
        for polls in 0..3 {
            for ends_before in [false, true] {
                let (sender, mut receiver) = oneshot::channel();
                {
                    let mut future = Polled::new(receiver.recv_async());
                    for _ in 0..polls {
                        assert!(future.poll().is_none());
                    }
                    if ends_before {
                        if sends {
                            sender.send(tally.make()).unwrap()
                        } else {
                            drop(sender)
                        }
                        assert_eq!(future.wakes(), usize::from(polls > 0));
                        // Dropped after it was woken, before it was polled.
                    } else {
                        let _later = thread::spawn({
                            let value = tally.make();
                            move || if sends { drop(sender.send(value)) } else { drop((sender, value)) }
                        });
                    }
                }
                if ends_before {
                    assert_eq!(receiver.try_recv().is_ok(), sends, "what was sent is still there");
                }
            }
        }
    }
    watchdog(LONG, || {
        while tally.made() != tally.dropped() {
            thread::yield_now()
        }
    });
    tally.assert_all_dropped();
}

/// A future that is leaked while it waits must not keep others from waiting.
#[test]
fn a_forgotten_future_is_no_obstacle() {
    watchdog(LONG, || {
        let (sender, mut receiver) = oneshot::channel();
        std::mem::forget(Polled::waiting(async { receiver.recv_async().await }));
        // `receiver` is borrowed by what was forgotten, by the compiler's reckoning for no longer than this.
        let mut again = Polled::waiting(receiver.recv_async());
        sender.send(1).unwrap();
        assert_eq!(again.poll(), Some(Ok(1)));
    });
}

/// Nor may it make a slot that is full look as if it were free.
#[test]
fn a_forgotten_send_leaves_a_stream_full() {
    let (mut sender, mut receiver) = spsc::bounded(1);
    sender.try_send(1).unwrap();
    std::mem::forget(Polled::waiting(async { sender.send_async(2).await }));
    assert!(sender.is_full());
    assert!(matches!(sender.try_send(3), Err(TrySendError::Full(3))));
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    sender.try_send(4).unwrap();
    assert_eq!(receiver.try_recv(), Ok(4));
}

#[test]
fn oneshot_stress_of_threads() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..2000 {
            let (sender, mut receiver) = oneshot::channel();
            let value = tally.make();
            let sending = thread::spawn(move || match round % 3 {
                0 => drop(sender.send(value)),
                1 => drop((sender, value)),
                _ => drop(sender.send(value).map_err(drop)),
            });
            match round % 4 {
                0 => drop(receiver),
                1 => receiver.close(),
                2 => drop(anabranch::run(|cx| receiver.recv(cx))),
                _ => drop(anabranch::run(|cx| receiver.recv_timeout(cx, Duration::from_micros(5)))),
            }
            sending.join().unwrap();
        }
        tally.assert_all_dropped();
    });
}

// ---- streams ----

#[test]
fn streams_keep_the_order() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            pool.run(|cx| {
                cx.join(
                    move |cx| (0..2000).try_for_each(|n| sender.send(cx, n)).unwrap(),
                    move |cx| assert!(receiver.iter(cx).eq(0..2000)),
                );
            });
        }
    });
}

#[test]
fn streams_between_threads() {
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
fn streams_between_tasks() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            let sending = pool.spawn_async(async move {
                for n in 0..1000 {
                    sender.send_async(n).await.unwrap();
                }
            });
            let receiving = pool.spawn_async(async move {
                for n in 0..1000 {
                    assert_eq!(receiver.recv_async().await, Ok(n));
                }
                assert_eq!(receiver.recv_async().await, Err(Closed));
            });
            pool.run(|cx| {
                sending.join(cx).unwrap();
                receiving.join(cx).unwrap();
            });
        }
    });
}

#[test]
fn streams_send_in_batches() {
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
fn streams_give_back_what_was_not_sent() {
    watchdog(LONG, || {
        pool(2).run(|cx| {
            let tally = Tally::default();
            let (mut sender, mut receiver) = spsc::bounded(1);
            sender.send(cx, tally.make()).unwrap();
            assert!(matches!(sender.try_send(tally.make()), Err(TrySendError::Full(_))));
            assert!(matches!(sender.send_timeout(cx, tally.make(), SHORT), Err(SendTimeoutError::TimedOut(_))));
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
            assert_eq!(sender.send_all(cx, &mut batch), Err(RecvError::Closed));
            assert_eq!(batch.len(), 2);
            assert!(receiver.recv(cx).is_ok());
            assert!(matches!(receiver.recv(cx), Err(RecvError::Closed)));
            drop(batch);
            tally.assert_all_dropped();
        });
    });
}

#[test]
fn streams_wake_who_waits_when_the_other_end_goes() {
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
fn a_cancelled_scope_neither_sends_nor_receives() {
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

/// Values are sent and received while both sides are cancelled over and over: none is lost, none comes twice.
#[test]
fn streams_lose_nothing_to_cancellation() {
    in_pools(|pool| {
        for (mut sender, mut receiver) in streams() {
            const N: usize = 300;
            // Both begin before either makes itself busy.
            let (begun, mut has_begun) = oneshot::channel();
            let (met, mut has_met) = oneshot::channel();
            let sending = pool.spawn(move |cx| {
                has_begun.recv(cx).unwrap();
                met.send(()).unwrap();
                for n in 0..N {
                    let mut value = n;
                    loop {
                        match sender.send_timeout(cx, value, Duration::from_micros(n as u64 % 50)) {
                            Ok(()) => break,
                            Err(error) => value = error.into_inner(),
                        }
                    }
                }
            });
            let receiving = pool.spawn(move |cx| {
                let mut got = Vec::new();
                begun.send(()).unwrap();
                has_met.recv(cx).unwrap();
                loop {
                    match receiver.recv_timeout(cx, Duration::from_micros(got.len() as u64 % 70)) {
                        Ok(n) => got.push(n),
                        Err(RecvTimeoutError::TimedOut) => {}
                        Err(error) => break assert_eq!(error, RecvTimeoutError::Closed),
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

/// Futures are polled and dropped while values come: flume and crossfire lost wake-ups here.
#[test]
fn streams_lose_nothing_to_dropped_futures() {
    watchdog(LONG, || {
        for (mut sender, mut receiver) in streams() {
            let sending = thread::spawn(move || {
                let mut n = 0;
                while n < 3000 {
                    // One that is dropped has sent nothing.
                    if Polled::new(sender.send_async(n)).poll().is_some() { n += 1 } else { thread::yield_now() }
                }
            });
            let mut next = 0;
            loop {
                match Polled::new(receiver.recv_async()).poll() {
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

/// The receiver closes or goes in the middle: what was sent and not received is dropped, what was not sent comes back.
#[test]
fn streams_drop_each_value_once_whoever_goes_first() {
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
                    // What was sent before the closing comes, and nothing else.
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

/// A value whose drop panics: the others are dropped all the same.
#[test]
fn a_panicking_drop_leaves_nothing_behind() {
    struct Bomb(bool, #[allow(dead_code, reason = "dropped")] common::Counted);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "bomb");
        }
    }
    let tally = Tally::default();
    let (mut sender, receiver) = spsc::unbounded();
    for n in 0..30 {
        assert!(sender.try_send(Bomb(n == 3, tally.make())).is_ok());
    }
    assert_eq!(common::panic_text(move || drop(receiver)), "bomb");
    assert!(sender.try_send(Bomb(false, tally.make())).is_err());
    tally.assert_all_dropped();
}

#[test]
fn values_of_every_size() {
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
    fn a_stream_is_a_queue(capacity in proptest::option::of(1..40_usize), steps in steps()) {
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
                // Not more than there is room for, so that it need not wait.
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

/// A sender that comes upon the end of a stream puts its value down for a moment: a receiver that looks again must not take it.
#[test]
fn the_end_of_a_stream_is_the_end() {
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

#[test]
fn room_in_a_stream_in_all_shapes() {
    in_pools(|pool| {
        let (mut sender, mut receiver) = spsc::bounded(1);
        pool.run(|cx| {
            sender.try_reserve().unwrap().send(1).unwrap();
            assert!(sender.try_reserve().is_none());
            assert_eq!(sender.reserve_timeout(cx, SHORT).err(), Some(RecvTimeoutError::TimedOut));
            let late = cx.now();
            assert_eq!(sender.reserve_until(cx, late).err(), Some(RecvTimeoutError::TimedOut));
            assert_eq!(receiver.recv(cx), Ok(1));
            drop(sender.reserve_timeout(cx, SHORT).unwrap());
            let sending = pool.spawn_async(async move {
                sender.reserve_async().await.unwrap().send(2).unwrap();
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
            // One of the last two may have found room before the receiver went.
            assert!(sent == Err(Closed) && (1..=2).contains(&left));
        });
    });
}

/// How many messages go through a stream before whoever uses both ends is surely its owner.
const LONG_ENOUGH: u64 = 3000;

/// The receiver waits for each, wherever in a slab it is, also when no exchange is made any more.
#[test]
fn an_owner_wakes_a_receiver_that_waits() {
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

/// A send that was forgotten while it waited for room is no receiver that waits for a value.
#[test]
fn an_owner_does_not_take_a_forgotten_send_for_a_receiver() {
    let (mut sender, mut receiver) = spsc::bounded(3);
    anabranch::run(|cx| {
        for n in 0..LONG_ENOUGH {
            sender.send(cx, n).unwrap();
            assert_eq!(receiver.recv(cx), Ok(n));
        }
        (1..=3).for_each(|n| sender.try_send(n).unwrap());
        let mut forgotten = Box::pin(sender.send_async(4));
        assert!(forgotten.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        std::mem::forget(forgotten);
        let send = move |cx: &Cx<'_>| {
            // A send in a scope in which nobody has waited yet goes another way.
            cx.sleep(SHORT).unwrap();
            sender.send(cx, 5).unwrap();
        };
        cx.join(send, move |cx| {
            cx.sleep(3 * SHORT).unwrap();
            assert!(receiver.iter(cx).eq([1, 2, 3, 5]));
        });
    });
}

//! `select!` in async code: what can be selected, and futures that are dropped at any time.

use crate::common::{
    self, LONG, Tally, in_pools, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{
    Pool,
    channel::{
        Closed, ReceiverSet, Select, TryRecvError, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch,
    },
    fiber::sleep_async,
    select,
    sync::Trigger,
    sync::{Event, Mutex, Semaphore},
    time::ManualClock,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Each operation wakes the selection that waits for all of them, before and during the wait.
#[test]
fn async_select_completes_each_kind_of_operation() {
    in_pools(|pool| {
        for turn in 0..2 * 11 {
            let (turn, waits) = (turn / 2, turn % 2 == 0);
            let (to_many, from_many) = unbounded();
            let (to_nobody, from_nobody) = rendezvous::<u8>();
            let (mut to_one, mut from_one) = spsc::bounded(1);
            let (reply, mut result) = oneshot::channel();
            let (setting, mut settings) = watch::channel(0);
            let (cry, mut cries) = broadcast::channel(4);
            let (to_set, member) = unbounded();
            let mut set = ReceiverSet::from_iter([member]);
            let mut trigger = Trigger::new();
            let (signal, event, mutex, seats) = (trigger.signal(), Event::new(), Mutex::new(()), Semaphore::new(0));
            let mut guard = Some(mutex.try_lock().unwrap());
            let mut act = || match turn {
                0 => to_many.try_send(0).unwrap(),
                1 => to_one.try_send(1).unwrap(),
                2 => setting.send(2).unwrap(),
                3 => cry.send(3).unwrap(),
                4 => to_set.try_send(4).unwrap(),
                5 => signal.send(),
                7 => seats.add_permits(1),
                8 => drop(guard.take()),
                9 => event.set(),
                _ => {}
            };
            if !waits {
                act();
            }
            let choice = Polled::new(async {
                select!(async, {
                    n = from_many.receiving() => n.unwrap(),
                    n = from_one.receiving() => n.unwrap(),
                    n = settings.receiving() => *n.unwrap(),
                    n = cries.receiving() => *n.unwrap(),
                    n = set.receiving() => n.unwrap().1.unwrap(),
                    () = trigger.waiting() => 5,
                    n = result.receiving() => n.unwrap(),
                    permit = seats.acquiring(1) => {
                        drop(permit);
                        7
                    }
                    guard = mutex.locking() => {
                        drop(guard);
                        8
                    }
                    () = event.waiting() => 9,
                    sent = to_nobody.sending(10) => {
                        sent.unwrap();
                        10
                    }
                })
            });
            let mut choice = choice;
            if waits {
                assert!(choice.poll().is_none());
                act();
            }
            match turn {
                6 => reply.send(6).unwrap(),
                10 => {
                    let received = pool.spawn(move |cx| from_nobody.recv(cx).unwrap());
                    while choice.poll().is_none_or(|n| {
                        assert_eq!(n, 10);
                        false
                    }) {
                        thread::yield_now();
                    }
                    assert_eq!(pool.run(|cx| received.join(cx)).unwrap(), 10);
                    continue;
                }
                _ => {}
            }
            assert_eq!(choice.wakes(), usize::from(waits), "turn {turn}");
            assert_eq!(choice.poll(), Some(turn));
        }
    });
}

#[test]
fn async_select_supports_default_bias_and_fairness() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| unbounded()).unzip();
    let mut counts = [0; 4];
    watchdog(LONG, || {
        anabranch::run(|cx| {
            cx.block_on(async {
                for sender in &senders {
                    (0..3000).for_each(|n| sender.try_send(n).unwrap());
                }
                for _ in 0..3000 {
                    let index = select!(async, {
                        _ = receivers[0].receiving() => 0,
                        _ = receivers[1].receiving() => 1,
                        _ = receivers[2].receiving() => 2,
                        default => 3,
                    });
                    counts[index] += 1;
                }
                assert!(counts[..3].iter().all(|&count| count > 500) && counts[3] == 0, "{counts:?}");
                let left: usize = receivers.iter().map(|receiver| receiver.len()).sum();
                for turn in 0..left + 2 {
                    let is_first = !receivers[0].is_empty();
                    let index = select!(biased async, {
                        _ = receivers[0].receiving() => 0,
                        _ = receivers[1].receiving() => 1,
                        _ = receivers[2].receiving() => 2,
                        default => 3,
                    });
                    assert_eq!((index == 0, index == 3), (is_first, turn >= left));
                }
            })
        })
        .unwrap();
    });
}

/// Bodies may await, and leave by `?`, `break` and `return`; the channels can be used again in them.
#[test]
fn async_arms_may_break_continue_and_return() {
    async fn sum(mut receiver: spsc::Receiver<u32>, other: &anabranch::channel::Receiver<u32>) -> Result<u32, Closed> {
        let mut sum = 0;
        loop {
            let n = select!(biased async, {
                n = receiver.receiving() => n? + receiver.receiving().await?,
                n = other.receiving() => match n {
                    Ok(n) => return Ok(sum + n),
                    Err(Closed) => break,
                },
            });
            sum += n;
        }
        Ok(sum)
    }
    in_pools(|pool| {
        let (mut sender, receiver) = spsc::unbounded();
        let (stop, stopped) = unbounded();
        (1..=4).for_each(|n| sender.try_send(n).unwrap());
        stop.try_send(100).unwrap();
        let task = pool.spawn_async(async move { sum(receiver, &stopped).await });
        assert_eq!(pool.run(|cx| task.join(cx)).unwrap(), Ok(110));
    });
}

/// One arm was woken for a value, and the future is dropped before it is polled: another receiver gets it.
#[test]
fn dropped_selection_passes_wakeup_on() {
    for (sender, receiver) in [rendezvous(), bounded(1), unbounded()] {
        let (_other, idle) = unbounded::<u8>();
        let mut select = Select::from(vec![receiver.receiving(), idle.receiving()]);
        for kind in 0..2 {
            let mut first: Polled<std::pin::Pin<Box<dyn Future<Output = u8>>>> = if kind == 0 {
                Polled::new(Box::pin(async {
                    select!(async, {
                        n = idle.receiving() => n.unwrap(),
                        n = receiver.receiving() => n.unwrap(),
                    })
                }))
            } else {
                Polled::new(Box::pin(async { select.wait_async().await.1.unwrap() }))
            };
            assert!(first.poll().is_none());
            let mut second = Polled::waiting(receiver.receiving().into_future());
            let _sending = Polled::begun(sender.sending(7).into_future());
            assert!(first.is_woken() && !second.is_woken());
            drop(first);
            assert!(second.is_woken());
            assert_eq!(second.poll(), Some(Ok(7)));
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

/// A lock is offered to a selection, which comes too late for it and gets another. The next in the queue gets
/// the first.
#[test]
fn missed_value_is_offered_to_next_waiter() {
    let (one, other) = (Mutex::new(1), Mutex::new(2));
    let held = (one.try_lock(), other.try_lock());
    let mut select = Select::from(vec![one.locking(), other.locking()]);
    let mut choice = Polled::waiting(select.wait_async());
    let mut next = Polled::waiting(one.locking());
    drop(held.0);
    assert!(choice.is_woken());
    let faster = one.try_lock().unwrap();
    drop(held.1);
    assert_eq!(choice.poll().map(|(index, guard)| (index, *guard)), Some((1, 2)));
    drop(faster);
    assert!(next.is_woken() && next.poll().is_some());
}

/// A send in a selection that is dropped has happened, or its value is dropped: once in any case.
#[test]
fn dropped_sends_return_their_values() {
    let tally = Tally::default();
    for is_taken in [false, true] {
        for (sender, receiver) in [rendezvous(), bounded(1)] {
            while sender.try_send(tally.make()).is_ok() {}
            let (_other, idle) = unbounded::<u8>();
            let sending = Polled::waiting(async {
                select!(async, {
                    sent = sender.sending(tally.make()) => sent.is_ok(),
                    _ = idle.receiving() => false,
                })
            });
            let before = tally.dropped();
            let received = is_taken.then(|| receiver.try_recv().unwrap());
            assert_eq!(sending.is_woken(), is_taken);
            drop(sending);
            assert_eq!(tally.dropped() - before, usize::from(!is_taken), "not sent, so dropped");
            drop((received, receiver));
        }
    }
    tally.assert_all_dropped();
}

#[test]
fn timeouts_work_in_async_select() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let (_sender, receiver) = unbounded::<u8>();
        let mut early = Polled::new(pool.sleep_async(Duration::from_secs(1)));
        let mut late = Polled::new(async {
            let sleep = pool.sleep_async(Duration::from_secs(3600));
            select!(async, {
                n = receiver.receiving() => n.unwrap(),
                () = sleep => 0,
            })
        });
        assert!(early.poll().is_none() && late.poll().is_none());
        until_waiting(&pool, 2, "sleep");
        clock.advance(Duration::from_secs(1));
        while !early.is_woken() {
            thread::yield_now();
        }
        assert_eq!((early.poll(), late.poll()), (Some(()), None));
        clock.advance(Duration::from_secs(3600));
        while !late.is_woken() {
            thread::yield_now();
        }
        assert_eq!(late.poll(), Some(0));
        // One that is dropped ends, also before it has been polled.
        let never = pool.sleep_async(Duration::MAX);
        until_waiting(&pool, 1, "sleep");
        drop(never);
        until_waiting(&pool, 0, "sleep");
        drop((early, late));
        // And the end of the pool is the end of its sleeps.
        let mut last = Polled::waiting(pool.sleep_async(Duration::MAX));
        drop(pool);
        assert_eq!(last.poll(), Some(()));
    });
}

/// Outside of any pool, and inside.
#[test]
fn sleep_async_works_on_fibers_and_threads() {
    in_pools(|pool| {
        let sleep = || async { sleep_async(Duration::from_micros(10)).await };
        let task = pool.spawn_async(sleep());
        pool.run(|cx| {
            task.join(cx).unwrap();
            cx.block_on(sleep()).unwrap();
        });
        anabranch::run(|cx| cx.block_on(sleep())).unwrap();
    });
}

/// Threads select in futures that they drop at random: each value comes once.
#[test]
fn concurrent_async_selections_lose_nothing() {
    watchdog(LONG, || {
        let (senders, receivers): (Vec<_>, Vec<_>) = [rendezvous(), bounded(1), unbounded()].into_iter().unzip();
        let pool = pool(2);
        let mut tasks = Vec::new();
        for sender in senders {
            tasks.push(pool.spawn_async(async move {
                let tally = Tally::default();
                for n in 1..=300_u64 {
                    let mut is_sent = false;
                    while !is_sent {
                        is_sent = select!(async, {
                            sent = sender.sending((n, tally.make())) => sent.map(|()| true).unwrap_or_else(|_| unreachable!()),
                            () = sleep_async(Duration::from_micros(n % 30)) => false,
                        });
                    }
                }
                drop(sender);
                0
            }));
        }
        for id in 0..3 {
            let receivers = receivers.clone();
            tasks.push(pool.spawn_async(async move {
                let (mut sum, mut closed) = (0, [false; 3]);
                while closed.contains(&false) {
                    let (index, got) = select!(async, {
                        n = receivers[0].receiving() => (0, n),
                        n = receivers[1].receiving() => (1, n),
                        n = receivers[2].receiving() => (2, n),
                        () = sleep_async(Duration::from_micros(20 + id)) => continue,
                    });
                    match got {
                        Ok((n, _)) => sum += n,
                        Err(Closed) => closed[index] = true,
                    }
                }
                sum
            }));
        }
        drop(receivers);
        let sum: u64 = pool.run(|cx| tasks.into_iter().map(|task| task.join(cx).unwrap()).sum());
        assert_eq!(sum, 3 * 45_150);
    });
}

/// On one thread: a task that finds at once what it wants, again and again, until another has run.
#[test]
fn ready_async_select_yields_to_other_tasks() {
    watchdog(LONG, || {
        for kind in 0..4 {
            let pool = common::one_thread().build().unwrap();
            let (closed, is_over) = (unbounded::<u8>().1, Arc::new(AtomicBool::new(false)));
            let busy = pool.spawn_async({
                let is_over = Arc::clone(&is_over);
                async move {
                    let mut select = Select::from(vec![closed.receiving()]);
                    while !is_over.load(Ordering::Relaxed) {
                        match kind {
                            0 => assert_eq!(closed.receiving().await, Err(Closed)),
                            1 => assert_eq!(select.wait_async().await, (0, Err(Closed))),
                            2 => select!(async, { got = closed.receiving() => assert_eq!(got, Err(Closed)) }),
                            _ => select!(async, { _ = closed.receiving() => (), default => unreachable!() }),
                        }
                    }
                }
            });
            let other = pool.spawn(move |_| is_over.store(true, Ordering::Relaxed));
            pool.run(|cx| {
                busy.join(cx).unwrap();
                other.join(cx).unwrap();
            });
        }
    });
}

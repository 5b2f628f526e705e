//! Sets of receivers: results of members, closed members, and members that are added and removed.

use crate::common::{LONG, Tally, in_pools, pool, watchdog};
use anabranch::{
    Operation, WaitError,
    channel::{
        Closed, ReceiverSet, RecvError, TryRecvError, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch,
    },
    select,
};
use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn recv_names_member_that_sent_or_closed() {
    in_pools(|pool| {
        let mut set = ReceiverSet::new();
        let mut next = HashMap::new();
        for n in 0..50 {
            let (sender, receiver) = match n % 3 {
                0 => rendezvous(),
                1 => bounded(1),
                _ => unbounded(),
            };
            next.insert(set.insert(receiver), (n, 0));
            drop(pool.spawn(move |cx| (0..20).for_each(|m| sender.send(cx, (n, m)).unwrap())));
        }
        pool.run(|cx| {
            loop {
                match set.recv(cx) {
                    Ok((member, Ok(got))) => {
                        let next = next.get_mut(&member).unwrap();
                        assert_eq!(got, *next);
                        next.1 += 1;
                    }
                    Ok((member, Err(Closed))) => assert_eq!(next.remove(&member).unwrap().1, 20),
                    Err(error) => break assert_eq!(error, RecvError::Closed),
                }
            }
        });
        assert!(next.is_empty() && set.is_empty());
    });
}

#[test]
fn spsc_receivers_can_be_members() {
    in_pools(|pool| {
        let mut set = ReceiverSet::new();
        for n in 0..10_u64 {
            let (mut sender, receiver) = if n % 2 == 0 { spsc::bounded(1) } else { spsc::unbounded() };
            set.insert(receiver);
            drop(pool.spawn(move |cx| (0..50).for_each(|_| sender.send(cx, n).unwrap())));
        }
        pool.run(|cx| {
            let (mut sum, mut closed) = (0, 0);
            while let Ok((_, got)) = set.recv(cx) {
                got.map_or_else(|Closed| closed += 1, |n| sum += n);
            }
            assert_eq!((sum, closed), (45 * 50, 10));
        });
    });
}

#[test]
fn members_can_be_added_and_removed() {
    watchdog(LONG, || {
        let mut set = ReceiverSet::new();
        let channels: Vec<_> = (0..10).map(|_| unbounded()).collect();
        let members: Vec<_> = channels.iter().map(|(_, receiver)| set.insert(receiver.clone())).collect();
        assert_eq!(set.try_recv(), Err(TryRecvError::Empty));
        // Called, then taken out: what it was called for is still there, and its name means nothing any more.
        channels[3].0.try_send(3).unwrap();
        let out = set.remove(members[3]).unwrap();
        assert_eq!(set.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(out.try_recv(), Ok(3));
        assert!(set.remove(members[3]).is_none() && set.get(members[3]).is_none());
        // Its slot is reused by another member, with another token.
        let again = set.insert(out);
        assert_ne!(again, members[3]);
        channels[3].0.try_send(33).unwrap();
        assert_eq!(set.try_recv(), Ok((again, Ok(33))));
        assert_eq!(set.len(), 10);
        assert!(set.get(members[0]).unwrap().same_channel(&channels[0].1));
    });
}

#[test]
fn ready_members_are_served_evenly() {
    let mut set = ReceiverSet::new();
    let mut counts = HashMap::new();
    for _ in 0..10 {
        let (sender, receiver) = unbounded();
        (0..100).for_each(|n| sender.try_send(n).unwrap());
        counts.insert(set.insert(receiver), 0);
    }
    for _ in 0..100 {
        *counts.get_mut(&set.try_recv().unwrap().0).unwrap() += 1;
    }
    assert!(counts.values().all(|&count| count == 10), "{counts:?}");
}

#[test]
fn dropped_set_passes_wakeups_on() {
    let (sender, receiver) = unbounded();
    let mut set = ReceiverSet::new();
    set.insert(receiver.clone());
    assert_eq!(set.try_recv(), Err(TryRecvError::Empty));
    let mut waiting = pin!(receiver.receiving().into_future());
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    sender.try_send(5).unwrap();
    drop(set);
    assert_eq!(waiting.poll(&mut context), Poll::Ready(Ok(5)));
}

#[test]
fn set_works_with_deadlines_selections_and_tasks() {
    in_pools(|pool| {
        let mut set = ReceiverSet::new();
        let (sender, receiver) = unbounded();
        let member = set.insert(receiver);
        pool.run(|cx| {
            assert_eq!(set.receiving().timeout(cx, SHORT), Err(WaitError::TimedOut));
            sender.try_send(1).unwrap();
            let got = select!(cx, {
                got = set.receiving() => got.unwrap(),
                () = cx.sleeping(LONG) => unreachable!(),
            });
            assert_eq!(got, Ok((member, Ok(1))));
            let task = pool.spawn_async(async move { (set.receiving().await, set.receiving().await) });
            cx.sleep(SHORT).unwrap();
            sender.try_send(2).unwrap();
            drop(sender);
            assert_eq!(task.join(cx).unwrap(), (Ok((member, Ok(2))), Ok((member, Err(Closed)))));
        });
    });
}

#[test]
fn sets_lose_nothing_and_keep_the_order_of_each_member_under_load() {
    watchdog(LONG, || {
        let tally = Tally::default();
        let mut set = ReceiverSet::new();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let senders: Vec<_> = (0..25)
                    .map(|_| {
                        let (sender, receiver) = unbounded();
                        set.insert(receiver);
                        sender
                    })
                    .collect();
                let tally = tally.clone();
                thread::spawn(move || {
                    for n in 0..2000 {
                        senders[n * 7 % 25].try_send((n, tally.make())).unwrap();
                    }
                })
            })
            .collect();
        let (mut received, mut last) = (0, HashMap::new());
        pool(2).run(|cx| {
            while let Ok((member, got)) = set.recv(cx) {
                let Ok((n, _)) = got else { continue };
                received += 1;
                assert!(last.insert(member, n).is_none_or(|last| last < n), "the order of {member:?}");
            }
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(received, 8000);
        tally.assert_all_dropped();
    });
}

/// Members leave after one value, or when their sender is dropped without one.
#[test]
fn oneshot_receivers_can_be_members() {
    in_pools(|pool| {
        let mut set = ReceiverSet::new();
        let mut expected = HashMap::new();
        for n in 0..100_u64 {
            let (sender, receiver) = oneshot::channel();
            expected.insert(set.insert(receiver), (n % 4 > 0).then_some(n));
            drop(pool.spawn(move |cx| {
                if n % 2 == 0 {
                    cx.yield_now();
                }
                if n % 4 > 0 {
                    sender.send(n).unwrap();
                }
            }));
        }
        pool.run(|cx| {
            for (member, got) in set.iter(cx).map(Result::unwrap) {
                match got {
                    Ok(n) => assert_eq!(expected.remove(&member), Some(Some(n))),
                    Err(Closed) => assert_eq!(expected.remove(&member), Some(None)),
                }
            }
        });
        assert!(expected.is_empty() && set.is_empty());
    });
}

/// A member is removed while it waits, gets a value, and is inserted again.
#[test]
fn removed_oneshot_keeps_its_value() {
    let tally = Tally::default();
    let mut set = ReceiverSet::new();
    let (sender, receiver) = oneshot::channel();
    let member = set.insert(receiver);
    assert!(set.drain().next().is_none());
    let receiver = set.remove(member).unwrap();
    sender.send(tally.make()).unwrap();
    let member = set.insert(receiver);
    assert!(matches!(set.try_recv(), Ok((of, Ok(_))) if of == member));
    let (sender, receiver) = oneshot::channel();
    set.insert(receiver);
    assert!(set.drain().all(|(_, got)| got.is_err()));
    drop(set);
    assert!(sender.is_closed() && sender.send(tally.make()).is_err());
    tally.assert_all_dropped();
}

#[test]
fn watch_and_broadcast_receivers_can_be_members() {
    in_pools(|pool| {
        let (settings, cries): (Vec<_>, Vec<_>) = (0..5).map(|_| (watch::channel(0), broadcast::channel(64))).unzip();
        let mut watching: ReceiverSet<_> = settings.iter().map(|(_, receiver)| receiver.clone()).collect();
        let mut listening: ReceiverSet<_> = cries.iter().map(|(_, receiver)| receiver.clone()).collect();
        let sending = pool.spawn(move |cx| {
            for n in 1..=50 {
                for ((setting, _), (cry, _)) in settings.iter().zip(&cries) {
                    setting.send(n).unwrap();
                    cry.send(n).unwrap();
                }
                if n % 8 == 0 {
                    cx.yield_now();
                }
            }
        });
        pool.run(|cx| {
            let mut last = HashMap::new();
            let mut sum = 0;
            while !watching.is_empty() || !listening.is_empty() {
                select!(cx, {
                    got = watching.receiving() => if let Ok((member, Ok(n))) = got {
                        assert!(last.insert(member, *n).unwrap_or(0) < *n);
                    },
                    got = listening.receiving() => if let Ok((_, Ok(n))) = got {
                        sum += *n.unwrap();
                    },
                })
                .unwrap();
            }
            assert!(last.len() == 5 && last.values().all(|&n| n == 50));
            assert_eq!(sum, 5 * 1275);
            sending.join(cx).unwrap();
        });
    });
}

/// After so many messages a thread notifies members of its own set by plain stores.
const LONG_ENOUGH: u64 = 3000;

/// Counts how often it is woken.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether no wakeup came meanwhile.
fn waits(calls: &Calls, poll: impl FnOnce()) -> bool {
    let before = calls.0.load(Ordering::Relaxed);
    poll();
    calls.0.load(Ordering::Relaxed) == before
}

/// Each send wakes the waiting set, however long one thread has used all of it.
#[test]
fn send_on_own_thread_wakes_set() {
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| spsc::unbounded()).unzip();
    let mut set = ReceiverSet::from_iter(receivers);
    let calls = Arc::new(Calls::default());
    let waker = Waker::from(Arc::clone(&calls));
    let mut context = Context::from_waker(&waker);
    for n in 0..LONG_ENOUGH {
        let mut waiting = Box::pin(set.receiving().into_future());
        // Now and then a future lets others run first, and wakes itself.
        while !waits(&calls, || assert!(waiting.as_mut().poll(&mut context).is_pending())) {}
        let before = calls.0.load(Ordering::Relaxed);
        senders[n as usize % 3].try_send(n).unwrap();
        assert_eq!(calls.0.load(Ordering::Relaxed), before + 1, "message {n}");
        // No task is woken twice, and no value is lost.
        senders[(n as usize + 1) % 3].try_send(n + 1).unwrap();
        assert_eq!(calls.0.load(Ordering::Relaxed), before + 1);
        let first = waiting.as_mut().poll(&mut context).map(|got| got.unwrap().1);
        assert_eq!(first, Poll::Ready(Ok(n)));
        drop(waiting);
        assert_eq!(set.try_recv().unwrap().1, Ok(n + 1));
        assert!(set.try_recv().is_err());
    }
}

/// After long use on one worker, a set moves to another thread while that worker continues to send.
#[test]
fn set_may_move_to_another_thread_while_notified() {
    in_pools(|pool| {
        let used = pool.spawn(|cx| {
            let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| spsc::unbounded()).unzip();
            let mut set = ReceiverSet::from_iter(receivers);
            for n in 0..LONG_ENOUGH {
                senders[n as usize % 4].send(cx, n).unwrap();
                assert_eq!(set.recv(cx).unwrap().1, Ok(n));
            }
            (set, senders)
        });
        let (mut set, mut senders) = pool.run(|cx| used.join(cx)).unwrap();
        let (going, gone) = oneshot::channel();
        let sending = pool.spawn(move |cx| {
            let mut sum = 0;
            for n in 1..=1000 {
                senders[n as usize % 4].send(cx, n).unwrap();
                sum += n;
            }
            going.send(()).unwrap();
            // These may be received before the last of those.
            for n in 0.. {
                if senders[n % 4].send(cx, 0).is_err() {
                    break;
                }
                cx.yield_now();
            }
            sum
        });
        let mut sum = 0;
        pool.run(|cx| {
            let mut gone = gone;
            let mut left = 1000;
            while left > 0 {
                let n = set.recv(cx).unwrap().1.unwrap();
                sum += n;
                left -= u64::from(n > 0);
            }
            gone.recv(cx).unwrap();
        });
        drop(set);
        assert_eq!(pool.run(|cx| sending.join(cx)).unwrap(), sum);
    });
}

/// Each is a member until it has given its value, or its sender has gone.
#[test]
fn oneshot_member_yields_one_item() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
    let mut set = ReceiverSet::from_iter(receivers);
    for (n, sender) in senders.into_iter().enumerate() {
        if n < 2 { sender.send(n).unwrap() } else { drop(sender) }
    }
    assert!(set.drain().map(|(_, got)| got).eq([Ok(0), Ok(1), Err(Closed)]));
    assert!(set.is_empty());
}

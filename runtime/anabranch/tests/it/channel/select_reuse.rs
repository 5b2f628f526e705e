//! Selections and operations that are reused: after another wait, and after a wait whose future was forgotten.

use crate::common::{LONG, in_pools, waits::Polled, watchdog};
use anabranch::{
    channel::{Closed, ReceiverSet, Select, bounded, broadcast, unbounded, watch},
    select,
    sync::Trigger,
};
use std::{mem, panic, sync::Arc, time::Duration};

/// A selection whose future is leaked while it waits: its operations are moved, added to and dropped afterwards.
#[test]
fn forgotten_wait_ends_when_selection_is_reused() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..20).map(|_| unbounded()).unzip();
    let mut select = Select::new();
    for (n, receiver) in receivers.iter().enumerate() {
        select.push(receiver.receiving());
        let mut forgotten = Box::pin(select.wait_async());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(forgotten.as_mut().poll(&mut context).is_pending());
        mem::forget(forgotten);
        if n % 3 == 0 {
            senders[n].try_send(n).unwrap();
            assert_eq!(select.try_now(), Some((n, Ok(n))));
        }
    }
    let mut moved = Box::new(select);
    mem::forget(Box::pin(moved.wait_async()));
    let mut waiting = Polled::waiting(async { moved.wait_async().await });
    senders[17].try_send(17).unwrap();
    assert_eq!(waiting.poll(), Some((17, Ok(17))));
    drop(waiting);
    drop(moved);
    // No waiter is left at the channels.
    let mut last = Polled::waiting(receivers[5].receiving().into_future());
    senders[5].try_send(5).unwrap();
    assert_eq!(last.poll(), Some(Ok(5)));
}

/// The place of a forgotten future is another's.
#[test]
fn forgotten_wait_for_event_does_not_block() {
    let mut trigger = Trigger::new();
    let signal = trigger.signal();
    let (sender, receiver) = unbounded();
    let mut set = ReceiverSet::from_iter([receiver]);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut forgotten = Box::pin(async { trigger.waiting().await });
    assert!(forgotten.as_mut().poll(&mut context).is_pending());
    mem::forget(forgotten);
    let mut forgotten = Box::pin(async { set.receiving().await });
    assert!(forgotten.as_mut().poll(&mut context).is_pending());
    mem::forget(forgotten);
    let mut waiting = Polled::waiting(async {
        select!(async, {
            () = trigger.waiting() => 0,
            n = set.receiving() => n.unwrap().1.unwrap(),
        })
    });
    sender.try_send(3).unwrap();
    assert_eq!(waiting.poll(), Some(3));
    drop(waiting);
    let mut waiting = Polled::waiting(trigger.waiting());
    signal.send();
    assert!(waiting.is_woken() && waiting.poll().is_some());
}

#[test]
fn selection_can_be_reused() {
    in_pools(|pool| {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| bounded(1)).unzip();
        let task = pool.spawn_async(async move {
            let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
            let (mut sum, mut next) = (0, [0; 10]);
            let mut names: Vec<_> = (0..10).collect();
            while !select.is_empty() {
                match select.wait_async().await {
                    (index, Ok(n)) => {
                        let next: &mut usize = &mut next[names[index]];
                        assert_eq!(n, *next);
                        *next += 1;
                        sum += n;
                    }
                    (index, Err(Closed)) => {
                        select.swap_remove(index);
                        names.swap_remove(index);
                    }
                }
            }
            sum
        });
        let sending: Vec<_> = senders
            .into_iter()
            .map(|sender| pool.spawn(move |cx| (0..100).for_each(|n| sender.send(cx, n).unwrap())))
            .collect();
        pool.run(|cx| {
            assert_eq!(task.join(cx).unwrap(), 10 * 4950);
            sending.into_iter().for_each(|handle| handle.join(cx).unwrap());
        });
    });
}

/// See the test of this name in `select`.
#[test]
fn watch_can_be_awaited_repeatedly_in_reused_selection() {
    watchdog(LONG, || {
        let (setting, mut settings) = watch::channel(0);
        let (cry, mut cries) = broadcast::channel(4);
        let mut latest = Select::from_iter([settings.receiving()]);
        let mut all = Select::from_iter([cries.receiving()]);
        for n in 1..5 {
            let mut seeing = Polled::waiting(latest.wait_async());
            let mut hearing = Polled::waiting(all.wait_async());
            setting.send(n).unwrap();
            cry.send(n).unwrap();
            assert!(seeing.is_woken() && hearing.is_woken());
            assert_eq!(seeing.poll(), Some((0, Ok(Arc::new(n)))));
            assert_eq!(hearing.poll(), Some((0, Ok(Arc::new(n)))));
        }
    });
}

/// Permits and sets: each is awaited repeatedly, with and without success.
#[test]
fn permits_and_sets_can_be_selected_repeatedly() {
    const SHORT: Duration = Duration::from_millis(1);
    watchdog(LONG, || {
        let (full, drained) = bounded(1);
        full.try_send(0).unwrap();
        let mut room = Select::from_iter([full.reserving()]);
        let (senders, mut sets): (Vec<_>, Vec<_>) = (0..2)
            .map(|_| {
                let (sender, receiver) = unbounded();
                (sender, ReceiverSet::from_iter([receiver]))
            })
            .unzip();
        let mut select: Select<_> = sets.iter_mut().map(ReceiverSet::receiving).collect();
        for n in 0..4 {
            anabranch::run(|cx| {
                assert!(room.timeout(cx, SHORT).is_err() && select.timeout(cx, SHORT).is_err());
            });
            let (mut keeping, mut receiving) =
                (Polled::waiting(room.wait_async()), Polled::waiting(select.wait_async()));
            assert_eq!(drained.try_recv(), Ok(n));
            keeping.poll().unwrap().1.unwrap().send(n + 1).unwrap();
            senders[n % 2].try_send(n).unwrap();
            let (index, got) = receiving.poll().unwrap();
            assert_eq!((index, got.unwrap().1), (n % 2, Ok(n)));
        }
    });
}

/// The parts of `select!`, called by hand: arms that are chosen among again, and a future that is polled after its end.
#[test]
fn completed_arms_can_be_selected_again() {
    use anabranch::channel::__select::{arm, choose, choose_async, into_done};
    watchdog(LONG, || {
        let (sender, receiver) = bounded(1);
        anabranch::run(|cx| {
            let mut sending = arm(sender.sending(7));
            choose(cx, [&mut sending], false, false, false).unwrap();
            let choose_again = || choose(cx, [&mut sending], false, false, false);
            let again = panic::catch_unwind(panic::AssertUnwindSafe(choose_again));
            assert!(again.is_err(), "there is nothing left to send");
            assert_eq!(into_done(sending), Some(Ok(())));
            assert_eq!((receiver.try_recv(), receiver.try_recv().is_err()), (Ok(7), true), "it was sent once");
            let mut receiving = arm(receiver.receiving());
            choose(cx, [&mut receiving], true, true, false).unwrap();
            sender.try_send(8).unwrap();
            choose(cx, [&mut receiving], true, true, false).unwrap();
            assert_eq!(into_done(receiving), Some(Ok(8)));
            choose(cx, [], false, true, false).unwrap();
        });
        for has_default in [true, false] {
            sender.try_send(9).unwrap();
            let arms = (((), arm(receiver.receiving())), arm(receiver.receiving()));
            let mut polled = Box::pin(choose_async(arms, false, has_default, false));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let done = polled.as_mut().poll(&mut context);
            assert!(matches!(done, std::task::Poll::Ready((((), Some(Ok(9))), None) | (((), None), Some(Ok(9))))));
            assert_eq!(polled.as_mut().poll(&mut context).is_ready(), has_default);
            sender.try_send(10).unwrap();
            let done = polled.as_mut().poll(&mut context);
            assert!(matches!(done, std::task::Poll::Ready((((), Some(Ok(10))), None) | (((), None), Some(Ok(10))))));
        }
    });
}

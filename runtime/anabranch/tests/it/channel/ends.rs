//! What senders can learn of the other ends, permits that own their sender, and changes of a watched value in place.

use crate::common::{LONG, fibers::with_every_cx, waits::Polled, watchdog};
use anabranch::{
    Error, Operation, WaitError,
    channel::{Closed, RecvError, TrySendError, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch},
    select,
};
use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(2);

/// Closing is a state, so a wait that was created and not polled sees what holds when it is polled.
#[test]
fn wait_that_was_not_polled_sees_the_present_state() {
    let (sender, receiver) = unbounded::<u32>();
    let created = sender.closing().into_future();
    drop(receiver);
    assert_eq!(Polled::new(created).poll(), Some(()));

    let (sender, mut receiver) = watch::channel(0);
    let mut created = Polled::new(sender.closing().into_future());
    let mut begun = Polled::waiting(sender.closing().into_future());
    let changed = receiver.receiving().into_future();
    sender.send(1).unwrap();
    assert_eq!(Polled::new(changed).poll(), Some(Ok(Arc::new(1))), "a receiver remembers what it has seen");
    drop(receiver);
    let another = sender.subscribe();
    assert!(begun.is_woken());
    assert!(created.poll().is_none() && begun.poll().is_none());
    drop(another);
    assert!(created.poll().is_some() && begun.poll().is_some());
}

#[test]
fn closed_waits_until_last_receiver_is_gone() {
    with_every_cx(|cx| {
        for (sender, receiver) in [bounded(1), unbounded(), rendezvous::<u32>()] {
            let other = receiver.clone();
            let late = cx.timeout(SHORT, |cx| Ok::<_, WaitError>(sender.closed(cx)?));
            assert_eq!(
                (late, sender.closing().timeout(cx, SHORT)),
                (Err(WaitError::TimedOut), Err(WaitError::TimedOut))
            );
            let mut one = Polled::waiting(sender.closing().into_future());
            let mut two = Polled::waiting(sender.closing().into_future());
            drop(Polled::waiting(sender.closing().into_future()));
            drop(receiver);
            assert!(one.poll().is_none() && !one.is_woken());
            let closing = thread::spawn(move || {
                thread::sleep(SHORT);
                drop(other);
            });
            assert_eq!(sender.closed(cx), Ok(()));
            closing.join().unwrap();
            assert!(one.is_woken() && two.is_woken() && one.poll().is_some() && two.poll().is_some());
            assert_eq!(select!(cx, { () = sender.closing() => 1 }), Ok(1));
            sender.closing().blocking();
        }
        let (sender, receiver) = unbounded::<u32>();
        let mut waiting = Polled::waiting(sender.closing().into_future());
        receiver.close();
        assert!(waiting.poll().is_some());
    });
}

#[test]
fn only_sender_waits_until_the_receiver_is_gone() {
    with_every_cx(|cx| {
        let (mut sender, mut receiver) = oneshot::channel::<u32>();
        assert_eq!(sender.closing().timeout(cx, SHORT), Err(WaitError::TimedOut));
        assert_eq!(select!(cx, { () = sender.closing() => 1, default => 2 }), Ok(2));
        drop(Polled::waiting(sender.closing().into_future()));
        let mut waiting = Polled::waiting(sender.closing().into_future());
        receiver.close();
        assert!(waiting.is_woken() && waiting.poll().is_some());
        drop(waiting);
        sender.closing().blocking();
        assert!(sender.is_closed() && sender.send(1).is_err() && receiver.is_closed());

        for is_closed in [false, true] {
            let (mut sender, receiver) = oneshot::channel::<u32>();
            let (mut stream, mut consumer) = if is_closed { spsc::bounded::<u32>(1) } else { spsc::unbounded() };
            assert_eq!(stream.closing().timeout(cx, SHORT), Err(WaitError::TimedOut));
            drop(Polled::waiting(stream.closing().into_future()));
            let ending = thread::spawn(move || {
                thread::sleep(SHORT);
                drop(receiver);
                if is_closed { consumer.close() } else { drop(consumer) }
            });
            assert_eq!((sender.closed(cx), stream.closed(cx)), (Ok(()), Ok(())));
            assert!(sender.send(1).is_err() && stream.is_closed() && stream.try_send(1).is_err());
            assert_eq!(select!(cx, { () = stream.closing() => 1 }), Ok(1));
            stream.closing().blocking();
            ending.join().unwrap();
        }
        // Values that are still there do not keep the wait from ending.
        let (mut stream, consumer) = spsc::unbounded();
        stream.try_send(1).unwrap();
        drop(consumer);
        assert_eq!(stream.closed(cx), Ok(()));
        let (mut stream, consumer) = spsc::unbounded::<u32>();
        stream.close();
        assert_eq!((stream.closed(cx), consumer.is_closed()), (Ok(()), true));
    });
}

#[test]
fn senders_wait_until_no_receiver_is_left() {
    with_every_cx(|cx| {
        let (sender, receiver) = watch::channel(1);
        let (second, other) = (sender.clone(), receiver.clone());
        assert_eq!(sender.closing().timeout(cx, SHORT), Err(WaitError::TimedOut));
        let mut waiting =
            [Polled::waiting(sender.closing().into_future()), Polled::waiting(second.closing().into_future())];
        drop(Polled::waiting(sender.closing().into_future()));
        drop(receiver);
        assert!(waiting.iter().all(|wait| !wait.is_woken()));
        drop(other);
        assert!(waiting.iter_mut().all(|wait| wait.is_woken() && wait.poll().is_some()));
        assert!(!sender.is_closed() && select!(cx, { () = sender.closing() => true }) == Ok(true));
        // A new receiver, and an end that comes while the channel has one.
        let receiver = sender.subscribe();
        let mut waiting = Polled::waiting(sender.closing().into_future());
        second.close();
        assert!(waiting.poll().is_some() && sender.closed(cx) == Ok(()));
        sender.closing().blocking();
        drop(receiver);

        let (sender, receiver) = broadcast::channel::<u32>(2);
        let mut waiting = Polled::waiting(sender.closing().into_future());
        let ending = thread::spawn(move || {
            thread::sleep(SHORT);
            drop(receiver);
        });
        assert_eq!(sender.closed(cx), Ok(()));
        assert!(waiting.poll().is_some() && sender.is_closed());
        ending.join().unwrap();
        let receiver = sender.subscribe();
        let mut waiting = Polled::waiting(sender.closing().into_future());
        sender.close();
        assert!(waiting.poll().is_some());
        drop(receiver);
    });
}

/// The address of such a future stays in the channel.
#[test]
fn forgotten_futures_do_not_keep_a_channel_open() {
    let (mut sender, mut receiver) = oneshot::channel::<u32>();
    mem::forget(Polled::waiting(receiver.receiving().into_future()));
    mem::forget(Polled::waiting(sender.closing().into_future()));
    let mut waiting = Polled::waiting(sender.closing().into_future());
    receiver.close();
    assert!(waiting.poll().is_some() && receiver.is_closed());
    drop(waiting);
    assert!(sender.send(1).is_err());
}

#[test]
fn try_reserve_tells_full_from_closed() {
    let (sender, receiver) = bounded::<u32>(1);
    let permit = sender.try_reserve().unwrap();
    assert_eq!(sender.try_reserve().err(), Some(TrySendError::Full(())));
    drop((permit, receiver));
    assert_eq!(sender.try_reserve().err(), Some(TrySendError::Closed(())));
    let (mut sender, receiver) = spsc::bounded(1);
    sender.try_send(1).unwrap();
    assert_eq!(sender.try_reserve().err(), Some(TrySendError::Full(())));
    drop(receiver);
    assert_eq!(sender.try_reserve().err(), Some(TrySendError::Closed(())));
}

#[test]
fn owned_permit_keeps_room_and_returns_sender() {
    let (sender, receiver) = bounded(1);
    let other = sender.clone();
    let permit = sender.try_reserve_owned().unwrap();
    assert!(other.try_send(0).is_err());
    let (other, full) = other.try_reserve_owned().unwrap_err();
    assert_eq!(full, TrySendError::Full(()));
    let mut waiting = Polled::waiting(other.clone().reserve_owned_async());
    // The room goes to the waiter.
    let sender = permit.release();
    assert!(waiting.is_woken() && sender.try_send(0).is_err());
    let permit = waiting.poll().unwrap().unwrap();
    let sender = permit.send(7).unwrap();
    assert_eq!((receiver.try_recv(), receiver.len()), (Ok(7), 0));
    drop(anabranch::run(|cx| sender.clone().reserve_owned(cx)).unwrap());
    sender.try_send(8).unwrap();
    let _ = receiver.try_recv();
    let permit = sender.clone().try_reserve_owned().unwrap();
    drop(receiver);
    assert_eq!(permit.send(9).unwrap_err().into_inner(), 9);
    assert_eq!(sender.try_reserve_owned().unwrap_err().1, TrySendError::Closed(()));
    assert_eq!(Polled::new(other.reserve_owned_async()).poll().unwrap().err(), Some(Closed));
}

#[test]
fn ends_are_counted() {
    let (sender, receiver) = unbounded::<u32>();
    let others = (sender.clone(), sender.downgrade(), receiver.clone(), receiver.clone());
    assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 3));
    let weak = others.1.clone();
    assert_eq!((weak.sender_count(), weak.weak_sender_count(), receiver.weak_sender_count()), (2, 2, 2));
    drop(others);
    assert_eq!((receiver.sender_count(), receiver.receiver_count()), (1, 1));
    drop(sender);
    assert_eq!((weak.sender_count(), receiver.weak_sender_count()), (0, 1));
    let (sender, receiver) = watch::channel(1);
    let other = (sender.clone(), sender.subscribe());
    assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 2));
    drop((other, receiver));
    assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 0));
    let (sender, receiver) = broadcast::channel::<u32>(1);
    assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
    drop(receiver);
    assert_eq!(sender.receiver_count(), 0);
}

#[test]
fn modified_value_is_sent_and_old_one_stays() {
    let (sender, mut receiver) = watch::channel(vec![1]);
    let old = receiver.get();
    sender.send_modify(|list| list.push(2)).unwrap();
    assert_eq!((&*old, &*receiver.try_recv().unwrap()), (&vec![1], &vec![1, 2]));
    assert_eq!(sender.send_if_modified(|list| list.pop().is_none()), Ok(false));
    assert!(receiver.try_recv().is_err() && *receiver.get() == [1, 2], "a change that is refused leaves the value");
    assert_eq!(sender.send_if_modified(|list| list.pop().is_some()), Ok(true));
    assert_eq!(*receiver.try_recv().unwrap(), [1]);
    sender.close();
    assert_eq!((sender.send_modify(|_| ()), sender.send_if_modified(|_| true)), (Err(Closed), Err(Closed)));
}

#[test]
fn concurrent_changes_are_all_made() {
    let (sender, receiver) = watch::channel(0);
    let first = AtomicU32::new(0);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..250).for_each(|_| sender.send_modify(|n| *n += 1).unwrap()));
        }
    });
    assert_eq!(*receiver.get(), 1000);
    // A sender that comes between makes the change again.
    sender
        .send_modify(|n| {
            if first.fetch_add(1, Ordering::Relaxed) == 0 {
                sender.send(5).unwrap();
            }
            *n += 1;
        })
        .unwrap();
    assert_eq!((*receiver.get(), first.into_inner()), (6, 2));
}

#[test]
fn wait_for_returns_value_that_satisfies_condition() {
    watchdog(LONG, || {
        let (sender, mut receiver) = watch::channel(1);
        anabranch::run(|cx| {
            assert_eq!(receiver.wait_for(cx, |n| *n == 1).as_deref(), Ok(&1));
            let late = cx.timeout(SHORT, |cx| Ok::<_, Error>(receiver.wait_for(cx, |n| *n > 2)?));
            assert!(late.is_err_and(|error| error.is_timeout()));
        });
        let mut waiting = Polled::waiting(receiver.wait_for_async(|n| *n > 2));
        sender.send(2).unwrap();
        assert!(waiting.poll().is_none());
        sender.send(3).unwrap();
        assert_eq!(waiting.poll(), Some(Ok(Arc::new(3))));
        drop(waiting);
        assert!(!receiver.has_changed());
        let sending = thread::spawn(move || {
            thread::sleep(SHORT);
            sender.send(7).unwrap();
        });
        assert_eq!(receiver.wait_for_blocking(|n| *n > 5), Ok(Arc::new(7)));
        sending.join().unwrap();
        assert_eq!(receiver.wait_for_blocking(|n| *n > 7), Err(Closed));
        assert_eq!(anabranch::run(|cx| receiver.wait_for(cx, |_| false)), Err(RecvError::Closed));
    });
}

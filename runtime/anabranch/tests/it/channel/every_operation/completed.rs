//! Operations after their end: a selection attempts, moves and drops them, and they take nothing from others.

use super::checks::SHORT;
use crate::common::{LONG, fibers::with_every_cx, waits::Polled, watchdog};
use anabranch::{
    Cx,
    channel::{
        Closed, ClosedError, Member, Operation, ReceiverSet, Select, after, awaiting, bounded, broadcast, oneshot,
        rendezvous, spsc, unbounded, watch,
    },
    fiber::sleep_async,
    proto,
    sync::{Event, Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, Trigger},
};
use std::{
    future::ready,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// How an operation is completed first.
#[derive(Clone, Copy, Debug)]
enum Way {
    TryNow,
    Wait,
    Async,
}

/// How an operation behaves when it is used again after it has completed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Again {
    /// It performs once more, or reports a state that still holds.
    Succeeds,
    /// It returns an error as its result.
    Fails,
    Waits,
    Panics,
}

/// The result of an operation.
trait Answer {
    fn is_error(&self) -> bool {
        false
    }
}

impl<T, E> Answer for Result<T, E> {
    fn is_error(&self) -> bool {
        self.is_err()
    }
}

/// The member of a set that has received or was closed.
impl<T, E> Answer for (Member, Result<T, E>) {}
impl Answer for () {}
impl Answer for i32 {}
impl Answer for Instant {}
impl<T> Answer for Option<T> {}
impl<T: ?Sized> Answer for MutexGuard<'_, T> {}
impl<T: ?Sized> Answer for RwLockReadGuard<'_, T> {}
impl<T: ?Sized> Answer for RwLockWriteGuard<'_, T> {}

fn outcome<A: Answer>(body: impl FnOnce() -> Option<(usize, A)>) -> Again {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Some((_, answer))) if answer.is_error() => Again::Fails,
        Ok(Some(_)) => Again::Succeeds,
        Ok(None) => Again::Waits,
        Err(_) => Again::Panics,
    }
}

/// Polls twice, because the first poll may do nothing but let other tasks run.
fn polled<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    let mut poll = || match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    };
    poll().or_else(poll)
}

/// Completes the operation, and uses it again in all ways, before and after it was moved.
#[track_caller]
fn check<O: Operation<Done: Answer>>(cx: &Cx<'_>, way: Way, operation: O, again: Again) {
    let mut select = Select::from_iter([operation]);
    let is_done = match way {
        Way::TryNow => select.try_now().is_some(),
        Way::Wait => select.timeout(cx, LONG).is_ok(),
        Way::Async => polled(pin!(select.wait_async())).is_some(),
    };
    assert!(is_done, "{way:?}");
    for _ in 0..2 {
        let forgotten = outcome(|| {
            let mut future = Box::pin(select.wait_async());
            let done = polled(future.as_mut());
            mem::forget(future);
            done
        });
        let outcomes = [
            forgotten,
            outcome(|| select.timeout(cx, SHORT).ok()),
            outcome(|| polled(pin!(select.wait_async()))),
            outcome(|| select.try_now()),
        ];
        assert_eq!(outcomes, [again; 4], "{way:?}");
        let moved = Box::new(select.swap_remove(0));
        assert!(select.is_empty());
        select.push(*moved);
    }
}

/// Like [`check`], for an operation that is ready by time alone and that no async code waits for.
#[track_caller]
fn check_timed<O: Operation<Done: Answer>>(cx: &Cx<'_>, operation: O, again: Again) {
    let mut select = Select::from_iter([operation]);
    assert!(select.timeout(cx, LONG).is_ok());
    let outcomes = [outcome(|| select.try_now()), outcome(|| select.timeout(cx, SHORT).ok())];
    assert_eq!(outcomes, [again; 2]);
    select.swap_remove(0);
}

fn for_each_way(body: impl Fn(&Cx<'_>, Way) + Clone + Send + Sync + 'static) {
    watchdog(LONG, || {
        with_every_cx(move |cx| [Way::TryNow, Way::Wait, Way::Async].into_iter().for_each(|way| body(cx, way)));
    });
}

#[test]
fn completed_receive_is_not_registered() {
    for_each_way(|cx, way| {
        let (sender, receiver) = bounded(2);
        sender.try_send(1).unwrap();
        check(cx, way, receiver.receiving(), Again::Waits);
        let mut next = Polled::waiting(receiver.receiving().into_future());
        sender.try_send(2).unwrap();
        assert_eq!(next.poll(), Some(Ok(2)), "no former waiter is in the queue");
        sender.close();
        check(cx, way, receiver.receiving(), Again::Fails);

        let (mut sender, mut receiver) = spsc::bounded(2);
        sender.try_send(1).unwrap();
        check(cx, way, receiver.receiving(), Again::Waits);
        sender.close();
        check(cx, way, receiver.receiving(), Again::Fails);

        for value in [Some(1), None] {
            let (sender, mut receiver) = oneshot::channel();
            match value {
                Some(value) => sender.send(Box::new(value)).unwrap(),
                None => drop(sender),
            }
            check(cx, way, receiver.receiving(), Again::Fails);
            assert!(receiver.is_closed() && receiver.is_empty());
            check(cx, way, receiver.receiving(), Again::Fails);
        }

        let (sender, mut receiver) = watch::channel(0);
        sender.send(1).unwrap();
        check(cx, way, receiver.receiving(), Again::Waits);
        let (sender, mut receiver) = broadcast::channel(2);
        sender.send(1).unwrap();
        check(cx, way, receiver.receiving(), Again::Waits);

        let (sender, receiver) = unbounded();
        let mut set = ReceiverSet::from_iter([receiver]);
        sender.try_send(1).unwrap();
        check(cx, way, set.receiving(), Again::Waits);
        drop(sender);
        check(cx, way, set.receiving(), Again::Fails);
    });
}

/// A send that was completed has no value: in the queue of senders it would ask for a permit, and with `Ok` it would
/// claim that a value was sent which was returned as refused.
#[test]
fn completed_send_takes_no_room() {
    for_each_way(|cx, way| {
        let (sender, receiver) = bounded(1);
        check(cx, way, sender.sending(1), Again::Panics);
        // The operation is used while the channel is full, and after that there is room for one value.
        assert_eq!((receiver.try_recv(), receiver.try_recv().is_err()), (Ok(1), true), "it was sent once");
        assert_eq!((sender.try_send(2), sender.len()), (Ok(()), 1));
        check(cx, way, receiver.receiving(), Again::Waits);
        check(cx, way, sender.reserving(), Again::Succeeds);
        check(cx, way, sender.reserving_many(1), Again::Succeeds);
        assert!(sender.try_reserve().is_ok());
        sender.close();
        check(cx, way, sender.sending(3), Again::Panics);
        check(cx, way, sender.reserving(), Again::Fails);
        check(cx, way, sender.reserving_many(1), Again::Fails);

        let (sender, receiver) = rendezvous();
        let mut receiving = Polled::waiting(receiver.receiving().into_future());
        let mut select = Select::from_iter([sender.sending(1)]);
        let mut sending = Polled::waiting(select.wait_async());
        assert_eq!((receiving.poll(), sending.poll()), (Some(Ok(1)), Some((0, Ok(())))));
        drop(sending);
        assert_eq!(outcome(|| select.timeout(cx, SHORT).ok()), Again::Panics);
        drop(select);
        assert!(receiver.try_recv().is_err() && sender.try_send(2).is_err());
        // The value was taken, and the future that waited has not returned that.
        let mut receiving = Polled::waiting(receiver.receiving().into_future());
        let mut select = Select::from_iter([sender.sending(1)]);
        let sending = Polled::waiting(select.wait_async());
        assert_eq!(receiving.poll(), Some(Ok(1)));
        drop(sending);
        assert_eq!(select.try_now(), Some((0, Ok(()))));
        assert_eq!(outcome(|| select.try_now()), Again::Panics);
        drop(select);
        sender.close();
        check(cx, way, sender.sending(1), Again::Panics);

        let (mut sender, mut receiver) = spsc::bounded(1);
        check(cx, way, sender.sending(1), Again::Panics);
        assert_eq!((receiver.try_recv(), receiver.try_recv().is_err()), (Ok(1), true), "it was sent once");
        assert_eq!(sender.try_send(2), Ok(()));
        check(cx, way, receiver.receiving(), Again::Waits);
        check(cx, way, sender.reserving(), Again::Panics);
        sender.close();
        check(cx, way, sender.sending(3), Again::Panics);
        check(cx, way, sender.reserving(), Again::Fails);
    });
}

/// Every form of a wait other than a selection.
#[test]
fn refused_send_does_not_succeed_later() {
    fn used_again<'a, T>(cx: &Cx<'_>, mut send: impl Operation<Done = Result<(), ClosedError<T>>> + 'a) -> bool {
        let panics = |use_it: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(use_it)).is_err();
        assert!(send.wait(cx).unwrap().is_err());
        panics(&mut || _ = send.wait(cx))
            && panics(&mut || _ = send.timeout(cx, SHORT))
            && panics(&mut || _ = send.deadline(cx, cx.now()))
            && panics(&mut || _ = send.blocking_timeout(SHORT))
    }
    fn polled_again<F: Future<Output = Result<(), ClosedError<i32>>>>(future: F) -> bool {
        let mut future = pin!(future);
        assert_eq!(polled(future.as_mut()), Some(Err(ClosedError(1))));
        catch_unwind(AssertUnwindSafe(|| polled(future))).is_err()
    }
    watchdog(LONG, || {
        with_every_cx(|cx| {
            for (sender, receiver) in [bounded(1), unbounded(), rendezvous()] {
                drop(receiver);
                assert!(used_again(cx, sender.sending(1)) && polled_again(sender.sending(1).into_future()));
            }
            let (mut sender, _) = spsc::bounded(1);
            assert!(used_again(cx, sender.sending(1)) && polled_again(sender.sending(1).into_future()));
            // Large values are in boxes.
            let (sender, _) = unbounded();
            assert!(used_again(cx, sender.sending([0u8; 8 << 10])));
            let mut send = sender.sending([0; 8 << 10]);
            assert!(send.wait(cx).unwrap().is_err() && send.into_inner().is_none());
        });
    });
}

#[test]
fn completed_wait_for_closing_completes_again() {
    for_each_way(|cx, way| {
        let (sender, _receiver) = bounded::<u8>(1);
        sender.close();
        check(cx, way, sender.closing(), Again::Succeeds);
        let (mut sender, _) = spsc::bounded::<u8>(1);
        check(cx, way, sender.closing(), Again::Succeeds);
        let (mut sender, _) = oneshot::channel::<u8>();
        check(cx, way, sender.closing(), Again::Succeeds);
        let (sender, _) = watch::channel(1);
        check(cx, way, sender.closing(), Again::Succeeds);
        let (sender, _) = broadcast::channel::<u8>(1);
        check(cx, way, sender.closing(), Again::Succeeds);
    });
}

#[test]
fn completed_lock_and_event_hold_nothing() {
    for_each_way(|cx, way| {
        let (mutex, lock, semaphore) = (Mutex::new(0), RwLock::new(0), Semaphore::new(1));
        check(cx, way, mutex.locking(), Again::Succeeds);
        check(cx, way, lock.reading(), Again::Succeeds);
        check(cx, way, lock.writing(), Again::Succeeds);
        check(cx, way, semaphore.acquiring(1), Again::Succeeds);
        assert!(mutex.try_lock().is_some() && lock.try_write().is_some() && semaphore.available() == 1);
        semaphore.close();
        check(cx, way, semaphore.acquiring(1), Again::Fails);

        let (event, notify, mut trigger) = (Event::new(), Notify::new(), Trigger::new());
        event.set();
        check(cx, way, event.waiting(), Again::Succeeds);
        trigger.signal().send();
        check(cx, way, trigger.waiting(), Again::Succeeds);
        notify.notify_one();
        check(cx, way, notify.notifying(), Again::Waits);
        notify.notify_one();
        assert!(notify.try_notified(), "a former waiter takes no wake-up");
    });
}

#[test]
fn completed_fibers_futures_and_times() {
    for_each_way(|cx, way| {
        cx.scope(|s| {
            let mut set = s.join_set();
            set.spawn(|_| 1);
            s.scope(|_| ());
            while set.join_next(s).unwrap().is_some() {}
            set.spawn(|_| 2);
            check(s, Way::Wait, set.joining(), Again::Waits);
            assert!(set.is_empty());
        });
        check(cx, way, awaiting(ready(1)), Again::Panics);
        let mut handle = anabranch::spawn(|_| 1);
        handle.wait(cx).unwrap();
        check(cx, way, awaiting(&mut handle), Again::Panics);
        assert_eq!(outcome(|| polled(Pin::new(&mut handle)).map(|result| (0, result))), Again::Panics);
        check(cx, Way::Wait, sleep_async(SHORT), Again::Succeeds);
        check_timed(cx, cx.sleeping(SHORT), Again::Succeeds);
        check_timed(cx, after(SHORT), Again::Succeeds);
        let mut ticks = cx.interval(Duration::from_micros(1));
        check_timed(cx, ticks.ticking(), Again::Succeeds);
    });
}

proto! { question {
    Ask: send { ask(u32) -> Answer }
    Answer: recv { answer(u32) -> ! }
}}

#[test]
fn completed_receive_of_an_endpoint_is_used_up() {
    for_each_way(|cx, way| {
        let (client, mut server) = question::pipe();
        let _client = client.ask(1).unwrap();
        check(cx, way, server.receiving(), Again::Fails);
        assert!(server.is_ready() && Polled::new(server.receiving().into_future()).poll().is_some());
    });
}

/// A receiver that has received its one value leaves a set at once.
#[test]
fn used_up_receiver_is_closed_in_a_set() {
    watchdog(LONG, || {
        let (sender, mut receiver) = oneshot::channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        let mut set = ReceiverSet::new();
        let member = set.insert(receiver);
        assert_eq!(set.try_recv(), Ok((member, Err(Closed))));
        assert!(set.is_empty() && set.remove(member).is_none());

        let (client, mut server) = question::pipe();
        let _client = client.ask(1).unwrap();
        assert!(Select::from_iter([server.receiving()]).try_now().is_some());
        let mut set = ReceiverSet::from_iter([server]);
        assert!(matches!(set.try_recv(), Ok((_, Err(Closed)))) && set.is_empty());
    });
}

#[cfg(feature = "net")]
#[test]
fn completed_operations_of_sockets() {
    use anabranch::net::{TcpListener, TcpStream};
    for_each_way(|cx, _| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(cx, listener.local_addr().unwrap()).unwrap();
        check(cx, Way::Wait, listener.readable(), Again::Succeeds);
        check(cx, Way::Wait, listener.accepting(), Again::Waits);
        assert!(listener.try_accept().is_err());
    });
}

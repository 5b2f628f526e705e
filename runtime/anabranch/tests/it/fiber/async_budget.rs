//! Operations of async code that are ready at once: a task completes a limited number of them in one poll.

use crate::common::{LONG, waits::Polled, watchdog};
use anabranch::{
    WaitError,
    channel::{self, ReceiverSet, Select, broadcast, oneshot, spsc, watch},
    fiber::sleep_async,
    select, spawn, spawn_async,
    sync::{Barrier, Condvar, Event, Monitor, Mutex, Notify, Once, OnceCell, RwLock, Semaphore, Trigger},
};
use std::{
    cell::Cell,
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

/// How many operations a task completes in one poll.
const BUDGET: usize = 128;

/// Returns how often `operation` completes in one poll of a task that repeats it.
#[track_caller]
fn completed_in_one_poll(mut operation: impl AsyncFnMut()) -> usize {
    let count = Cell::new(0);
    let mut task = pin!(async {
        loop {
            operation().await;
            count.set(count.get() + 1);
            assert!(count.get() < 100 * BUDGET, "the task keeps its thread");
        }
    });
    let one_poll = poll_fn(|context| {
        let polled: Poll<()> = task.as_mut().poll(context);
        assert!(polled.is_pending());
        Poll::Ready(())
    });
    anabranch::run(|cx| cx.block_on(one_poll)).unwrap();
    count.get()
}

#[track_caller]
fn is_counted(operation: impl AsyncFnMut()) {
    let count = completed_in_one_poll(operation);
    assert!((BUDGET / 4..=BUDGET).contains(&count), "{count}");
}

#[test]
fn free_locks_and_events_are_counted() {
    watchdog(LONG, || {
        let (mutex, lock, semaphore) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)), Arc::new(Semaphore::new(2)));
        is_counted(async || drop(mutex.locking().await));
        is_counted(async || drop(Arc::clone(&mutex).lock_owned_async().await));
        is_counted(async || drop(lock.reading().await));
        is_counted(async || drop(lock.writing().await));
        is_counted(async || drop(Arc::clone(&lock).read_owned_async().await));
        is_counted(async || drop(Arc::clone(&lock).write_owned_async().await));
        is_counted(async || drop(semaphore.acquiring(1).await));
        is_counted(async || drop(semaphore.acquiring(2).await));
        is_counted(async || drop(Arc::clone(&semaphore).acquire_owned_async().await));
        is_counted(async || drop(Arc::clone(&semaphore).acquire_many_owned_async(2).await));
        semaphore.close();
        is_counted(async || assert!(semaphore.acquiring(1).await.is_err()));

        let (event, notify, mut trigger) = (Event::new(), Notify::new(), Trigger::new());
        event.set();
        trigger.signal().send();
        is_counted(async || event.waiting().await);
        is_counted(async || trigger.waiting().await);
        is_counted(async || {
            notify.notify_one();
            notify.notifying().await;
        });
        let (monitor, changed) = (Monitor::new(1), Condvar::new());
        is_counted(async || monitor.with_async(|_| ()).await);
        is_counted(async || monitor.when_async(|_| true, |_| ()).await);
        let mut guard = mutex.try_lock();
        is_counted(async || guard = Some(changed.wait_while_async(guard.take().unwrap(), |_| false).await));
        let (barrier, once, cell) = (Barrier::new(1), Once::new(), OnceCell::new());
        is_counted(async || assert!(barrier.wait_async().await));
        is_counted(async || once.call_async(async || ()).await);
        is_counted(async || assert_eq!(*cell.get_or_init_async(async || 1).await, 1));
        is_counted(async || assert_eq!(cell.get_or_try_init_async(async || Err(())).await, Ok(&1)));
    });
}

#[test]
fn operations_of_channels_are_counted() {
    watchdog(LONG, || {
        let (sender, receiver) = channel::unbounded();
        is_counted(async || sender.sending(1).await.unwrap());
        is_counted(async || assert_eq!(receiver.receiving().await, Ok(1)));
        is_counted(async || assert_eq!(receiver.recv_many_async(&mut Vec::new(), 0).await, Ok(0)));
        is_counted(async || drop(sender.reserving().await));
        is_counted(async || drop(sender.reserving_many(2).await));
        is_counted(async || drop(sender.clone().reserve_owned_async().await));
        sender.close();
        is_counted(async || sender.closing().await);

        let (mut sender, mut receiver) = spsc::unbounded();
        is_counted(async || sender.sending(1).await.unwrap());
        is_counted(async || sender.send_all_async(&mut VecDeque::from([1, 2])).await.unwrap());
        is_counted(async || sender.send_all_async(&mut VecDeque::new()).await.unwrap());
        is_counted(async || drop(sender.reserving().await));
        is_counted(async || assert_eq!(receiver.receiving().await, Ok(1)));
        is_counted(async || assert_eq!(receiver.recv_many_async(&mut Vec::new(), 1).await, Ok(1)));
        is_counted(async || assert_eq!(receiver.recv_many_async(&mut Vec::new(), 0).await, Ok(0)));
        let (_, mut none) = oneshot::channel::<u8>();
        is_counted(async || assert!(none.receiving().await.is_err()));
        let (_, mut latest) = watch::channel(1);
        is_counted(async || assert_eq!(*latest.wait_for_async(|n| *n == 1).await.unwrap(), 1));
        is_counted(async || assert!(latest.receiving().await.is_err()));
        let (_, mut late) = broadcast::channel::<u8>(1);
        is_counted(async || assert!(late.receiving().await.is_err()));
        is_counted(async || assert_eq!(late.recv_many_async(&mut Vec::new(), 0).await, Ok(0)));
        let mut empty = ReceiverSet::<channel::Receiver<u8>>::new();
        is_counted(async || assert!(empty.receiving().await.is_err()));

        let (_, closed) = channel::unbounded::<u8>();
        let mut one = Select::from_iter([closed.receiving()]);
        is_counted(async || assert!(one.wait_async().await.1.is_err()));
        is_counted(async || select!(async, { got = closed.receiving() => assert!(got.is_err()) }));
        is_counted(async || select!(async, { _ = closed.receiving() => (), default => unreachable!() }));
    });
}

#[test]
fn handles_and_sleeps_are_counted() {
    watchdog(LONG, || {
        let (mut handles, mut sleeps): (Vec<_>, Vec<_>) =
            (0..2 * BUDGET).map(|_| (spawn(|_| ()), Box::pin(sleep_async(Duration::ZERO)))).unzip();
        anabranch::run(|cx| {
            handles.iter_mut().for_each(|handle| handle.wait(cx).unwrap());
            cx.block_on(async { futures_of(&mut sleeps).await }).unwrap();
        });
        let mut handles = handles.into_iter();
        is_counted(async || handles.next().unwrap().await.unwrap());
        let mut sleeps = sleeps.into_iter();
        is_counted(async || sleeps.next().unwrap().await);
    });
}

/// Waits for all futures, which are kept.
async fn futures_of<F: Future>(futures: &mut [Pin<Box<F>>]) {
    for future in futures {
        future.as_mut().await;
    }
}

/// A future beside others in one task does not give the task a new budget, neither by waiting nor by being refused.
#[test]
fn budget_is_that_of_the_whole_task() {
    watchdog(LONG, || {
        let ((_open, silent), mutex, event) = (channel::unbounded::<u8>(), Mutex::new(0), Event::new());
        event.set();
        is_counted(async || {
            let mut waiting = pin!(silent.receiving().into_future());
            let mut ready = pin!(mutex.locking().into_future());
            poll_fn(|context| {
                assert!(waiting.as_mut().poll(context).is_pending());
                ready.as_mut().poll(context).map(drop)
            })
            .await;
        });
        is_counted(async || {
            let (mut one, mut other) = (pin!(event.waiting().into_future()), pin!(mutex.locking().into_future()));
            poll_fn(|context| match one.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => other.as_mut().poll(context).map(drop),
            })
            .await;
        });
    });
}

/// Waiting operations cost nothing: a task that begins many waits at once reaches all of them.
#[test]
fn waits_of_many_futures_begin_in_one_poll() {
    watchdog(LONG, || {
        let (sender, receiver) = channel::unbounded();
        let task = spawn_async(async move {
            let mut waits: Vec<_> = (0..10 * BUDGET).map(|_| Box::pin(receiver.receiving().into_future())).collect();
            poll_fn(|context| {
                assert!(waits.iter_mut().all(|wait| wait.as_mut().poll(context).is_pending()));
                Poll::Ready(())
            })
            .await;
            let sent: Vec<_> = (0..10 * BUDGET).map(|n| sender.sending(n).into_future()).collect();
            for sent in sent {
                sent.await.unwrap();
            }
            let mut sum = 0;
            for wait in &mut waits {
                sum += wait.as_mut().await.unwrap();
            }
            sum
        });
        let count = 10 * BUDGET;
        assert_eq!(anabranch::run(|cx| task.join(cx)).unwrap(), count * (count - 1) / 2);
    });
}

#[test]
fn time_limit_reaches_loop_over_ready_operations() {
    watchdog(LONG, || {
        let (mutex, event) = (Mutex::new(0), Event::new());
        event.set();
        let limited = |cx: &anabranch::Cx<'_>, body: Pin<Box<dyn Future<Output = ()> + '_>>| {
            let late = cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(cx.block_on(body)?));
            assert_eq!(late, Err(WaitError::TimedOut));
        };
        anabranch::run(|cx| {
            limited(
                cx,
                Box::pin(async {
                    loop {
                        drop(mutex.locking().await)
                    }
                }),
            );
            limited(
                cx,
                Box::pin(async {
                    loop {
                        event.waiting().await
                    }
                }),
            );
        });
    });
}

/// An executor that is not known gets the task back as often, and continues it at the next poll.
#[test]
fn other_executors_continue_at_the_next_poll() {
    watchdog(LONG, || {
        let (event, count) = (Event::new(), Cell::new(0));
        event.set();
        let mut polled = Polled::new(async {
            loop {
                event.waiting().await;
                count.set(count.get() + 1);
            }
        });
        for polls in 1..10 {
            let _: Option<()> = polled.poll();
            assert_eq!(polled.wakes(), polls);
            assert!(((polls - 1) * BUDGET..=polls * BUDGET).contains(&count.get()), "{}", count.get());
        }
    });
}

/// A loop that polls by itself inside of a task is no task that could be polled later.
#[test]
fn loop_that_polls_inside_of_a_task_is_admitted_again() {
    let event = Event::new();
    event.set();
    let polls = poll_fn(|context| {
        let mut busy = pin!(async {
            loop {
                event.waiting().await
            }
        });
        let polled: Poll<()> = busy.as_mut().poll(context);
        assert!(polled.is_pending());
        let mut inner = pin!(event.waiting().into_future());
        let mut nested = Context::from_waker(Waker::noop());
        Poll::Ready((0..100 * BUDGET).position(|_| inner.as_mut().poll(&mut nested).is_ready()))
    });
    let polls = watchdog(LONG, || anabranch::run(|cx| cx.block_on(polls)).unwrap());
    assert!(polls.is_some_and(|polls| (1..=BUDGET).contains(&polls)), "{polls:?}");
}

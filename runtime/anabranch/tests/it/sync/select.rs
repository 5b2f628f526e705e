//! Locks, permits and events in selections: an operation that is not chosen leaves its queue and takes nothing.

use crate::common::{
    LONG, in_pools, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{
    WaitError,
    channel::{Select, unbounded},
    select,
    sync::{Event, Mutex, RwLock, Semaphore},
};
use std::{sync::Arc, thread, time::Duration};

#[test]
fn each_operation_of_sync_can_be_selected() {
    watchdog(LONG, || {
        let (mutex, lock, seats, event) = (Mutex::new(0), RwLock::new(0), Semaphore::new(0), Event::new());
        pool(1).run(|cx| {
            let guards = (mutex.try_lock(), lock.try_write());
            let choose = || {
                select!(biased cx, {
                    mut guard = mutex.locking() => { *guard += 1; "mutex" }
                    mut guard = lock.writing() => { *guard += 1; "write" }
                    guard = lock.reading() => { drop(guard); "read" }
                    permit = seats.acquiring(2) => { permit.unwrap().forget(); "permit" }
                    () = event.waiting() => "event",
                    default => "nothing",
                })
                .unwrap()
            };
            assert_eq!(choose(), "nothing");
            seats.add_permits(1);
            assert_eq!(choose(), "nothing");
            seats.add_permits(1);
            assert_eq!((choose(), seats.available()), ("permit", 0));
            event.set();
            assert_eq!(choose(), "event");
            drop(guards.1);
            assert_eq!(choose(), "write");
            let reads = lock.try_read();
            assert_eq!(choose(), "read");
            drop((reads, guards.0));
            assert_eq!(choose(), "mutex");
        });
        assert_eq!((mutex.into_inner(), lock.into_inner()), (1, 1));
    });
}

/// A selection waits for a lock and for a message, and gets the message. The lock goes to the waiter behind it.
#[test]
fn losing_operation_leaves_queue() {
    in_pools(|pool| {
        let (mutex, seats) = (Arc::new(Mutex::new(())), Arc::new(Semaphore::new(0)));
        let (sender, receiver) = unbounded();
        let guard = mutex.try_lock().unwrap();
        let first = pool.spawn({
            let (mutex, seats) = (Arc::clone(&mutex), Arc::clone(&seats));
            move |cx| {
                select!(cx, {
                    guard = mutex.locking() => { drop(guard); 0 }
                    permit = seats.acquiring(5) => { drop(permit); 0 }
                    n = receiver.receiving() => n.unwrap(),
                })
                .unwrap()
            }
        });
        until_waiting(pool, 1, "select!");
        // Behind it: for the lock, and for fewer permits than it wants.
        let mut lock = Polled::waiting(mutex.locking());
        let mut seat = Polled::waiting(seats.acquiring(1));
        sender.try_send(7).unwrap();
        assert_eq!(pool.run(|cx| first.join(cx)).unwrap(), 7);
        seats.add_permits(1);
        drop(guard);
        assert!(lock.poll().is_some() && seat.poll().is_some());
    });
}

/// It is given the lock while another arm is done, and passes it on.
#[test]
fn unused_grant_is_passed_on() {
    in_pools(|pool| {
        const N: usize = 300;
        let count = Arc::new(Mutex::new(0));
        let seats = Arc::new(Semaphore::new(1));
        let (sender, receiver) = unbounded();
        let handles: Vec<_> = (0..4)
            .map(|id| {
                let (count, seats, sender, receiver) =
                    (Arc::clone(&count), Arc::clone(&seats), sender.clone(), receiver.clone());
                pool.spawn(move |cx| {
                    let mut messages = 0;
                    for n in 0..N {
                        if n % 2 == id % 2 {
                            sender.try_send(()).unwrap();
                        }
                        select!(cx, {
                            mut count = count.locking() => {
                                *count += 1;
                                if n % 3 == 0 {
                                    // Held across a wait, so that others have to wait for it.
                                    cx.yield_now();
                                }
                            }
                            permit = seats.acquiring(1) => {
                                cx.yield_now();
                                drop(permit);
                                *count.lock(cx).unwrap() += 1;
                            }
                            got = receiver.receiving() => {
                                got.unwrap();
                                messages += 1;
                            }
                            () = cx.sleeping(Duration::from_micros(n as u64 % 40)) => *count.lock(cx).unwrap() += 1,
                        })
                        .unwrap();
                    }
                    messages
                })
            })
            .collect();
        let messages: usize = pool.run(|cx| handles.into_iter().map(|handle| handle.join(cx).unwrap()).sum());
        assert_eq!((messages + receiver.len(), messages + *count.try_lock().unwrap()), (2 * N, 4 * N));
        assert_eq!(seats.available(), 1);
    });
}

#[test]
fn list_of_locks_can_be_selected() {
    watchdog(LONG, || {
        let locks: Vec<_> = (0..10).map(Mutex::new).collect();
        let mut held: Vec<_> = locks.iter().map(|lock| lock.try_lock().unwrap()).collect();
        pool(1).run(|cx| {
            let mut select: Select<_> = locks.iter().map(|lock| lock.locking()).collect();
            assert!(select.try_now().is_none());
            drop(held.swap_remove(3));
            let (index, guard) = select.wait(cx).unwrap();
            assert_eq!((index, *guard), (3, 3));
        });
    });
}

/// An event that was awaited and then reset is awaited again. Once, the selection saw it as set ever after.
#[test]
fn event_can_be_selected_again_after_reset() {
    watchdog(LONG, || {
        let events = [Event::new(), Event::new()];
        let mut select: Select<_> = events.iter().map(|event| event.waiting()).collect();
        for turn in 0..4 {
            let mut waiting = Polled::waiting(select.wait_async());
            events[turn % 2].set();
            assert_eq!(waiting.poll(), Some((turn % 2, ())));
            drop(waiting);
            assert_eq!(select.try_now(), Some((turn % 2, ())));
            events[turn % 2].reset();
            assert_eq!(select.try_now(), None);
            // It is set and reset, and no waiter checks in between.
            let waiting = Polled::waiting(select.wait_async());
            events[turn % 2].set();
            events[turn % 2].reset();
            assert!(waiting.is_woken());
            drop(waiting);
            assert_eq!(select.try_now(), None);
        }
        anabranch::run(|cx| {
            assert_eq!(select.timeout(cx, Duration::from_millis(1)), Err(WaitError::TimedOut));
        });
    });
}

/// Two operations on one semaphore queue like those of two fibers: the smaller request waits behind the larger one,
/// unless it came first. `Semaphore::acquiring` documents this.
#[test]
fn operations_on_one_semaphore_keep_their_order() {
    watchdog(LONG, || {
        // The one that wants more is the first: both wait for five.
        let seats = Semaphore::new(1);
        let mut select = Select::from_iter([seats.acquiring(5), seats.acquiring(2)]).biased();
        let mut waiting = Polled::waiting(select.wait_async());
        seats.add_permits(3);
        assert!(!waiting.is_woken() && seats.available() == 4);
        seats.add_permits(1);
        assert!(waiting.poll().is_some_and(|(index, permit)| index == 0 && permit.unwrap().count() == 5));
        drop(waiting);
        assert_eq!((select.try_now().map(|(index, _)| index), seats.available()), (Some(0), 5));

        // The one that wants less is the first: whichever can be had is.
        let seats = Semaphore::new(1);
        let choose = async {
            select!(biased async, {
                permit = seats.acquiring(2) => permit.unwrap().forget(),
                permit = seats.acquiring(5) => drop(permit),
            })
        };
        let mut waiting = Polled::waiting(choose);
        let mut behind = Polled::waiting(seats.acquiring(1));
        seats.add_permits(1);
        assert!(waiting.poll().is_some() && seats.available() == 0 && !behind.is_woken());
        seats.add_permits(1);
        assert!(behind.poll().is_some());
    });
}

/// The same with a `Cx`.
#[test]
fn operations_on_one_semaphore_keep_their_order_on_fibers() {
    in_pools(|pool| {
        for less_first in [false, true] {
            let seats = Arc::new(Semaphore::new(1));
            let (counts, theirs) = (if less_first { [2, 5] } else { [5, 2] }, Arc::clone(&seats));
            let fiber = pool.spawn(move |cx| {
                select!(biased cx, {
                    permit = theirs.acquiring(counts[0]) => permit.unwrap().count(),
                    permit = theirs.acquiring(counts[1]) => permit.unwrap().count(),
                })
            });
            until_waiting(pool, 1, "select!");
            seats.add_permits(1);
            if !less_first {
                // Had it been woken it would have taken two.
                assert_eq!(seats.available(), 2);
                seats.add_permits(3);
            }
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(counts[0]));
            assert_eq!(seats.available(), if less_first { 2 } else { 5 });
        }
    });
}

/// To read waits behind the write of the same selection, while others read.
#[test]
fn operations_on_one_lock_keep_their_order() {
    watchdog(LONG, || {
        let lock = RwLock::new(());
        for reads_first in [false, true] {
            let read = lock.try_read().unwrap();
            // The earlier waiter is first, so the selection has to wait.
            let writer = Polled::waiting(lock.writing());
            let choose = async {
                if reads_first {
                    select!(biased async, { _ = lock.reading() => true, _ = lock.writing() => false })
                } else {
                    select!(biased async, { _ = lock.writing() => false, _ = lock.reading() => true })
                }
            };
            let mut waiting = Polled::waiting(choose);
            drop(writer);
            assert_eq!(waiting.is_woken(), reads_first);
            drop(read);
            assert_eq!(waiting.poll(), Some(reads_first));
            assert!(lock.try_write().is_some());
        }
    });
}

/// Each is awaited, acquired, released, and awaited again, with and without success.
#[test]
fn locks_and_permits_can_be_selected_repeatedly() {
    watchdog(LONG, || {
        let (mutex, lock, seats) = (Mutex::new(0), RwLock::new(0), Semaphore::new(0));
        let mut locks = Select::from_iter([mutex.locking()]);
        let mut reads = Select::from_iter([lock.reading()]);
        let mut writes = Select::from_iter([lock.writing()]);
        let mut acquires = Select::from_iter([seats.acquiring(2)]);
        for _ in 0..3 {
            let guards = (mutex.try_lock().unwrap(), lock.try_write().unwrap());
            anabranch::run(|cx| {
                let short = Duration::from_millis(1);
                assert!(locks.timeout(cx, short).is_err() && reads.timeout(cx, short).is_err());
                assert!(writes.timeout(cx, short).is_err() && acquires.timeout(cx, short).is_err());
            });
            let mut locking = Polled::waiting(locks.wait_async());
            let mut reading = Polled::waiting(reads.wait_async());
            let mut writing = Polled::waiting(writes.wait_async());
            let mut acquiring = Polled::waiting(acquires.wait_async());
            drop(guards);
            seats.add_permits(2);
            drop((locking.poll().unwrap(), reading.poll().unwrap()));
            drop(writing.poll().unwrap());
            acquiring.poll().unwrap().1.unwrap().forget();
        }
    });
}

/// The time for which a waiter was overtaken starts again after each success.
#[test]
fn waiter_that_got_lock_loses_priority() {
    let mutex = Mutex::new(());
    let mut select = Select::from_iter([mutex.locking()]);
    for _ in 0..3 {
        let guard = mutex.try_lock().unwrap();
        let mut waiting = Polled::waiting(select.wait_async());
        drop(guard);
        // Overtaken for the first time since it had the lock, it is not handed it yet.
        let guard = mutex.try_lock().unwrap();
        assert!(waiting.poll().is_none());
        drop(guard);
        drop(mutex.try_lock().expect("it is not handed over"));
        drop(waiting.poll().unwrap());
        thread::sleep(Duration::from_millis(3));
    }
}

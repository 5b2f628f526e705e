//! Waiters that are woken and overtaken. They become the first in the queue again, and the next release hands over to
//! them. If one does not return, the release wakes those behind it.
//!
//! The model has no clock. A waiter that was woken in vain counts as one that has waited too long, and a waiter that
//! was overtaken twice as late.

use super::{
    explore,
    sync::{Shared, spawn, spawn_below},
    thread::Thread,
};
use crate::{
    cx::Cx,
    sync::{Mutex, RwLock, Semaphore},
    wait::Cancelled,
};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc as StdArc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake},
};

/// Counts wake-ups, unseen by loom. The model reads the count when no thread wakes any more.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: StdArc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A future that the model polls explicitly.
struct Polled<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    bell: StdArc<Bell>,
}

impl<'a, T> Polled<'a, T> {
    fn waiting(future: impl IntoFuture<Output = T, IntoFuture: 'a>) -> Self {
        let mut polled = Self { future: Box::pin(future.into_future()), bell: StdArc::default() };
        assert!(polled.poll().is_none(), "it has to wait");
        polled
    }

    fn poll(&mut self) -> Option<T> {
        match self.future.as_mut().poll(&mut Context::from_waker(&StdArc::clone(&self.bell).into())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    fn wakes(&self) -> usize {
        self.bell.0.load(Ordering::SeqCst)
    }
}

#[test]
fn models_rwlock_orders_readers_and_writer() {
    explore("rwlock, two readers and a writer", Some(2), || {
        let shared = Shared::new(RwLock::new(()));
        let read = |shared: &Shared<RwLock<()>>, cx: &Cx<'_>| {
            let _guard = shared.primitive.read(cx).unwrap();
            assert!(shared.value.get() < 2);
        };
        let others = [spawn(&shared, read), spawn(&shared, read)];
        Thread::new().shielded(|cx| {
            let _guard = shared.primitive.write(cx).unwrap();
            shared.touch();
        });
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(shared.primitive.try_write().is_some());
    });
}

#[test]
fn models_rwlock_overtaken_writer_is_handed_lock() {
    explore("rwlock, overtaken writer", Some(3), || {
        let shared = Shared::new(RwLock::new(()));
        let guard = shared.primitive.try_read();
        let writer = spawn(&shared, |shared, cx| {
            let _guard = shared.primitive.write(cx).unwrap();
            shared.touch();
        });
        drop(guard);
        Thread::new().shielded(|cx| {
            for _ in 0..2 {
                let _guard = shared.primitive.read(cx).unwrap();
                assert!(shared.value.get() < 2);
            }
        });
        writer.join().unwrap();
        assert!(shared.primitive.try_write().is_some());
    });
}

#[test]
fn models_rwlock_cancelled_writer_admits_readers() {
    explore("rwlock, cancelled writer", Some(2), || {
        let shared = Shared::new(RwLock::new(()));
        let guard = shared.primitive.try_read();
        let writer = spawn_below(&shared, |shared, cx| {
            let guard = shared.primitive.write(cx)?;
            shared.touch();
            drop(guard);
            Ok::<_, Cancelled>(())
        });
        let reader = spawn(&shared, |shared, cx| drop(shared.primitive.read(cx).unwrap()));
        drop(guard);
        // May come between the wake-up and the attempt.
        let guard = shared.primitive.try_read();
        shared.root.cancel();
        drop(guard);
        let _ = writer.join().unwrap();
        reader.join().unwrap();
        assert!(shared.primitive.try_write().is_some());
    });
}

#[test]
fn models_semaphore_newcomer_overtakes_woken_waiter() {
    explore("semaphore, overtaken", Some(3), || {
        let shared = Shared::new(Semaphore::new(2));
        let permit = shared.primitive.try_acquire();
        let wants_two = spawn(&shared, |shared, cx| {
            let permits = shared.primitive.acquire_many(cx, 2).unwrap();
            shared.touch();
            drop(permits);
        });
        drop(permit);
        for _ in 0..2 {
            drop(shared.primitive.try_acquire());
        }
        wants_two.join().unwrap();
        assert_eq!((shared.primitive.available(), shared.value.get()), (2, 1));
    });
}

#[test]
fn models_semaphore_closes_while_first_waits_for_more() {
    explore("semaphore, closed", Some(3), || {
        let shared = Shared::new(Semaphore::new(2));
        let permit = shared.primitive.try_acquire();
        let mut wants_two = Polled::waiting(shared.primitive.acquiring(2));
        let newcomer = spawn(&shared, |shared, _| shared.primitive.try_acquire().is_err());
        assert!(newcomer.join().unwrap());
        drop(permit);
        assert!(wants_two.poll().is_some());
    });
}

#[test]
fn models_semaphore_hand_over_acquires_all_releases() {
    explore("semaphore, handed over by two", Some(3), || {
        let shared = Shared::new(Semaphore::new(2));
        let permits = shared.primitive.try_acquire_many(2);
        let mut wants_two = Polled::waiting(shared.primitive.acquiring(2));
        drop(permits);
        // Overtaken: it has no patience left.
        shared.primitive.try_acquire_many(2).expect("both are free").forget();
        assert!(wants_two.poll().is_none());
        let first = spawn(&shared, |shared, _| {
            shared.value.set(1);
            shared.primitive.add_permits(1);
        });
        let second = spawn(&shared, |shared, _| {
            shared.other.set(1);
            shared.primitive.add_permits(1);
        });
        // No thread is joined before: what it sees, it sees by the hand-over.
        while wants_two.poll().is_none() {
            loom::thread::yield_now();
        }
        assert_eq!(shared.value.get() + shared.other.get(), 2);
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn models_semaphore_woken_waiter_gives_up() {
    explore("semaphore, two on their way", Some(3), || {
        let shared = Shared::new(Semaphore::new(2));
        let permits = shared.primitive.try_acquire_many(2);
        let mut gives_up = Polled::waiting(shared.primitive.acquiring(1));
        let mut stays = Polled::waiting(shared.primitive.acquiring(1));
        let mut behind = Polled::waiting(shared.primitive.acquiring(2));
        drop(permits);
        let other = spawn(&shared, |shared, _| drop(shared.primitive.try_acquire_many(2)));
        let first = stays.poll();
        if first.is_none() {
            drop(gives_up.poll());
        }
        drop((gives_up, first));
        other.join().unwrap();
        if stays.wakes() == 2 {
            drop(stays.poll().expect("it was woken again"));
        }
        assert!(behind.wakes() > 0);
        assert_eq!(behind.poll().expect("all others have gone").unwrap().count(), 2);
        assert_eq!(shared.primitive.available(), 2);
    });
}

#[test]
fn models_semaphore_late_waiter_blocks_no_other() {
    explore("semaphore, late", Some(3), || {
        let shared = Shared::new(Semaphore::new(1));
        let permit = shared.primitive.try_acquire();
        let mut late = Polled::waiting(shared.primitive.acquiring(1));
        let mut behind = Polled::waiting(shared.primitive.acquiring(1));
        drop(permit);
        let other = spawn(&shared, |shared, _| (0..3).for_each(|_| drop(shared.primitive.try_acquire())));
        let permit = late.poll();
        let has_come = permit.is_some();
        drop(permit);
        other.join().unwrap();
        if !has_come {
            assert_eq!(late.wakes(), 2);
            drop(late.poll().expect("it was handed over"));
        }
        assert!(behind.wakes() > 0);
        drop(behind.poll().expect("all others have gone"));
        assert_eq!(shared.primitive.available(), 1);
    });
}

#[test]
fn models_mutex_absent_waiter_blocks_no_other() {
    explore("mutex, late", Some(3), || {
        let shared = Shared::new(Mutex::new(()));
        let guard = shared.primitive.try_lock();
        let never_comes = Polled::waiting(shared.primitive.locking());
        let mut behind = Polled::waiting(shared.primitive.locking());
        drop(guard);
        let other = spawn(&shared, |shared, _| {
            for _ in 0..2 {
                let guard = shared.primitive.try_lock();
                if guard.is_some() {
                    shared.touch();
                }
                drop(guard);
            }
        });
        let guard = shared.primitive.try_lock();
        if guard.is_some() {
            shared.touch();
        }
        drop(guard);
        other.join().unwrap();
        if shared.value.get() < 3 {
            // One of them found it locked by the other, and overtook no waiter.
            (0..2).for_each(|_| drop(shared.primitive.try_lock()));
        }
        assert_eq!((never_comes.wakes(), behind.wakes()), (1, 1));
        drop(behind.poll().expect("it was woken past the first"));
        drop(never_comes);
        assert!(!shared.primitive.is_locked());
    });
}

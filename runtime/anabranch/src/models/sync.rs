//! The primitives of `sync`: one holder at a time, each sees the writes of the previous one, and no waiter is forgotten
//! when another gives up.
//!
//! All of them wait by `cx`, as the shipped code does. loom reports an error if no thread can continue, so it finds
//! lost wake-ups. The model has no clock. So the next release hands over to a waiter that was woken in vain.

use super::{explore, thread::Thread};
use crate::{
    cx::{Cx, attempt::wait_without_deadline},
    sync::{AcquireError, Barrier, Condvar, Event, Mutex, Notify, OnceCell, Semaphore, TryAcquireError},
    sys::sync::{Arc, AtomicBool, Cell, Ordering},
    wait::{
        Cancelled,
        cancel::CancelScope,
        suspend::{Suspend, WaitReason},
    },
};
use loom::thread;
use std::{
    future::Future,
    pin::pin,
    ptr,
    task::{Context, Waker},
};

/// The data that the threads of a model share, and a scope in which one of them waits.
pub(super) struct Shared<P> {
    pub(super) primitive: P,
    /// Only one thread at a time accesses this.
    pub(super) value: Cell<u32>,
    /// Only one thread at a time accesses this.
    pub(super) other: Cell<u32>,
    pub(super) root: CancelScope,
}

// SAFETY: loom reports unordered accesses to the value.
unsafe impl<P: Sync> Sync for Shared<P> {}
// SAFETY: loom reports unordered accesses to the value.
unsafe impl<P: Send> Send for Shared<P> {}

impl<P: Send + Sync + 'static> Shared<P> {
    pub(super) fn new(primitive: P) -> Arc<Self> {
        Arc::new(Self { primitive, value: Cell::new(0), other: Cell::new(0), root: CancelScope::root(ptr::null()) })
    }

    /// Who has what the model is about.
    pub(super) fn touch(&self) {
        self.value.set(self.value.get() + 1);
    }
}

/// A thread that cannot be cancelled.
pub(super) fn spawn<P: Send + Sync + 'static, R: 'static>(
    shared: &Arc<Shared<P>>,
    body: impl FnOnce(&Shared<P>, &Cx<'_>) -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || Thread::new().shielded(|cx| body(&shared, cx)))
}

/// A thread that is cancelled with the root.
pub(super) fn spawn_below<P: Send + Sync + 'static, R: 'static>(
    shared: &Arc<Shared<P>>,
    body: impl FnOnce(&Shared<P>, &Cx<'_>) -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let owner = Thread::new();
        // SAFETY: the root and the owner live longer.
        let scope = unsafe { CancelScope::below(&shared.root, owner.waiter(), false) };
        body(&shared, &owner.cx(&scope))
    })
}

/// Polls a future, at most this often, and drops it.
fn poll_and_drop(future: impl IntoFuture, times: u32) {
    let mut future = pin!(future.into_future());
    (0..times).any(|_| future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

#[test]
fn models_mutex_excludes() {
    explore("mutex, three threads", Some(3), || {
        let shared = Shared::new(Mutex::new(()));
        let lock = |shared: &Shared<Mutex<()>>, cx: &Cx<'_>| {
            let guard = shared.primitive.lock(cx).unwrap();
            shared.touch();
            drop(guard);
        };
        let others = [spawn(&shared, lock), spawn(&shared, lock)];
        Thread::new().shielded(|cx| lock(&shared, cx));
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(!shared.primitive.is_locked());
        assert_eq!(shared.value.get(), 3);
    });
}

#[test]
fn models_mutex_returning_holder_overtakes_and_hands_over() {
    explore("mutex, overtaken", Some(3), || {
        let shared = Shared::new(Mutex::new(()));
        let guard = shared.primitive.try_lock();
        let other = spawn(&shared, |shared, cx| {
            let _guard = shared.primitive.lock(cx).unwrap();
            shared.touch();
        });
        drop(guard);
        Thread::new().shielded(|cx| {
            for _ in 0..2 {
                let _guard = shared.primitive.lock(cx).unwrap();
                shared.touch();
            }
        });
        other.join().unwrap();
        assert_eq!(shared.value.get(), 3);
    });
}

#[test]
fn models_mutex_cancelled_waiter_passes_wakeup_on() {
    explore("mutex, cancelled", Some(2), || {
        let shared = Shared::new(Mutex::new(()));
        let guard = shared.primitive.try_lock();
        let cancelled = spawn_below(&shared, |shared, cx| {
            let guard = shared.primitive.lock(cx)?;
            shared.touch();
            drop(guard);
            Ok::<_, Cancelled>(())
        });
        let stays = spawn(&shared, |shared, cx| {
            let _guard = shared.primitive.lock(cx).unwrap();
            shared.touch();
        });
        drop(guard);
        // May come between the wake-up and the attempt.
        let guard = shared.primitive.try_lock();
        shared.root.cancel();
        drop(guard);
        let locks = u32::from(cancelled.join().unwrap().is_ok());
        stays.join().unwrap();
        assert!(!shared.primitive.is_locked());
        assert_eq!(shared.value.get(), 1 + locks);
    });
}

#[test]
fn models_mutex_dropped_future_passes_wakeup_on() {
    explore("mutex, dropped future", Some(3), || {
        let shared = Shared::new(Mutex::new(()));
        let guard = shared.primitive.try_lock();
        let dropped = spawn(&shared, |shared, _| poll_and_drop(shared.primitive.locking(), 1));
        let stays = spawn(&shared, |shared, cx| {
            let _guard = shared.primitive.lock(cx).unwrap();
            shared.touch();
        });
        drop(guard);
        dropped.join().unwrap();
        stays.join().unwrap();
        assert!(!shared.primitive.is_locked());
    });
}

#[test]
fn models_mutex_dropped_future_hands_lock_over() {
    explore("mutex, dropped when handed over", Some(5), || {
        let shared = Shared::new(Mutex::new(()));
        let guard = shared.primitive.try_lock();
        // If it is overtaken between the two, it is handed the lock.
        let dropped = spawn(&shared, |shared, _| poll_and_drop(shared.primitive.locking(), 2));
        drop(guard);
        drop(shared.primitive.try_lock());
        dropped.join().unwrap();
        assert!(!shared.primitive.is_locked());
    });
}

#[test]
fn models_semaphore_no_permit_is_lost() {
    explore("semaphore, cancelled", Some(3), || {
        let shared = Shared::new(Semaphore::new(1));
        let permit = shared.primitive.try_acquire();
        let wants_two = spawn_below(&shared, |shared, cx| shared.primitive.acquire_many(cx, 2).is_ok());
        let wants_one = spawn(&shared, |shared, cx| {
            shared.root.cancel();
            let permit = shared.primitive.acquire(cx).unwrap();
            shared.touch();
            drop(permit);
        });
        shared.touch();
        // May find a waiter that leaves meanwhile.
        drop(permit);
        assert!(!wants_two.join().unwrap(), "there never were two");
        wants_one.join().unwrap();
        assert_eq!((shared.primitive.available(), shared.value.get()), (1, 2));
    });
}

#[test]
fn models_semaphore_releases_add_up() {
    explore("semaphore, two releases for one", Some(3), || {
        let shared = Shared::new(Semaphore::new(2));
        let permits = [shared.primitive.try_acquire(), shared.primitive.try_acquire()];
        permits.into_iter().flatten().for_each(|permit| permit.forget());
        // Like two readers, and a writer that sees what both did.
        let first = spawn(&shared, |shared, _| {
            shared.value.set(1);
            shared.primitive.add_permits(1);
        });
        let second = spawn(&shared, |shared, _| {
            shared.other.set(1);
            shared.primitive.add_permits(1);
        });
        Thread::new().shielded(|cx| {
            let _both = shared.primitive.acquire_many(cx, 2).unwrap();
            assert_eq!(shared.value.get() + shared.other.get(), 2);
        });
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(shared.primitive.available(), 2);
    });
}

#[test]
fn models_semaphore_dropped_future_returns_permits() {
    explore("semaphore, dropped future", Some(3), || {
        let shared = Shared::new(Semaphore::new(0));
        let dropped = spawn(&shared, |shared, _| poll_and_drop(shared.primitive.acquiring(1), 1));
        let stays = spawn(&shared, |shared, cx| shared.primitive.acquire(cx).unwrap().forget());
        shared.primitive.add_permits(1);
        dropped.join().unwrap();
        stays.join().unwrap();
        assert_eq!(shared.primitive.available(), 0);
    });
}

#[test]
fn models_semaphore_closing_ends_waits() {
    explore("semaphore, closed", Some(3), || {
        let shared = Shared::new(Semaphore::new(0));
        let waits = spawn(&shared, |shared, cx| match shared.primitive.acquire(cx) {
            Ok(permit) => {
                permit.forget();
                1
            }
            Err(error) => {
                assert_eq!((error, shared.value.get()), (AcquireError::Closed, 1));
                0
            }
        });
        let releases = spawn(&shared, |shared, _| shared.primitive.add_permits(1));
        shared.value.set(1);
        shared.primitive.close();
        releases.join().unwrap();
        let acquired = waits.join().unwrap();
        assert_eq!(shared.primitive.available() + acquired, 1);
        assert_eq!(shared.primitive.try_acquire().err(), Some(TryAcquireError::Closed));
    });
}

/// A wake-up that comes between the attempt of a waiter and its registration is kept, and found.
#[test]
fn models_notify_wakes_one() {
    explore("notify, one waiter", None, || {
        let shared = Shared::new(Notify::new());
        let waits = spawn(&shared, |shared, cx| {
            shared.primitive.notified(cx).unwrap();
            shared.value.get()
        });
        shared.value.set(1);
        shared.primitive.notify_one();
        assert_eq!(waits.join().unwrap(), 1);
        assert!(!shared.primitive.try_notified());
    });
}

/// A wake-up for all that comes after the creation of a wait ends the wait, wherever the waiter is.
#[test]
fn models_notify_waiters_end_every_wait_that_exists() {
    explore("notify, all waiters", None, || {
        let shared = Shared::new((Notify::new(), AtomicBool::new(false)));
        let waits = spawn(&shared, |shared, cx| {
            let (notify, is_over) = &shared.primitive;
            let wait = notify.notifying();
            if !is_over.load(Ordering::Acquire) {
                wait_without_deadline(cx, &wait, WaitReason::new(&"a model")).unwrap();
            }
            shared.value.get()
        });
        let (notify, is_over) = &shared.primitive;
        shared.value.set(1);
        is_over.store(true, Ordering::Release);
        notify.notify_waiters();
        assert_eq!(waits.join().unwrap(), 1);
    });
}

#[test]
fn models_event_wakes_all() {
    explore("event, two waiters", Some(2), || {
        let shared = Shared::new(Event::new());
        let wait = |shared: &Shared<Event>, cx: &Cx<'_>| {
            shared.primitive.wait(cx).unwrap();
            assert_eq!(shared.value.get(), 1);
        };
        let others = [spawn(&shared, wait), spawn(&shared, wait)];
        shared.touch();
        shared.primitive.set();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn models_event_reset_keeps_wakeup_of_waiters() {
    explore("event, reset and cancellation", Some(3), || {
        let shared = Shared::new(Event::new());
        let other =
            spawn_below(&shared, |shared, cx| shared.primitive.wait(cx).map(|()| assert!(shared.value.get() >= 1)));
        shared.touch();
        shared.primitive.set();
        shared.primitive.reset();
        shared.root.cancel();
        // It came in time, or was cancelled: it does not wait for ever.
        let _ = other.join().unwrap();
        assert!(!shared.primitive.is_set());
    });
}

/// A party whose wait failed did not count: it has to come again, or the others never meet.
#[test]
fn models_barrier_cancelled_arrival_does_not_count() {
    explore("barrier, two parties, one cancelled", None, || {
        let shared = Shared::new(Barrier::new(2));
        let other = spawn_below(&shared, |shared, cx| match shared.primitive.wait(cx) {
            Ok(is_leader) => is_leader,
            Err(Cancelled) => Thread::new().shielded(|cx| shared.primitive.wait(cx).unwrap()),
        });
        shared.root.cancel();
        let is_leader = Thread::new().shielded(|cx| shared.primitive.wait(cx).unwrap());
        assert_ne!(is_leader, other.join().unwrap());
    });
}

#[test]
fn models_condvar_no_notification_is_lost() {
    explore("condvar, one notification", Some(3), || {
        let shared = Shared::new((Mutex::new(false), Condvar::new()));
        let other = spawn(&shared, |shared, cx| {
            let (mutex, condvar) = &shared.primitive;
            let mut guard = mutex.lock(cx).unwrap();
            condvar.wait_while(cx, &mut guard, |is_ready| !*is_ready).unwrap();
            shared.touch();
        });
        let (mutex, condvar) = &shared.primitive;
        Thread::new().shielded(|cx| *mutex.lock(cx).unwrap() = true);
        // The lock is not held.
        condvar.notify_one();
        other.join().unwrap();
        assert_eq!(shared.value.get(), 1);
    });
}

#[test]
fn models_condvar_cancelled_waiter_takes_no_notification() {
    explore("condvar, cancelled", Some(2), || {
        let shared = Shared::new((Mutex::new(0), Condvar::new()));
        let wait = |shared: &Shared<(Mutex<u32>, Condvar)>, cx: &Cx<'_>| {
            let (mutex, condvar) = &shared.primitive;
            let mut guard = mutex.lock(cx)?;
            condvar.wait_while(cx, &mut guard, |count| *count == 0)?;
            *guard -= 1;
            Ok::<_, Cancelled>(())
        };
        let cancelled = spawn_below(&shared, wait);
        let stays = spawn(&shared, wait);
        let (mutex, condvar) = &shared.primitive;
        Thread::new().shielded(|cx| *mutex.lock(cx).unwrap() += 1);
        condvar.notify_one();
        shared.root.cancel();
        if cancelled.join().unwrap().is_ok() {
            Thread::new().shielded(|cx| *mutex.lock(cx).unwrap() += 1);
            condvar.notify_one();
        }
        stays.join().unwrap().unwrap();
    });
}

#[test]
fn models_once_cell_is_initialised_once() {
    explore("once cell, three threads", Some(2), || {
        let shared = Shared::new(OnceCell::new());
        let init = |shared: &Shared<OnceCell<u32>>, cx: &Cx<'_>| {
            let value = shared.primitive.get_or_init(cx, |_| {
                shared.touch();
                7
            });
            assert_eq!((value, shared.value.get()), (Ok(&7), 1));
        };
        let others = [spawn(&shared, init), spawn(&shared, init)];
        Thread::new().shielded(|cx| init(&shared, cx));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

//! Locks, permits and events as [operations](crate::Operation).
//!
//! When a selection ends, each operation that was not chosen leaves its queue. It passes its wake-up or its permits on
//! to the next waiter.

use super::{
    acquire_wait::AcquireWait,
    event::{Event, EventWait},
    mutex::{Mutex, MutexGuard},
    raw_mutex::LockWait,
    raw_semaphore::IsClosed,
    rwlock::{ALL, ONE, RwLock, RwLockReadGuard, RwLockWriteGuard},
    semaphore::{Permit, Semaphore},
    semaphore_error::SemaphoreClosed,
};
use crate::{
    cx::attempt::Attempt,
    wait::{waitable::waits_by, waiter::Waiter},
};
use std::{fmt, ptr};

/// Locking a [`Mutex`], as an operation. Created by [`Mutex::locking`].
pub struct Locking<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    wait: LockWait<'a>,
}

/// Acquiring permits of a [`Semaphore`], as an operation. Created by [`Semaphore::acquiring`].
pub struct Acquiring<'a> {
    semaphore: &'a Semaphore,
    count: usize,
    wait: AcquireWait<'a>,
}

/// Locking an [`RwLock`] to read, as an operation. Created by [`RwLock::reading`].
pub struct Reading<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    wait: AcquireWait<'a>,
}

/// Locking an [`RwLock`] to write, as an operation. Created by [`RwLock::writing`].
pub struct Writing<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    wait: AcquireWait<'a>,
}

/// Waiting for an [`Event`], as an operation. Created by [`Event::waiting`].
pub struct Waiting<'a> {
    wait: EventWait<'a>,
}

impl<T: ?Sized> Mutex<T> {
    /// Returns [`lock`](Self::lock) as an [operation](crate::Operation): for a time limit, for async code, for threads
    /// without a [`Cx`](crate::Cx), and for [`select!`](crate::select).
    ///
    /// A future that is dropped leaves the queue. If it was just handed the lock, it passes the lock on. A future that
    /// was polled keeps its place in the queue until it is dropped, and may be handed the lock meanwhile. So if a task
    /// neither polls nor drops it, because it awaits something else first, the waiters behind it may have to wait for
    /// that long. See [hazards](crate::guide::hazards#futures-that-are-neglected).
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, sync::Mutex};
    /// use std::{thread, time::Duration};
    ///
    /// static HITS: Mutex<u32> = Mutex::new(0);
    ///
    /// async fn count() {
    ///     *HITS.locking().await += 1;
    /// }
    ///
    /// thread::spawn(|| *HITS.locking().blocking() += 1).join().unwrap();
    /// anabranch::run(|cx| {
    ///     cx.block_on(count()).unwrap();
    ///     let hits = HITS.lock(cx).unwrap();
    ///     assert_eq!(*hits, 2);
    ///     let second = HITS.locking().timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(second.unwrap_err(), WaitError::TimedOut);
    /// });
    /// ```
    ///
    /// ```
    /// use anabranch::{select, sync::{Event, Mutex}};
    ///
    /// let (state, stop) = (Mutex::new(0), Event::new());
    /// anabranch::run(|cx| {
    ///     let done = select!(biased cx, {
    ///         () = stop.waiting() => false,
    ///         mut state = state.locking() => {
    ///             *state += 1;
    ///             true
    ///         }
    ///     });
    ///     assert_eq!(done, Ok(true));
    /// });
    /// assert_eq!(state.into_inner(), 1);
    /// ```
    pub fn locking(&self) -> Locking<'_, T> {
        Locking { mutex: self, wait: LockWait::new(self.raw()) }
    }
}

impl Semaphore {
    /// Returns the acquisition of `count` permits as an [operation](crate::Operation): for a time limit, for async
    /// code, for threads without a [`Cx`](crate::Cx), and for [`select!`](crate::select). Its result is an error if the
    /// semaphore is closed.
    ///
    /// A future that is dropped leaves the queue, and gives back the permits that it was just handed. A future that was
    /// polled and is then neither polled nor dropped holds up the waiters behind it, as with
    /// [`Mutex::locking`](super::Mutex::locking).
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, sync::{Semaphore, SemaphoreClosed}};
    /// use std::time::Duration;
    ///
    /// static SLOTS: Semaphore = Semaphore::new(2);
    ///
    /// async fn fetch() -> Result<u32, SemaphoreClosed> {
    ///     let _slot = SLOTS.acquiring(1).await?;
    ///     Ok(42)
    /// }
    ///
    /// anabranch::run(|cx| -> Result<(), anabranch::Error> {
    ///     assert_eq!(cx.block_on(fetch())??, 42);
    ///     let both = SLOTS.acquiring(2).timeout(cx, Duration::from_secs(9))??;
    ///     let third = SLOTS.acquiring(1).timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(third.unwrap_err(), WaitError::TimedOut);
    ///     drop(both);
    ///     Ok(())
    /// })
    /// .unwrap();
    /// ```
    ///
    /// Operations of one selection queue like separate waiters. Suppose a selection asks one semaphore first for five
    /// permits and then for two: the request for two waits behind the other, although two are free. To serve it, each
    /// release would have to search the whole queue for waiters that are in it twice. If either will do, make the
    /// selection `biased` and write the smaller request first: they queue in this order.
    ///
    /// ```
    /// use anabranch::{select, sync::Semaphore};
    ///
    /// let seats = Semaphore::new(1);
    /// anabranch::run(|cx| {
    ///     let seat = select!(cx, { seat = seats.acquiring(1) => seat.ok(), default => None }).unwrap();
    ///     let none = select!(cx, { seat = seats.acquiring(1) => seat.ok(), default => None }).unwrap();
    ///     assert!(seat.is_some() && none.is_none());
    /// });
    /// ```
    pub fn acquiring(&self, count: usize) -> Acquiring<'_> {
        Acquiring { semaphore: self, count, wait: AcquireWait::new(self.raw(), count as u64) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Returns [`read`](Self::read) as an [operation](crate::Operation): for a time limit, for async code, for threads
    /// without a [`Cx`](crate::Cx), and for [`select!`](crate::select). Its futures queue like the futures of
    /// [`Mutex::locking`](super::Mutex::locking).
    ///
    /// In one selection with [`writing`](Self::writing) of the same lock it may wait behind the writing operation while
    /// other readers read: see [`Semaphore::acquiring`].
    pub fn reading(&self) -> Reading<'_, T> {
        Reading { lock: self, wait: AcquireWait::new(self.raw(), ONE) }
    }

    /// Returns [`write`](Self::write) as an [operation](crate::Operation): for a time limit, for async code, for
    /// threads without a [`Cx`](crate::Cx), and for [`select!`](crate::select). Its futures queue like the futures of
    /// [`Mutex::locking`](super::Mutex::locking).
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, sync::RwLock};
    /// use std::time::Duration;
    ///
    /// async fn rename(name: &RwLock<String>) -> usize {
    ///     name.writing().await.push('!');
    ///     name.reading().await.len()
    /// }
    ///
    /// let name = RwLock::new("ana".to_owned());
    /// anabranch::run(|cx| {
    ///     assert_eq!(cx.block_on(rename(&name)), Ok(4));
    ///     let _reads = name.read(cx).unwrap();
    ///     let late = name.writing().timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(late.unwrap_err(), WaitError::TimedOut);
    /// });
    /// ```
    pub fn writing(&self) -> Writing<'_, T> {
        Writing { lock: self, wait: AcquireWait::new(self.raw(), ALL) }
    }
}

impl Event {
    /// Returns [`wait`](Self::wait) as an [operation](crate::Operation): for a time limit, for async code, for threads
    /// without a [`Cx`](crate::Cx), and for [`select!`](crate::select).
    ///
    /// An event is a state, and a wait checks it when it begins. If the event is set and reset before that, the wait
    /// does not notice it. [`Notify::notify_waiters`](super::Notify::notify_waiters) also wakes operations that were
    /// created and not waited for yet.
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, sync::Event};
    /// use std::time::Duration;
    ///
    /// let event = Event::new();
    /// anabranch::run(|cx| {
    ///     let late = event.waiting().timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(late, Err(WaitError::TimedOut));
    ///     cx.join(|cx| cx.block_on(async { event.waiting().await }).unwrap(), |_| event.set());
    /// });
    /// ```
    pub fn waiting(&self) -> Waiting<'_> {
        Waiting { wait: EventWait::new(self) }
    }
}

impl<'a, T: ?Sized> Attempt for Locking<'a, T> {
    type Output = MutexGuard<'a, T>;

    const NAME: &'static &'static str = &"Mutex::lock";

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| {
            self.mutex.raw().set_holder(ptr::null());
            MutexGuard::new(self.mutex)
        })
    }

    fn record_holder(&self, waiter: *const Waiter) {
        self.mutex.raw().set_holder(waiter);
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(Locking<'a, T>, ['a, T: ?Sized];);

impl<'a> Attempt for Acquiring<'a> {
    type Output = Result<Permit<'a>, SemaphoreClosed>;

    const NAME: &'static &'static str = &"Semaphore::acquire";

    fn attempt(&self) -> Option<Self::Output> {
        let acquired = self.wait.attempt_unless_closed()?;
        Some(acquired.map(|()| Permit::new(self.semaphore, self.count)).map_err(|IsClosed| SemaphoreClosed))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(Acquiring<'a>, ['a];);

impl<'a, T: ?Sized> Attempt for Reading<'a, T> {
    type Output = RwLockReadGuard<'a, T>;

    const NAME: &'static &'static str = &"RwLock::read";

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| RwLockReadGuard::new(self.lock))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(Reading<'a, T>, ['a, T: ?Sized];);

impl<'a, T: ?Sized> Attempt for Writing<'a, T> {
    type Output = RwLockWriteGuard<'a, T>;

    const NAME: &'static &'static str = &"RwLock::write";

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| {
            self.lock.raw().set_holder(ptr::null());
            RwLockWriteGuard::new(self.lock)
        })
    }

    fn record_holder(&self, waiter: *const Waiter) {
        self.lock.raw().set_holder(waiter);
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(Writing<'a, T>, ['a, T: ?Sized];);

impl Attempt for Waiting<'_> {
    type Output = ();

    const NAME: &'static &'static str = &"Event::wait";

    fn attempt(&self) -> Option<()> {
        self.wait.attempt()
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(Waiting<'_>;);

/// Implements `Waitable` with the field `wait`.
macro_rules! waitables {
    ($($name:ident $(<$t:ident>)?),*) => {$(
        waits_by!(wait: $name<'_ $(, $t)?> $(, [$t: ?Sized])?);

        impl$(<$t: ?Sized>)? fmt::Debug for $name<'_ $(, $t)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

waitables!(Locking<T>, Acquiring, Reading<T>, Writing<T>, Waiting);

//! Locks, permits and events as operations, to be waited for together with others by [`select!`](crate::select).
//!
//! Whatever is not chosen has left its queue when the selection ends, and has passed on what it was about to be given.

use super::{
    event::{Event, EventWait},
    mutex::{Mutex, MutexGuard},
    raw_mutex::LockWait,
    raw_semaphore::AcquireWait,
    rwlock::{ALL, ONE, RwLock, RwLockReadGuard, RwLockWriteGuard},
    semaphore::{Permit, Semaphore},
};
use crate::{
    cx::attempt::Attempt,
    wait::{waitable::Place, waiter::Waiter},
};
use std::fmt;

/// Locking a [`Mutex`], as an operation. Made by [`Mutex::locking`].
pub struct Locking<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    wait: LockWait<'a>,
}

/// Acquiring permits of a [`Semaphore`], as an operation. Made by [`Semaphore::acquiring`].
pub struct Acquiring<'a> {
    semaphore: &'a Semaphore,
    count: usize,
    wait: AcquireWait<'a>,
}

/// Locking an [`RwLock`] to read, as an operation. Made by [`RwLock::reading`].
pub struct Reading<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    wait: AcquireWait<'a>,
}

/// Locking an [`RwLock`] to write, as an operation. Made by [`RwLock::writing`].
pub struct Writing<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    wait: AcquireWait<'a>,
}

/// Waiting for an [`Event`], as an operation. Made by [`Event::waiting`].
pub struct Waiting<'a> {
    wait: EventWait<'a>,
}

impl<T: ?Sized> Mutex<T> {
    /// The lock as an operation, for [`select!`](crate::select).
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
    /// The acquisition of so many permits as an operation, for [`select!`](crate::select).
    ///
    /// Operations of one selection queue like those of several strands: with two for one semaphore, that for two
    /// permits waits behind that for five if this came first, although two are free. To serve it all the same, whoever
    /// gives permits back would have to look through the whole queue for who else is there twice. Where both are
    /// wanted, whichever can be had first, let the selection be `biased`, and that for fewer permits be written before
    /// the other: they queue in this order.
    ///
    /// ```
    /// use anabranch::{select, sync::Semaphore};
    ///
    /// let seats = Semaphore::new(1);
    /// anabranch::run(|cx| {
    ///     let seat = select!(cx, { seat = seats.acquiring(1) => Some(seat), default => None }).unwrap();
    ///     let none = select!(cx, { seat = seats.acquiring(1) => Some(seat), default => None }).unwrap();
    ///     assert!(seat.is_some() && none.is_none());
    /// });
    /// ```
    pub fn acquiring(&self, count: usize) -> Acquiring<'_> {
        Acquiring { semaphore: self, count, wait: AcquireWait::new(self.raw(), count as u64) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// The lock for reading as an operation, for [`select!`](crate::select).
    ///
    /// In one selection with [`writing`](Self::writing) of the same lock it may wait behind that while others read: see
    /// [`Semaphore::acquiring`].
    pub fn reading(&self) -> Reading<'_, T> {
        Reading { lock: self, wait: AcquireWait::new(self.raw(), ONE) }
    }

    /// The lock for writing as an operation, for [`select!`](crate::select).
    pub fn writing(&self) -> Writing<'_, T> {
        Writing { lock: self, wait: AcquireWait::new(self.raw(), ALL) }
    }
}

impl Event {
    /// The wait as an operation, for [`select!`](crate::select).
    pub fn waiting(&self) -> Waiting<'_> {
        Waiting { wait: EventWait::new(self) }
    }
}

impl<'a, T: ?Sized> Attempt for Locking<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| MutexGuard::new(self.mutex))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

impl<'a> Attempt for Acquiring<'a> {
    type Output = Permit<'a>;

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| Permit::new(self.semaphore, self.count))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

impl<'a, T: ?Sized> Attempt for Reading<'a, T> {
    type Output = RwLockReadGuard<'a, T>;

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| RwLockReadGuard::new(self.lock))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

impl<'a, T: ?Sized> Attempt for Writing<'a, T> {
    type Output = RwLockWriteGuard<'a, T>;

    fn attempt(&self) -> Option<Self::Output> {
        self.wait.attempt().map(|()| RwLockWriteGuard::new(self.lock))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

impl Attempt for Waiting<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.wait.attempt()
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

/// The place of each is that of its wait.
macro_rules! places {
    ($($name:ident $(<$t:ident>)?),*) => {$(
        // SAFETY: that of `wait`.
        unsafe impl$(<$t: ?Sized>)? Place for $name<'_ $(, $t)?> {
            fn is_lock(&self) -> bool {
                self.wait.is_lock()
            }

            unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
                // SAFETY: the caller's word.
                unsafe { self.wait.register(waiter, ticket) }
            }

            unsafe fn unregister(&self, has_decided: bool) {
                // SAFETY: the caller's word.
                unsafe { self.wait.unregister(has_decided) }
            }
        }

        impl$(<$t: ?Sized>)? fmt::Debug for $name<'_ $(, $t)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

places!(Locking<T>, Acquiring, Reading<T>, Writing<T>, Waiting);

//! Synchronisation for fibers, threads and async code, which can share the same locks and events.
//!
//! | | |
//! |---|---|
//! | [`Mutex`] | a value that one fiber or thread at a time can use |
//! | [`RwLock`] | a value that many fibers or threads can read, or one can change |
//! | [`Condvar`] | waits until the value of a mutex has changed |
//! | [`Monitor`] | a shared value, and waits for conditions on it |
//! | [`Semaphore`] | limits how many fibers or threads do something at a time |
//! | [`Barrier`] | a point that a number of parties pass together |
//! | [`Event`] | an event that wakes all its waiters |
//! | [`Notify`] | a wake-up for one waiter, or for all |
//! | [`OnceCell`], [`Once`] | a value that is made, or an action that is done, by its first user |
//!
//! A method that may wait takes a [`Cx`](crate::Cx) and waits as long as its scope lasts: `lock(cx)`, `wait(cx)`. The
//! same wait is an [`Operation`](crate::Operation), which has all other forms: with a time limit, in async code, on a
//! thread without a `Cx`, and in [`select!`](crate::select) together with others. `try_lock()` and the like do not
//! wait.
//!
//! | the wait | its operation |
//! |---|---|
//! | [`Mutex::lock`] | [`locking`](Mutex::locking) |
//! | [`RwLock::read`], [`write`](RwLock::write) | [`reading`](RwLock::reading), [`writing`](RwLock::writing) |
//! | [`Semaphore::acquire`], [`acquire_many`](Semaphore::acquire_many) | [`acquiring(n)`](Semaphore::acquiring) |
//! | [`Event::wait`], [`Trigger::wait`] | [`Event::waiting`], [`Trigger::waiting`] |
//! | [`Notify::notified`] | [`notifying`](Notify::notifying) |
//!
//! Waits of several steps, such as [`Condvar::wait`] and [`OnceCell::get_or_init`], have no operation.
//! [`Cx::timeout`](crate::Cx::timeout) limits their time, and the methods whose names end in `_async` are for async
//! code.
//!
//! A guard may be held across waits and may be sent, since nothing here is bound to a thread. So a fiber that waits for
//! something else while it holds a lock does not block its worker. In return, a lock can be held for a long time.
//!
//! # No poisoning
//! A panic while a lock is held only releases the lock: the next owner finds the value as it was left. Poisoning would
//! turn the failure of one fiber into failures of all that share a value with it. Here the join carries a panic to the
//! parent anyway, and the parent decides what to do. If a value must stay consistent across a panic, change it in one
//! step or repair it in a `Drop`.

// `{rounds, raw_mutex, acquire_wait, raw_semaphore} <-` the primitives.
pub(crate) mod acquire_wait;
mod barrier;
mod condvar;
mod event;
mod mapped;
mod monitor;
mod mutex;
mod notify;
mod once;
mod operations;
mod owned_guards;
mod owned_permit;
pub(crate) mod raw_mutex;
pub(crate) mod raw_semaphore;
pub(crate) mod rounds;
mod rwlock;
mod semaphore;
mod semaphore_error;
mod semaphore_queue;
pub(crate) mod trigger;

pub use self::{
    barrier::Barrier,
    condvar::Condvar,
    event::Event,
    mapped::{MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard},
    mutex::{Mutex, MutexGuard},
    notify::{Notify, Notifying},
    once::{Once, OnceCell},
    operations::{Acquiring, Locking, Reading, Waiting, Writing},
    owned_guards::{OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard},
    owned_permit::OwnedPermit,
    rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    semaphore::{Permit, Semaphore},
    semaphore_error::{AcquireError, SemaphoreClosed, TryAcquireError},
    trigger::{Signal, Trigger},
};
pub use crate::sync::monitor::{Held, Monitor};

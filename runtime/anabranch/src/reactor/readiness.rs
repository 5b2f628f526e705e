//! Whether one direction of a socket is ready, and the waiters of that direction.
//!
//! The idea is that of tokio's `ScheduledIo`: an operation is attempted first, and the socket counts as not ready only
//! after an attempt that would have blocked. An event counts up a *tick*, so an attempt does not clear the readiness of
//! an event that came during it.
//!
//! | bits of the word | meaning                                              | set by                   | cleared by            |
//! |------------------|------------------------------------------------------|--------------------------|-----------------------|
//! | READY            | an attempt may succeed; at first, too                | an event                 | a failed attempt      |
//! | SPECIAL          | an attempt may succeed even after a short one        | an event that says so *  | never                 |
//! | the others       | the tick: the number of events so far, modulo 2^62   | an event                 | never                 |
//!
//! \* And for a socket that was made elsewhere, and is no plain stream of bytes.
//!
//! An operation loads the word (*seen*), attempts, and if that would have blocked replaces *seen* by the same without
//! READY. It fails if an event has changed the tick since: then it attempts again. After a transfer of fewer bytes than
//! asked for it does so, too, and saves an attempt, unless SPECIAL is set. An end of the stream, an error and urgent
//! data are no bytes that a transfer could count, so a short transfer does not show that none of these is left.
//! Descriptors that are passed over a Unix stream also end a read early, and the result of that read is not short.
//!
//! A waiter looks at READY under the lock, and joins the queue if it is not set. An event sets READY, and if it was not
//! set before, takes the lock and wakes all that are in the queue. So no wake-up is lost: if the waiter has the lock
//! first, the event finds it in the queue; otherwise the waiter finds READY. An event that finds READY set need not
//! take the lock. Each waiter in the queue has seen it unset. So some event has set it since, and that one has yet to
//! take the lock.
//!
//! Orderings: the word is loaded with acquire and changed with release. So what the system has done before an event,
//! the attempt that follows the load sees. (For the system's own data the system sees to that.) The exchange of a
//! failed attempt releases, so it does not come before the attempt. Under the lock the order of the lock suffices.

use crate::{
    sys::sync::{AtomicU64, Mutex, Ordering, lock},
    wait::{
        queue::{Entry, Queue, Wakes},
        waitable::{Armed, Ended},
    },
};
use std::{
    io,
    task::{Context, Poll, Waker},
};

const READY: u64 = 1;
const SPECIAL: u64 = 2;
const TICK: u64 = 4;

/// See the [module](self).
pub(crate) struct Readiness {
    word: AtomicU64,
    waiters: Mutex<Waiters>,
}

struct Waiters {
    queue: Queue<()>,
    /// The task of the last `poll_ready`.
    task: Option<Waker>,
}

/// The two directions of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// The readiness of both directions of a socket.
pub(crate) struct Directions {
    pub(crate) read: Readiness,
    pub(crate) write: Readiness,
}

impl Directions {
    pub(crate) fn new() -> Self {
        Self { read: Readiness::new(), write: Readiness::new() }
    }

    #[inline]
    pub(crate) fn get(&self, direction: Direction) -> &Readiness {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }
}

/// The result of a successful call.
pub(crate) struct Done<R> {
    pub(crate) value: R,
    /// Whether the call has transferred fewer bytes than it was asked for, of a stream that has no other boundaries.
    pub(crate) is_short: bool,
}

/// The word that an operation saw before its attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen(u64);

impl Seen {
    pub(crate) fn is_ready(self) -> bool {
        self.0 & READY != 0
    }

    /// Returns whether a transfer of fewer bytes than asked for shows that the next one would block.
    fn short_means_empty(self) -> bool {
        self.0 & SPECIAL == 0
    }
}

impl Readiness {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU64::new(READY), waiters: Mutex::new(Waiters { queue: Queue::new(), task: None }) }
    }

    /// Performs `call` while the direction is ready. Returns `None` if it is not: then the caller waits.
    #[inline]
    pub(crate) fn attempt<R>(&self, mut call: impl FnMut() -> io::Result<Done<R>>) -> Option<io::Result<R>> {
        loop {
            let seen = self.see();
            if !seen.is_ready() {
                return None;
            }
            match self.learn(seen, call()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Some(result),
            }
        }
    }

    /// Performs `call` once, whether the direction is ready or not.
    pub(crate) fn attempt_once<R>(&self, call: impl FnOnce() -> io::Result<Done<R>>) -> io::Result<R> {
        let seen = self.see();
        self.learn(seen, call())
    }

    /// Records what the result of an attempt after `seen` says about the next attempt.
    #[inline]
    fn learn<R>(&self, seen: Seen, result: io::Result<Done<R>>) -> io::Result<R> {
        let is_over = match &result {
            Ok(done) => done.is_short && seen.short_means_empty(),
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        if is_over {
            self.clear(seen);
        }
        Ok(result?.value)
    }

    /// Returns the present state, before an attempt.
    #[inline]
    pub(crate) fn see(&self) -> Seen {
        Seen(self.word.load(Ordering::Acquire))
    }

    /// Records that an attempt after `seen` would have blocked, or that the next one would. Has no effect if an event
    /// has come since.
    #[inline]
    pub(crate) fn clear(&self, seen: Seen) {
        let _ = self.word.compare_exchange(seen.0, seen.0 & !READY, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Records an event. Returns whether there may be waiters, whom the caller takes by [`take`](Self::take).
    #[must_use]
    pub(crate) fn set(&self, is_special: bool) -> bool {
        let special = if is_special { SPECIAL } else { 0 };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = word.wrapping_add(TICK) | READY | special;
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return word & READY == 0,
                Err(found) => word = found,
            }
        }
    }

    /// Ends the waits of waiters until `wakes` is full, and returns the task to be woken. If `wakes` is full, the
    /// caller wakes these and calls this again.
    pub(crate) fn take(&self, wakes: &mut Wakes) -> Option<Waker> {
        let mut waiters = lock(&self.waiters);
        while !wakes.is_full() && !waiters.queue.is_empty() {
            wakes.push(waiters.queue.select_head(|()| ()));
        }
        waiters.task.take()
    }

    /// Joins the queue. Returns `false` if the direction is ready.
    pub(crate) fn join(&self, entry: &Entry<()>, armed: Armed) -> bool {
        let mut waiters = lock(&self.waiters);
        if self.see().is_ready() {
            return false;
        }
        waiters.queue.push_back(entry, armed);
        true
    }

    /// Leaves the queue after a wait that an event has not ended.
    pub(crate) fn leave(&self, entry: &Entry<()>, ended: Ended) {
        lock(&self.waiters).queue.remove(entry, ended);
    }

    /// Returns `Ready` if the direction is ready. Otherwise the next event wakes this task, instead of that of an
    /// earlier call.
    pub(crate) fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        let waiters = lock(&self.waiters);
        if self.see().is_ready() {
            return Poll::Ready(());
        }
        let is_kept = waiters.task.as_ref().is_some_and(|task| task.will_wake(context.waker()));
        if is_kept {
            return Poll::Pending;
        }
        // A waker is foreign code, so it is cloned and dropped outside of the lock.
        drop(waiters);
        let new = context.waker().clone();
        let mut waiters = lock(&self.waiters);
        let is_ready = self.see().is_ready();
        let old = if is_ready { Some(new) } else { waiters.task.replace(new) };
        drop(waiters);
        drop(old);
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    }
}

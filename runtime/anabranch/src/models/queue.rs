//! The queue behind a lock, in a semaphore that hands its permits over. Each permit has one holder. If a waiter leaves
//! without the permit that it was handed, the next one gets it.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    sys::sync::{Arc, Cell, Mutex, lock},
    time::NEVER,
    wait::{
        cancel::CancelScope,
        future::AsyncWait,
        queue::{Entry, Queue},
        suspend::Suspend,
        waitable::{Armed, Ended, Waitable},
        waiter::Selected,
    },
};
use loom::thread;
use std::{
    pin::pin,
    ptr,
    task::{Context, Poll, Waker},
};

struct Semaphore {
    root: CancelScope,
    state: Mutex<State>,
    /// Only the holder of the one permit accesses this.
    uses: Cell<u32>,
}

struct State {
    permits: u32,
    queue: Queue<()>,
}

// SAFETY: loom reports unordered accesses to the cell.
unsafe impl Sync for Semaphore {}
// SAFETY: loom reports unordered accesses to the cell.
unsafe impl Send for Semaphore {}

impl Semaphore {
    /// The caller holds the permit.
    fn new() -> Arc<Self> {
        let state = Mutex::new(State { permits: 0, queue: Queue::new() });
        Arc::new(Self { root: CancelScope::root(ptr::null()), state, uses: Cell::new(0) })
    }

    fn use_and_release(&self) {
        self.uses.set(self.uses.get() + 1);
        let next = {
            let mut state = lock(&self.state);
            let next = state.queue.select_first(|()| ());
            state.permits += u32::from(next.is_none());
            next
        };
        if let Some(wake) = next {
            wake.wake();
        }
    }

    /// Waits for the permit and uses it. Returns whether it got the permit.
    fn acquire(&self, owner: &Thread, scope: &CancelScope) -> bool {
        loop {
            let turn = Turn::new(self);
            match owner.cx(scope).wait(&turn, NEVER, reason()) {
                Selected::Ready(_) if turn.has_permit.take() => break,
                Selected::Ready(_) => {}
                _ => return false,
            }
        }
        self.use_and_release();
        true
    }

    /// Asserts, after all threads have ended, that the permit is there and was used this often.
    fn check(&self, uses: u32) {
        assert_eq!((lock(&self.state).permits, self.uses.get()), (1, uses));
    }
}

fn spawn<R: 'static>(semaphore: &Arc<Semaphore>, act: impl Fn(&Semaphore) -> R + 'static) -> thread::JoinHandle<R> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || act(&semaphore))
}

struct Turn<'a> {
    semaphore: &'a Semaphore,
    entry: Entry<()>,
    has_permit: std::cell::Cell<bool>,
}

impl<'a> Turn<'a> {
    fn new(semaphore: &'a Semaphore) -> Self {
        Self { semaphore, entry: Entry::new(()), has_permit: std::cell::Cell::new(false) }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `select_first`, under the lock.
unsafe impl Waitable for Turn<'_> {
    fn register(&self, armed: Armed) -> bool {
        let mut state = lock(&self.semaphore.state);
        if state.permits > 0 {
            state.permits -= 1;
            self.has_permit.set(true);
            return false;
        }
        state.queue.push_back(&self.entry, armed);
        true
    }

    fn unregister(&self, ended: Ended) {
        if ended.is_selected() {
            self.has_permit.set(true);
        } else {
            lock(&self.semaphore.state).queue.remove(&self.entry, ended);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.has_permit.get() {
            self.semaphore.use_and_release();
        }
    }
}

/// The first waiter is cancelled while it is handed the permit.
#[test]
fn models_queue_cancelled_waiter_passes_permit_on() {
    explore("queue, two waiters, one is cancelled", Some(3), || {
        let semaphore = Semaphore::new();
        let first = spawn(&semaphore, |semaphore| {
            let owner = Thread::new();
            // SAFETY: both live longer.
            let scope = unsafe { CancelScope::below(&semaphore.root, owner.waiter(), false) };
            semaphore.acquire(&owner, &scope)
        });
        let second = spawn(&semaphore, |semaphore| {
            let owner = Thread::new();
            semaphore.acquire(&owner, &CancelScope::root(ptr::null()))
        });
        let canceller = spawn(&semaphore, |semaphore| semaphore.root.cancel());
        semaphore.use_and_release();
        let has_first = first.join().unwrap();
        assert!(second.join().unwrap());
        canceller.join().unwrap();
        semaphore.check(2 + u32::from(has_first));
    });
}

/// A future is dropped while it is handed the permit.
#[test]
fn models_queue_dropped_future_passes_permit_on() {
    explore("queue, a future that is dropped", None, || {
        let semaphore = Semaphore::new();
        let other = spawn(&semaphore, |semaphore| {
            let mut wait = pin!(AsyncWait::new(Turn::new(semaphore)));
            let poll = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if poll == Poll::Ready(()) {
                assert!(wait.waitable().has_permit.take());
                semaphore.use_and_release();
            }
        });
        semaphore.use_and_release();
        other.join().unwrap();
        let permits = lock(&semaphore.state).permits;
        assert_eq!(permits, 1, "handed to a future that was dropped");
    });
}

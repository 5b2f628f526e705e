//! The thread of an opened device that waits for its work.
//!
//! It waits for the oldest submission for whose end a caller waits, so that a short kernel is reported although a long
//! one is behind it. While no caller waits, the thread sleeps. It ends after the last wait once the device is closed,
//! and the thread that closes the device waits for that: a driver may crash if it is still called when the process
//! exits.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anabranch::channel::oneshot;

/// Closes the list of submissions when it is dropped. `S` is a submission.
pub(super) struct Poller<S> {
    shared: Arc<Shared<S>>,
    /// Taken when the poller is dropped.
    thread: Option<JoinHandle<()>>,
}

struct Shared<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
}

struct State<S> {
    waits: VecDeque<Wait<S>>,
    closed: bool,
}

/// A submission, and the channel to which the thread sends at its end, if there is one.
struct Wait<S> {
    submission: S,
    told: Option<oneshot::Sender<()>>,
}

impl<S: Send + 'static> Poller<S> {
    /// Starts the thread. `wait` waits for the end of a submission, and returns `false` if the device is lost.
    pub(super) fn start(wait: impl Fn(S) -> bool + Send + 'static) -> io::Result<Self> {
        let state = Mutex::new(State { waits: VecDeque::new(), closed: false });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("anabranch-gpu".to_owned()).spawn(move || of_thread.poll(wait))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Lets the thread wait for a submission.
    #[cfg(feature = "gpu")]
    pub(super) fn watch(&self, submission: S) {
        self.shared.push(Wait { submission, told: None });
    }

    /// Returns what is sent at the end of a submission. It closes if the device is lost.
    pub(super) fn end_of(&self, submission: S) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.shared.push(Wait { submission, told: Some(sender) });
        receiver
    }

    /// Returns a function that returns whether the thread or the poller is still there.
    #[cfg(test)]
    pub(super) fn alive(&self) -> Box<dyn Fn() -> bool> {
        let shared = Arc::downgrade(&self.shared);
        Box::new(move || shared.upgrade().is_some())
    }
}

impl<S> Drop for Poller<S> {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
        // A waker that this thread calls may drop the last queue.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

impl<S> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, wait: Wait<S>) {
        self.lock().waits.push_back(wait);
        self.changed.notify_one();
    }

    fn poll(&self, wait: impl Fn(S) -> bool) {
        while let Some(Wait { submission, told }) = self.next() {
            // A driver reports a lost device by itself, and further waits end at once.
            if let (true, Some(told)) = (wait(submission), told) {
                // The receiver may be gone.
                let _ = told.send(());
            }
        }
    }

    /// Waits for a wait. Returns `None` once the list is closed and empty.
    fn next(&self) -> Option<Wait<S>> {
        let mut state = self.lock();
        loop {
            match state.waits.pop_front() {
                Some(wait) => return Some(wait),
                None if state.closed => return None,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

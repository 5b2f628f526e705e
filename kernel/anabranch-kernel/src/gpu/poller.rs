//! The thread that waits for the work of an opened device, or of one stream of it.
//!
//! It waits for the oldest submission that a caller waits for, so that a short kernel is reported although a long one
//! is behind it. Submissions are reported in the order in which they were added, even if a later one ends first. While
//! no caller waits, the thread sleeps, and a caller that waits for a short kernel polls the device itself instead of
//! waking it. It ends after the last wait once the device is closed, and the thread that closes the device waits for
//! that: a driver may crash if it is still called when the process exits.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anabranch::channel::oneshot;

/// The submissions from which on the thread waits although it was not woken.
const MOST_UNSEEN: usize = 64;

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
    /// The number of the next wait.
    next: u64,
    /// Whether the thread waits for the submissions.
    awake: bool,
    closed: bool,
}

/// A submission, and the channel to which is sent at its end, if there is one.
struct Wait<S> {
    number: u64,
    submission: S,
    told: Option<oneshot::Sender<()>>,
}

impl<S> Wait<S> {
    fn tell(self) {
        if let Some(told) = self.told {
            // The receiver may be gone.
            let _ = told.send(());
        }
    }
}

impl<S: Clone + Send + 'static> Poller<S> {
    /// Starts the thread. `wait` waits for the end of a submission, and returns `false` if the device is lost.
    pub(super) fn start(wait: impl Fn(&S) -> bool + Send + 'static) -> io::Result<Self> {
        let state = Mutex::new(State { waits: VecDeque::new(), next: 0, awake: false, closed: false });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("anabranch-gpu".to_owned()).spawn(move || of_thread.poll(wait))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Adds a submission to those for which the thread waits once it is [awake](Self::wake).
    #[cfg(feature = "gpu")]
    pub(super) fn watch(&self, submission: S) {
        self.shared.push(submission, None);
    }

    /// Looks which submissions have ended, by `has_ended`, and sends what is sent then.
    pub(super) fn look(&self, has_ended: impl Fn(&S) -> bool) {
        loop {
            // Without the lock: a driver may call a waker, and that may drop the last queue.
            let first = self.shared.lock().waits.front().map(|wait| (wait.number, wait.submission.clone()));
            let Some((number, submission)) = first else { return };
            if !has_ended(&submission) {
                return;
            }
            let ended = {
                let waits = &mut self.shared.lock().waits;
                // Another thread may have taken it.
                if waits.front().is_some_and(|wait| wait.number == number) { waits.pop_front() } else { None }
            };
            if let Some(ended) = ended {
                ended.tell();
            }
        }
    }

    /// Lets the thread wait for the submissions, if there are some.
    pub(super) fn wake(&self) {
        let mut state = self.shared.lock();
        if !state.waits.is_empty() {
            state.awake = true;
            self.shared.changed.notify_one();
        }
    }

    /// Returns what is sent at the end of a submission, once the thread is [awake](Self::wake) or a caller
    /// [looks](Self::look). It closes if the device is lost.
    pub(super) fn end_of(&self, submission: S) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.shared.push(submission, Some(sender));
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

    fn push(&self, submission: S, told: Option<oneshot::Sender<()>>) {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waits.push_back(Wait { number, submission, told });
        // Callers that never wait do not look either.
        if state.waits.len() >= MOST_UNSEEN {
            state.awake = true;
            self.changed.notify_one();
        }
    }

    fn poll(&self, wait: impl Fn(&S) -> bool) {
        while let Some(first) = self.next() {
            // A driver reports a lost device by itself, and further waits end at once.
            if wait(&first.submission) {
                first.tell();
            }
        }
    }

    /// Waits until the thread has something to wait for. Returns `None` once the list is closed and empty.
    fn next(&self) -> Option<Wait<S>> {
        let mut state = self.lock();
        loop {
            if state.awake || state.closed {
                match state.waits.pop_front() {
                    Some(wait) => return Some(wait),
                    None if state.closed => return None,
                    None => state.awake = false,
                }
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

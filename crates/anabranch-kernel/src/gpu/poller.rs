//! The thread of an opened device that waits for its work.
//!
//! It waits for the oldest submission for whose end a caller waits, so that a short kernel is reported although a long
//! one is behind it. While no caller waits, the thread sleeps. It ends after the last wait once the device is closed, and
//! the thread that closes the device waits for that: a driver may crash if it is still called when the process exits.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anabranch::channel::oneshot;
use wgpu::{PollType, SubmissionIndex};

/// Closes the list of submissions when it is dropped.
pub(super) struct Poller {
    shared: Arc<Shared>,
    /// Taken when the poller is dropped.
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waits: VecDeque<Wait>,
    closed: bool,
}

/// A submission, and the channel to which the thread sends at its end. Without one, only callbacks of wgpu run.
struct Wait {
    submission: SubmissionIndex,
    told: Option<oneshot::Sender<()>>,
}

impl Poller {
    /// Starts the thread for `device`.
    pub(super) fn start(device: wgpu::Device) -> io::Result<Self> {
        let state = Mutex::new(State { waits: VecDeque::new(), closed: false });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("anabranch-gpu".to_owned()).spawn(move || of_thread.poll(&device))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Lets the thread wait for a submission, so that callbacks of wgpu run after its end.
    pub(super) fn watch(&self, submission: SubmissionIndex) {
        self.push(Wait { submission, told: None });
    }

    /// Returns what is sent at the end of a submission. It closes if the device is lost.
    pub(super) fn end_of(&self, submission: SubmissionIndex) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.push(Wait { submission, told: Some(sender) });
        receiver
    }

    fn push(&self, wait: Wait) {
        self.shared.lock().waits.push_back(wait);
        self.shared.changed.notify_one();
    }
}

#[cfg(test)]
impl Poller {
    /// Returns a reference that is dead once the thread and the poller are gone.
    pub(super) fn alive(&self) -> std::sync::Weak<impl Sized + use<>> {
        Arc::downgrade(&self.shared)
    }
}

impl Drop for Poller {
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, device: &wgpu::Device) {
        while let Some(Wait { submission, told }) = self.next() {
            // A lost device is an error here. The device reports it by its own callback, and further waits end at once.
            let ended = device.poll(PollType::Wait { submission_index: Some(submission), timeout: None });
            if let (Ok(_), Some(told)) = (ended, told) {
                // The receiver may be gone.
                let _ = told.send(());
            }
        }
    }

    /// Waits for a wait. Returns `None` once the list is closed and empty.
    fn next(&self) -> Option<Wait> {
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

//! The thread of an opened device that waits for its work.
//!
//! It waits for the oldest submission, so that a short kernel is reported although a long one is behind it. Submissions
//! end in their order. While nothing is outstanding, the thread sleeps. It ends after the last submission once the
//! device is closed.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use wgpu::{PollType, SubmissionIndex};

/// Closes the list of submissions when it is dropped.
pub(super) struct Poller {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    submissions: VecDeque<SubmissionIndex>,
    closed: bool,
}

impl Poller {
    /// Starts the thread for `device`.
    pub(super) fn start(device: wgpu::Device) -> io::Result<Self> {
        let state = Mutex::new(State { submissions: VecDeque::new(), closed: false });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        thread::Builder::new().name("anabranch-gpu".to_owned()).spawn(move || of_thread.poll(&device))?;
        Ok(Self { shared })
    }

    /// Lets the thread wait for a submission.
    pub(super) fn watch(&self, submission: SubmissionIndex) {
        self.shared.lock().submissions.push_back(submission);
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
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, device: &wgpu::Device) {
        while let Some(submission) = self.next() {
            // A lost device is an error here. The device reports it by its own callback, and further waits end at once.
            let _ = device.poll(PollType::Wait { submission_index: Some(submission), timeout: None });
        }
    }

    /// Waits for a submission. Returns `None` once the list is closed and empty.
    fn next(&self) -> Option<SubmissionIndex> {
        let mut state = self.lock();
        loop {
            match state.submissions.pop_front() {
                Some(submission) => return Some(submission),
                None if state.closed => return None,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

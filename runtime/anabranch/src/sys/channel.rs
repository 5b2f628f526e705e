//! An unbounded channel for messages between threads, outside of every pool.
//!
//! `std::sync::mpsc` was rejected, because its receiver waits with `std::thread::park`: on a thread of the user it
//! would consume a token that is meant for the user's own wait. This receiver waits on a condvar.

use crate::sys::sync::{Arc, Condvar, Mutex, lock, wait_timeout};
use std::{collections::VecDeque, time::Duration};

/// Returns the two ends of a new channel.
pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State { messages: VecDeque::new(), senders: 1 }),
        has_changed: Condvar::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified after each message, and after the last sender was dropped.
    has_changed: Condvar,
}

struct State<T> {
    messages: VecDeque<T>,
    senders: usize,
}

/// The sending end. Each thread that sends has a clone.
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// The receiving end.
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

impl<T> Sender<T> {
    /// Sends a message. If the receiver was dropped, the message is dropped with the channel.
    pub(crate) fn send(&self, message: T) {
        lock(&self.0.state).messages.push_back(message);
        self.0.has_changed.notify_one();
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        lock(&self.0.state).senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        lock(&self.0.state).senders -= 1;
        self.0.has_changed.notify_one();
    }
}

impl<T> Receiver<T> {
    /// Blocks until there is a message. Returns `None` if there is none and all senders were dropped.
    pub(crate) fn recv(&self) -> Option<T> {
        let mut state = lock(&self.0.state);
        loop {
            if let Some(message) = state.messages.pop_front() {
                return Some(message);
            }
            if state.senders == 0 {
                return None;
            }
            state = self.0.has_changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Like [`recv`](Self::recv), but also returns `None` once `timeout` has passed without a message. Each wake-up
    /// starts the time anew.
    pub(crate) fn recv_timeout(&self, timeout: Duration) -> Option<T> {
        let (mut state, mut has_time) = (lock(&self.0.state), true);
        loop {
            if let Some(message) = state.messages.pop_front() {
                return Some(message);
            }
            if state.senders == 0 || !has_time {
                return None;
            }
            (state, has_time) = wait_timeout(&self.0.has_changed, &self.0.state, state, timeout);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn messages_arrive_in_order_until_last_sender_is_dropped() {
        let (sender, receiver) = channel();
        let other = sender.clone();
        let sending = thread::spawn(move || {
            sender.send(1);
            thread::sleep(Duration::from_millis(10));
            sender.send(2);
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Some(1), Some(2)));
        sending.join().unwrap();
        assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), None);
        other.send(3);
        drop(other);
        assert_eq!((receiver.recv(), receiver.recv()), (Some(3), None));
    }

    #[test]
    fn receiver_wakes_when_last_sender_is_dropped() {
        let (sender, receiver) = channel::<()>();
        let dropping = thread::spawn(move || {
            thread::sleep(Duration::from_millis(10));
            drop(sender);
        });
        assert_eq!(receiver.recv(), None);
        dropping.join().unwrap();
    }
}

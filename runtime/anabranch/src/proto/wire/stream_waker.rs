//! The waker that a stream gets. It records that the stream woke the task, because other events wake the same task.
//!
//! A read that finds nothing costs a system call with streams that look before they wait, such as those of async-io. So
//! after a read that is pending the wire does not read again before the stream has woken the task. The contract of
//! `Future` allows this: the stream keeps the waker of the last call until it wakes.
//!
//! Writes pass the same waker. A stream that reads in order to write, as TLS may do, can replace the waker of the
//! pending read by that of the write, and each of them allows the next read.
//!
//! Orderings: the stream makes its bytes available, and then sets the flag with release. The wire clears the flag with
//! acquire, and then reads. So either the read finds the bytes, or the flag is set after it was cleared, and the wire
//! reads again.

use crate::sys::sync::{AtomicBool, Ordering};
use std::{
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

/// See the [module](self).
#[derive(Default)]
pub(super) struct StreamWaker {
    /// For the task of the last poll.
    current: Option<Current>,
    /// Whether the last read is pending, with the waker of `current`.
    is_read_pending: bool,
}

struct Current {
    signal: Arc<Signal>,
    /// Wakes `signal`.
    waker: Waker,
}

struct Signal {
    is_set: AtomicBool,
    task: Waker,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_set.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl StreamWaker {
    /// Calls `read`, unless the last read is pending and the stream has not woken the task since.
    pub(super) fn poll_read<R>(
        &mut self,
        context: &mut Context<'_>,
        read: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        self.set_task(context.waker());
        let Some(Current { signal, waker }) = &self.current else { unreachable!("just set") };
        if !signal.is_set.swap(false, Ordering::Acquire) && self.is_read_pending {
            return Poll::Pending;
        }
        let polled = read(&mut Context::from_waker(waker));
        self.is_read_pending = polled.is_pending();
        polled
    }

    /// Calls `write`.
    pub(super) fn poll_write<R>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        self.set_task(context.waker());
        let Some(Current { waker, .. }) = &self.current else { unreachable!("just set") };
        write(&mut Context::from_waker(waker))
    }

    /// A pending read of another task must be repeated, so that its wake-up reaches this one.
    fn set_task(&mut self, task: &Waker) {
        if self.current.as_ref().is_some_and(|current| current.signal.task.will_wake(task)) {
            return;
        }
        let signal = Arc::new(Signal { is_set: AtomicBool::new(false), task: task.clone() });
        self.current = Some(Current { waker: Waker::from(Arc::clone(&signal)), signal });
        self.is_read_pending = false;
    }
}

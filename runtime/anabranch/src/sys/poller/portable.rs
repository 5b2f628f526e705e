//! `polling`: kqueue on the BSDs and macOS, and AFD on Windows.
//!
//! Where the system has no edge-triggered sources, a report disables its source altogether. So this keeps which
//! directions of each source are armed. A wait arms its direction, and a report arms the others again. A wait that
//! begins between a report and its handling may lose its arming. It is woken by that same report, and then tries again.

use crate::sys::{
    poller::Report,
    sync::{Mutex, lock},
};
use polling::{Event, PollMode};
use std::{collections::HashMap, fmt, io, mem, num::NonZeroUsize, time::Duration};

#[cfg(unix)]
pub(crate) use std::os::fd::{AsFd as AsSource, BorrowedFd as BorrowedSource};
#[cfg(windows)]
pub(crate) use std::os::windows::io::{AsSocket as AsSource, BorrowedSocket as BorrowedSource};

#[cfg(unix)]
use std::os::fd::{AsRawFd as AsRaw, RawFd as Raw};
#[cfg(windows)]
use std::os::windows::io::{AsRawSocket as AsRaw, RawSocket as Raw};

/// Whether a transfer of fewer bytes than asked for shows that the next one would block. Not known of all systems.
pub(crate) const SHORT_MEANS_EMPTY: bool = false;

/// The most events of one wait.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(512).unwrap();

pub(crate) struct Poller {
    poller: polling::Poller,
    mode: PollMode,
    /// The armed directions of each source, if reports disable sources.
    armed: Mutex<HashMap<usize, Armed>>,
}

struct Armed {
    socket: Raw,
    read: bool,
    write: bool,
}

impl Armed {
    fn event(&self, key: usize) -> Event {
        Event::new(key, self.read, self.write)
    }
}

/// The events of one wait.
pub(crate) struct Events(polling::Events);

impl Events {
    pub(crate) fn new() -> Self {
        Self(polling::Events::with_capacity(CAPACITY))
    }

    /// Returns whether there may be more than these.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() == CAPACITY.get()
    }

    /// Returns whether the notification may have been consumed, which `polling` does not tell.
    pub(crate) fn has_notification(&self) -> bool {
        true
    }

    /// Returns the reports of sources.
    pub(crate) fn reports(&self) -> impl Iterator<Item = Report> + '_ {
        self.0.iter().map(|event| Report {
            key: event.key,
            is_readable: event.readable,
            is_writable: event.writable,
            is_special: true,
        })
    }
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let poller = polling::Poller::new()?;
        let mode = if poller.supports_edge() { PollMode::Edge } else { PollMode::Oneshot };
        Ok(Self { poller, mode, armed: Mutex::new(HashMap::new()) })
    }

    fn is_one_shot(&self) -> bool {
        self.mode == PollMode::Oneshot
    }

    /// Adds a source, whose present state is reported first. Both directions are armed.
    pub(crate) fn add(&self, source: BorrowedSource<'_>, key: usize) -> io::Result<()> {
        if self.is_one_shot() {
            lock(&self.armed).insert(key, Armed { socket: raw(source), read: true, write: true });
        }
        // SAFETY: `Source::deregister` removes the source before its socket is closed.
        let added = unsafe { self.poller.add_with_mode(raw(source), Event::all(key), self.mode) };
        if added.is_err() {
            lock(&self.armed).remove(&key);
        }
        added
    }

    /// Has the next change of these directions reported, as well as of those that are armed already.
    pub(crate) fn arm(&self, source: BorrowedSource<'_>, key: usize, read: bool, write: bool) -> io::Result<()> {
        if !self.is_one_shot() {
            return Ok(());
        }
        let mut list = lock(&self.armed);
        let Some(armed) = list.get_mut(&key) else { return Ok(()) };
        (armed.read, armed.write) = (armed.read | read, armed.write | write);
        self.poller.modify_with_mode(source, armed.event(key), self.mode)
    }

    /// Arms the directions of a source that a report does not concern, and which it has disabled. If the system refuses
    /// that, the report is made to concern them too: their waits try again, and get the error.
    pub(crate) fn note_report(&self, report: &mut Report) {
        if !self.is_one_shot() {
            return;
        }
        let mut list = lock(&self.armed);
        let Some(armed) = list.get_mut(&report.key) else { return };
        armed.read &= !report.is_readable;
        armed.write &= !report.is_writable;
        if armed.read || armed.write {
            // SAFETY: the source is in the list, so `delete` has not returned, and the socket is open.
            let socket = unsafe { BorrowedSource::borrow_raw(armed.socket) };
            if self.poller.modify_with_mode(socket, armed.event(report.key), self.mode).is_err() {
                report.is_readable |= mem::take(&mut armed.read);
                report.is_writable |= mem::take(&mut armed.write);
            }
        }
    }

    /// Removes a source.
    pub(crate) fn delete(&self, source: BorrowedSource<'_>, key: usize) {
        // The lock keeps `note_report` from using the socket afterwards.
        let mut list = lock(&self.armed);
        list.remove(&key);
        let _ = self.poller.delete(source);
    }

    /// Waits for events, a notification, a signal, or the end of `timeout`.
    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) {
        events.0.clear();
        let _ = self.poller.wait(&mut events.0, timeout);
    }

    pub(crate) fn notify(&self) {
        let _ = self.poller.notify();
    }
}

#[cfg(unix)]
fn raw(source: BorrowedSource<'_>) -> Raw {
    source.as_raw_fd()
}

#[cfg(windows)]
fn raw(source: BorrowedSource<'_>) -> Raw {
    source.as_raw_socket()
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").field("mode", &self.mode).finish_non_exhaustive()
    }
}

//! The system's queue of socket events, at which one thread waits and which any thread can wake.
//!
//! Linux has a backend of its own (`epoll`), because `polling` makes five system calls for each wait there: it sets a
//! timer, arms it, waits, reads the notification and arms that. `epoll` makes one. Elsewhere `polling` is used
//! (`portable`), and `--cfg anabranch_portable_poller` selects it on Linux too.
//!
//! A source is *edge-triggered* where the system supports that: each change is reported once, to one of the threads
//! that wait or poll. The others are *one-shot*: a report disables the source until it is armed again.
//!
//! [`notify`](Poller::notify) ends the wait that is in progress, or else the next one. A thread that polls on behalf of
//! another may consume that notification, so it is told so, and notifies again.

#[cfg(loom)]
#[path = "model.rs"]
mod backend;

#[cfg(all(feature = "net", target_os = "linux", not(any(loom, shuttle, anabranch_portable_poller))))]
#[path = "epoll.rs"]
mod backend;

#[cfg(all(
    feature = "net",
    any(unix, windows),
    any(not(target_os = "linux"), anabranch_portable_poller),
    not(any(loom, shuttle))
))]
#[path = "portable.rs"]
mod backend;

#[cfg(all(not(loom), any(not(feature = "net"), not(any(unix, windows)), shuttle)))]
#[path = "absent.rs"]
mod backend;

pub(crate) use self::backend::Poller;
#[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
pub(crate) use self::backend::{AsSource, BorrowedSource, Events, SHORT_MEANS_EMPTY};

/// What the system reports of one source.
#[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    /// The key with which the source was added.
    pub(crate) key: usize,
    pub(crate) is_readable: bool,
    pub(crate) is_writable: bool,
    /// Whether something else than data has come: the end of the stream, an error, or urgent data.
    pub(crate) is_special: bool,
}

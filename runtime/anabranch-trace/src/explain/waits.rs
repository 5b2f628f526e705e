//! For what fibers and threads wait, told from the label of the wait.

use crate::{event::Site, read::Trace};

/// The kind of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// For a lock, which another fiber holds.
    Lock,
    /// For a message or a condition, which another fiber has to send or to set.
    Message,
    /// For the end of other fibers.
    End,
    /// For a clock, a socket, or another process.
    World,
}

impl Wait {
    pub(super) const COUNT: usize = 4;
}

/// Returns the kind of the wait at a site. The labels are the names of the functions that wait.
pub(super) fn kind(trace: &Trace, site: Site) -> Wait {
    let label = trace.place(site).map_or("", |place| &place.label);
    let begins = |starts: &[&str]| starts.iter().any(|start| label.starts_with(start));
    if begins(&["Mutex", "RwLock", "Semaphore", "Monitor", "OnceCell"]) {
        Wait::Lock
    } else if begins(&["join", "scope", "try_scope", "supervise", "JoinHandle", "ScopedHandle", "JoinSet", "Barrier"]) {
        Wait::End
    } else if begins(&["sleep", "interval", "Tcp", "Udp", "Unix", "blocking", "future", "signal"]) {
        Wait::World
    } else {
        Wait::Message
    }
}

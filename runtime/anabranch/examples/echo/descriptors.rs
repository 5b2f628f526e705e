//! Limits on open files: a connection takes one at each end.

use crate::Failure;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The standard streams, the listener, the event queues of the workers, and a reserve.
const OTHERS: u64 = 32;

/// Raises the soft limit to the hard limit.
pub fn raise_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If this fails, the old limit stays, and `want` reports a shortage.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Checks that this many sockets can be open.
pub fn want(sockets: usize) -> Result<(), Failure> {
    raise_limit();
    let wanted = sockets as u64 + OTHERS;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < wanted => Err(format!(
            "{wanted} open files are needed, and {limit} are allowed: raise the limit (`ulimit -n`), ask for fewer \
             --connections, or give each end a process of its own (`echo pair`)"
        )
        .into()),
        _ => Ok(()),
    }
}

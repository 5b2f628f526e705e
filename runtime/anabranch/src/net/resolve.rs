//! The resolution of names, on another thread.

use crate::{
    cx::{Cx, JoinError, spawn},
    wait::Cancelled,
};
use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    panic::resume_unwind,
};

/// Resolves a name by the functions of the system, which block.
///
/// A call that blocks cannot be interrupted, and may take half a minute. So a fiber of its own waits for its end, and a
/// caller that is cancelled leaves that fiber behind.
#[track_caller]
pub(super) fn resolve(cx: &Cx<'_>, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let name = name.to_owned();
    let call = spawn(move |cx| cx.blocking(|| (name.as_str(), port).to_socket_addrs().map(Iterator::collect)));
    match call.join(cx) {
        Ok(result) => result?,
        Err(JoinError::Panicked(panic)) => resume_unwind(panic),
        Err(_) => Err(Cancelled.into()),
    }
}

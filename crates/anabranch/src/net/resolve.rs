//! The resolution of names, on another thread.

use crate::{channel, cx::Cx};
use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    thread,
};

/// Resolves a name by the functions of the system, which block.
#[track_caller]
pub(super) fn resolve(cx: &Cx<'_>, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let (sender, mut receiver) = channel::oneshot::channel();
    let name = name.to_owned();
    thread::Builder::new().name("anabranch-resolve".to_owned()).spawn(move || {
        // The waiter may be gone.
        let _ = sender.send((name.as_str(), port).to_socket_addrs().map(Iterator::collect));
    })?;
    match receiver.recv(cx) {
        Ok(result) => result,
        Err(error) => Err(error.into()),
    }
}

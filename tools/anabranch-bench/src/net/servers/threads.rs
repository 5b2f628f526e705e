//! std: a thread for each connection.

use super::{ANY, Role, announce, blocking};
use std::io::{self, PipeWriter};
use std::{net::TcpListener, thread};

/// The size of a stack. It holds the buffer of HTTP, and thousands of such stacks fit into any address space.
const STACK: usize = 64 << 10;

pub(super) fn serve(role: Role, port: PipeWriter) -> io::Result<()> {
    let handler = blocking::handler(role);
    let listener = TcpListener::bind(ANY)?;
    announce(listener.local_addr()?, port)?;
    loop {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        thread::Builder::new().stack_size(STACK).spawn(move || handler(stream))?;
    }
}

//! may: a coroutine for each connection.

use super::{ANY, Role, announce, blocking};
use may::{go, net::TcpListener};
use std::io::{self, PipeWriter};

pub(super) fn serve(role: Role, port: PipeWriter) -> io::Result<()> {
    let handler = blocking::handler(role);
    // In words of 8 bytes: room for the buffer of HTTP, and for what may itself needs.
    may::config().set_workers(1).set_stack_size(0x1000);
    let server = go!(move || -> io::Result<()> {
        let listener = TcpListener::bind(ANY)?;
        announce(listener.local_addr()?, port)?;
        loop {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            go!(move || handler(stream));
        }
    });
    server.join().expect("the server does not panic")
}

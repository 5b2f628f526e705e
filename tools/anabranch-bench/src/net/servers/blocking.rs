//! The handlers of servers whose sockets look as if they block.

use super::{MESSAGE, Role};
use crate::net::http::{RESPONSE, Requests};
use std::io::{self, Read, Write};

fn echo(mut stream: impl Read + Write) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
    }
}

fn http(mut stream: impl Read + Write) -> io::Result<()> {
    let mut requests = Requests::new();
    loop {
        let read = stream.read(&mut requests.buffer[requests.len..])?;
        if read == 0 {
            return Ok(());
        }
        requests.len += read;
        let count = requests.take().ok_or(io::ErrorKind::InvalidData)?;
        for _ in 0..count {
            stream.write_all(RESPONSE)?;
        }
    }
}

fn hold(mut stream: impl Read) -> io::Result<()> {
    let mut buffer = [0; 256];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Returns the function that serves a connection.
pub(super) fn handler<S: Read + Write>(role: Role) -> fn(S) -> io::Result<()> {
    match role {
        Role::Echo => echo,
        Role::Http => http,
        Role::Hold => hold,
        Role::Accept => |_| Ok(()),
    }
}

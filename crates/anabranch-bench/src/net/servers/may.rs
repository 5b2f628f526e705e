//! may: a coroutine for each connection.

use super::{ANY, MESSAGE, announce};
use crate::net::http::{RESPONSE, Requests};
use may::{
    go,
    net::{TcpListener, TcpStream},
};
use std::io::{self, Read, Write};

fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
    }
}

fn http(mut stream: TcpStream) -> io::Result<()> {
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

fn hold(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 256];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

pub(super) fn serve(workload: &str) -> io::Result<()> {
    let handler = match workload {
        "echo" => echo,
        "http" => http,
        "hold" => hold,
        "accept" => |_| Ok(()),
        _ => panic!("no workload is called {workload:?}"),
    };
    // In words of 8 bytes: room for the buffer of HTTP, and for what may itself needs.
    may::config().set_workers(1).set_stack_size(0x1000);
    let server = go!(move || -> io::Result<()> {
        let listener = TcpListener::bind(ANY)?;
        announce(listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            go!(move || handler(stream));
        }
    });
    server.join().expect("the server does not panic")
}

//! anabranch: a fiber for each connection.

use super::{ANY, MESSAGE, Role, announce};
use crate::net::http::{RESPONSE, Requests};
use anabranch::{
    Cx, Pool,
    net::{TcpListener, TcpStream},
};
use std::io::{self, PipeWriter};

fn echo(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        stream.read_exact(cx, &mut message)?;
        stream.write_all(cx, &message)?;
    }
}

fn http(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
    let mut requests = Requests::new();
    loop {
        let read = stream.read(cx, &mut requests.buffer[requests.len..])?;
        if read == 0 {
            return Ok(());
        }
        requests.len += read;
        let count = requests.take().ok_or(io::ErrorKind::InvalidData)?;
        for _ in 0..count {
            stream.write_all(cx, RESPONSE)?;
        }
    }
}

fn hold(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
    while stream.read(cx, &mut [0; 256])? > 0 {}
    Ok(())
}

pub(super) fn serve(role: Role, port: PipeWriter) -> io::Result<()> {
    let handler = match role {
        Role::Echo => echo,
        Role::Http => http,
        Role::Hold => hold,
        Role::Accept => |_: &Cx<'_>, _: &TcpStream| Ok(()),
    };
    let pool = Pool::builder().threads(1).build().map_err(io::Error::other)?;
    let server = pool.spawn(move |cx| -> io::Result<()> {
        let listener = TcpListener::bind(cx, ANY)?;
        announce(listener.local_addr()?, port)?;
        cx.scope(|s| {
            loop {
                let (stream, _) = listener.accept(cx)?;
                s.spawn(move |cx| handler(cx, &stream));
            }
        })
    });
    pool.run(|cx| server.join(cx)).expect("the server does not panic")
}

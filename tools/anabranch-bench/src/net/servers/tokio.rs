//! tokio: a task for each connection.

use super::{ANY, MESSAGE, Role, announce};
use crate::net::http::{RESPONSE, Requests};
use std::io::{self, PipeWriter};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        stream.read_exact(&mut message).await?;
        stream.write_all(&message).await?;
    }
}

async fn http(mut stream: TcpStream) -> io::Result<()> {
    let mut requests = Requests::new();
    loop {
        let read = stream.read(&mut requests.buffer[requests.len..]).await?;
        if read == 0 {
            return Ok(());
        }
        requests.len += read;
        let count = requests.take().ok_or(io::ErrorKind::InvalidData)?;
        for _ in 0..count {
            stream.write_all(RESPONSE).await?;
        }
    }
}

async fn hold(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 256];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}

pub(super) fn serve(mut builder: Builder, role: Role, port: PipeWriter) -> io::Result<()> {
    let runtime = builder.enable_io().build()?;
    let server = async move {
        let listener = TcpListener::bind(ANY).await?;
        announce(listener.local_addr()?, port)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            match role {
                Role::Echo => drop(tokio::spawn(echo(stream))),
                Role::Http => drop(tokio::spawn(http(stream))),
                Role::Hold => drop(tokio::spawn(hold(stream))),
                Role::Accept => drop(tokio::spawn(async move { drop(stream) })),
            }
        }
    };
    // On a worker, where the tasks run too.
    runtime.block_on(async { tokio::spawn(server).await.map_err(io::Error::other)? })
}

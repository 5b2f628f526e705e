//! `tls`, with tokio and tokio-rustls, for comparison.
//!
//! ```text
//! cargo run --bin tls_tokio -- --listen 127.0.0.1:8443
//! ```

use anabranch_servers::{
    Failure,
    http::{Refused, Request},
    on_tokio::{Stop, read_head, serve_until_signal, stopped},
    program,
    tls::{Identity, Service, answer},
};
use std::{io, net::SocketAddr, process::ExitCode, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    select,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

const USAGE: &str = "\
usage: tls_tokio --listen ADDRESS [--echo]
  --listen  serves there until Ctrl-C
  --echo    sends each byte back (without this, answers requests of HTTP/1.1)";

const HANDSHAKE: Duration = Duration::from_secs(5);
const IDLE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    program::main("tls_tokio", USAGE, options(), |(address, service)| {
        let acceptor = TlsAcceptor::from(Identity::generate()?.server_config()?);
        serve_until_signal(address.ok_or("--listen is missing")?, |stream, _, stop| {
            connection(acceptor.clone(), stream, service, stop)
        })
    })
}

async fn connection(acceptor: TlsAcceptor, stream: TcpStream, service: Service, stop: Stop) -> Result<(), Failure> {
    let mut tls = timeout(HANDSHAKE, acceptor.accept(stream)).await??;
    let result = match service {
        Service::Hello => hello(&mut tls, stop).await,
        Service::Echo => echo(&mut tls, stop).await,
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
        result => result?,
    }
    Ok(timeout(HANDSHAKE, tls.shutdown()).await??)
}

async fn echo(tls: &mut TlsStream<TcpStream>, mut stop: Stop) -> io::Result<()> {
    let mut buffer = [0; 4 << 10];
    loop {
        let count = select! {
            count = timeout(IDLE, tls.read(&mut buffer)) => count??,
            () = stopped(&mut stop) => return Ok(()),
        };
        if count == 0 {
            return Ok(());
        }
        timeout(IDLE, tls.write_all(&buffer[..count])).await??;
        timeout(IDLE, tls.flush()).await??;
    }
}

async fn hello(tls: &mut TlsStream<TcpStream>, mut stop: Stop) -> io::Result<()> {
    let mut reader = BufReader::new(tls);
    loop {
        select! {
            filled = timeout(IDLE, reader.fill_buf()) => { filled??; }
            () = stopped(&mut stop) => return Ok(()),
        }
        let request = match timeout(IDLE, read_head(&mut reader)).await? {
            Ok(Some(head)) => Request::parse(&head),
            Ok(None) => return Ok(()),
            Err(error) => Err(Refused::of(&error).ok_or(error)?),
        };
        let (answer, keeps_open) = answer(request, *stop.borrow());
        timeout(IDLE, reader.get_mut().write_all(&answer)).await??;
        timeout(IDLE, reader.get_mut().flush()).await??;
        if !keeps_open {
            return Ok(());
        }
    }
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<(Option<SocketAddr>, Service)>, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut address, mut service) = (None, Service::Hello);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("echo") => service = Service::Echo,
            Long("listen") => address = Some(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some((address, service)))
}

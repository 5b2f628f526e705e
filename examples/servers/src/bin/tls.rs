//! A server for HTTPS, or one that sends each byte back under TLS: see [`anabranch_servers::tls`].
//!
//! ```text
//! cargo run --bin tls                                   # the server and its clients in one process
//! cargo run --bin tls -- --listen 127.0.0.1:8443
//! curl -k https://127.0.0.1:8443/
//! cargo run --bin tls -- --echo --listen 127.0.0.1:8443
//! openssl s_client -quiet -connect 127.0.0.1:8443
//! ```

use anabranch::{Cx, net::TcpStream, sync::Event};
use anabranch_servers::{
    Failure,
    http::{self, Response, read_head},
    program,
    serve::{Limits, beside},
    tls::{Identity, Service, connection},
};
use rustls::{ClientConfig, ClientConnection, StreamOwned, pki_types::ServerName};
use std::{
    io::{BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

const USAGE: &str = "\
usage: tls [--echo] [--listen ADDRESS] [--cert FILE --key FILE] [--connections N] [--requests N]
  --echo         sends each byte back (without this, answers requests of HTTP/1.1)
  --listen       serves there until Ctrl-C (without this, serves some clients of its own and ends)
  --cert, --key  the certificate and its key, in the PEM format (without these, made at the start for localhost)
  --connections  how many its own clients open (20)
  --requests     how many they send over each (10)";

struct Options {
    service: Service,
    listen: Option<SocketAddr>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    connections: usize,
    requests: usize,
}

fn main() -> ExitCode {
    program::main("tls", USAGE, options(), run)
}

fn run(options: Options) -> Result<(), Failure> {
    let identity = match (&options.cert, &options.key) {
        (None, None) => Identity::generate()?,
        (Some(cert), Some(key)) => Identity::read(cert, key)?,
        _ => return Err("--cert and --key go together".into()),
    };
    let trust = identity.client_config();
    let (config, service, stop) = (identity.server_config()?, options.service, Event::new());
    let handler = |cx: &Cx<'_>, stream: &TcpStream, _| connection(cx, stream, &config, service, &stop);
    if let Some(address) = options.listen {
        return program::serve_until_signal(address, &stop, handler);
    }
    let trust = trust?;
    let (ends, ()) = anabranch::run(|cx| {
        beside(cx, Limits::default(), &stop, handler, |cx, address| {
            cx.map_concurrent(options.connections, 0..options.connections, |cx, number| {
                talk(cx, address, &trust, service, number, options.requests)
            })?;
            Ok(())
        })
    })?;
    println!("{} connections with {} requests each; {ends}", options.connections, options.requests);
    Ok(())
}

/// A client: sends requests over one connection, and checks the answers.
fn talk(
    cx: &Cx<'_>,
    address: SocketAddr,
    trust: &Arc<ClientConfig>,
    service: Service,
    number: usize,
    requests: usize,
) -> Result<(), Failure> {
    let stream = TcpStream::connect(cx, address)?;
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    let mut tls = StreamOwned::new(ClientConnection::new(Arc::clone(trust), name)?, stream.with(cx));
    for request in 0..requests {
        let text = format!("/{number}/{request}");
        let (sent, expected) = match service {
            Service::Echo => (text.clone(), text.clone()),
            Service::Hello => (
                format!("GET {text} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                format!("hello over TLS, you asked for {text}\n"),
            ),
        };
        tls.write_all(sent.as_bytes())?;
        let mut reader = BufReader::new(&mut tls);
        if service == Service::Hello {
            let head = read_head(&mut reader)?.ok_or("the server has left")?;
            let response = Response::parse(&head)?;
            if response.framing("GET")? != http::Framing::Length(expected.len() as u64) {
                return Err(format!("for {text} came {response:?}").into());
            }
        }
        let mut answer = vec![0; expected.len()];
        reader.read_exact(&mut answer)?;
        if answer != expected.as_bytes() {
            return Err(format!("for {text} came {:?}", String::from_utf8_lossy(&answer)).into());
        }
    }
    tls.conn.send_close_notify();
    tls.flush()?;
    Ok(())
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options =
        Options { service: Service::Hello, listen: None, cert: None, key: None, connections: 20, requests: 10 };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("echo") => options.service = Service::Echo,
            Long("listen") => options.listen = Some(parser.value()?.parse()?),
            Long("cert") => options.cert = Some(parser.value()?.into()),
            Long("key") => options.key = Some(parser.value()?.into()),
            Long("connections") => options.connections = parser.value()?.parse()?,
            Long("requests") => options.requests = parser.value()?.parse()?,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

//! `proxy`, with tokio, for comparison. It opens a connection to a backend for each request.
//!
//! ```text
//! cargo run --bin proxy_tokio -- --listen 127.0.0.1:8082 --backend 127.0.0.1:8080 --backend localhost:8081
//! ```

use anabranch_servers::{
    Failure,
    http::{self, CopyError, Decoder, Framing, Refused, Request, Response, encode},
    on_tokio::{Stop, read_head, serve_until_signal, stopped},
    program,
    proxy::{Fault, incoming, outgoing},
};
use std::{
    io,
    net::SocketAddr,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    pin, select,
    time::timeout,
};

const USAGE: &str = "\
usage: proxy_tokio --listen ADDRESS --backend ADDRESS .. [--deadline MILLISECONDS]
  --listen    serves there until Ctrl-C
  --backend   where requests go: a name or an address, and a port; several take turns
  --deadline  how long a request with its response may take (30000)";

const IDLE: Duration = Duration::from_secs(30);
const HEAD: Duration = Duration::from_secs(5);

struct Proxy {
    backends: Vec<String>,
    turn: AtomicUsize,
    deadline: Duration,
}

struct Client {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    address: SocketAddr,
    stop: Stop,
}

fn main() -> ExitCode {
    program::main("proxy_tokio", USAGE, options(), |(address, backends, deadline)| {
        if backends.is_empty() {
            return Err("--backend is missing".into());
        }
        let proxy = Arc::new(Proxy { backends, turn: AtomicUsize::new(0), deadline });
        serve_until_signal(address.ok_or("--listen is missing")?, |stream, address, stop| {
            let proxy = Arc::clone(&proxy);
            async move { proxy.connection(stream, address, stop).await }
        })
    })
}

impl Proxy {
    async fn connection(&self, stream: TcpStream, address: SocketAddr, stop: Stop) -> Result<(), Failure> {
        let (reader, writer) = stream.into_split();
        let mut client = Client { reader: BufReader::new(reader), writer, address, stop };
        loop {
            select! {
                filled = timeout(IDLE, client.reader.fill_buf()) => {
                    if !filled.is_ok_and(|bytes| bytes.is_ok_and(|bytes| !bytes.is_empty())) {
                        return Ok(());
                    }
                }
                () = stopped(&mut client.stop) => return Ok(()),
            }
            let request = match timeout(HEAD, read_head(&mut client.reader)).await {
                Ok(Ok(Some(head))) => Request::parse(&head),
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => Err(Refused::of(&error).ok_or(error)?),
                Err(_) => Err(Refused { status: 408, reason: "the request is too slow" }),
            };
            let result = match request {
                Ok(request) => {
                    let mut begun = false;
                    let exchange = timeout(self.deadline, self.exchange(&mut client, &request, &mut begun));
                    let result = exchange.await.unwrap_or(Err(Fault::Late));
                    if begun { Ok(result?) } else { result }
                }
                Err(refused) => Err(refused.into()),
            };
            match result {
                Ok(true) => continue,
                Ok(false) => {}
                Err(fault) => {
                    let text = http::text(fault.status(), &format!("{fault}\n"), false);
                    timeout(HEAD, client.writer.write_all(&text)).await??;
                }
            }
            client.writer.shutdown().await?;
            let mut rest = client.reader.take(1 << 20);
            let _ = timeout(Duration::from_millis(500), tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
            return Ok(());
        }
    }

    async fn exchange(&self, client: &mut Client, request: &Request, begun: &mut bool) -> Result<bool, Fault> {
        if request.method == "CONNECT" {
            return Err(Refused { status: 501, reason: "this is no proxy for tunnels" }.into());
        }
        let framing = request.framing()?;
        let (name, backend) = self.connect().await.map_err(Fault::Backend)?;
        let head = outgoing(request, framing, client.address, name).to_bytes();
        let (mut from_backend, mut to_backend) = backend.into_split();
        if framing != Framing::Length(0) && request.headers.has("Expect", "100-continue") {
            client.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.map_err(Fault::Client)?;
        }
        let (is_stopping, reader) = (*client.stop.borrow(), &mut client.reader);
        let download = download(&mut client.writer, is_stopping, request, &mut from_backend, begun);
        pin!(download);
        let upload = async {
            to_backend.write_all(&head).await.map_err(CopyError::Write)?;
            copy_body(reader, framing, &mut to_backend, framing == Framing::Chunked).await
        };
        select! {
            // The backend has answered without waiting for the rest.
            keeps_open = &mut download => keeps_open.map(|keeps_open| keeps_open && framing == Framing::Length(0)),
            uploaded = upload => match uploaded {
                Ok(()) => download.await,
                Err(CopyError::Write(_)) => download.await.map(|_| false),
                Err(CopyError::Read(error)) => Err(Refused::of(&error).map_or(Fault::Client(error), Fault::Refused)),
            },
        }
    }

    async fn connect(&self) -> io::Result<(&str, TcpStream)> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.backends.len();
        let (before, after) = self.backends.split_at(first);
        let mut last = None;
        for backend in after.iter().chain(before) {
            match TcpStream::connect(backend).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok((backend, stream));
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("there is a backend"))
    }
}

async fn download(
    writer: &mut OwnedWriteHalf,
    is_stopping: bool,
    request: &Request,
    backend: &mut OwnedReadHalf,
    begun: &mut bool,
) -> Result<bool, Fault> {
    let wrong = |refused: Refused| Fault::Backend(refused.into());
    let mut reader = BufReader::new(backend);
    let response = loop {
        let head = read_head(&mut reader).await.map_err(Fault::Backend)?;
        let head = head.ok_or_else(|| Fault::Backend(io::ErrorKind::UnexpectedEof.into()))?;
        let response = Response::parse(&head).map_err(wrong)?;
        match response.status {
            100 => {}
            101 => return Err(wrong(Refused { status: 502, reason: "it changes the protocol" })),
            102..200 if request.version == 0 => {}
            102..200 => writer.write_all(&response.to_bytes()).await.map_err(Fault::Client)?,
            _ => break response,
        }
    };
    let framing = response.framing(&request.method).map_err(wrong)?;
    let passing = incoming(request, response, framing, is_stopping);
    *begun = true;
    writer.write_all(&passing.response.to_bytes()).await.map_err(Fault::Client)?;
    copy_body(&mut reader, framing, writer, passing.is_chunked).await.map_err(|error| match error {
        CopyError::Read(error) => Fault::Backend(error),
        CopyError::Write(error) => Fault::Client(error),
    })?;
    Ok(passing.keeps_open)
}

async fn copy_body(
    from: &mut (impl AsyncBufRead + Unpin),
    framing: Framing,
    to: &mut (impl AsyncWrite + Unpin),
    is_chunked: bool,
) -> Result<(), CopyError> {
    let (mut decoder, mut bytes) = (Decoder::new(framing), Vec::new());
    while !decoder.is_done() {
        let input = from.fill_buf().await.map_err(CopyError::Read)?;
        if input.is_empty() {
            decoder.end().map_err(CopyError::Read)?;
            break;
        }
        let (used, data) = decoder.decode(input).map_err(|refused| CopyError::Read(refused.into()))?;
        if !data.is_empty() {
            bytes.clear();
            encode(data, is_chunked, &mut bytes);
            to.write_all(&bytes).await.map_err(CopyError::Write)?;
        }
        from.consume(used);
    }
    if is_chunked {
        to.write_all(b"0\r\n\r\n").await.map_err(CopyError::Write)?;
    }
    Ok(())
}

type Options = (Option<SocketAddr>, Vec<String>, Duration);

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut address, mut backends, mut deadline) = (None, Vec::new(), Duration::from_secs(30));
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("listen") => address = Some(parser.value()?.parse()?),
            Long("backend") => backends.push(parser.value()?.string()?),
            Long("deadline") => deadline = Duration::from_millis(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some((address, backends, deadline)))
}

//! A reverse proxy for HTTP/1.1: see [`anabranch_servers::proxy`].
//!
//! ```text
//! cargo run --bin proxy                                  # the proxy, three backends and clients in one process
//! cargo run --bin proxy -- --listen 127.0.0.1:8082 --backend 127.0.0.1:8080 --backend localhost:8081
//! curl http://127.0.0.1:8082/
//! ```

use anabranch::{
    Cx,
    net::{TcpListener, TcpStream},
    sync::Event,
};
use anabranch_servers::{
    Failure,
    http::{Response, copy_body, read_head},
    program,
    proxy::Proxy,
    serve::{Limits, beside, serve},
    site::{self, Answer},
};
use std::{
    io::{BufReader, Write},
    net::SocketAddr,
    process::ExitCode,
    time::Duration,
};

const USAGE: &str = "\
usage: proxy [--listen ADDRESS --backend ADDRESS ..] [--deadline MILLISECONDS]
  --listen    serves there until Ctrl-C (without this, serves some clients of its own and ends)
  --backend   where requests go: a name or an address, and a port; several take turns
  --deadline  how long a request with its response may take (30000; 200 for its own clients)";

#[derive(Default)]
struct Options {
    listen: Option<SocketAddr>,
    backends: Vec<String>,
    deadline: Option<Duration>,
}

fn main() -> ExitCode {
    program::main("proxy", USAGE, options(), |options| match options.listen {
        Some(address) => listen(address, options),
        None if options.backends.is_empty() => demonstrate(options.deadline.unwrap_or(Duration::from_millis(200))),
        None => Err("--backend needs --listen".into()),
    })
}

fn listen(address: SocketAddr, options: Options) -> Result<(), Failure> {
    if options.backends.is_empty() {
        return Err("--listen needs at least one --backend".into());
    }
    let deadline = options.deadline.unwrap_or(Duration::from_secs(30));
    let (proxy, stop) = (Proxy::new(options.backends, deadline), Event::new());
    program::serve_until_signal(address, &stop, |cx, client, address| proxy.connection(cx, client, address, &stop))
}

/// Runs three backends, of which the last refuses connections, the proxy, and a client.
fn demonstrate(deadline: Duration) -> Result<(), Failure> {
    let stops = [Event::new(), Event::new()];
    let stop = Event::new();
    anabranch::run(|cx| {
        cx.scope(|s| {
            let mut backends = Vec::new();
            for (number, stop) in stops.iter().enumerate() {
                let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
                backends.push(listener.local_addr()?.to_string());
                s.spawn(move |cx| {
                    serve(cx, listener, Limits::default(), stop, move |cx, stream, _| {
                        site::connection(cx, stream, stop, |cx, request, body| {
                            if request.target == "/late" {
                                cx.sleep(Duration::from_secs(3600))?;
                            }
                            let for_whom = request.headers.all("X-Forwarded-For").next().unwrap_or_default();
                            let for_whom = String::from_utf8_lossy(for_whom);
                            let text = format!("backend {number}: {} bytes for {for_whom}", body.len());
                            Ok(Answer { is_chunked: true, ..Answer::new(200, text) })
                        })
                    })
                });
            }
            // Nothing listens where nothing was left.
            backends.push(TcpListener::bind(cx, "127.0.0.1:0")?.local_addr()?.to_string());
            let proxy = Proxy::new(backends, deadline);
            let handler = |cx: &Cx<'_>, client: &TcpStream, address| proxy.connection(cx, client, address, &stop);
            let result = beside(cx, Limits::default(), &stop, handler, client);
            // The backends do not wait for the request that is late.
            stops.iter().for_each(Event::set);
            s.cancel();
            println!("proxy: {}", result?.0);
            Ok(())
        })
    })
}

/// Sends requests over one connection, and prints the answers.
fn client(cx: &Cx<'_>, address: SocketAddr) -> Result<(), Failure> {
    let stream = TcpStream::connect(cx, address)?;
    let (mut reader, mut writer) = (BufReader::new(stream.with(cx)), stream.with(cx));
    for (request, body) in
        [("GET /a", ""), ("POST /b", "some bytes"), ("GET /c", ""), ("GET /d", ""), ("GET /late", "")]
    {
        write!(writer, "{request} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
        let head = read_head(&mut reader)?.ok_or("the proxy has left")?;
        let response = Response::parse(&head)?;
        let framing = response.framing("GET")?;
        let mut answer = Vec::new();
        copy_body(&mut reader, framing, &mut answer, false).map_err(|error| format!("{error:?}"))?;
        println!("{request}: {} {}", response.status, String::from_utf8_lossy(&answer).trim_end());
    }
    Ok(())
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("listen") => options.listen = Some(parser.value()?.parse()?),
            Long("backend") => options.backends.push(parser.value()?.string()?),
            Long("deadline") => options.deadline = Some(Duration::from_millis(parser.value()?.parse()?)),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

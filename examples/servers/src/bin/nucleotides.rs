//! A server that counts the fragments of DNA sequences: see [`anabranch_servers::nucleotides`].
//!
//! ```text
//! cargo run --release --bin nucleotides                      # the server and its clients in one process
//! cargo run --release --bin nucleotides -- --listen 127.0.0.1:8083
//! curl --data GATTACA http://127.0.0.1:8083/2
//! ```

use anabranch::{Cx, net::TcpStream, sync::Event};
use anabranch_servers::{
    Failure,
    http::{Response, copy_body, read_head},
    nucleotides::{connection, sequence},
    program,
    serve::{Limits, beside},
};
use std::{
    io::{BufReader, Write},
    net::SocketAddr,
    process::ExitCode,
    time::{Duration, Instant},
};

const USAGE: &str = "\
usage: nucleotides [--listen ADDRESS] [--bases N] [--sequences N]
  --listen     serves there until Ctrl-C (without this, serves some clients of its own and ends)
  --bases      how long the sequences are that its own clients send (2000000)
  --sequences  how many each of four clients sends, beside four clients with light requests (10)";

/// The clients of each kind.
const CLIENTS: usize = 4;

struct Options {
    listen: Option<SocketAddr>,
    bases: usize,
    sequences: usize,
}

fn main() -> ExitCode {
    program::main("nucleotides", USAGE, options(), run)
}

fn run(options: Options) -> Result<(), Failure> {
    let stop = Event::new();
    let handler = |cx: &Cx<'_>, stream: &TcpStream, _| connection(cx, stream, &stop);
    if let Some(address) = options.listen {
        return program::serve_until_signal(address, &stop, handler);
    }
    let sequences: Vec<_> = (0..CLIENTS).map(|number| sequence(options.bases, number as u64)).collect();
    let (ends, (heavy, light)) = anabranch::run(|cx| {
        beside(cx, Limits::default(), &stop, handler, |cx, address| {
            let counted = Event::new();
            let heavy = |cx: &Cx<'_>| {
                let result = cx.map_concurrent(CLIENTS, &sequences, |cx, sequence| {
                    heavy(cx, address, sequence, options.sequences)
                });
                counted.set();
                result
            };
            let light = |cx: &Cx<'_>| cx.map_concurrent(CLIENTS, 0..CLIENTS, |cx, _| light(cx, address, &counted));
            let (heavy, light) = cx.join(heavy, light);
            Ok((heavy?.concat(), light?.concat()))
        })
    })?;
    println!("{}\n{}\n{ends}", summary("sequences", heavy), summary("light requests", light));
    Ok(())
}

/// A client that sends sequences. Returns the times until the answers.
fn heavy(cx: &Cx<'_>, address: SocketAddr, sequence: &[u8], count: usize) -> Result<Vec<Duration>, Failure> {
    let stream = TcpStream::connect(cx, address)?;
    (0..count).map(|_| ask(cx, &stream, "POST /8", sequence)).collect()
}

/// A client that sends a request each millisecond until the sequences are counted. Returns the times until the answers.
fn light(cx: &Cx<'_>, address: SocketAddr, counted: &Event) -> Result<Vec<Duration>, Failure> {
    let stream = TcpStream::connect(cx, address)?;
    let mut times = Vec::new();
    while !counted.is_set() {
        times.push(ask(cx, &stream, "GET /", b"")?);
        cx.sleep(Duration::from_millis(1))?;
    }
    Ok(times)
}

/// Sends a request. Returns the time until the answer was complete.
fn ask(cx: &Cx<'_>, stream: &TcpStream, request: &str, body: &[u8]) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut bytes = format!("{request} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    stream.with(cx).write_all(&bytes)?;
    let mut reader = BufReader::new(stream.with(cx));
    let response = Response::parse(&read_head(&mut reader)?.ok_or("the server has left")?)?;
    let mut answer = Vec::new();
    copy_body(&mut reader, response.framing("GET")?, &mut answer, false).map_err(|error| format!("{error:?}"))?;
    if response.status != 200 {
        return Err(format!("for {request} came {}: {}", response.status, String::from_utf8_lossy(&answer)).into());
    }
    Ok(start.elapsed())
}

fn summary(what: &str, mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    let at = |share| at(share).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!(
        "{} {what}: median {:.2} ms, 99% within {:.2} ms, all within {:.2} ms",
        times.len(),
        at(50),
        at(99),
        at(100)
    )
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { listen: None, bases: 2_000_000, sequences: 10 };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("listen") => options.listen = Some(parser.value()?.parse()?),
            Long("bases") => options.bases = parser.value()?.parse()?,
            Long("sequences") => options.sequences = parser.value()?.parse()?,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

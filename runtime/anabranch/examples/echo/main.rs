//! A TCP echo server and its client, one fiber per connection, ten thousand connections at once.
//!
//! ```text
//! cargo run --release --features net --example echo      # the server in a process of its own, then the client
//! cargo run --release --features net --example echo -- server --port 7007
//! cargo run --release --features net --example echo -- client 127.0.0.1:7007 --connections 500
//! ```
//!
//! The code of a connection reads from top to bottom, as on a separate thread: see [`server`] and [`client`]. The
//! sockets are those of [`anabranch::net`]. Everything stays on the loopback interface and ends by itself.

mod client;
mod descriptors;
#[path = "../processes/mod.rs"]
mod processes;
mod server;

use anabranch::net::TcpListener;
use processes::Failure;
use std::{
    net::{self, Ipv4Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

const USAGE: &str = "\
usage: echo [pair|alone|client ADDRESS|server] [--connections N] [--messages N] [--port N] [--seconds N]
  pair     the server as a second process, and the client here (without a word, this)
  alone    both in this process, which takes two open files a connection
  client   opens N connections (10000) to a server on this machine and sends N messages (10) on each
  server   serves port N (any that is free) until its standard input ends
All of them end after N seconds (60).";

#[derive(Default)]
enum Mode {
    #[default]
    Pair,
    Alone,
    Client(SocketAddr),
    Server,
}

struct Options {
    mode: Mode,
    connections: usize,
    messages: usize,
    port: u16,
    limit: Duration,
}

fn main() -> ExitCode {
    processes::main("echo", USAGE, options(), |options| match options.mode {
        Mode::Pair => pair(&options),
        Mode::Alone => alone(&options),
        Mode::Client(address) => client(&options, address),
        Mode::Server => server(&options),
    })
}

/// Serves until the standard input ends.
fn server(options: &Options) -> Result<(), Failure> {
    descriptors::raise_limit();
    let listener = listen(options.port)?;
    processes::announce(listener.local_addr()?);
    let served = server::Served::default();
    processes::until_input_ends(options.limit, |cx| server::serve(cx, &listener, &served))?;
    println!("server: {served}, {}", peak_memory());
    Ok(())
}

fn client(options: &Options, address: SocketAddr) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        return Err(format!("{address} is not on this machine; this client is for loopback addresses only").into());
    }
    descriptors::want(options.connections)?;
    let report = anabranch::run(|cx| {
        cx.timeout(options.limit, |cx| client::talk(cx, address, options.connections, options.messages))
    })?;
    println!("client: {report}, {}", peak_memory());
    Ok(())
}

/// Runs both ends in one process, in one scope.
fn alone(options: &Options) -> Result<(), Failure> {
    descriptors::want(2 * options.connections)?;
    let listener = listen(options.port)?;
    let address = listener.local_addr()?;
    let served = server::Served::default();
    let (end, report) = anabranch::run(|cx| {
        cx.cancellable(|cx, handle| {
            cx.join(
                |cx| {
                    let end = server::serve(cx, &listener, &served);
                    handle.cancel(); // If the server failed, the client would have no peer.
                    end
                },
                |cx| {
                    let (connections, messages) = (options.connections, options.messages);
                    let report = cx.timeout(options.limit, |cx| client::talk(cx, address, connections, messages));
                    handle.cancel();
                    report
                },
            )
        })
    });
    end?;
    let report = report?;
    println!("client: {report}\nserver: {served}\nboth: {}", peak_memory());
    Ok(())
}

/// Runs the server in a separate process, so that each process has only one open file per connection.
fn pair(options: &Options) -> Result<(), Failure> {
    descriptors::want(options.connections)?;
    let (port, seconds) = (options.port.to_string(), (options.limit.as_secs() + 1).to_string());
    let arguments = ["server", "--port", &port, "--seconds", &seconds];
    processes::beside("server", &arguments, |address| client(options, address))
}

fn listen(port: u16) -> Result<TcpListener, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = net::TcpListener::bind(address).and_then(TcpListener::from_std);
    listener.map_err(|error| format!("cannot listen on {address}: {error}").into())
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    peak.map_or("peak memory unknown".into(), |kib: u64| format!("peak memory {} MiB", kib / 1024))
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let limit = Duration::from_secs(60);
    let mut options = Options { mode: Mode::default(), connections: 10_000, messages: 10, port: 0, limit };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(word) if word == "pair" => options.mode = Mode::Pair,
            Value(word) if word == "alone" => options.mode = Mode::Alone,
            Value(word) if word == "client" => options.mode = Mode::Client(parser.value()?.parse()?),
            Value(word) if word == "server" => options.mode = Mode::Server,
            Long("connections") => options.connections = parser.value()?.parse()?,
            Long("messages") => options.messages = parser.value()?.parse()?,
            Long("port") => options.port = parser.value()?.parse()?,
            Long("seconds") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

//! A server of WebSockets that sends each message back, and of a page that tries it: see
//! [`anabranch_servers::websocket`].
//!
//! ```text
//! cargo run --bin websocket                                   # the server and its clients in one process
//! cargo run --bin websocket -- --listen 127.0.0.1:8081        # then open http://127.0.0.1:8081/
//! ```

use anabranch::{Cx, net::TcpStream, sync::Event};
use anabranch_servers::{
    Failure, program,
    serve::{Limits, beside},
    websocket::{Rules, connection},
};
use std::{net::SocketAddr, process::ExitCode};
use tungstenite::Message;

const USAGE: &str = "\
usage: websocket [--listen ADDRESS] [--max-message BYTES] [--connections N] [--messages N]
  --listen       serves there until Ctrl-C (without this, serves some clients of its own and ends)
  --max-message  the longest message (65536); a longer one ends the connection
  --connections  how many its own clients open (20)
  --messages     how many they send over each (10)";

struct Options {
    listen: Option<SocketAddr>,
    rules: Rules,
    connections: usize,
    messages: usize,
}

fn main() -> ExitCode {
    program::main("websocket", USAGE, options(), run)
}

fn run(options: Options) -> Result<(), Failure> {
    let (rules, stop) = (options.rules, Event::new());
    let handler = |cx: &Cx<'_>, stream: &TcpStream, _| connection(cx, stream, rules, &stop);
    if let Some(address) = options.listen {
        return program::serve_until_signal(address, &stop, handler);
    }
    let (ends, ()) = anabranch::run(|cx| {
        beside(cx, Limits::default(), &stop, handler, |cx, address| {
            cx.map_concurrent(options.connections, 0..options.connections, |cx, number| {
                talk(cx, address, number, options.messages)
            })?;
            Ok(())
        })
    })?;
    println!("{} connections with {} messages each; {ends}", options.connections, options.messages);
    Ok(())
}

/// A client: sends texts and bytes over one connection, checks what comes back, and closes.
fn talk(cx: &Cx<'_>, address: SocketAddr, number: usize, messages: usize) -> Result<(), Failure> {
    let stream = TcpStream::connect(cx, address)?;
    let opened = tungstenite::client(format!("ws://{address}/echo"), stream.with(cx));
    let (mut socket, _) = opened.map_err(|error| error.to_string())?;
    for message in 0..messages {
        let text = format!("message {message} of client {number}");
        let sent = if message % 2 == 0 { Message::text(text) } else { Message::binary(text.into_bytes()) };
        socket.send(sent.clone())?;
        let came = socket.read()?;
        if came != sent {
            return Err(format!("sent {sent:?}, and {came:?} came back").into());
        }
    }
    socket.close(None)?;
    loop {
        match socket.read() {
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { listen: None, rules: Rules::default(), connections: 20, messages: 10 };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("listen") => options.listen = Some(parser.value()?.parse()?),
            Long("max-message") => options.rules.max_message = parser.value()?.parse()?,
            Long("connections") => options.connections = parser.value()?.parse()?,
            Long("messages") => options.messages = parser.value()?.parse()?,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

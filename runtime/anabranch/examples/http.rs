//! An HTTP/1.1 server with persistent connections, one fiber per connection, and a client that tries it.
//!
//! ```text
//! cargo run --release --features net --example http                    # the server and the client in one process
//! cargo run --release --features net --example http -- --serve --port 8080
//! curl http://127.0.0.1:8080/hello
//! ```
//!
//! `httparse` finds the requests in the buffer of a connection. Each request has a deadline: a client that sends too
//! slowly is answered with 408 and closed. When the standard input of `--serve` ends, the server stops accepting, gives
//! the open connections a second to end, and then cancels them. Only the loopback interface is used.

#[allow(dead_code, reason = "the client is in the process of the server")]
#[path = "processes/mod.rs"]
mod processes;

use anabranch::{
    Cx, Operation,
    net::{TcpListener, TcpStream},
    sync::{Event, Semaphore},
};
use processes::Failure;
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{self, Ipv4Addr, SocketAddr},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

const USAGE: &str = "\
usage: http [--serve] [--port N] [--connections N] [--requests N] [--deadline MILLISECONDS] [--seconds N]
  --serve        only the server, until the standard input ends
  --port         where it listens (any that is free)
  --connections  how many the client opens (50)
  --requests     how many it sends on each (20)
  --deadline     the time for a request to come (5000)
  --seconds      when to end in any case (60)";

/// The most bytes of a request.
const LONGEST: usize = 8 << 10;

/// The most connections at a time.
const MOST: usize = 10_000;

/// How long open connections may go on after the server has stopped accepting.
const GRACE: Duration = Duration::from_secs(1);

struct Options {
    serves: bool,
    port: u16,
    connections: usize,
    requests: usize,
    deadline: Duration,
    limit: Duration,
}

fn main() -> ExitCode {
    processes::main("http", USAGE, options(), |options| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = TcpListener::from_std(net::TcpListener::bind(address)?)?;
        if options.serves { serve_until_input_ends(&options, &listener) } else { demonstrate(&options, &listener) }
    })
}

fn serve_until_input_ends(options: &Options, listener: &TcpListener) -> Result<(), Failure> {
    processes::announce(listener.local_addr()?);
    let (answered, stop) = (AtomicUsize::new(0), Arc::new(Event::new()));
    // A separate thread without a join: a read of the standard input cannot be interrupted.
    thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let _ = io::stdin().read_to_end(&mut Vec::new());
            stop.set();
        }
    });
    anabranch::run(|cx| cx.timeout(options.limit, |cx| serve(cx, listener, options.deadline, &stop, &answered)))?;
    println!("server: {} requests", answered.into_inner());
    Ok(())
}

/// Runs the server and the client in one process, and stops the server when the client has ended.
fn demonstrate(options: &Options, listener: &TcpListener) -> Result<(), Failure> {
    let (address, answered, stop) = (listener.local_addr()?, AtomicUsize::new(0), Event::new());
    anabranch::run(|cx| {
        cx.timeout(options.limit, |cx| {
            cx.scope(|s| {
                let server = s.spawn(|cx| serve(cx, listener, options.deadline, &stop, &answered));
                let talked = cx.map_concurrent(options.connections, 0..options.connections, |cx, number| {
                    talk(cx, address, number, options.requests)
                });
                stop.set();
                server.join(cx).map_err(|error| error.to_string())??;
                talked?;
                Ok::<_, Failure>(())
            })
        })
    })?;
    println!("server: {} requests over {} connections", answered.into_inner(), options.connections);
    Ok(())
}

/// Serves until `stop` is set. Then it stops accepting, waits [`GRACE`] for the open connections, and cancels the rest.
fn serve(
    cx: &Cx<'_>,
    listener: &TcpListener,
    deadline: Duration,
    stop: &Event,
    answered: &AtomicUsize,
) -> io::Result<()> {
    let room = Semaphore::new(MOST);
    cx.scope(|s| {
        loop {
            let permit = room.acquire(cx)?;
            let accepted = anabranch::select!(biased cx, {
                () = stop.waiting() => None,
                accepted = listener.accepting() => Some(accepted),
            });
            match accepted? {
                Some(Ok((stream, _))) => {
                    s.spawn(move |cx| {
                        let _permit = permit;
                        // What one client does wrong does not concern the others.
                        let _ = connection(cx, &stream, deadline, stop, answered);
                    });
                }
                // No descriptor is left, perhaps. The connection waits in the queue of the system.
                Some(Err(_)) => cx.sleep(Duration::from_millis(20))?,
                None => break,
            }
        }
        let _ = room.acquiring(MOST).timeout(cx, GRACE);
        s.cancel();
        Ok(())
    })
}

/// Answers the requests of one connection, one after the other.
fn connection(
    cx: &Cx<'_>,
    stream: &TcpStream,
    deadline: Duration,
    stop: &Event,
    answered: &AtomicUsize,
) -> io::Result<()> {
    let (mut buffer, mut len) = (vec![0; LONGEST], 0);
    loop {
        match cx.timeout(deadline, |cx| request(cx, stream, &mut buffer, &mut len)) {
            Ok(None) => return Ok(()),
            Ok(Some(Request { answer, keeps_open, len: used })) => {
                let ends = !keeps_open || stop.is_set();
                respond(cx, stream, "200 OK", &answer, ends)?;
                answered.fetch_add(1, Ordering::Relaxed);
                if ends {
                    return Ok(());
                }
                buffer.copy_within(used..len, 0);
                len -= used;
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                // A connection without a request may be closed at any time.
                return if len > 0 { respond(cx, stream, "408 Request Timeout", "too slow\n", true) } else { Ok(()) };
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return respond(cx, stream, "400 Bad Request", &format!("{error}\n"), true);
            }
            Err(error) => return Err(error),
        }
    }
}

struct Request {
    answer: String,
    keeps_open: bool,
    /// The bytes of the request in the buffer.
    len: usize,
}

/// Waits for a request. Returns `None` at the end of the stream.
fn request(cx: &Cx<'_>, stream: &TcpStream, buffer: &mut [u8], len: &mut usize) -> io::Result<Option<Request>> {
    let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text);
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut headers);
        let status = request.parse(&buffer[..*len]).map_err(|error| invalid(&error.to_string()))?;
        if let httparse::Status::Complete(used) = status {
            if request.method != Some("GET") {
                return Err(invalid("only GET is served"));
            }
            let closes = request.headers.iter().any(|header| {
                header.name.eq_ignore_ascii_case("connection") && header.value.eq_ignore_ascii_case(b"close")
            });
            let keeps_open = request.version == Some(1) && !closes;
            let answer = format!("you asked for {}\n", request.path.unwrap_or("nothing"));
            return Ok(Some(Request { answer, keeps_open, len: used }));
        }
        if *len == buffer.len() {
            return Err(invalid("the request is too long"));
        }
        match stream.read(cx, &mut buffer[*len..])? {
            0 => return Ok(None),
            count => *len += count,
        }
    }
}

fn respond(cx: &Cx<'_>, stream: &TcpStream, status: &str, body: &str, ends: bool) -> io::Result<()> {
    let connection = if ends { "close" } else { "keep-alive" };
    let len = body.len();
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\nConnection: {connection}\r\n\r\n{body}"
    );
    stream.write_all(cx, response.as_bytes())
}

/// Sends requests over one connection, and checks the answers. It reads by the buffered reader of `std`.
fn talk(cx: &Cx<'_>, address: SocketAddr, number: usize, requests: usize) -> Result<(), Failure> {
    let stream = TcpStream::connect(cx, address)?;
    let mut reader = BufReader::new(stream.with(cx));
    for request in 0..requests {
        let path = format!("/{number}/{request}");
        let text = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.with(cx).write_all(text.as_bytes())?;
        let (mut line, mut len) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Err("the server has closed the connection".into());
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                len = value.trim().parse()?;
            }
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body)?;
        if body != format!("you asked for {path}\n").as_bytes() {
            return Err(format!("for {path} came {:?}", String::from_utf8_lossy(&body)).into());
        }
    }
    Ok(())
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options {
        serves: false,
        port: 0,
        connections: 50,
        requests: 20,
        deadline: Duration::from_secs(5),
        limit: Duration::from_secs(60),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("serve") => options.serves = true,
            Long("port") => options.port = parser.value()?.parse()?,
            Long("connections") => options.connections = parser.value()?.parse()?,
            Long("requests") => options.requests = parser.value()?.parse()?,
            Long("deadline") => options.deadline = Duration::from_millis(parser.value()?.parse()?),
            Long("seconds") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            Long("help") => return Ok(None),
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(Some(options))
}

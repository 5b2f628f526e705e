//! A connection to the address that answers first: happy eyeballs (RFC 8305).
//!
//! ```text
//! cargo run --example happy_eyeballs -- --delay 100
//! ```
//!
//! A name often stands for several addresses, and some of them do not work. To try one after the other takes as long as
//! the slowest failure; to try all at once wastes connections. So the next attempt begins when the one before has
//! failed, or after a delay. The first that succeeds cancels all others.
//!
//! The three addresses are listeners of the example: one refuses, one never sends, one greets.

use anabranch::{
    Cancelled, Cx, Operation, WaitError,
    sync::{Signal, Trigger},
};
use async_io::Async;
use std::{
    error::Error,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

const USAGE: &str = "\
usage: happy_eyeballs [--delay MILLISECONDS] [--seconds N] [--dead]
  --delay    the head start of an attempt over the next (250)
  --seconds  when to give up (10)
  --dead     without the address that answers, to see all fail";

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("happy_eyeballs: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match demonstrate(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("happy_eyeballs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate(options: &Options) -> Result<(), Failure> {
    let anywhere = (Ipv4Addr::LOCALHOST, 0);
    // A port that was free a moment ago, without a listener.
    let refusing = TcpListener::bind(anywhere)?.local_addr()?;
    // The system accepts connections for a listener; this one never uses them.
    let silent = TcpListener::bind(anywhere)?;
    let greeting = TcpListener::bind(anywhere)?;
    let mut addresses = vec![("refusing", refusing), ("silent", silent.local_addr()?)];
    if !options.is_dead {
        addresses.push(("greeting", greeting.local_addr()?));
        thread::spawn(move || {
            for stream in greeting.incoming() {
                let _ = stream.and_then(|mut stream| stream.write_all(b"hello\n"));
            }
        });
    }
    let (name, greeting) = anabranch::run(|cx| cx.timeout(options.limit, |cx| connect(cx, &addresses, options.delay)))?;
    println!("{name} has won: {greeting:?}");
    Ok(())
}

/// An address to try, the signal from the attempt before it, and the one for the attempt after it.
struct Attempt<'a> {
    name: &'a str,
    address: SocketAddr,
    before: Option<(Trigger, Trigger)>,
    has_begun: Signal,
    has_failed: Signal,
}

/// Returns the name of the address that greeted first, and its greeting.
fn connect<'a>(
    cx: &Cx<'_>,
    addresses: &[(&'a str, SocketAddr)],
    delay: Duration,
) -> Result<(&'a str, String), Failure> {
    let start = Instant::now();
    let mut before = None;
    let attempts = addresses.iter().map(|&(name, address)| {
        let [begun, failed] = [Trigger::new(), Trigger::new()];
        let (has_begun, has_failed) = (begun.signal(), failed.signal());
        Attempt { name, address, before: before.replace((begun, failed)), has_begun, has_failed }
    });
    let result = cx.race_ok_iter(attempts, |cx, attempt| {
        if let Some((mut begun, mut failed)) = attempt.before {
            begun.wait(cx)?;
            // An attempt that fails starts the next one at once; otherwise the next one starts after the delay.
            if failed.waiting().timeout(cx, delay) == Err(WaitError::Cancelled) {
                return Err(Cancelled.into());
            }
        }
        attempt.has_begun.send();
        let say = |what: &str| println!("{:4} ms: {} {what}", start.elapsed().as_millis(), attempt.name);
        say("begins");
        match greeting(cx, attempt.address) {
            Ok(text) => {
                say("greets");
                Ok((attempt.name, text))
            }
            Err(error) => {
                say(if error.is::<Cancelled>() { "is given up" } else { "fails" });
                attempt.has_failed.send();
                Err(format!("{}: {error}", attempt.name).into())
            }
        }
    });
    result.map_err(|errors: Vec<Failure>| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        format!("no address answered ({})", errors.join("; ")).into()
    })
}

/// Connects and waits for the first message, because a connection alone proves little.
fn greeting(cx: &Cx<'_>, address: SocketAddr) -> Result<String, Failure> {
    let stream = cx.block_on(Async::<TcpStream>::connect(address))??;
    let mut buffer = [0; 64];
    let length = cx.block_on(stream.read_with(|mut stream| stream.read(&mut buffer)))??;
    if length == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(String::from_utf8_lossy(&buffer[..length]).trim_end().to_owned())
}

struct Options {
    delay: Duration,
    limit: Duration,
    is_dead: bool,
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { delay: Duration::from_millis(250), limit: Duration::from_secs(10), is_dead: false };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("delay") => options.delay = Duration::from_millis(parser.value()?.parse()?),
            Long("seconds") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            Long("dead") => options.is_dead = true,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

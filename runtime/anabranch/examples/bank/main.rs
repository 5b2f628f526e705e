//! The bank in two processes: the conversation of `conversations/bank.rs`, over TCP.
//!
//! ```text
//! cargo run --features serde,net --example bank              # the bank in a process of its own, and a customer here
//! cargo run --features serde,net --example bank -- serve --port 7007
//! cargo run --features serde,net --example bank -- call 127.0.0.1:7007
//! ```
//!
//! [`server`] has a fiber for each customer, and the sockets of [`anabranch::net`]; [`client`] is a plain thread with a
//! plain socket. Both use the [protocol](bank), whose types determine what comes next. Everything stays on the loopback
//! interface and ends by itself.

mod client;
#[path = "../processes/mod.rs"]
mod processes;
mod server;

use anabranch::proto;
use processes::Failure;
use std::{
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

proto! {
    /// The messages between a customer and the bank. A customer who has not logged in cannot withdraw.
    #[wire(version = 1)]
    pub bank {
        Login: send { login(name: String, password: String) -> LoginResponse }
        LoginResponse: recv { ok(balance: u64) -> Connected, invalid -> Login, closed -> ! }
        Connected: send { deposit(amount: u64) -> Connected, withdrawal(amount: u64) -> Withdrawal, quit -> Quit }
        Withdrawal: recv { money(amount: u64) -> Connected, insufficient_funds(balance: u64) -> Connected }
        /// Only an answer confirms that the last message has arrived.
        Quit: recv { goodbye -> ! }
    }
}

const USAGE: &str = "\
usage: bank [pair|serve|call ADDRESS] [--port N] [--seconds N]
  pair     the bank as a second process, and a customer here (without a word, this)
  serve    the bank, at port N (any that is free), until its standard input ends
  call     a customer, for a bank on this machine
All of them end after N seconds (60).";

#[derive(Default)]
enum Mode {
    #[default]
    Pair,
    Serve,
    Call(SocketAddr),
}

struct Options {
    mode: Mode,
    port: u16,
    limit: Duration,
}

fn main() -> ExitCode {
    processes::main("bank", USAGE, options(), |options| match options.mode {
        Mode::Pair => pair(&options),
        Mode::Serve => serve(&options),
        Mode::Call(address) => client::visit(address, options.limit),
    })
}

/// Serves until the standard input ends.
fn serve(options: &Options) -> Result<(), Failure> {
    let listener = server::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))?;
    processes::announce(listener.local_addr()?);
    let bank = server::Bank::default();
    processes::until_input_ends(options.limit, |cx| Ok::<_, Failure>(server::serve(cx, &listener, &bank)?))?;
    println!("the bank closes: {bank}");
    Ok(())
}

/// Runs the bank in a separate process.
fn pair(options: &Options) -> Result<(), Failure> {
    let (port, seconds) = (options.port.to_string(), (options.limit.as_secs() + 1).to_string());
    let arguments = ["serve", "--port", &port, "--seconds", &seconds];
    processes::beside("bank", &arguments, |address| client::visit(address, options.limit))
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { mode: Mode::default(), port: 0, limit: Duration::from_secs(60) };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(word) if word == "pair" => options.mode = Mode::Pair,
            Value(word) if word == "serve" => options.mode = Mode::Serve,
            Value(word) if word == "call" => options.mode = Mode::Call(parser.value()?.parse()?),
            Long("port") => options.port = parser.value()?.parse()?,
            Long("seconds") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

//! For examples with two processes. One serves until its standard input ends; the other starts and ends it.

use anabranch::Cx;
use std::{
    error::Error,
    io::{self, BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Command, ExitCode, Stdio},
    thread,
    time::Duration,
};

pub type Failure = Box<dyn Error + Send + Sync>;

/// Prints the address of this process for the other one, as the first line of the server.
pub fn announce(address: SocketAddr) {
    println!("listening on {address}");
}

/// Runs `body` until the standard input ends, or until a time limit. Both are regular ends.
pub fn until_input_ends<E: From<anabranch::TimedOut>>(
    limit: Duration,
    body: impl FnOnce(&Cx<'_>) -> Result<(), E>,
) -> Result<(), E> {
    anabranch::run(|cx| {
        cx.cancellable(|cx, handle| {
            // A separate thread without a join: a read of the standard input cannot be interrupted.
            thread::spawn(move || {
                let _ = io::stdin().read_to_end(&mut Vec::new());
                handle.cancel();
            });
            cx.timeout(limit, body)
        })
    })
}

/// Starts this program as a server with these arguments, runs `body` with its address, ends it, and prints its
/// remaining output.
pub fn beside(
    server: &str,
    arguments: &[&str],
    body: impl FnOnce(SocketAddr) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut process =
        Command::new(std::env::current_exe()?).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut said = BufReader::new(process.stdout.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line)?;
    let result = match line.trim_end().strip_prefix("listening on ") {
        Some(address) => body(address.parse()?),
        None => Err(format!("the {server} did not start").into()),
    };
    drop(process.stdin.take()); // The server ends when its standard input does.
    io::copy(&mut said, &mut io::stdout())?;
    let status = process.wait()?;
    result?;
    if status.success() { Ok(()) } else { Err(format!("the {server} failed: {status}").into()) }
}

/// Runs a program called `name` with its options. Without options, prints its usage.
pub fn main<O>(
    name: &str,
    usage: &str,
    options: Result<Option<O>, lexopt::Error>,
    body: impl FnOnce(O) -> Result<(), Failure>,
) -> ExitCode {
    let options = match options {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{usage}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{name}: {error}\n{usage}");
            return ExitCode::from(2);
        }
    };
    match body(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

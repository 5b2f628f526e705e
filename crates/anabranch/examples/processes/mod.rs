//! For examples of two processes: one serves until its standard input ends, and is started, and ended, by the other.

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

/// Says where the other process finds this one: the first line of who serves.
pub fn announce(address: SocketAddr) {
    println!("listening on {address}");
}

/// Runs `body` until the standard input ends, or for so long: either is how it ought to end.
pub fn until_input_ends<E: From<anabranch::TimedOut>>(
    limit: Duration,
    body: impl FnOnce(&Cx<'_>) -> Result<(), E>,
) -> Result<(), E> {
    anabranch::run(|cx| {
        cx.cancellable(|cx, handle| {
            // A thread of its own, which nobody waits for: a read of the standard input cannot be interrupted.
            thread::spawn(move || {
                let _ = io::stdin().read_to_end(&mut Vec::new());
                handle.cancel();
            });
            cx.timeout(limit, body)
        })
    })
}

/// Starts this program as a server, with these arguments, does `body` with its address, ends it, and shows what else it
/// has said.
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

/// What a program called `name` does with its options, if it has got any: without, it says how it is used.
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

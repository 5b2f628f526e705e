//! Conversations whose order the compiler checks.
//!
//! ```text
//! cargo run --example conversations -- bank
//! cargo run -p anabranch-cli -- proto runtime/anabranch/examples/conversations/bank.rs
//! ```
//!
//! Each module is a protocol and a program that uses it. The second command shows its diagram, and the code that
//! `proto!` generates.
//! - `bank`: the first protocol that the pipes of 2012 were shown with (in two processes it is the example `bank`);
//! - `classics`: a one-shot channel and a stream, as protocols, as they were in 2012;
//! - `transfer`: a file in blocks, with a limited number in flight;
//! - `commit`: two-phase commit, a coordinator and its participants over a `ReceiverSet`;
//! - `chat`: a chat room, whose host forwards the lines of its guests.

mod bank;
mod chat;
mod classics;
mod commit;
mod transfer;

use anabranch::{Cx, channel::RecvError};
use std::process::ExitCode;

const USAGE: &str = "\
usage: conversations [NAME..]
  The conversations of these names, of bank, classics, transfer, commit and chat; all of them if none is given.";

type Conversation = fn(&Cx<'_>) -> Result<(), RecvError>;

const ALL: [(&str, Conversation); 5] = [
    ("bank", bank::day),
    ("classics", classics::both),
    ("transfer", transfer::file),
    ("commit", commit::rounds),
    ("chat", chat::evening),
];

fn main() -> ExitCode {
    let names = match names() {
        Ok(Some(names)) => names,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("conversations: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    for (name, conversation) in ALL {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("{name}:");
        if let Err(error) = anabranch::run(conversation) {
            eprintln!("conversations: {name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Parses the names. Returns `None` for `--help`.
fn names() -> Result<Option<Vec<String>>, lexopt::Error> {
    let mut names = Vec::new();
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            lexopt::Arg::Short('h') | lexopt::Arg::Long("help") => return Ok(None),
            lexopt::Arg::Value(value) => {
                let name = value.into_string().map_err(lexopt::Error::NonUnicodeValue)?;
                if !ALL.iter().any(|(known, _)| *known == name) {
                    return Err(format!("there is no conversation '{name}'").into());
                }
                names.push(name);
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(names))
}

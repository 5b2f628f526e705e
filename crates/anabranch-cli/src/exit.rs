//! How a command ends when it does not end well: one line on standard error and a status.

use std::io::Write;
use std::process::ExitCode;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// Nothing went wrong and there is nothing left to do (`--help`).
    Nothing,
    /// The command line is wrong: status 2.
    Usage(String),
    /// The run was refused or failed: status 1.
    Run(String),
    /// A signal ended it: status 128 and the signal's number.
    Interrupted(u8),
    /// Whoever read our standard output went away: status 141, as a pipe's end is told everywhere, and not a word.
    ClosedOutput,
}

impl Failure {
    /// Says what happened and gives the status to end with.
    pub fn report(self) -> ExitCode {
        let (line, status) = match self {
            Failure::Nothing => (None, 0),
            Failure::Usage(why) => (Some(why), 2),
            Failure::Run(why) => (Some(why), 1),
            Failure::Interrupted(signal) => (Some("interrupted".to_owned()), 128 + signal),
            Failure::ClosedOutput => (None, 141),
        };
        if let Some(line) = line {
            say(&line);
        }
        ExitCode::from(status)
    }
}

/// One line on standard error. A closed standard error is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "anabranch: {line}");
}

/// One line on standard error as it is, for results that have no other place.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

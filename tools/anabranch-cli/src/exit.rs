//! The end of a command that does not succeed: one line on standard error, and an exit status.

use std::io::Write;
use std::process::ExitCode;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// No error, and nothing left to do (`--help`).
    Nothing,
    /// The command line is wrong: status 2.
    Usage(String),
    /// The run was refused or failed: status 1.
    Run(String),
    /// A process of the run has printed the reason: this status.
    #[cfg(feature = "mpi")]
    Printed(u8),
    /// A comparison has found a regression: status 3.
    Regression(String),
    /// A signal ended it: status 128 plus the signal's number.
    Interrupted(u8),
    /// The reader of standard output has closed it: status 141, as usual for a closed pipe, and no message.
    ClosedOutput,
}

impl Failure {
    /// Prints the reason, and returns the exit status.
    pub fn report(self) -> ExitCode {
        let (line, status) = self.parts();
        if let Some(line) = line {
            print_message(line);
        }
        ExitCode::from(status)
    }

    /// Returns the message, if there is one, and the exit status.
    pub fn parts(&self) -> (Option<&str>, u8) {
        match self {
            Failure::Nothing => (None, 0),
            Failure::Usage(why) => (Some(why), 2),
            Failure::Run(why) => (Some(why), 1),
            #[cfg(feature = "mpi")]
            Failure::Printed(status) => (None, *status),
            Failure::Regression(what) => (Some(what), 3),
            Failure::Interrupted(signal) => (Some("interrupted"), 128 + signal),
            Failure::ClosedOutput => (None, 141),
        }
    }
}

/// Prints a message as one line on standard error. Ignores a closed standard error.
pub fn print_message(line: &str) {
    // In one write: `mpirun` mixes what several processes write.
    let _ = std::io::stderr().write_all(format!("anabranch: {line}\n").as_bytes());
}

/// Prints one line unchanged on standard error, for results that have no other place.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

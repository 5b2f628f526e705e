//! The end of a command that does not succeed: one line on standard error, and an exit status.

use std::io::Write;
use std::process::ExitCode;

/// The end of each help text.
pub const EXIT_CODES: &str = "Exit status:
  0    the run ended and its results are valid (or validation was skipped)
  1    the run was refused, or failed in whole or in part
  2    the command line is wrong
  3    compare has found a regression
  130  interrupted by Ctrl-C (129 by a hang-up, 143 by SIGTERM)
  141  standard output was closed early

Environment:
  ANABRANCH_NUM_THREADS  the number of threads where --threads does not say
  NO_COLOR               no colours";

/// Tells how to build a command that has everything.
pub const BUILD_ALL: &str = "build anabranch-cli with the feature `full`, which is a default";

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
    #[cfg(feature = "full")]
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
            #[cfg(feature = "full")]
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

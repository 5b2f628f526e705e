//! The common part of the commands with `--mpi`.
//!
//! **Errors.** All processes agree on every error, so that all end: process 0 prints it, and all have its status. So
//! MPI starts before the first check that can fail. A process that panics aborts the others, and `mpirun` ends them if
//! one is killed.

use graph500::distributed::{Communicator, first_message};
use graph500_mpi::Mpi;

use crate::exit::{Failure, print_message};

/// Starts MPI.
pub fn start() -> Result<Mpi, Failure> {
    Mpi::start().map_err(|error| Failure::Run(error.to_string()))
}

/// Returns whether the arguments ask for a run with MPI, even if they are wrong otherwise.
pub fn is_requested() -> bool {
    std::env::args_os().skip(2).any(|arg| arg == "--mpi")
}

/// Ends all processes of the run, because the arguments of this one are wrong.
pub fn refuse(failure: Failure) -> Failure {
    match Mpi::start() {
        Ok(mpi) => agree::<()>(&mpi, Err(failure)).err().unwrap_or(Failure::Nothing),
        Err(_) => failure,
    }
}

/// Returns `result`, or the failure of the first process that has one. Process 0 prints it, and all have its status.
pub fn agree<T>(mpi: &Mpi, result: Result<T, Failure>) -> Result<T, Failure> {
    // The status is in front of the text.
    let message = result.as_ref().err().map(|failure| {
        let (text, status) = failure.parts();
        format!("{status:3}{}", text.unwrap_or_default())
    });
    let Some((process, message)) = first_message(mpi, message.as_deref()) else { return result };
    let (status, text) = message.split_at_checked(3).unwrap_or(("1", &message));
    if mpi.process() == 0 && !text.is_empty() {
        // An error of the run names its process itself.
        print_message(&if process == 0 { text.to_owned() } else { format!("process {process}: {text}") });
    }
    // `mpirun` may end this process as soon as another one has ended with a status.
    first_message(mpi, None);
    Err(Failure::Printed(status.trim().parse().unwrap_or(1)))
}

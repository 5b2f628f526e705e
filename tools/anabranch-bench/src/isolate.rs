//! Runs one sample in its own process.
//!
//! Pools disturb each other: some spin before they sleep, some have a timer thread for the life of the pool, and one of
//! the peers cannot stop its timer. So the measuring process never starts a thread. It builds the data of a workload,
//! and then forks once per sample. The child inherits the data through copy-on-write pages. It makes the pool, takes
//! the sample, sends it through a pipe and exits, which ends all threads of its pool. So CPU time and context switches
//! of the process are those of one sample, and a peer that hangs is one line of the report.

use std::any::Any;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::process;

/// The time limit, longer than any sample that ends.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Why a child returned no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The child was still running at the time limit, and was killed.
    TimedOut(Duration),
    /// The child panicked with this message, for example because of a wrong result.
    Panicked(String),
    /// The child could not be started, or ended without a message.
    Died(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::TimedOut(limit) => {
                write!(f, "hung: no result after {} s", limit.as_secs_f64())
            }
            Failure::Panicked(message) => write!(f, "failed: {message}"),
            Failure::Died(message) => write!(f, "died: {message}"),
        }
    }
}

impl std::error::Error for Failure {}

/// Runs `f` in a child process and returns what it returned.
///
/// # Errors
/// Fails if the child panics, dies, or exceeds `limit`. Also fails if this process has more than one thread: a child
/// could then inherit a lock that no thread will ever release.
pub fn in_child<T, F>(limit: Duration, f: F) -> Result<T, Failure>
where
    T: Serialize + DeserializeOwned,
    F: FnOnce() -> T,
{
    let (child, reader) = start(|mut writer| {
        let result = catch_unwind(AssertUnwindSafe(f)).map_err(|payload| message(&*payload));
        let sent = serde_json::to_vec(&result).map_err(io::Error::from).and_then(|text| writer.write_all(&text));
        i32::from(sent.is_err())
    })?;
    let answer = read_until(reader, Instant::now() + limit);
    if answer.is_err() {
        // The child may have ended meanwhile, which is fine.
        let _ = kill(child, Signal::SIGKILL);
    }
    let status = waitpid(child, None);
    match answer {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Failure::TimedOut(limit)),
        Err(error) => Err(Failure::Died(format!("cannot read from the child: {error}"))),
        Ok(text) => match serde_json::from_slice::<Result<T, String>>(&text) {
            Ok(result) => result.map_err(Failure::Panicked),
            Err(_) => Err(Failure::Died(format!("{status:?}"))),
        },
    }
}

/// Starts a child process that runs `f` and exits with the status that `f` returns. What `f` writes arrives at the
/// returned reader. The caller waits for the child.
///
/// # Errors
/// Fails if this process has more than one thread, or if the system refuses a pipe or a process.
pub(crate) fn start(f: impl FnOnce(PipeWriter) -> i32) -> Result<(Pid, PipeReader), Failure> {
    let threads = process::thread_count();
    if threads != 1 {
        return Err(Failure::Died(format!("the measuring process has {threads} threads and must have one")));
    }
    let died = |what: &str, error: &dyn fmt::Display| Failure::Died(format!("{what}: {error}"));
    let (reader, writer) = io::pipe().map_err(|error| died("no pipe", &error))?;
    // Both processes would print buffered output.
    io::stdout().flush().map_err(|error| died("cannot flush stdout", &error))?;

    // SAFETY: `process::thread_count` has just found this thread alone in its process, so no other thread can hold a
    // lock, the allocator's included, that the child would inherit locked.
    match unsafe { fork() }.map_err(|error| died("cannot fork", &error))? {
        ForkResult::Child => {
            drop(reader);
            let status = catch_unwind(AssertUnwindSafe(|| f(writer))).unwrap_or(1);
            // SAFETY: `_exit` only ends the process. An orderly exit is not wanted, because the pool's threads still
            // run and must not see statics torn down.
            unsafe { nix::libc::_exit(status) }
        }
        ForkResult::Parent { child } => Ok((child, reader)),
    }
}

fn read_until(mut reader: PipeReader, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        if poll(&mut [PollFd::new(reader.as_fd(), PollFlags::POLLIN)], timeout)? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match reader.read(&mut buffer)? {
            0 => return Ok(text),
            count => text.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Returns the text of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message").to_owned()
}

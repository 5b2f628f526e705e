//! The process of a server.

use std::fs;
use std::io::{BufRead, BufReader, PipeReader, Read};
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use super::Kind;
use super::servers::{self, Role};
use crate::isolate;

/// The core of the server, and that of the load generator.
const CORES: [usize; 2] = [0, 1];

/// Binds this thread, and what it starts from now on, to one core.
fn pin(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core).expect("a small number");
    sched_setaffinity(Pid::from_raw(0), &cores).expect("the machine has two cores");
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    process: Pid,
    /// The port at which it listens.
    pub port: u16,
}

impl Server {
    /// Starts a server on its core, binds this thread to the other one, and waits until the server listens. The server
    /// ends when it is dropped, or when this thread ends.
    ///
    /// # Panics
    /// Panics if there is no second core, if this process has other threads, or if the server does not start.
    pub fn start(kind: Kind, role: Role) -> Server {
        // The process inherits the core.
        pin(CORES[0]);
        let started = isolate::start(|port| {
            let _ = set_pdeathsig(Signal::SIGKILL);
            i32::from(servers::serve(kind, role, port).is_err())
        });
        pin(CORES[1]);
        let (process, output) = started.unwrap_or_else(|failure| panic!("{failure}"));
        let mut server = Server { process, port: 0 };
        server.port = port(output).unwrap_or_else(|line| panic!("the server of {kind} has not started: {line:?}"));
        server
    }

    /// Returns the CPU time of all its threads so far, those that have ended included, in seconds.
    pub fn cpu(&self) -> f64 {
        let clock = clock_getcpuclockid(self.process).expect("the server lives");
        Duration::from(clock.now().expect("the server lives")).as_secs_f64()
    }

    /// Returns its anonymous memory, in bytes.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}

/// Reads the port that a server announces. Returns what the server wrote if that is no port.
fn port(output: PipeReader) -> Result<u16, String> {
    let mut line = String::new();
    // A port is short.
    let read = BufReader::new(output.take(16)).read_line(&mut line);
    read.map_err(|error| error.to_string())?;
    line.trim().parse().map_err(|_| line)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill(self.process, Signal::SIGKILL);
        let _ = waitpid(self.process, None);
    }
}

//! The process of a server.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read};
use std::sync::OnceLock;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use super::Kind;
use super::servers::{self, Role};
use crate::isolate;

/// Returns the processor of the server, and that of the load generator: the first two that this process may use and
/// that are not two threads of one core, if there are such.
fn processors() -> [usize; 2] {
    static FOUND: OnceLock<[usize; 2]> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let allowed = sched_getaffinity(Pid::from_raw(0)).expect("the affinity can be read");
        let mut all = (0..CpuSet::count()).filter(|number| allowed.is_set(*number).unwrap_or(false));
        let first = all.next().expect("a process has a processor");
        let others: Vec<usize> = all.collect();
        let core = |number: usize| {
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")).ok()
        };
        let of_first = core(first);
        let apart = others.iter().find(|other| of_first.is_some() && core(**other) != of_first);
        [first, *apart.or(others.first()).expect("there are two processors")]
    })
}

/// Binds this thread, and what it starts from now on, to one processor.
fn pin(processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor).expect("a small number");
    sched_setaffinity(Pid::from_raw(0), &set).expect("the process may use it");
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    process: Pid,
    /// The port at which it listens.
    pub port: u16,
}

impl Server {
    /// Starts a server on its processor, binds this thread to the other one, and waits until the server listens. The
    /// server ends when it is dropped, or when this thread ends.
    ///
    /// # Panics
    /// Panics if there is no second processor, if this process has other threads, or if the server does not start.
    pub fn start(kind: Kind, role: Role) -> Server {
        // The process inherits the processor.
        pin(processors()[0]);
        let server = Self::start_process(&kind, |port| servers::serve(kind, role, port));
        pin(processors()[1]);
        server
    }

    /// Starts a process that runs `serve`, which writes the port of its server. Waits until it has done so. The process
    /// ends when the server is dropped, or when this thread ends.
    ///
    /// # Panics
    /// Panics with the name if this process has other threads, or if the server does not start.
    pub fn start_process(name: &dyn fmt::Display, serve: impl FnOnce(PipeWriter) -> io::Result<()>) -> Server {
        let started = isolate::start(|port| {
            let _ = set_pdeathsig(Signal::SIGKILL);
            i32::from(serve(port).is_err())
        });
        let (process, output) = started.unwrap_or_else(|failure| panic!("{failure}"));
        let mut server = Server { process, port: 0 };
        server.port = port(output).unwrap_or_else(|line| panic!("the server of {name} has not started: {line:?}"));
        server
    }

    /// Returns the process of the server.
    pub fn process(&self) -> Pid {
        self.process
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

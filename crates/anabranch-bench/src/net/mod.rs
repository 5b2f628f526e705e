//! Sockets: servers of anabranch and its peers, each in a process of its own on one core, and a load generator on
//! another.

pub mod http;
pub mod load;
pub mod servers;

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use crate::fibers::peers::go;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// The core of the server, and that of the load generator.
pub const CORES: [usize; 2] = [0, 1];

/// Binds this thread, and what it starts from now on, to one core.
fn pin(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core).expect("a small number");
    sched_setaffinity(Pid::from_raw(0), &cores).expect("the machine has two cores");
}

/// A running server.
pub struct Server {
    child: Child,
    /// The port at which it listens.
    pub port: u16,
}

impl Server {
    /// Starts the server `peer` of `workload` on its core, binds this thread to the other one, and waits until the
    /// server listens. But for Go, the server is this program again.
    ///
    /// # Panics
    /// Panics if there is no second core, or if the server does not start.
    pub fn start(peer: &str, workload: &str) -> Server {
        let mut command = if peer == "go" {
            let mut command = Command::new(go::program());
            command.args(["serve", workload]);
            command
        } else {
            let mut command = Command::new(std::env::current_exe().expect("a path"));
            command.args(["--serve", peer, workload]);
            command
        };
        // The process inherits the core.
        pin(CORES[0]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        pin(CORES[1]);
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("the server of {peer} has not started: {line:?}"));
        Server { child, port }
    }

    /// Returns the CPU time of all its threads so far, in nanoseconds.
    pub fn cpu(&self) -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        let read = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
        read.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum()
    }

    /// Returns its anonymous memory, in bytes.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A process that takes the samples for a program with threads.
//!
//! Each sample needs a fork of a process with one thread ([`isolate`](crate::isolate)). A program that shows its
//! progress and waits for signals has more. So it first starts a measurer, which does nothing but take samples, and
//! asks it for one at a time over a pipe.
//!
//! The measurer is in a process group of its own, so a Ctrl-C on the terminal reaches only the program that asks. It
//! ends when that program drops the [`Measurer`], or ends in any way.

use std::convert::Infallible;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::panic;

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, getppid, setpgid};
use serde::{Deserialize, Serialize};

use crate::isolate::{Failure, LIMIT, in_child};
use crate::process;
use crate::sample::Sample;
use crate::suite::{self, Contender, Contest, Field, Sizes};
use crate::workloads::Spinner;

/// The interval at which a waiting program checks whether it should stop, in milliseconds.
const TICK: u16 = 50;

/// What a measurer measures.
#[derive(Clone, Debug)]
pub struct Order {
    /// The workloads: the name of the suite, and that of the workload.
    pub workloads: Vec<(&'static str, &'static str)>,
    /// The contenders.
    pub field: Field,
    /// Whether the workloads are smaller and shorter than usual.
    pub quick: bool,
    /// The number of rounds that the user requests.
    pub rounds: usize,
}

/// A workload whose data were built.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// A short description.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// The number of rounds.
    pub rounds: usize,
    /// The contenders, in the order of the table.
    pub contenders: Vec<Contender>,
    /// The calibration of CPU work in nanoseconds per step.
    pub nanoseconds_a_step: f64,
}

/// The answer of a measurer.
#[derive(Clone, Debug)]
pub enum Answer<T> {
    /// The measurer has answered.
    Done(T),
    /// The program was told to stop first. The measurer is no longer of use.
    Stopped,
}

#[derive(Serialize, Deserialize)]
enum Request {
    Prepare(usize),
    Sample(usize),
}

/// The measuring process.
#[derive(Debug)]
pub struct Measurer {
    process: Pid,
    requests: PipeWriter,
    answers: PipeReader,
}

impl Measurer {
    /// Starts the process.
    ///
    /// # Errors
    /// Fails if the calling process has more than one thread, or the system refuses another process.
    pub fn start(order: &Order) -> Result<Measurer, Failure> {
        let threads = process::thread_count();
        if threads != 1 {
            return Err(Failure::Died(format!(
                "the program has {threads} threads before it measures, and must have one"
            )));
        }
        let died = |error: &dyn std::fmt::Display| Failure::Died(format!("cannot start a process: {error}"));
        let (their_requests, requests) = io::pipe().map_err(|error| died(&error))?;
        let (answers, their_answers) = io::pipe().map_err(|error| died(&error))?;
        io::stdout().flush().map_err(|error| died(&error))?;
        let parent = nix::unistd::getpid();
        // SAFETY: `process::thread_count` has just found this thread alone in its process, so no other thread can hold
        // a lock, the allocator's included, that the child would inherit locked.
        match unsafe { fork() }.map_err(|error| died(&error))? {
            ForkResult::Child => {
                drop((requests, answers));
                let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
                end_with(parent);
                let Err(_) = serve(order, their_requests, their_answers);
                // SAFETY: `_exit` only ends the process, without the exit handlers of the program that forked.
                unsafe { nix::libc::_exit(0) }
            }
            ForkResult::Parent { child } => {
                // Both processes do this, so it is done whichever comes first.
                let _ = setpgid(child, child);
                Ok(Measurer { process: child, requests, answers })
            }
        }
    }

    /// Builds the data of the workload of this index, in place of the data of another one.
    ///
    /// `is_stopped` is called at intervals while this waits.
    ///
    /// # Errors
    /// Fails if the data cannot be built.
    pub fn prepare(&mut self, workload: usize, is_stopped: &dyn Fn() -> bool) -> Result<Answer<Prepared>, Failure> {
        Ok(match self.ask::<Result<Prepared, String>>(&Request::Prepare(workload), is_stopped)? {
            Answer::Done(prepared) => Answer::Done(prepared.map_err(Failure::Panicked)?),
            Answer::Stopped => Answer::Stopped,
        })
    }

    /// Takes a sample with the contender of this index. Returns the reason if the contender failed.
    ///
    /// `is_stopped` is called at intervals while this waits.
    ///
    /// # Errors
    /// Fails if the measurer ends.
    pub fn sample(
        &mut self,
        contender: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Answer<Result<Sample, String>>, Failure> {
        self.ask(&Request::Sample(contender), is_stopped)
    }

    fn ask<T: for<'de> Deserialize<'de>>(
        &mut self,
        request: &Request,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Answer<T>, Failure> {
        let died = |error: io::Error| Failure::Died(format!("the measuring process has ended: {error}"));
        let mut text = line(request);
        self.requests.write_all(&text).map_err(died)?;
        text.clear();
        while text.last() != Some(&b'\n') {
            if is_stopped() {
                return Ok(Answer::Stopped);
            }
            let ready = poll(&mut [PollFd::new(self.answers.as_fd(), PollFlags::POLLIN)], TICK);
            match ready {
                Ok(0) | Err(nix::Error::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(died(error.into())),
            }
            let mut part = [0; 4096];
            match self.answers.read(&mut part).map_err(died)? {
                0 => return Err(died(io::ErrorKind::UnexpectedEof.into())),
                count => text.extend_from_slice(&part[..count]),
            }
        }
        serde_json::from_slice(&text).map(Answer::Done).map_err(|error| died(error.into()))
    }
}

impl Drop for Measurer {
    fn drop(&mut self) {
        // The process that takes a sample is in the same group. The group may be empty already, which is fine.
        let _ = killpg(self.process, Signal::SIGKILL);
        let _ = waitpid(self.process, None);
    }
}

/// Ends this process when the thread of `parent` that forked it ends.
fn end_with(parent: Pid) {
    let _ = set_pdeathsig(Signal::SIGKILL);
    if getppid() != parent {
        // The parent has ended before the call above.
        // SAFETY: `_exit` only ends the process, as the signal would.
        unsafe { nix::libc::_exit(0) }
    }
}

fn line(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).expect("requests and answers are plain data");
    text.push(b'\n');
    text
}

/// Answers requests until the other end closes.
fn serve(order: &Order, requests: PipeReader, mut answers: PipeWriter) -> io::Result<Infallible> {
    // A failed sample is an answer. Its text on standard error would be in the middle of a progress bar.
    panic::set_hook(Box::new(|_| {}));
    // The unbalanced tree is 1,500 levels deep, and a thread that waits by running other jobs may have several such
    // recursions on its stack. rayon, chili and forte start threads through std, which reads this variable once.
    // SAFETY: this process has only this thread, so no other thread reads the environment meanwhile.
    unsafe { std::env::set_var("RUST_MIN_STACK", (64 << 20).to_string()) };
    let sizes = Sizes { quick: order.quick, spinner: Spinner::calibrate() };
    let mut contest: Option<Box<dyn Contest>> = None;
    let mut requests = BufReader::new(requests);
    let mut text = String::new();
    loop {
        text.clear();
        if requests.read_line(&mut text)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let answer = match serde_json::from_str(&text)? {
            Request::Prepare(index) => {
                // The data of a workload live only while it runs, because the process of each sample inherits all
                // memory.
                drop(contest.take());
                let built = panic::catch_unwind(|| prepare(order, index, sizes));
                line(&built.map_err(|payload| crate::isolate::message(&*payload)).map(|(prepared, built)| {
                    contest = Some(built);
                    prepared
                }))
            }
            Request::Sample(contender) => {
                let sample = match &contest {
                    Some(contest) => in_child(LIMIT, || contest.sample(contender)),
                    None => Err(Failure::Died("no workload was prepared".to_owned())),
                };
                line(&sample.map_err(|failure| failure.to_string()))
            }
        };
        answers.write_all(&answer)?;
    }
}

fn prepare(order: &Order, index: usize, sizes: Sizes) -> (Prepared, Box<dyn Contest>) {
    let (suite, name) = order.workloads[index];
    let suite = suite::ALL.iter().find(|known| known.name() == suite).expect("the suites have these names");
    let contest = suite.build(name, sizes, &order.field);
    let prepared = Prepared {
        title: contest.title(),
        unit: contest.unit().to_owned(),
        rounds: contest.rounds(order.rounds),
        contenders: contest.contenders(),
        nanoseconds_a_step: sizes.spinner.nanoseconds_a_step(),
    };
    (prepared, contest)
}

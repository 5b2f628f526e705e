//! Sysmon: detects threads of the pool that are blocked in foreign calls.
//!
//! A thread that blocks in a foreign call (a std mutex or channel, a file, a sleep) holds its slot without using it.
//! When no slot is free, the heartbeat worker compares the CPU clocks of the threads that hold one. If a clock has
//! hardly advanced since the last check, its thread has hardly run.
//!
//! A machine with more threads than cores causes the same reading. So a second check decides: only a thread that the
//! system reports as asleep counts as blocked. A thread that has switched between fibers since the last check is not
//! blocked. It may just wait for memory, or for a lock of the allocator, at the moment of the check.
//!
//! The slot of a worker that a fiber blocks is lent at once, because other fibers must go on. It is lent until the
//! thread's clock moves again, or until the thread returns from the call. Threads that block in compute code keep their
//! slots, so that a pool of N threads has at most N items open: see `pool/standstill`. Such a thread counts as blocked
//! only while its clock does not advance, because a loop of items that sleep for a short time each still makes
//! progress. So sysmon does not find an item that waits by spinning or by short sleeps.
//!
//! The system reports the state in `/proc`, and the call in which a thread is blocked. A sandbox may hide `/proc`, and
//! reading it needs a file descriptor, and the program may have none left. Without a report the clock alone decides,
//! and has to be unchanged for longer ([`MIN_SILENCE`]).
//!
//! On systems other than Linux sysmon detects no thread, and a blocked thread keeps its slot. Under shuttle a random
//! choice decides which thread counts as blocked. A wrong verdict costs time, and nothing else.

#[cfg(all(target_os = "linux", not(any(shuttle, sim))))]
use crate::sys::thread;
use crate::{pool::worker::Worker, sys::clock::Instant, trace::Event};
use std::{collections::HashMap, time::Duration};

/// The data that the heartbeat worker keeps from one check to the next.
#[derive(Default)]
pub(crate) struct Sysmon {
    readings: HashMap<usize, Reading>,
}

/// A thread's CPU clock, in nanoseconds, and when it was read.
struct Reading {
    thread: u32,
    clock: u64,
    /// The counter of [`Counters::steps`](crate::pool::stats::Counters::steps) at that time.
    steps: u64,
    at: Instant,
    /// The time since which the thread has not run.
    idle_since: Instant,
    /// The number of consecutive looks that found the thread asleep.
    asleep: u32,
}

/// A thread that is blocked in compute code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// The index of the worker entry.
    pub(crate) worker: usize,
    pub(crate) since: Instant,
    /// Whether it waits for another thread, without a deadline. Otherwise it waits for a device or for time, or the
    /// system does not tell.
    pub(crate) waits_for_thread: bool,
}

/// The result of a [look](Sysmon::check).
#[derive(Default)]
pub(crate) struct Found {
    /// A slot was lent.
    pub(crate) has_lent: bool,
    /// The threads that are blocked in compute code.
    pub(crate) blocked: Vec<Blocked>,
    /// The look saw a thread for the first time, or a thread does not run and is not known to be blocked. The next look
    /// must not be late.
    pub(crate) is_unsure: bool,
}

/// A fiber that runs for less than one part in this many of the time blocks its thread.
const BUSY_PART: u32 = 4;

/// How long a thread must not run before it counts as blocked, if the system reports no state. This is longer than a
/// runnable thread usually waits for a core. Otherwise such a thread would count as blocked, and the pool would start
/// another in its place.
const MIN_SILENCE: Duration = Duration::from_millis(50);

/// How many consecutive looks must find a thread asleep before it counts as blocked. A thread that waits for memory, or
/// for a lock of the allocator, while the system runs other programs, mostly runs again by the second look.
const CHECKS_ASLEEP: u32 = if cfg!(shuttle) { 1 } else { 2 };

impl Sysmon {
    /// Checks all threads that have a slot or have lent it.
    pub(crate) fn check<'a>(&mut self, workers: impl Iterator<Item = &'a Worker>) -> Found {
        let mut found = Found::default();
        for worker in workers {
            let status = &worker.status;
            if !(status.is_active() || status.is_lent()) {
                self.readings.remove(&worker.index);
                continue;
            }
            let thread = worker.thread();
            let Some(clock) = cpu_clock(thread) else { continue };
            let (at, steps) = (Instant::now(), worker.counters.steps());
            let before = self.readings.remove(&worker.index).filter(|before| before.thread == thread);
            let is_busy = before.as_ref().is_none_or(|before| {
                let ran = Duration::from_nanos(clock.saturating_sub(before.clock));
                ran * BUSY_PART > at - before.at
            });
            let computes = worker.is_inside_compute_or_guest();
            let is_still =
                |before: &&Reading| before.steps == steps && if computes { before.clock == clock } else { !is_busy };
            let still = before.as_ref().filter(is_still);
            let idle_since = still.map_or(at, |before| before.idle_since);
            let is_blocked =
                still.is_some() && status.is_active() && is_asleep(thread).unwrap_or(at - idle_since >= MIN_SILENCE);
            let asleep = if is_blocked { still.map_or(0, |before| before.asleep) + 1 } else { 0 };
            if before.is_some() && is_busy {
                if status.take_back() {
                    worker.trace.record(|| Event::Unblocked { worker: worker.index as u32 });
                }
            } else if asleep >= CHECKS_ASLEEP && computes {
                let waits_for_thread = waits_for_thread(thread) == Some(true);
                found.blocked.push(Blocked { worker: worker.index, since: idle_since, waits_for_thread });
            } else if asleep >= CHECKS_ASLEEP && lend(worker) {
                found.has_lent = true;
            } else if !is_busy || before.is_none() {
                found.is_unsure = true;
            }
            self.readings.insert(worker.index, Reading { thread, clock, steps, at, idle_since, asleep });
        }
        found
    }
}

/// Lends the slot of a blocked thread. Returns `false` if it has none any more.
pub(crate) fn lend(worker: &Worker) -> bool {
    let is_lent = worker.status.lend();
    if is_lent {
        worker.trace.record(|| Event::Blocked { worker: worker.index as u32 });
    }
    is_lent
}

/// Returns how long a thread of this process has run, in nanoseconds.
#[cfg(all(target_os = "linux", not(any(shuttle, sim))))]
pub(crate) fn cpu_clock(thread: u32) -> Option<u64> {
    // The kernel's encoding of "the scheduler's clock of this thread" (`CPUCLOCK_SCHED | CPUCLOCK_PERTHREAD_MASK`),
    // which `pthread_getcpuclockid` computes from a pthread_t. The kernel refuses the number of a thread that has
    // ended, and follows no pointer.
    let clock = (!(thread as libc::clockid_t) << 3) | 0b110;
    thread::clock_time(clock)
}

/// Returns whether a thread sleeps, that is, neither runs nor is ready to. Returns `None` if the system does not report
/// it, or if the thread waits for memory or a disk, which mostly takes a moment.
#[cfg(all(target_os = "linux", not(any(shuttle, sim))))]
pub(crate) fn is_asleep(thread: u32) -> Option<bool> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // The name before the state is in parentheses and may hold any character.
    let (_, rest) = stat.rsplit_once(')')?;
    let state = rest.trim_start().chars().next()?;
    (state != 'D').then_some(state == 'S')
}

/// Returns whether a thread that is asleep waits for another thread: for a lock or a condition, without a deadline.
/// Returns `None` if the system does not report it.
#[cfg(all(target_os = "linux", not(any(shuttle, sim))))]
pub(crate) fn waits_for_thread(thread: u32) -> Option<bool> {
    // The number of the system call and its arguments, in hexadecimal.
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
    let mut words = text.split_whitespace();
    let call: libc::c_long = words.next()?.parse().ok()?;
    // The fourth argument of `futex` is the deadline.
    Some(call == libc::SYS_futex && words.nth(3)? == "0x0")
}

#[cfg(not(any(target_os = "linux", shuttle, sim)))]
pub(crate) fn waits_for_thread(_: u32) -> Option<bool> {
    None
}

#[cfg(not(any(target_os = "linux", shuttle, sim)))]
pub(crate) fn cpu_clock(_: u32) -> Option<u64> {
    None
}

#[cfg(not(any(target_os = "linux", shuttle, sim)))]
pub(crate) fn is_asleep(_: u32) -> Option<bool> {
    None
}

#[cfg(sim)]
pub(crate) use anabranch_sim::thread::{cpu_time as cpu_clock, is_asleep, waits_for_thread};

/// The clock mostly stands still, and threads are mostly asleep. A slot is released only when all threads count as
/// blocked, which would hardly ever happen otherwise.
#[cfg(shuttle)]
pub(crate) fn cpu_clock(_: u32) -> Option<u64> {
    let runs = crate::sys::chance::one_in(32);
    Some(if runs { u64::MAX } else { 0 })
}

#[cfg(shuttle)]
pub(crate) fn is_asleep(_: u32) -> Option<bool> {
    (!crate::sys::chance::one_in(16)).then(|| !crate::sys::chance::one_in(16))
}

#[cfg(shuttle)]
pub(crate) fn waits_for_thread(_: u32) -> Option<bool> {
    Some(!crate::sys::chance::one_in(8))
}

#[cfg(all(test, target_os = "linux", not(shuttle)))]
mod tests {
    use super::*;
    use std::{
        sync::mpsc,
        thread,
        time::{Duration, Instant},
    };

    #[test]
    fn blocked_and_running_threads_are_distinguished() {
        let (sender, receiver) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let blocked = thread::spawn(move || {
            sender.send(crate::sys::thread::number_of_current()).unwrap();
            let _ = woken.recv();
        });
        let id = receiver.recv().unwrap();
        // The thread may also be asleep for a moment on its way there.
        loop {
            let before = cpu_clock(id).unwrap();
            thread::sleep(Duration::from_millis(5));
            if is_asleep(id) == Some(true) && cpu_clock(id).unwrap() == before {
                break;
            }
        }

        let me = crate::sys::thread::number_of_current();
        assert_eq!(is_asleep(me), Some(false));
        let (start, clock) = (Instant::now(), cpu_clock(me).unwrap());
        while cpu_clock(me).unwrap() == clock {
            assert!(start.elapsed() < Duration::from_secs(60), "the clock of a running thread stands still");
        }
        drop(wake);
        blocked.join().unwrap();
    }

    #[test]
    fn missing_thread_has_no_clock_or_state() {
        assert_eq!(cpu_clock(u32::MAX >> 4), None);
        assert_eq!(is_asleep(u32::MAX >> 4), None);
    }
}

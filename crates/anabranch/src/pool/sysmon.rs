//! The monitor: detects threads of the pool that are blocked in foreign calls.
//!
//! A thread that blocks in a foreign call (a std mutex or channel, a file, a sleep) holds its slot and does nothing
//! with it. The heartbeat worker, when no slot is free, compares the CPU clocks of those that hold one: a clock that
//! has hardly moved from one look to the next belongs to a thread that hardly ran (a thread that waits by short naps
//! runs a little). That may also be the scheduler's doing, on a machine with more threads than cores, so a second
//! question decides: only a thread that the system says is asleep is blocked. A thread that has changed from one fiber
//! to another since the last look is not: it may wait for memory, or for a lock of the allocator, at the moment of the
//! look. The slot of one that is blocked is lent until its clock moves again, or until it comes back by itself. A
//! thread that waits by spinning is not found: nothing tells it from one that works.
//!
//! The system says it in `/proc`, which a sandbox may hide, and which takes a file descriptor when the program may have
//! used up its own. Where it does not say anything, the clock alone decides, and has to stand still for longer
//! ([`SILENT`]).
//!
//! On systems other than Linux the monitor detects no thread, and a blocked thread keeps its slot. Under shuttle chance
//! decides which thread counts as blocked: a wrong verdict may cost time, and nothing else.

use crate::{pool::worker::Worker, sys::clock::Instant};
use std::{collections::HashMap, time::Duration};

/// What a heartbeat worker remembers from one check to the next.
#[derive(Default)]
pub(crate) struct Sysmon {
    readings: HashMap<usize, Reading>,
}

/// A thread's CPU clock, in nanoseconds, and when it was read.
struct Reading {
    thread: u32,
    clock: u64,
    /// See [`Counters::steps`](crate::pool::stats::Counters::steps).
    steps: u64,
    at: Instant,
    /// Since when it has hardly run.
    idle_since: Instant,
    /// In how many checks in a row it has been asleep.
    asleep: u32,
}

/// What a [look](Sysmon::look) has found.
#[derive(Default)]
pub(crate) struct Found {
    /// A slot was lent.
    pub(crate) has_lent: bool,
    /// A thread was seen for the first time, or hardly runs and is not known to be blocked: the next look is not to be
    /// late.
    pub(crate) is_unsure: bool,
}

/// A thread that runs for less than this part of the time is blocked for the rest of it.
const BUSY_PART: u32 = 4;

/// How long a thread has hardly run before it counts as blocked if the system does not say what it does. Longer than a
/// thread that could run usually waits for a core: it would be taken for blocked, and another started in its place.
const SILENT: Duration = Duration::from_millis(50);

/// In how many checks in a row a thread is asleep before it counts as blocked. One that waits for memory, or for a lock
/// of the allocator, while the system runs other programs, is mostly on its way again by the second.
const CHECKS: u32 = 2;

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
            let has_moved = before.as_ref().is_none_or(|before| before.steps != steps);
            let still = before.as_ref().filter(|_| !is_busy && !has_moved);
            let idle_since = still.map_or(at, |before| before.idle_since);
            let is_still = still.is_some();
            let is_blocked = is_still && status.is_active() && is_asleep(thread).unwrap_or(at - idle_since >= SILENT);
            let asleep = if is_blocked { still.map_or(0, |before| before.asleep) + 1 } else { 0 };
            if before.is_some() && is_busy {
                status.take_back();
            } else if asleep >= CHECKS && status.lend() {
                found.has_lent = true;
            } else if !is_busy || before.is_none() {
                found.is_unsure = true;
            }
            self.readings.insert(worker.index, Reading { thread, clock, steps, at, idle_since, asleep });
        }
        found
    }
}

/// Returns how long a thread of this process has run, in nanoseconds.
#[cfg(all(target_os = "linux", not(shuttle)))]
pub(crate) fn cpu_clock(thread: u32) -> Option<u64> {
    // The kernel's encoding of "the scheduler's clock of this thread" (`CPUCLOCK_SCHED | CPUCLOCK_PERTHREAD_MASK`),
    // which `pthread_getcpuclockid` makes out of a pthread_t; the number of a thread that has ended is refused, not
    // followed.
    let clock = (!(thread as libc::clockid_t) << 3) | 0b110;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec to be written.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    (!failed).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Returns whether a thread sleeps, that is, is neither running nor ready to. `None`: the system does not say, or the
/// thread waits for memory or for a disk, which is mostly over in a moment.
#[cfg(all(target_os = "linux", not(shuttle)))]
pub(crate) fn is_asleep(thread: u32) -> Option<bool> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // The name before the state is in parentheses and may hold any character.
    let (_, rest) = stat.rsplit_once(')')?;
    let state = rest.trim_start().chars().next()?;
    (state != 'D').then_some(state == 'S')
}

#[cfg(not(any(target_os = "linux", shuttle)))]
pub(crate) fn cpu_clock(_: u32) -> Option<u64> {
    None
}

#[cfg(not(any(target_os = "linux", shuttle)))]
pub(crate) fn is_asleep(_: u32) -> Option<bool> {
    None
}

/// Mostly stands still: if blocked threads counted as running too often, their slots would never be free.
#[cfg(shuttle)]
pub(crate) fn cpu_clock(_: u32) -> Option<u64> {
    let runs = crate::sys::chance::one_in(8);
    Some(if runs { u64::MAX } else { 0 })
}

#[cfg(shuttle)]
pub(crate) fn is_asleep(_: u32) -> Option<bool> {
    (!crate::sys::chance::one_in(8)).then(|| !crate::sys::chance::one_in(4))
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
    fn a_blocked_thread_is_told_from_one_that_runs() {
        let (tell, told) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let blocked = thread::spawn(move || {
            tell.send(crate::sys::thread::number_of_current()).unwrap();
            let _ = woken.recv();
        });
        let id = told.recv().unwrap();
        // It may be asleep on its way there too, for a moment.
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
    fn of_a_thread_that_does_not_exist_nothing_is_said() {
        assert_eq!(cpu_clock(u32::MAX >> 4), None);
        assert_eq!(is_asleep(u32::MAX >> 4), None);
    }
}

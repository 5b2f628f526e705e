//! Finds out that nothing in the process can proceed, and reports it.
//!
//! The heartbeat worker checks before it goes to sleep, that is, when its pool has had no work for a while. So a busy
//! pool pays nothing. There are two findings.
//!
//! A **deadlock** is certain. It needs all of this:
//! - Every thread of the process is known: a thread of a pool, a thread that waits in a pool, an idle thread for
//!   blocking calls, the thread for reports, or a thread that is blocked in a foreign call. So no other thread can
//!   send, unlock or cancel.
//! - A thread that is blocked in a foreign call waits for another thread without a deadline: for a lock, a channel or a
//!   condition of std, for example. The system says so.
//! - No thread of a pool works or runs a handler of the program; no work is left in any pool, and no fiber is ready.
//! - A fiber or thread waits, and none of them has a deadline. No socket is registered at a reactor. So the system does
//!   not wake a thread either.
//!
//! These conditions must hold at one moment, and they are read one after the other. So a check reads the state and the
//! CPU clock of each thread, then the conditions, and then states and clocks again. If each thread was asleep both
//! times with the same clock, it has not run in between. So there is a moment, the end of the first reading, at which
//! all other threads were asleep, and the conditions did not change until the second reading. A thread that is being
//! woken is not asleep: the system makes it runnable at once. If a thread has run, the next check decides.
//!
//! A **cycle** of fibers that wait for each other's locks needs no knowledge of other threads. No fiber of the pool has
//! run while the cycle was read, so it did exist. The waits in it have no deadlines. A cycle that includes a plain
//! thread is not reported. Two things could still end such a cycle. Another thread may cancel one of the fibers. Or a
//! guard was sent away after its lock was taken, so another fiber will unlock.
//!
//! Two kinds are not detected: a deadlock while the process has a thread that no pool knows of and that sleeps, or
//! waits for a device, since that thread may do anything afterwards; and a deadlock that a thread from outside causes
//! by its end, since then no worker checks. Two kinds of waits would be taken for a deadlock: for another process that
//! shares memory with this one, and for a handler of signals.
//!
//! While compute code is open, the heartbeat worker does not go to sleep. Then it looks once a second, if nothing has
//! begun meanwhile.
//!
//! On systems other than Linux only cycles are found.

#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
use crate::{
    fiber::status::State,
    pool::{
        blocked_thread::BlockedThread,
        sysmon::{cpu_clock, is_asleep, waits_for_thread},
    },
    sys::report_signal,
};
use crate::{
    pool::{inspect, live, registry::Registry, report::Report, worker::Worker},
    sys::sync::Ordering,
};
#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
use std::fs;
use std::sync::{Arc, OnceLock};

/// Set to `off`, no pool of the process looks for deadlocks.
const VARIABLE: &str = "ANABRANCH_DEADLOCKS";

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The deadlock was already reported, or there is none, or it would not be certain.
    Done,
    /// Some thread ran meanwhile. The next check decides.
    Unsure,
}

/// Looks for a deadlock, and reports it. The heartbeat worker of a pool without work calls this.
pub(crate) fn look(registry: &Registry, me: &Worker) -> Look {
    if cfg!(any(shuttle, sim, miri))
        || !registry.pool_threads.looks_for_deadlocks()
        || registry.is_closing()
        || is_off()
    {
        return Look::Done;
    }
    let waits = |worker: &Worker| worker.status.is_occupied();
    if registry.limits.is_empty() && !registry.workers().any(waits) {
        return Look::Done;
    }
    // Nothing has happened since the last report.
    let now = fingerprint(registry);
    if registry.reported.load(Ordering::Relaxed) == now {
        return Look::Done;
    }
    let pools = live::all();
    match find_deadlock(&pools, me) {
        Some(Some(mut report)) => {
            live::add_stacks_if_wanted(&mut report);
            for pool in &pools {
                pool.reported.store(fingerprint(pool), Ordering::Relaxed);
            }
            registry.pool_threads.report_deadlock(&report);
            Look::Done
        }
        Some(None) => Look::Unsure,
        None => {
            if let Some(mut report) = find_cycle(registry) {
                live::add_stacks_if_wanted(&mut report);
                registry.reported.store(now, Ordering::Relaxed);
                registry.pool_threads.report_deadlock(&report);
            }
            Look::Done
        }
    }
}

/// Returns a number that changes when a fiber runs, or a thread enters the pool.
fn fingerprint(registry: &Registry) -> u64 {
    registry.count_steps().wrapping_add(registry.count_roots()).wrapping_add(1)
}

fn is_off() -> bool {
    static IS_OFF: OnceLock<bool> = OnceLock::new();
    *IS_OFF.get_or_init(|| std::env::var_os(VARIABLE).is_some_and(|value| value == "off" || value == "0"))
}

/// Returns a report if some fibers of the pool certainly wait for each other's locks.
fn find_cycle(registry: &Registry) -> Option<Report> {
    let lock_waits: u64 = registry.workers().fold(0, |sum, worker| sum.wrapping_add(worker.wait.lock_waits.get()));
    // A fiber may wait for a lock that it holds itself.
    if lock_waits == 0 {
        return None;
    }
    let steps = registry.count_steps();
    let mut report = inspect::report(&[registry]);
    let fibers = &report.fibers;
    report.cycles.retain(|cycle| cycle.iter().all(|&index| !fibers[index].is_thread));
    (registry.count_steps() == steps && !report.cycles.is_empty()).then_some(report)
}

/// Returns the report of a certain deadlock. Returns `None` if there is none, and `Some(None)` if a thread that cannot
/// proceed by itself has not come to rest.
#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
fn find_deadlock(pools: &[Arc<Registry>], me: &Worker) -> Option<Option<Report>> {
    if !is_closed_system(pools) {
        return None;
    }
    // Mostly a thread of a pool computes, and there may be thousands of others.
    let runs = |worker: &Worker| worker.status.is_at_work() && is_asleep(worker.thread()) != Some(true);
    if pools.iter().flat_map(|pool| pool.workers()).any(runs) {
        return Some(None);
    }
    let Some(before) = Readings::take(me.thread()) else { return Some(None) };
    let blocked = before.blocked(pools)?;
    if !is_stuck(pools, !blocked.is_empty()) {
        return None;
    }
    let mut report = inspect::report(&pools.iter().map(|pool| &**pool).collect::<Vec<_>>());
    report.is_deadlock = true;
    // Also those that do not belong to a pool.
    report.blocked = blocked.into_iter().map(BlockedThread::new).collect();
    let is_same = Readings::take(me.thread()).is_some_and(|after| after == before);
    Some(is_same.then_some(report))
}

#[cfg(not(all(target_os = "linux", not(any(shuttle, sim, miri)))))]
fn find_deadlock(_: &[Arc<Registry>], _: &Worker) -> Option<Option<Report>> {
    None
}

/// Returns whether, as far as can be seen without a look at threads, only threads of the process end waits.
#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
fn is_closed_system(pools: &[Arc<Registry>]) -> bool {
    pools.iter().all(|pool| {
        let is_open = !pool.is_closing() && !pool.pool_threads.is_in_handler();
        is_open && pool.workers().all(|worker| !worker.parking.reactor.has_sources())
    })
}

/// Returns whether something `waits`, and nothing else is there that could run. Threads at work are blocked.
#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
fn is_stuck(pools: &[Arc<Registry>], mut waits: bool) -> bool {
    let mut is_still = |state, worker: &Worker| match state {
        State::Idle => true,
        State::Suspended => {
            waits = true;
            true
        }
        State::Running => worker.status.is_at_work(),
        State::Ready | State::SuspendedUntil => false,
    };
    let mut is_stuck = is_closed_system(pools);
    for pool in pools {
        is_stuck &= !pool.has_published_work() && pool.blocking.idle().is_some();
        for worker in pool.workers() {
            is_stuck &= is_still(worker.wait.status.state(), worker)
                && worker.compute.broadcasts.is_empty()
                && worker.compute.tasks.is_empty();
            is_stuck &= !worker.fibers.were_woken();
            worker.fibers.blocks.for_each(|fiber| is_stuck &= is_still(fiber.state(), worker));
        }
    }
    is_stuck && waits
}

/// The threads of the process but for the one that reads, each with its CPU clock. All were asleep.
#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
#[derive(PartialEq, Eq)]
struct Readings(Vec<(u32, u64)>);

#[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
impl Readings {
    /// Returns `None` if a thread was not asleep, or the system does not tell.
    fn take(me: u32) -> Option<Self> {
        let mut readings = Vec::new();
        for entry in fs::read_dir("/proc/self/task").ok()? {
            let thread = entry.ok()?.file_name().to_str()?.parse().ok()?;
            if thread != me {
                readings.push((thread, cpu_clock(thread)?));
                if is_asleep(thread) != Some(true) {
                    return None;
                }
            }
        }
        readings.sort_unstable();
        Some(Self(readings))
    }

    /// Returns the threads that are blocked in foreign calls and wait for another thread. Returns `None` if a thread
    /// neither is one of them, nor is idle or waits in the pools.
    fn blocked(&self, pools: &[Arc<Registry>]) -> Option<Vec<u32>> {
        let holders = || pools.iter().flat_map(|pool| pool.workers());
        // A thread that waits in one pool may work in another one.
        let at_work: Vec<u32> = holders().filter(|worker| worker.status.is_at_work()).map(Worker::thread).collect();
        let known: Vec<u32> = holders()
            .filter(|worker| worker.is_own || worker.status.is_occupied())
            .map(Worker::thread)
            .filter(|thread| !at_work.contains(thread))
            .chain([report_signal::thread()])
            .collect();
        let others = self.0.iter().map(|(thread, _)| *thread).filter(|thread| !known.contains(thread));
        let (blocked, rest): (Vec<u32>, Vec<u32>) = others.partition(|thread| waits_for_thread(*thread) == Some(true));
        // All threads for blocking calls are idle, each with a deadline, and they are not known by their numbers.
        let idle: Option<usize> = pools.iter().map(|pool| pool.blocking.idle()).sum();
        (idle == Some(rest.len())).then_some(blocked)
    }
}

//! Reads the state of the fibers and threads of pools while they run: the list of fibers, and the report of a hang.
//!
//! A fiber that waits for a lock, and the lock, lead to the holder (see `wait::awaited_lock`). The holder is the
//! address of a waiter. Each fiber has such an address, and so has each thread that waits inside `run`. The addresses
//! are only compared.

use crate::{
    fiber::{
        status::{FiberStatus, State},
        task::Job,
    },
    pool::{
        blocked_thread::BlockedThread,
        registry::Registry,
        report::{FiberInfo, FiberKey, FiberState, LockHolder, Report, ThreadInfo, ThreadState},
        sysmon::{is_asleep, waits_for_thread},
        worker::Worker,
    },
    sys::{clock::Instant, sync::Ordering},
};
use std::{
    collections::{BTreeSet, HashMap},
    ptr,
    time::Duration,
};

/// The addresses of a fiber or thread that waits.
struct Addresses {
    own: *const (),
    /// The holder of the lock that it waits for, or null.
    holder: *const (),
}

/// Returns the fibers of a pool, and the threads that wait in it.
pub(crate) fn fibers(registry: &Registry) -> Vec<FiberInfo> {
    collect(&[registry]).fibers
}

/// Returns what the fibers and threads of these pools do.
pub(crate) fn report(registries: &[&Registry]) -> Report {
    let Collected { fibers, addresses } = collect(registries);
    let blocked = blocked(registries);
    let is_blocked = |number| blocked.iter().any(|blocked: &BlockedThread| blocked.number == number);
    let threads = registries.iter().flat_map(|registry| threads(registry, is_blocked)).collect();
    let pools = registries.iter().map(|registry| registry.id).collect();
    let cycles = cycles(&addresses).into_iter().filter(|cycle| cycle.iter().all(|&index| !fibers[index].has_deadline));
    Report { pools, cycles: cycles.collect(), threads, is_deadlock: false, fibers, blocked, missing_stacks: None }
}

struct Collected {
    fibers: Vec<FiberInfo>,
    /// Those of the fibers, in the same order.
    addresses: Vec<Addresses>,
}

fn collect(registries: &[&Registry]) -> Collected {
    let mut all = Collected { fibers: Vec::new(), addresses: Vec::new() };
    for registry in registries {
        all.add(registry);
    }
    let indices = indices(&all.addresses);
    for index in 0..all.fibers.len() {
        let holder = indices.get(&all.addresses[index].holder).map(|&holder| &all.fibers[holder]);
        let holder = holder.map(|holder| LockHolder {
            name: holder.name.clone(),
            spawned_at: holder.spawned_at,
            is_thread: holder.is_thread,
        });
        all.fibers[index].holder = holder;
    }
    all
}

impl Collected {
    fn add(&mut self, registry: &Registry) {
        let now = registry.time.tick_at(Instant::now());
        for worker in registry.workers() {
            worker.fibers.blocks.for_each(|fiber| {
                if let Some(state) = state_of(fiber.state()) {
                    self.push(registry, fiber.card(), state, ptr::from_ref(fiber).cast(), now);
                    let last = self.fibers.last_mut().expect("just pushed");
                    last.worker = Some(worker.index);
                    last.key.worker = worker.index;
                }
            });
            if let Some(state @ FiberState::Waiting) = state_of(worker.wait.status.state()) {
                let waiter = worker.wait.waiter.load(Ordering::Relaxed);
                self.push(registry, &worker.wait.status, state, waiter, now);
                let last = self.fibers.last_mut().expect("just pushed");
                last.worker = worker.is_own.then_some(worker.index);
                last.key.worker = worker.index;
                last.is_thread = true;
            }
        }
        for worker in registry.workers() {
            let mut push = |job: Job| {
                self.addresses.push(Addresses { own: ptr::null(), holder: ptr::null() });
                // SAFETY: the job is in the queue, so it has not been run, and it stays there during this call.
                let (name, spawned_at) = unsafe { (job.name(), job.origin()) };
                self.fibers.push(FiberInfo {
                    pool: registry.id,
                    name,
                    state: FiberState::Unstarted,
                    waits_for: None,
                    location: None,
                    elapsed: None,
                    has_deadline: false,
                    spawned_at,
                    holder: None,
                    worker: None,
                    is_thread: false,
                    key: FiberKey::default(),
                    stack: None,
                });
            };
            worker.fibers.jobs.for_each(&mut push);
            worker.fibers.placed.for_each(push);
        }
    }

    /// Adds a fiber that has started, or a thread that waits.
    fn push(&mut self, registry: &Registry, card: &FiberStatus, state: FiberState, own: *const (), now: u32) {
        let waits = state == FiberState::Waiting;
        let reason = card.reason().filter(|_| waits);
        let since = card.since();
        let elapsed = Duration::from_millis(u64::from(now.wrapping_sub(since)));
        self.addresses.push(Addresses { own, holder: if waits { card.lock.holder() } else { ptr::null() } });
        self.fibers.push(FiberInfo {
            pool: registry.id,
            name: card.name(),
            state,
            waits_for: reason.map(|reason| *reason.what),
            location: reason.map(|reason| reason.at),
            // A tick of another worker, which is a moment older, may be later than `now`.
            elapsed: waits
                .then(|| if elapsed.as_millis() > u128::from(u32::MAX / 2) { Duration::ZERO } else { elapsed }),
            has_deadline: waits && card.state() == State::SuspendedUntil,
            spawned_at: card.origin(),
            holder: None,
            worker: None,
            is_thread: false,
            key: FiberKey { worker: 0, block: own.addr(), since },
            stack: None,
        });
    }
}

fn state_of(state: State) -> Option<FiberState> {
    match state {
        State::Idle => None,
        State::Running => Some(FiberState::Running),
        State::Ready => Some(FiberState::Ready),
        State::Suspended | State::SuspendedUntil => Some(FiberState::Waiting),
    }
}

/// Returns the threads at work that are blocked in foreign calls and wait for another thread.
fn blocked(registries: &[&Registry]) -> Vec<BlockedThread> {
    if cfg!(any(shuttle, sim, miri)) {
        return Vec::new();
    }
    let at_work = registries.iter().flat_map(|registry| registry.workers()).filter(|worker| worker.status.is_at_work());
    let waits = |&thread: &u32| is_asleep(thread) == Some(true) && waits_for_thread(thread) == Some(true);
    let threads: BTreeSet<u32> = at_work.map(Worker::thread).filter(waits).collect();
    threads.into_iter().map(BlockedThread::new).collect()
}

fn threads(registry: &Registry, is_blocked: impl Fn(u32) -> bool) -> Vec<ThreadInfo> {
    let info = |worker: &Worker| {
        let state = match &worker.status {
            status if status.is_lent() || status.is_active() && is_blocked(worker.thread()) => ThreadState::Blocked,
            status if status.is_active() => ThreadState::Working,
            status if status.is_occupied() => ThreadState::Waiting,
            // A guest that has left, or a thread that the system refused.
            _ if !worker.is_own || worker.thread() == 0 && cfg!(target_os = "linux") => return None,
            _ => ThreadState::Idle,
        };
        Some(ThreadInfo { pool: registry.id, worker: worker.index, is_guest: !worker.is_own, state })
    };
    registry.workers().filter_map(info).collect()
}

/// Returns which of `all` has an address of its own.
fn indices(all: &[Addresses]) -> HashMap<*const (), usize> {
    all.iter().enumerate().filter(|(_, one)| !one.own.is_null()).map(|(index, one)| (one.own, index)).collect()
}

/// Returns the cycles in which each waits for a lock that the next one holds.
///
/// Each waits for one lock at most, so each has one successor at most, and is in one cycle at most.
fn cycles(all: &[Addresses]) -> Vec<Vec<usize>> {
    let indices = indices(all);
    let next = |index: usize| indices.get(&all[index].holder).copied();
    // The walk that has reached it first; 0 if none has.
    let mut walks = vec![0; all.len()];
    let mut cycles = Vec::new();
    for start in 0..all.len() {
        let mut at = Some(start);
        while let Some(index) = at.filter(|&index| walks[index] == 0) {
            walks[index] = start + 1;
            at = next(index);
        }
        // It has come back to where this walk was before.
        if let Some(first) = at.filter(|&index| walks[index] == start + 1) {
            let mut cycle = vec![first];
            let mut at = next(first);
            while let Some(index) = at.filter(|&index| index != first) {
                cycle.push(index);
                at = next(index);
            }
            cycles.push(cycle);
        }
    }
    cycles
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_once_each() {
        let address = |number: usize| ptr::without_provenance(8 * number);
        let all = |holders: &[usize]| -> Vec<Addresses> {
            let one = |(index, &holder)| Addresses { own: address(index + 1), holder: address(holder) };
            holders.iter().enumerate().map(one).collect()
        };
        assert_eq!(cycles(&all(&[2, 3, 0])), Vec::<Vec<usize>>::new());
        assert_eq!(cycles(&all(&[2, 1, 1])), [[0, 1]]);
        assert_eq!(cycles(&all(&[2, 3, 2, 4])), [vec![1, 2], vec![3]]);
        // A holder that is not listed.
        assert_eq!(cycles(&all(&[9, 1])), Vec::<Vec<usize>>::new());
    }
}

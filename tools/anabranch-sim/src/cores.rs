//! The cores and the threads: who runs where, and when.
//!
//! | a thread is | when                                  | left by                                              |
//! |-------------|---------------------------------------|------------------------------------------------------|
//! | queued      | it could run, and all cores are taken | a core that becomes free -> on a core                |
//! | on a core   | the core has it, or wakes up for it   | a wait -> waiting; the end of its slice -> queued    |
//! | waiting     | it waits for an address, or a time    | a wake-up, a timeout -> on a core, or queued         |
//! | done        | its closure has returned              | -                                                    |
//!
//! A thread on a core has one event in the queue, at the clock of the core, unless it is the one that runs. A core
//! counts its `turns`, so that events of former turns are skipped. A woken thread gets the core that it had last, or
//! the next idle core, or else enters the queue, which all cores share. A core takes the first queued thread when its
//! own thread waits, and at the end of a slice.

use crate::{
    lines::Lines,
    local::Locals,
    machine::{Machine, Picos, SLOW_WAKE},
};
use corosensei::{Coroutine, Yielder, stack::DefaultStack};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    mem,
    rc::Rc,
};

/// The number of a thread, from 0.
pub(crate) type ThreadId = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The thread of a core continues.
    Run { core: usize, turn: u64 },
    /// The slice of a core's thread ends.
    SliceEnd { core: usize },
    /// A wait times out.
    Timeout { thread: ThreadId, wait: u64 },
}

#[derive(Default)]
pub(crate) struct Core {
    pub(crate) clock: Picos,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) turn: u64,
    /// When its thread began to run on it, or when it became idle.
    pub(crate) since: Picos,
    /// When the store buffer is empty.
    pub(crate) drained: Picos,
    /// Whether there is an event for the end of the slice.
    pub(crate) has_slice_end: bool,
}

pub(crate) struct Thread {
    pub(crate) coroutine: Option<Coroutine<(), (), (), DefaultStack>>,
    pub(crate) yielder: *const Yielder<(), ()>,
    pub(crate) locals: Rc<Locals>,
    pub(crate) core: usize,
    /// The time of its next operation after it gets a core again.
    pub(crate) debt: Picos,
    /// Counts the waits, so that a timeout of a former wait is skipped.
    pub(crate) wait: u64,
    /// The address that it waits for; 0 for none.
    pub(crate) address: usize,
    pub(crate) is_waiting: bool,
    pub(crate) has_deadline: bool,
    pub(crate) has_timed_out: bool,
    pub(crate) cpu: Picos,
}

pub(crate) struct State {
    pub(crate) lines: Lines,
    pub(crate) cores: Vec<Core>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) events: BinaryHeap<Reverse<(Picos, u64, Event)>>,
    pub(crate) requests: u64,
    pub(crate) queue: VecDeque<ThreadId>,
    pub(crate) waiters: HashMap<usize, VecDeque<ThreadId>>,
    pub(crate) random: u64,
    /// The core that runs, while its thread does.
    pub(crate) core: usize,
    pub(crate) thread: ThreadId,
}

impl State {
    pub(crate) fn push(&mut self, at: Picos, event: Event) {
        self.requests += 1;
        self.events.push(Reverse((at, self.requests, event)));
    }

    pub(crate) fn random(&mut self, n: u64) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    pub(crate) fn is_running(&self, core: usize, now: Picos) -> bool {
        self.cores[core].thread.is_some() && self.cores[core].since <= now
    }

    /// Takes time from the thread of a core that does not run at the moment.
    pub(crate) fn delay(&mut self, core: usize, time: Picos) {
        self.cores[core].turn += 1;
        self.cores[core].clock += time;
        let (at, turn) = (self.cores[core].clock, self.cores[core].turn);
        self.push(at, Event::Run { core, turn });
    }

    /// Takes the thread off a core, and gives the core to the next one in the queue.
    pub(crate) fn release(&mut self, machine: &Machine, core: usize) {
        let now = self.cores[core].clock;
        if let Some(thread) = self.cores[core].thread.take() {
            self.threads[thread].cpu += now.saturating_sub(self.cores[core].since);
        }
        self.cores[core].turn += 1;
        match self.queue.pop_front() {
            Some(thread) => self.give(machine, core, thread, now + machine.switch),
            None => self.cores[core].since = now,
        }
    }

    /// Makes a thread run on a core from `at` on.
    pub(crate) fn give(&mut self, machine: &Machine, core: usize, thread: ThreadId, at: Picos) {
        let debt = mem::take(&mut self.threads[thread].debt);
        self.threads[thread].core = core;
        let place = &mut self.cores[core];
        place.turn += 1;
        (place.thread, place.since, place.clock) = (Some(thread), at, at + debt);
        let turn = place.turn;
        self.push(at + debt, Event::Run { core, turn });
        if !self.queue.is_empty() {
            self.watch_slice(machine, core, at);
        }
    }

    /// Ends the slice of a core in time.
    pub(crate) fn watch_slice(&mut self, machine: &Machine, core: usize, now: Picos) {
        if !mem::replace(&mut self.cores[core].has_slice_end, true) {
            let end = now.max(self.cores[core].since + machine.slice);
            self.push(end, Event::SliceEnd { core });
        }
    }

    /// Gives the core of a thread that has used its slice to the first one in the queue.
    pub(crate) fn end_slice(&mut self, machine: &Machine, core: usize, now: Picos) {
        self.cores[core].has_slice_end = false;
        let Some(thread) = self.cores[core].thread else { return };
        if self.queue.is_empty() {
            return;
        }
        if self.cores[core].since + machine.slice > now {
            // Another thread has begun since.
            return self.watch_slice(machine, core, now);
        }
        self.threads[thread].debt = self.cores[core].clock.saturating_sub(now);
        self.cores[core].clock = now;
        self.queue.push_back(thread);
        self.release(machine, core);
    }

    pub(crate) fn time_out(&mut self, machine: &Machine, thread: ThreadId, wait: u64, now: Picos) {
        if self.threads[thread].is_waiting && self.threads[thread].wait == wait {
            if let Some(waiters) = self.waiters.get_mut(&self.threads[thread].address) {
                waiters.retain(|&waiter| waiter != thread);
            }
            self.end_wait(machine, thread, true, now);
        }
    }

    pub(crate) fn end_wait(&mut self, machine: &Machine, thread: ThreadId, has_timed_out: bool, now: Picos) {
        (self.threads[thread].is_waiting, self.threads[thread].has_timed_out) = (false, has_timed_out);
        self.make_ready(machine, thread, now);
    }

    /// Finds a core for a thread that can run from `now` on.
    pub(crate) fn make_ready(&mut self, machine: &Machine, thread: ThreadId, now: Picos) {
        let (last, count) = (self.threads[thread].core, self.cores.len());
        let order = (0..count).map(|step| (last + step) % count);
        let is_near = |core: &usize| core / machine.cores_per_socket == last / machine.cores_per_socket;
        let (near, far): (Vec<_>, Vec<_>) = order.partition(is_near);
        let idle = near.into_iter().chain(far).find(|&core| self.cores[core].thread.is_none());
        if let Some(core) = idle {
            let latency = machine.latency(now.saturating_sub(self.cores[core].since));
            // From three quarters to five quarters of it, and rarely much more.
            let mut latency = latency * 3 / 4 + self.random(latency / 2 + 1);
            if self.random(SLOW_WAKE) == 0 {
                latency *= machine.slow_wake_factor;
            }
            return self.give(machine, core, thread, now.max(self.cores[core].since) + latency);
        }
        self.queue.push_back(thread);
        let cores = self.cores.iter().enumerate();
        let unwatched = cores.filter(|(_, core)| !core.has_slice_end);
        if let Some((core, _)) = unwatched.min_by_key(|(_, core)| core.since) {
            self.watch_slice(machine, core, now);
        }
    }
}

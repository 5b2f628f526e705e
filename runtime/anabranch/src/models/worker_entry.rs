//! The parts that the models of forks share: forks that count their runs, and the part of a worker that they need.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    fork::{
        frame::Frame,
        offer::Offer,
        raid::Raid,
        shelf::Theft,
        stack::{ForkStack, Outcome, Popped},
    },
    sys::{
        asymmetric_fence::Fence,
        parker::Parker,
        sync::{AtomicU64, Mutex, Ordering, lock},
    },
    wait::latch::{Latch, LatchWait},
};
use loom::{cell::UnsafeCell, sync::Arc, thread};
use std::{collections::VecDeque, ptr};

/// A fork as `join` makes it, reduced to a number that running it increments. Loom sees every access to the number, so
/// a missing ordering shows as a race.
#[repr(C)]
pub(super) struct Fork {
    frame: Frame,
    may_wait: bool,
    runs: UnsafeCell<u32>,
}

impl Fork {
    pub(super) fn new() -> Self {
        Self::with(false)
    }

    /// Creates a fork like `Cx::join`.
    pub(super) fn waiting() -> Self {
        Self::with(true)
    }

    fn with(may_wait: bool) -> Self {
        Self { frame: Frame::new(Self::execute, ptr::null(), may_wait), may_wait, runs: UnsafeCell::new(0) }
    }

    unsafe fn execute(fork: *const ()) {
        // SAFETY: this is the address of a fork, which is alive while it runs.
        unsafe { (*fork.cast::<Self>()).run() };
    }

    fn run(&self) {
        // SAFETY: only the thread that has the fork runs it; loom reports it if two have it.
        self.runs.with_mut(|runs| unsafe { *runs += 1 });
    }

    /// Resets the fork after a join, so that it can be forked again.
    pub(super) fn reset(&self) {
        // SAFETY: joined, so the owner's alone.
        self.runs.with_mut(|runs| unsafe { *runs = 0 });
    }

    fn check(&self) {
        // SAFETY: called by the owner after the join.
        assert_eq!(self.runs.with(|runs| unsafe { *runs }), 1, "a fork has to be run exactly once");
    }
}

/// The part of a worker that the protocols need. It outlives the forks, as the worker entries of a pool do.
pub(super) struct WorkerEntry {
    pub(super) stack: ForkStack,
    pub(super) parker: Parker,
    /// The roots of the guests.
    pub(super) roots: AtomicU64,
    jobs: Mutex<VecDeque<std::sync::Arc<Offer>>>,
}

impl WorkerEntry {
    pub(super) fn new() -> Arc<Self> {
        Self::with(Fence::Asymmetric)
    }

    pub(super) fn with(fence: Fence) -> Arc<Self> {
        let stack = ForkStack::new(fence);
        Arc::new(Self { stack, parker: Parker::new(), roots: AtomicU64::new(0), jobs: Mutex::new(VecDeque::new()) })
    }

    // ---- the owner ----

    /// Makes the frame anew, because it may have been used before, and links it.
    pub(super) fn fork(&self, fork: &Fork) {
        let frame = ptr::from_ref(fork).cast::<Frame>();
        // SAFETY: the model's owner calls this, and joins; until it is linked the frame is the owner's alone.
        unsafe {
            frame.cast_mut().write(Frame::new(Fork::execute, self.stack.newest(), fork.may_wait));
            self.stack.push(frame);
        }
    }

    /// Returns how many forks were published.
    pub(super) fn publish(&self, most: usize) -> usize {
        // SAFETY: the model's owner calls this.
        unsafe { self.stack.serve(&self.parker, most, |offer| lock(&self.jobs).push_back(offer)) }
    }

    /// Does the same as the end of `join`.
    pub(super) fn join(&self, fork: &Fork) {
        self.end(fork, |popped| popped.finish(|_, _| self.parker.park()));
    }

    /// Does the same as the end of `Cx::join`.
    pub(super) fn join_waiting(&self, owner: &Thread, fork: &Fork) {
        let wait = |done: &Latch| owner.shielded(|cx| cx.wait_shielded(&LatchWait::new(done), reason()));
        self.end(fork, |popped| popped.finish_offered(wait));
    }

    fn end(&self, fork: &Fork, finish: impl FnOnce(Popped<'_>) -> Outcome) {
        // SAFETY: the model's owner calls this with what it forked last.
        let popped = unsafe { self.stack.pop(ptr::from_ref(fork).cast()) };
        if popped.map(finish) != Some(Outcome::Done) {
            fork.run();
        }
        fork.check();
    }

    // ---- thieves ----

    /// Runs the oldest fork on the shelf.
    pub(super) fn steal(&self) {
        if let Some(claim) = self.stack.shelf.take(Theft { thief: 1, base: 0 }) {
            claim.run();
        }
    }

    /// Takes the oldest offer, even a stale one.
    pub(super) fn take_offer(&self) {
        let offer = lock(&self.jobs).pop_front();
        if let Some(offer) = offer {
            offer.run(|| ());
        }
    }

    pub(super) fn raid(&self, most: usize) -> usize {
        raid([self], most)
    }
}

/// Raids the stacks of several workers at once. Returns how many forks were published.
pub(super) fn raid<'a>(workers: impl IntoIterator<Item = &'a WorkerEntry>, most: usize) -> usize {
    let mut raid = Raid::new();
    for worker in workers {
        raid.add(worker, &worker.stack, || worker.roots.load(Ordering::Relaxed));
    }
    let mut published = 0;
    raid.publish(
        most,
        |worker| &raw const worker.parker,
        |worker, offer| lock(&worker.jobs).push_back(offer),
        |_, count| published += count,
    );
    published
}

pub(super) fn thief(worker: &Arc<WorkerEntry>, act: impl Fn(&WorkerEntry) + Send + 'static) -> thread::JoinHandle<()> {
    let worker = Arc::clone(worker);
    thread::spawn(move || act(&worker))
}

/// Explores `owner` on the thread of a worker while each of `others` runs on a thread of its own.
pub(super) fn explore_beside<const N: usize>(
    name: &str,
    preemptions: Option<usize>,
    others: [fn(&WorkerEntry); N],
    owner: impl Fn(&WorkerEntry) + Send + Sync + 'static,
) {
    explore(name, preemptions, move || {
        let worker = WorkerEntry::new();
        let others = others.map(|act| thief(&worker, act));
        owner(&worker);
        for other in others {
            other.join().unwrap();
        }
    });
}

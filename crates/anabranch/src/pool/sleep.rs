//! Who is awake: the slots, the lookout and the sleepers.
//!
//! A pool of T threads has T *slots*: at most T threads work at a time, guests among them. A guest (a thread from outside
//! that runs a root of its own) takes a slot without asking; workers take one only while there is one free, and give it
//! back when they wait, run out of work, or find that guests have brought the count above T.
//!
//! Publishing work wakes nobody: it is a store. Instead one idle worker is the *lookout*: it sleeps in beats of about
//! 100 us, and at each beat looks at the shelves and asks for work. When it finds some it first calls a sleeper to be the
//! lookout after it, then goes to work, so that workers wake one by one for as long as there is work to be found. After a
//! quiet spell without a root the lookout goes to sleep too; the first root afterwards calls it. Everybody else sleeps
//! without a timeout.
//!
//! | a worker is | its slot | leaves by                                                                              |
//! |-------------|----------|----------------------------------------------------------------------------------------|
//! | running     | held     | `retire` -> lookout if there is none, else asleep; `block`/`unblock` around a wait     |
//! | lookout     | none     | `promote` -> running, if a slot is free; `stand_down` -> asleep: quiet, or no slot free |
//! | asleep      | none     | called (`enter_root`, `block`, `promote` of the lookout, `leave_root`) -> lookout      |
//!
//! All of it is one word, changed by read-modify-writes only, so that each decision is made on a state that really was:
//! `running`, `roots` (guests inside), `asleep`, `lookout` and an `era` that grows with every root. The invariant:
//!
//! > where a root is open, a worker asleep and a slot free, there is a lookout.
//!
//! Whoever makes a change that could break it (a root begins, a slot falls free, the lookout leaves) calls a sleeper
//! before doing anything else. Because `asleep` says how many, and the list under the lock says who, both change under that lock; the caller of
//! a worker marks it as called before it unparks it, and a sleeper that wakes without the mark sleeps on.
//!
//! Ordering: the word carries no data. The mark is written with release and read with acquire, and the parker orders the
//! rest.

use crate::sys::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use crossbeam_utils::CachePadded;

/// The word, taken apart.
#[derive(Clone, Copy)]
struct State(u64);

impl State {
    const RUNNING: u64 = 1;
    const ROOT: u64 = 1 << 16;
    const ASLEEP: u64 = 1 << 32;
    const LOOKOUT: u64 = 1 << 44;
    /// The era fills the top; its carry leaves the word.
    const ERA: u64 = 1 << 45;

    fn running(self) -> u64 {
        self.0 & 0xffff
    }
    fn roots(self) -> u64 {
        (self.0 >> 16) & 0xffff
    }
    fn asleep(self) -> u64 {
        (self.0 >> 32) & 0xfff
    }
    fn has_lookout(self) -> bool {
        self.0 & Self::LOOKOUT != 0
    }
    fn era(self) -> u64 {
        self.0 >> 45
    }
}

/// The most threads a pool can have: what the word has room for.
pub(crate) const MAX_THREADS: usize = 0xfff;

/// The most roots that can be open in a pool at once, with some room for those that are just finding out.
const MAX_ROOTS: u64 = 0xf000;

/// What a worker does after it has given its slot back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    Lookout,
    Asleep,
}

/// What the lookout has seen of the pool's activity; two equal readings without a root mean that none was open between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Activity {
    era: u64,
    /// A root is open that a worker could help.
    pub(crate) is_busy: bool,
}

/// A worker to be woken: the caller has to unpark it.
pub(crate) type Call = Option<usize>;

/// See the [module](self).
pub(crate) struct Sleep {
    state: CachePadded<AtomicU64>,
    slots: u64,
    sleepers: Mutex<Vec<usize>>,
    called: Box<[AtomicBool]>,
}

impl Sleep {
    /// For a pool of `workers` threads, all of them running at first.
    pub(crate) fn new(workers: usize) -> Self {
        assert!(workers <= MAX_THREADS);
        Self {
            state: CachePadded::new(AtomicU64::new(workers as u64 * State::RUNNING)),
            slots: workers as u64,
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            called: (0..workers).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    fn load(&self) -> State {
        State(self.state.load(Ordering::Relaxed))
    }

    fn replace(&self, old: State, new: u64) -> bool {
        self.state.compare_exchange(old.0, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// A guest begins a root. `Err`: too many roots are open.
    pub(crate) fn enter_root(&self) -> Result<Call, TooManyRoots> {
        let added = State::RUNNING + State::ROOT + State::ERA;
        let old = State(self.state.fetch_add(added, Ordering::AcqRel));
        if old.roots() >= MAX_ROOTS || old.running() >= MAX_ROOTS {
            self.state.fetch_sub(State::RUNNING + State::ROOT, Ordering::AcqRel);
            return Err(TooManyRoots);
        }
        Ok(self.call_if_needed())
    }

    /// The root is over.
    pub(crate) fn leave_root(&self) -> Call {
        self.state.fetch_sub(State::RUNNING + State::ROOT, Ordering::AcqRel);
        self.call_if_needed()
    }

    /// A thread is about to wait: its slot is free until [`unblock`](Self::unblock).
    pub(crate) fn block(&self) -> Call {
        self.state.fetch_sub(State::RUNNING, Ordering::AcqRel);
        self.call_if_needed()
    }

    /// The wait is over. The thread does not wait again for a slot: workers give way instead.
    pub(crate) fn unblock(&self) {
        self.state.fetch_add(State::RUNNING, Ordering::AcqRel);
    }

    /// Whether more threads run than there are slots, so that a worker between two jobs should retire.
    pub(crate) fn is_crowded(&self) -> bool {
        self.load().running() > self.slots
    }

    /// Restores the invariant: appoints a sleeper as lookout where one is needed.
    fn call_if_needed(&self) -> Call {
        if !self.needs_lookout(self.load()) {
            return None;
        }
        let mut sleepers = lock(&self.sleepers);
        loop {
            let old = self.load();
            if !self.needs_lookout(old) {
                return None;
            }
            if self.replace(old, old.0 - State::ASLEEP + State::LOOKOUT) {
                return Some(self.rouse(&mut sleepers));
            }
        }
    }

    fn needs_lookout(&self, state: State) -> bool {
        state.roots() > 0 && state.asleep() > 0 && !state.has_lookout() && state.running() < self.slots
    }

    /// Takes a sleeper off the list, the one that fell asleep last: its caches are the warmest.
    fn rouse(&self, sleepers: &mut Vec<usize>) -> usize {
        let worker = sleepers.pop().expect("the word counts as many sleepers as there are on the list");
        // A swap, as in `is_called`: loom does not know that a plain store cannot come between the two halves of a swap.
        self.called[worker].swap(true, Ordering::Release);
        worker
    }

    /// A running worker found no work, or no room: it gives its slot back.
    pub(crate) fn retire(&self, worker: usize) -> Idle {
        let mut sleepers = lock(&self.sleepers);
        loop {
            let old = self.load();
            let (gain, idle) =
                if old.has_lookout() { (State::ASLEEP, Idle::Asleep) } else { (State::LOOKOUT, Idle::Lookout) };
            if self.replace(old, old.0 - State::RUNNING + gain) {
                if idle == Idle::Asleep {
                    sleepers.push(worker);
                }
                return idle;
            }
        }
    }

    /// The lookout has found work and wants to run. `None`: no slot is free. The call, if any, is for the next lookout.
    pub(crate) fn promote(&self) -> Option<Call> {
        let mut sleepers = lock(&self.sleepers);
        loop {
            let old = self.load();
            if old.running() >= self.slots {
                return None;
            }
            let next = old.asleep() > 0 && old.running() + 1 < self.slots;
            let change = if next { State::ASLEEP } else { State::LOOKOUT };
            if self.replace(old, old.0 + State::RUNNING - change) {
                return Some(next.then(|| self.rouse(&mut sleepers)));
            }
        }
    }

    /// What the lookout compares from beat to beat to tell a quiet spell.
    pub(crate) fn activity(&self) -> Activity {
        let state = self.load();
        Activity { era: state.era(), is_busy: state.roots() > 0 && state.running() < self.slots }
    }

    /// The lookout lies down, unless a root is open or has begun since `seen`; where no slot is free it lies down in any
    /// case, because whoever gives one back calls it.
    pub(crate) fn stand_down(&self, worker: usize, seen: Activity) -> bool {
        let mut sleepers = lock(&self.sleepers);
        loop {
            let old = self.load();
            if (old.roots() > 0 || old.era() != seen.era) && old.running() < self.slots {
                return false;
            }
            if self.replace(old, old.0 - State::LOOKOUT + State::ASLEEP) {
                sleepers.push(worker);
                return true;
            }
        }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn assert_invariant_for_an_open_root(&self) {
        let state = self.load();
        assert!(!self.needs_lookout(state), "a root is open, a worker asleep and a slot free, but nobody looks out");
    }

    /// Whether the sleeper `worker` was called: it is the lookout now.
    pub(crate) fn is_called(&self, worker: usize) -> bool {
        self.called[worker].swap(false, Ordering::Acquire)
    }
}

/// More roots than the word can count.
#[derive(Debug)]
pub(crate) struct TooManyRoots;

//! Which workers are awake: the heartbeat worker and the sleepers.
//!
//! Publishing work wakes no thread: it is a store. Instead, while a root is open, one idle worker is the *heartbeat
//! worker*. It sleeps for short intervals, and after each searches the shelves, asks for work, and raids the owners
//! that do not serve the request. If it finds work and a slot is free it first assigns the role to a successor, a
//! sleeper or a new thread, and then works. So workers wake one by one for as long as there is work. After some time
//! without work the heartbeat worker goes to sleep too; the first root afterwards wakes it. All other workers sleep
//! without a timeout: an idle pool does nothing at all.
//!
//! Where forks have been worth taking lately, workers do not wake one by one: a thread that publishes a fork while
//! others sleep wakes one of them, a *helper*, and publishes its next fork too, as long as more than one core is free.
//! A helper that has found work does the same. So the number of workers awake grows as fast as the number of published
//! forks. One by one, at about 50 us each, 16 workers took more than a millisecond. Loops and thieves of fibers wake
//! helpers too (`pool::helpers`).
//!
//! | a worker is      | leaves by                                                                        |
//! |------------------|----------------------------------------------------------------------------------|
//! | at work          | `retire` -> heartbeat worker if there is none, else asleep                       |
//! | heartbeat worker | `successor` or `resign` -> at work; `fall_asleep`, after a quiet spell, or `swap_roles` -> asleep |
//! | asleep           | `helper`, `withdraw` -> at work; any other function that returns it -> heartbeat worker |
//!
//! The invariant:
//!
//! > where a root is open and a worker asleep, there is a heartbeat worker.
//!
//! A worker that begins a piece of work always makes sure that there is a heartbeat worker, if necessary a spare
//! thread: if all working threads block in foreign calls, another thread has to lend their slots.
//!
//! A heartbeat worker that sees nothing new sleeps longer each time. While its intervals are long, or while forks that
//! are worth taking may follow soon, it *dozes*: it leaves its number in `dozing`, and a thread that begins a root or
//! publishes work reads that and wakes it. Such a root publishes its first fork, since a thread is about to take it,
//! and so does each root while forks that are worth taking may follow soon. A heartbeat worker that has no slot to
//! offer does not doze. If such forks may follow, the next worker that releases its slot wakes it, and then it dozes.
//! This is a hint without a fence. A reader that misses it costs one interval, which is bounded.
//!
//! A thread that waits for others may make sure that there is a heartbeat worker, and then park without a timeout. It
//! [registers](Sleep::begin_long_wait) that, and is woken if the role falls vacant while no worker sleeps. It checks
//! for a heartbeat worker and registers under the lock. The heartbeat worker gives up its role under the lock, and
//! wakes the registered threads after that. So a thread that waits either finds no heartbeat worker, or is woken.
//!
//! Roles change under the lock. Only the beginning of a root, or of what it does after a wait, has to be cheap: it
//! marks its worker entry, and then reads `is_role_vacant`. The heartbeat worker that goes to sleep does the two steps
//! in the other order: it sets `is_role_vacant`, and then reads the worker entries. A full fence between the two steps
//! on both sides (asymmetric, see [`asymmetric_fence`]) ensures that either the root finds the role vacant and calls a
//! sleeper, or the heartbeat worker finds the root and stays. A helper leaves the list of sleepers, which breaks no
//! invariant.
//!
//! So the long intervals delay only one thing: a thread that blocks in a foreign call is found up to 25 ms later. A
//! root that sleeps for 3 s took 0.43 s of CPU time with intervals of one length, and now takes 0.005 s.
//!
//! While there is a heartbeat worker, a fiber that continues after a wait calls no worker, however long the intervals
//! of the heartbeat worker are. Threads that wait for an event do not count as roots; a root that continues after a
//! wait calls the heartbeat worker, as a root that begins does. So a program in which all fibers and threads wait is as
//! idle as a program without fibers and threads. Timers of one worker that are due within 0.9 ms wake it once while it
//! is parked, so a timer may fire up to 0.9 ms late on an idle worker.

use crate::sys::{
    asymmetric_fence,
    parker::Parker,
    sync::{AtomicBool, AtomicU8, AtomicU64, Mutex, MutexGuard, Ordering, const_unless_loom, lock},
};
use crossbeam_utils::CachePadded;
use std::mem;

/// The bit of `dozing` that is set if only new fibers wake the heartbeat worker.
const ONLY_FIBERS: u64 = 1;

/// The role of an idle worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    Heartbeat,
    Asleep,
}

/// The reason why a sleeper is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Call {
    /// It is the heartbeat worker.
    Heartbeat = 1,
    /// It is a helper, and searches for work.
    Help,
}

/// The call of a worker that sleeps or has just slept.
pub(crate) struct Called(AtomicU8);

impl Called {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU8::new(0))
        }
    }

    /// Calls a sleeper that was taken off the list. The caller wakes it after that.
    pub(crate) fn set(&self, call: Call) {
        // A swap, as in `take`: loom does not know that a plain store cannot come between the two halves of a swap.
        self.0.swap(call as u8, Ordering::Release);
    }

    /// Takes the call, if there is one.
    pub(crate) fn take(&self) -> Option<Call> {
        match self.0.swap(0, Ordering::Acquire) {
            0 => None,
            call if call == Call::Help as u8 => Some(Call::Help),
            _ => Some(Call::Heartbeat),
        }
    }
}

/// Which thread is the heartbeat worker after [`Sleep::assign`].
pub(crate) enum Assigned {
    /// There was one.
    Before,
    /// A sleeper, to be woken.
    Sleeper(usize),
    /// No worker sleeps.
    NoSleeper,
}

struct Roles {
    has_heartbeat: bool,
    /// Last in, first out: the caches of the last are the warmest.
    asleep: Vec<usize>,
    /// Threads that wait without a bound, since there is a heartbeat worker or one can be called.
    waiting: Vec<usize>,
}

/// See the [module](self).
pub(crate) struct Sleep {
    /// A copy of "no heartbeat worker, and a worker asleep", to be read without the lock.
    is_role_vacant: AtomicBool,
    /// A copy of `roles.has_heartbeat`, to be read without the lock where a value of a moment ago does no harm.
    has_heartbeat: AtomicBool,
    /// A copy of "a worker asleep", likewise.
    has_sleepers: AtomicBool,
    /// Twice one more than the index of the heartbeat worker that dozes, plus one if only new fibers wake it; zero if
    /// none does. On a cache line of its own: all
    /// threads that spawn read it.
    dozing: CachePadded<AtomicU64>,
    roles: Mutex<Roles>,
    /// How the two sides of the module's argument fence.
    fence: asymmetric_fence::Fence,
}

impl Sleep {
    /// Creates the roles of a pool whose workers are all at work.
    pub(crate) fn new(fence: asymmetric_fence::Fence) -> Self {
        Self {
            is_role_vacant: AtomicBool::new(false),
            has_heartbeat: AtomicBool::new(false),
            has_sleepers: AtomicBool::new(false),
            dozing: CachePadded::new(AtomicU64::new(0)),
            roles: Mutex::new(Roles { has_heartbeat: false, asleep: Vec::new(), waiting: Vec::new() }),
            fence,
        }
    }

    /// Returns the worker to be woken as heartbeat worker, if one is needed. A thread that has just marked its worker
    /// entry calls this.
    #[inline]
    pub(crate) fn call_if_vacant(&self) -> Option<usize> {
        self.fence.frequent();
        if self.is_role_vacant.load(Ordering::Relaxed) { self.call() } else { None }
    }

    #[cold]
    fn call(&self) -> Option<usize> {
        let mut roles = lock(&self.roles);
        if roles.has_heartbeat {
            return None;
        }
        let worker = roles.asleep.pop()?;
        self.set_heartbeat(&mut roles, true);
        Some(worker)
    }

    /// Locks the roles for the heartbeat worker.
    fn as_heartbeat(&self) -> MutexGuard<'_, Roles> {
        let roles = lock(&self.roles);
        debug_assert!(roles.has_heartbeat, "only the heartbeat worker gives up the role");
        roles
    }

    fn set_heartbeat(&self, roles: &mut Roles, has_heartbeat: bool) {
        roles.has_heartbeat = has_heartbeat;
        self.show(roles);
    }

    /// Updates the copies.
    fn show(&self, roles: &Roles) {
        self.has_heartbeat.store(roles.has_heartbeat, Ordering::Relaxed);
        self.has_sleepers.store(!roles.asleep.is_empty(), Ordering::Relaxed);
        self.is_role_vacant.store(!roles.has_heartbeat && !roles.asleep.is_empty(), Ordering::Relaxed);
    }

    /// Returns whether there is a heartbeat worker, as of a moment ago.
    pub(crate) fn has_heartbeat(&self) -> bool {
        self.has_heartbeat.load(Ordering::Relaxed)
    }

    /// Returns whether a worker sleeps, as of a moment ago.
    pub(crate) fn has_sleepers(&self) -> bool {
        self.has_sleepers.load(Ordering::Relaxed)
    }

    /// Returns whether the heartbeat worker dozes, so that a thread that begins a root or publishes work has to
    /// [end that](Self::end_doze).
    #[inline]
    pub(crate) fn has_dozing(&self) -> bool {
        let dozing = self.dozing.load(Ordering::Relaxed);
        dozing != 0 && dozing & ONLY_FIBERS == 0
    }

    /// Returns whether the heartbeat worker dozes, so that a thread that enqueues a fiber has to end that.
    #[inline]
    pub(crate) fn dozes_for_fibers(&self) -> bool {
        self.dozing.load(Ordering::Relaxed) != 0
    }

    /// Ends the long interval of a heartbeat worker that dozes, and returns that worker, which the caller must wake.
    pub(crate) fn end_doze(&self) -> Option<usize> {
        let dozing = self.dozing.swap(0, Ordering::Relaxed);
        (dozing >> 1).checked_sub(1).map(|index| index as usize)
    }

    /// Marks the heartbeat worker as dozing, at the beginning of a long interval.
    pub(crate) fn doze(&self, worker: usize, only_for_fibers: bool) {
        let only_fibers = if only_for_fibers { ONLY_FIBERS } else { 0 };
        self.dozing.store((worker as u64 + 1) << 1 | only_fibers, Ordering::Relaxed);
    }

    /// Ends a long interval of the heartbeat worker. Returns whether another thread woke it.
    pub(crate) fn was_woken_early(&self) -> bool {
        self.dozing.swap(0, Ordering::Relaxed) == 0
    }

    /// Makes a worker that has no work the heartbeat worker, if there is none, or a sleeper.
    pub(crate) fn retire(&self, worker: usize) -> Idle {
        let mut roles = lock(&self.roles);
        if roles.has_heartbeat {
            roles.asleep.push(worker);
            self.show(&roles);
            return Idle::Asleep;
        }
        self.set_heartbeat(&mut roles, true);
        Idle::Heartbeat
    }

    /// Makes a sleeper that woke by itself leave. Returns whether it is the heartbeat worker: another thread may just
    /// have called it.
    pub(crate) fn leave(&self, worker: usize, called: &Called, parker: &Parker) -> bool {
        if self.withdraw(worker) {
            return false;
        }
        // The thread that took the sleeper off the list is about to set the call, which must not stay for later.
        loop {
            match called.take() {
                Some(call) => return call == Call::Heartbeat,
                None => parker.park(),
            };
        }
    }

    /// Takes a sleeper off the list. Returns `false` if another thread has.
    fn withdraw(&self, worker: usize) -> bool {
        let mut roles = lock(&self.roles);
        let Some(position) = roles.asleep.iter().position(|&sleeper| sleeper == worker) else { return false };
        roles.asleep.remove(position);
        self.show(&roles);
        true
    }

    /// Makes sure that there is a heartbeat worker. After `NoSleeper` the role is taken, and the caller must name a new
    /// thread or resign.
    pub(crate) fn assign(&self) -> Assigned {
        let mut roles = lock(&self.roles);
        if roles.has_heartbeat {
            return Assigned::Before;
        }
        let assigned = roles.asleep.pop().map_or(Assigned::NoSleeper, Assigned::Sleeper);
        self.set_heartbeat(&mut roles, true);
        assigned
    }

    /// Returns the sleeper that succeeds a heartbeat worker that goes to work; the caller must wake it. Returns `None`
    /// if no worker sleeps: then the caller names another thread or resigns.
    pub(crate) fn successor(&self) -> Option<usize> {
        let mut roles = self.as_heartbeat();
        let successor = roles.asleep.pop();
        self.show(&roles);
        successor
    }

    /// Returns a sleeper that `suits`, which is a helper from now on; the caller must wake it.
    pub(crate) fn helper(&self, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let mut roles = lock(&self.roles);
        let position = roles.asleep.iter().rposition(|&sleeper| suits(sleeper))?;
        let helper = roles.asleep.remove(position);
        self.show(&roles);
        Some(helper)
    }

    /// Puts the heartbeat worker to sleep, and returns a sleeper that `suits`, which is the heartbeat worker from now
    /// on; the caller must wake it. Returns `None` if there is none: then the caller stays the heartbeat worker.
    pub(crate) fn swap_roles(&self, worker: usize, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let mut roles = self.as_heartbeat();
        let position = roles.asleep.iter().rposition(|&sleeper| suits(sleeper))?;
        let other = roles.asleep.remove(position);
        roles.asleep.push(worker);
        Some(other)
    }

    /// Gives the role up when the heartbeat worker goes to work without a successor. If a worker has fallen asleep
    /// meanwhile, returns it: then it is the successor.
    ///
    /// # Errors
    /// Returns the threads that rely on a heartbeat worker if there is none from now on. The caller must wake them.
    pub(crate) fn resign(&self) -> Result<usize, Vec<usize>> {
        let mut roles = self.as_heartbeat();
        let sleeper = roles.asleep.pop();
        self.set_heartbeat(&mut roles, sleeper.is_some());
        sleeper.ok_or_else(|| mem::take(&mut roles.waiting))
    }

    /// Registers a thread that waits until [`end_long_wait`](Self::end_long_wait), and relies on the heartbeat worker.
    /// Returns `false` if there is no heartbeat worker and no sleeper that could be called.
    #[must_use]
    pub(crate) fn begin_long_wait(&self, worker: usize) -> bool {
        let mut roles = lock(&self.roles);
        let is_covered = roles.has_heartbeat || !roles.asleep.is_empty();
        if is_covered {
            roles.waiting.push(worker);
        }
        is_covered
    }

    /// Removes a thread that has waited from the list.
    pub(crate) fn end_long_wait(&self, worker: usize) {
        let mut roles = lock(&self.roles);
        if let Some(position) = roles.waiting.iter().position(|&waiting| waiting == worker) {
            roles.waiting.swap_remove(position);
        }
    }

    /// Puts the heartbeat worker to sleep, unless it finds a root open. Returns whether it sleeps.
    pub(crate) fn fall_asleep(&self, worker: usize, is_root_open: impl Fn() -> bool) -> bool {
        let mut roles = self.as_heartbeat();
        roles.asleep.push(worker);
        self.set_heartbeat(&mut roles, false);
        self.fence.rare();
        if is_root_open() {
            roles.asleep.pop();
            self.set_heartbeat(&mut roles, true);
            return false;
        }
        true
    }
}

//! Which workers are awake: the lookout and the sleepers.
//!
//! Publishing work wakes no thread: it is a store. Instead, while a root is open, one idle worker is the *lookout*. It
//! sleeps in short beats, and at each beat searches the shelves, asks for work, and raids the owners that do not serve
//! the request. If it finds work and a slot is free it first appoints a successor, a sleeper or a new thread, and then
//! works. So workers wake one by one for as long as there is work. After some time without work the lookout goes to
//! sleep too; the first root afterwards wakes it. All other workers sleep without a timeout: an idle pool does nothing
//! at all.
//!
//! | a worker is | leaves by                                                                       |
//! |-------------|---------------------------------------------------------------------------------|
//! | at work     | `retire` -> lookout if there is none, else asleep                               |
//! | lookout     | `successor` or `resign` -> at work; `stand_down` -> asleep, after a quiet spell |
//! | asleep      | `call` or `successor` names it -> lookout; `withdraw` -> at work                 |
//!
//! The invariant:
//!
//! > where a root is open and a worker asleep, there is a lookout.
//!
//! A worker that begins a piece of work always makes sure that there is a lookout, if need be a spare thread: if all
//! working threads block in foreign calls, another thread has to lend their slots.
//!
//! A lookout that sees nothing new sleeps longer each time. While its beats are long it *dozes*: it leaves its number
//! in `dozing`, and a thread that begins a root or publishes work reads that and wakes it. This is a hint without a
//! fence. A reader that misses it costs one long beat, which is bounded.
//!
//! A thread that waits for others may make sure that there is a lookout, and then park without a timeout. It
//! [registers](Sleep::begin_long_wait) that, and is woken if the post falls vacant while no worker sleeps. It checks
//! for a lookout and registers under the lock. The lookout gives its post up under the lock, and wakes the registered
//! threads after that. So a thread that waits either finds no lookout, or is woken.
//!
//! Roles change under the lock. Only the beginning of a root, or of what it does after a wait, has to be cheap: it
//! marks its seat, and then reads `is_post_vacant`. The lookout that goes to sleep does the two steps in the other
//! order: it sets `is_post_vacant`, and then reads the seats. A full fence between the two steps on both sides
//! (asymmetric, see [`barrier`]) ensures that either the root finds the post vacant and calls a sleeper, or the lookout
//! finds the root and stays.
//!
//! So the long beats delay one thing alone: a thread that blocks in a foreign call is found up to 25 ms later. A root
//! that sleeps for 3 s took 0.43 s of CPU time with beats of one length, and takes 0.005 s.
//!
//! No worker is called for a fiber that goes on after a wait while there is a lookout, however long its beats are.
//! Threads that wait for an event do not count as roots; one that goes on after a wait calls the lookout as one that
//! begins does. So a program all of whose fibers and threads wait is as still as one without any. Timers of one worker
//! that are due within 0.5 ms wake it once while it is parked, so a timer may fire up to 0.5 ms late on an idle worker.

use crate::sys::{
    asymmetric_fence,
    sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock},
};
use crossbeam_utils::CachePadded;
use std::mem;

/// What an idle worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    Lookout,
    Asleep,
}

/// Which thread is the lookout after [`Sleep::appoint`].
pub(crate) enum Appointed {
    /// There was one.
    Before,
    /// A sleeper, to be woken.
    Sleeper(usize),
    /// No worker sleeps.
    Nobody,
}

struct Roles {
    has_lookout: bool,
    /// Last in, first out: the caches of the last are the warmest.
    asleep: Vec<usize>,
    /// Threads that wait without a bound, since there is a lookout or one can be called.
    waiting: Vec<usize>,
}

/// See the [module](self).
pub(crate) struct Sleep {
    /// A copy of "no lookout, and a worker asleep", to be read without the lock.
    is_post_vacant: AtomicBool,
    /// A copy of `roles.has_lookout`, to be read without the lock where a value of a moment ago does no harm.
    has_lookout: AtomicBool,
    /// One more than the index of the lookout that dozes; zero if none does. On a cache line of its own: all threads
    /// that spawn read it.
    dozing: CachePadded<AtomicU64>,
    roles: Mutex<Roles>,
    /// How the two sides of the module's argument fence.
    fence: asymmetric_fence::Fence,
}

impl Sleep {
    /// Creates the roles of a pool whose workers are all at work.
    pub(crate) fn new(fence: asymmetric_fence::Fence) -> Self {
        Self {
            is_post_vacant: AtomicBool::new(false),
            has_lookout: AtomicBool::new(false),
            dozing: CachePadded::new(AtomicU64::new(0)),
            roles: Mutex::new(Roles { has_lookout: false, asleep: Vec::new(), waiting: Vec::new() }),
            fence,
        }
    }

    /// Returns the worker to be woken as lookout, if one is needed. A thread that has just marked its seat calls this.
    #[inline]
    pub(crate) fn call_if_vacant(&self) -> Option<usize> {
        self.fence.frequent();
        if self.is_post_vacant.load(Ordering::Relaxed) { self.call() } else { None }
    }

    #[cold]
    fn call(&self) -> Option<usize> {
        let mut roles = lock(&self.roles);
        if roles.has_lookout {
            return None;
        }
        let worker = roles.asleep.pop()?;
        self.set_lookout(&mut roles, true);
        Some(worker)
    }

    fn set_lookout(&self, roles: &mut Roles, has_lookout: bool) {
        roles.has_lookout = has_lookout;
        self.show(roles);
    }

    /// Updates the copies.
    fn show(&self, roles: &Roles) {
        self.has_lookout.store(roles.has_lookout, Ordering::Relaxed);
        self.is_post_vacant.store(!roles.has_lookout && !roles.asleep.is_empty(), Ordering::Relaxed);
    }

    /// Returns whether there is a lookout, as of a moment ago.
    pub(crate) fn has_lookout(&self) -> bool {
        self.has_lookout.load(Ordering::Relaxed)
    }

    /// Returns whether the lookout dozes, so that a thread that begins a root or publishes work has to
    /// [`rouse`](Self::rouse) it.
    #[inline]
    pub(crate) fn has_dozing(&self) -> bool {
        self.dozing.load(Ordering::Relaxed) != 0
    }

    /// Ends the doze of the lookout, and returns the lookout, which the caller must wake.
    pub(crate) fn rouse(&self) -> Option<usize> {
        let dozing = self.dozing.swap(0, Ordering::Relaxed);
        dozing.checked_sub(1).map(|index| index as usize)
    }

    /// Marks the lookout as dozing, at the beginning of a long beat.
    pub(crate) fn doze(&self, worker: usize) {
        self.dozing.store(worker as u64 + 1, Ordering::Relaxed);
    }

    /// Ends a long beat of the lookout. Returns whether another thread roused it.
    pub(crate) fn was_roused(&self) -> bool {
        self.dozing.swap(0, Ordering::Relaxed) == 0
    }

    /// Makes a worker that has no work the lookout, if there is none, or a sleeper.
    pub(crate) fn retire(&self, worker: usize) -> Idle {
        let mut roles = lock(&self.roles);
        if roles.has_lookout {
            roles.asleep.push(worker);
            return Idle::Asleep;
        }
        self.set_lookout(&mut roles, true);
        Idle::Lookout
    }

    /// Takes a sleeper that woke by itself off the list. Returns `false` if it has just been named lookout instead.
    pub(crate) fn withdraw(&self, worker: usize) -> bool {
        let mut roles = lock(&self.roles);
        let Some(position) = roles.asleep.iter().position(|&sleeper| sleeper == worker) else { return false };
        roles.asleep.remove(position);
        self.show(&roles);
        true
    }

    /// Makes sure that there is a lookout. After `Nobody` the post is taken, and the caller must name a new thread or
    /// resign.
    pub(crate) fn appoint(&self) -> Appointed {
        let mut roles = lock(&self.roles);
        if roles.has_lookout {
            return Appointed::Before;
        }
        self.set_lookout(&mut roles, true);
        roles.asleep.pop().map_or(Appointed::Nobody, Appointed::Sleeper)
    }

    /// Returns the sleeper that succeeds a lookout that goes to work; the caller must wake it. Returns `None` if no
    /// worker sleeps: then the caller names another thread or resigns.
    pub(crate) fn successor(&self) -> Option<usize> {
        lock(&self.roles).asleep.pop()
    }

    /// Puts the lookout to sleep, and returns a sleeper that `suits`, which is the lookout from now on; the caller must
    /// wake it. Returns `None` if there is none: then the caller stays the lookout.
    pub(crate) fn change_places(&self, worker: usize, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let mut roles = lock(&self.roles);
        let position = roles.asleep.iter().rposition(|&sleeper| suits(sleeper))?;
        let other = roles.asleep.remove(position);
        roles.asleep.push(worker);
        Some(other)
    }

    /// Gives the post up when the lookout goes to work without a successor. If a worker has fallen asleep meanwhile,
    /// returns it: then it is the successor.
    pub(crate) fn resign(&self) -> Option<usize> {
        let mut roles = lock(&self.roles);
        let sleeper = roles.asleep.pop();
        self.set_lookout(&mut roles, sleeper.is_some());
        sleeper
    }

    /// Registers a thread that waits until [`end_long_wait`](Self::end_long_wait), and relies on the lookout. Returns
    /// `false` if there is no lookout and no sleeper that could be called.
    #[must_use]
    pub(crate) fn begin_long_wait(&self, worker: usize) -> bool {
        let mut roles = lock(&self.roles);
        let is_looked_out = roles.has_lookout || !roles.asleep.is_empty();
        if is_looked_out {
            roles.waiting.push(worker);
        }
        is_looked_out
    }

    /// Removes a thread that has waited from the list.
    pub(crate) fn end_long_wait(&self, worker: usize) {
        let mut roles = lock(&self.roles);
        if let Some(position) = roles.waiting.iter().position(|&waiting| waiting == worker) {
            roles.waiting.swap_remove(position);
        }
    }

    /// Returns the threads that rely on a lookout, after [`resign`](Self::resign) has found no sleeper. The caller must
    /// wake them.
    #[must_use]
    pub(crate) fn take_long_waits(&self) -> Vec<usize> {
        mem::take(&mut lock(&self.roles).waiting)
    }

    /// Puts the lookout to sleep, unless it finds a root open. Returns whether it sleeps.
    pub(crate) fn stand_down(&self, worker: usize, is_root_open: impl Fn() -> bool) -> bool {
        let mut roles = lock(&self.roles);
        roles.asleep.push(worker);
        self.set_lookout(&mut roles, false);
        self.fence.rare();
        if is_root_open() {
            roles.asleep.pop();
            self.set_lookout(&mut roles, true);
            return false;
        }
        true
    }
}

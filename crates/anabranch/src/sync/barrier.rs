//! A barrier: so many have to come before any goes on.
//!
//! Who comes is counted, under a lock, and the last one ends the round: the count is nought again, all who wait are
//! woken, and whoever comes from then on is of the next round. A wait is over when its round is. One that is given up
//! before that takes its arrival back; one that is given up after that has passed. So a round ends when so many have
//! come who have not left.

use super::{
    limit::Limit,
    rounds::{Rounds, wake_round},
};
use crate::{
    cx::{
        Cx,
        attempt::{Attempt, wait_async_for, wait_for},
    },
    sys::sync::{Mutex, const_unless_loom, lock},
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        queue::{Entry, Wakes},
        suspend::WaitReason,
        waitable::Place,
        waiter::Waiter,
    },
};
use std::{
    cell::Cell,
    fmt,
    time::{Duration, Instant},
};

/// A point that strands pass together, as often as they like.
///
/// Who waits with a [`Cx`] and is cancelled leaves, and no longer counts; the others go on waiting until enough have
/// come.
///
/// ```
/// use anabranch::sync::Barrier;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let barrier = Barrier::new(3);
/// let written = AtomicU32::new(0);
/// anabranch::run(|cx| {
///     cx.scope(|s| {
///         for _ in 0..3 {
///             s.spawn(|cx| {
///                 written.fetch_add(1, Ordering::Relaxed);
///                 barrier.wait(cx)?;
///                 assert_eq!(written.load(Ordering::Relaxed), 3);
///                 Ok::<_, anabranch::Cancelled>(())
///             });
///         }
///     });
/// });
/// ```
pub struct Barrier {
    parties: usize,
    state: Mutex<State>,
}

struct State {
    rounds: Rounds,
    arrived: usize,
}

impl Barrier {
    const_unless_loom! {
        /// For so many parties. Where it is one, or none, nobody waits.
        pub fn new(parties: usize) -> Self {
            Self { parties, state: Mutex::new(State { rounds: Rounds::new(), arrived: 0 }) }
        }
    }

    /// Waits until all have come. `true` for the one that came last, which may do what has to be done once.
    ///
    /// Linear for that one in the number of parties; constant for the others.
    ///
    /// # Errors
    /// When the scope was cancelled before all had come.
    #[track_caller]
    pub fn wait(&self, cx: &Cx<'_>) -> Result<bool, Cancelled> {
        cx.checkpoint()?;
        self.wait_to(cx, NEVER, WaitReason::new(&"Barrier::wait")).map_err(|_| Cancelled)
    }

    /// As [`wait`](Self::wait), but no longer than until then.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up, before all had come.
    #[track_caller]
    pub fn wait_deadline(&self, cx: &Cx<'_>, instant: Instant) -> Result<bool, WaitError> {
        cx.checkpoint()?;
        self.wait_to(cx, Limit::Until(instant).tick(cx), WaitReason::new(&"Barrier::wait"))
    }

    /// As [`wait`](Self::wait), but no longer than this.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up, before all had come.
    ///
    /// ```
    /// use anabranch::{WaitError, sync::Barrier};
    /// use std::time::Duration;
    ///
    /// let barrier = Barrier::new(2);
    /// let alone = anabranch::run(|cx| barrier.wait_timeout(cx, Duration::from_millis(1)));
    /// assert_eq!(alone, Err(WaitError::TimedOut));
    /// ```
    #[track_caller]
    pub fn wait_timeout(&self, cx: &Cx<'_>, timeout: Duration) -> Result<bool, WaitError> {
        cx.checkpoint()?;
        self.wait_to(cx, Limit::For(timeout).tick(cx), WaitReason::new(&"Barrier::wait"))
    }

    fn wait_to(&self, cx: &Cx<'_>, deadline: u64, reason: WaitReason) -> Result<bool, WaitError> {
        let Some(arrival) = self.arrive() else { return Ok(true) };
        match wait_for(cx, &arrival, deadline, reason) {
            Err(error) if arrival.attempt().is_none() => Err(error),
            _ => Ok(false),
        }
    }

    /// As [`wait`](Self::wait), for async code. A future that is dropped before all have come no longer counts.
    pub async fn wait_async(&self) -> bool {
        match self.arrive() {
            Some(arrival) => {
                wait_async_for(arrival).await;
                false
            }
            None => true,
        }
    }

    /// Counts one more. `None`: it was the last, and the round is over.
    fn arrive(&self) -> Option<Arrival<'_>> {
        let mut wakes = Wakes::new();
        let round = {
            let mut state = lock(&self.state);
            if state.arrived + 1 < self.parties {
                state.arrived += 1;
                let round = state.rounds.number();
                return Some(Arrival { barrier: self, round, entry: Entry::new(0), has_passed: Cell::new(false) });
            }
            state.arrived = 0;
            let round = state.rounds.end();
            state.rounds.decide_some(round, &mut wakes);
            round
        };
        wake_round(wakes, &self.state, |state, wakes| state.rounds.decide_some(round, wakes));
        None
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = lock(&self.state).arrived;
        f.debug_struct("Barrier").field("parties", &self.parties).field("arrived", &arrived).finish()
    }
}

/// One strand that has come.
struct Arrival<'a> {
    barrier: &'a Barrier,
    round: u64,
    entry: Entry<u64>,
    has_passed: Cell<bool>,
}

impl Attempt for Arrival<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        (self.has_passed.get() || lock(&self.barrier.state).rounds.number() != self.round).then_some(())
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `Rounds::decide_some`, under the lock of the queue.
unsafe impl Place for Arrival<'_> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        let mut state = lock(&self.barrier.state);
        if state.rounds.number() != self.round {
            return false;
        }
        // SAFETY: the entry is this strand's, and not in the queue, by the contract of `Place`. It stays where it is,
        // and the waiter armed, until `unregister`.
        unsafe { state.rounds.join(&self.entry, waiter, ticket) };
        true
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            self.has_passed.set(true);
        } else {
            // SAFETY: joined this queue in `register`.
            unsafe { lock(&self.barrier.state).rounds.leave(&self.entry) };
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if self.has_passed.get() {
            return;
        }
        let mut state = lock(&self.barrier.state);
        if state.rounds.number() == self.round {
            state.arrived -= 1;
        }
    }
}

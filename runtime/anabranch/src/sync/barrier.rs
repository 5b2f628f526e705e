//! A barrier: no party passes before all parties have arrived.
//!
//! Arrivals are counted under a lock, and the last arrival ends the round: it resets the count to zero and wakes all
//! waiters. Later arrivals belong to the next round. A wait ends with its round. A wait that is given up before that
//! takes its arrival back; a wait that is given up later has passed. So a round ends when the required number of
//! parties have arrived and not left.

use super::rounds::{Rounds, wake_round};
use crate::{
    cx::{
        Cx,
        attempt::{Attempt, wait_without_deadline},
        operation::OperationFuture,
    },
    sys::sync::{Mutex, const_unless_loom, lock},
    wait::{
        Cancelled,
        future::count_ready,
        queue::{Entry, Wakes},
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{cell::Cell, fmt};

/// A point that a number of fibers or threads pass together, any number of times.
///
/// A waiter with a [`Cx`] that is cancelled leaves and no longer counts. The others keep waiting until enough have
/// arrived.
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
        /// Creates a barrier for `parties` arrivals. With one party or none, no call waits.
        pub fn new(parties: usize) -> Self {
            Self { parties, state: Mutex::new(State { rounds: Rounds::new(), arrived: 0 }) }
        }
    }

    /// Blocks until all parties have arrived. Returns `true` to the last arrival, which can do what has to be done
    /// once.
    ///
    /// Takes time linear in the number of parties for the last arrival, and constant time for the others.
    ///
    /// With [`Cx::timeout`](crate::Cx::timeout) the party waits for a limited time, and then leaves. There is no
    /// [operation](crate::Operation) for this wait: a party that has arrived may pass the barrier while `select!`
    /// chooses another arm.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled before all parties arrive.
    ///
    /// ```
    /// use anabranch::{WaitError, sync::Barrier};
    /// use std::time::Duration;
    ///
    /// let barrier = Barrier::new(2);
    /// let alone = anabranch::run(|cx| {
    ///     cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(barrier.wait(cx)?))
    /// });
    /// assert_eq!(alone, Err(WaitError::TimedOut));
    /// ```
    #[track_caller]
    pub fn wait(&self, cx: &Cx<'_>) -> Result<bool, Cancelled> {
        let reason = WaitReason::new(&"Barrier::wait");
        cx.checkpoint()?;
        let Some(arrival) = self.arrive() else { return Ok(true) };
        match wait_without_deadline(cx, &arrival, reason) {
            Err(Cancelled) if arrival.take_back() => Err(Cancelled),
            _ => Ok(false),
        }
    }

    /// Like [`wait`](Self::wait), for async code. The party arrives when the future is first polled. A future that is
    /// dropped before all parties arrive no longer counts.
    pub async fn wait_async(&self) -> bool {
        count_ready().await;
        match self.arrive() {
            Some(arrival) => {
                OperationFuture::new(arrival).await;
                false
            }
            None => true,
        }
    }

    /// Counts one arrival. Returns `None` if it was the last one and the round is over.
    fn arrive(&self) -> Option<Arrival<'_>> {
        let mut wakes = Wakes::new();
        let round = {
            let mut state = lock(&self.state);
            if state.arrived + 1 < self.parties {
                state.arrived += 1;
                let round = state.rounds.number();
                return Some(Arrival { barrier: self, round, entry: Entry::new(0), is_settled: Cell::new(false) });
            }
            state.arrived = 0;
            let round = state.rounds.end();
            state.rounds.select_some(round, &mut wakes);
            round
        };
        wake_round(wakes, &self.state, |state, wakes| state.rounds.select_some(round, wakes));
        None
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = lock(&self.state).arrived;
        f.debug_struct("Barrier").field("parties", &self.parties).field("arrived", &arrived).finish()
    }
}

/// The arrival of one fiber or thread.
struct Arrival<'a> {
    barrier: &'a Barrier,
    round: u64,
    entry: Entry<u64>,
    /// Whether the party is known to have passed, or no longer counts.
    is_settled: Cell<bool>,
}

impl Arrival<'_> {
    /// Stops counting, unless the round is over. Returns whether it counted until now: then the round cannot end by it
    /// any more, and otherwise the party has passed.
    fn take_back(&self) -> bool {
        if self.is_settled.replace(true) {
            return false;
        }
        let mut state = lock(&self.barrier.state);
        let is_waiting = state.rounds.number() == self.round;
        state.arrived -= usize::from(is_waiting);
        is_waiting
    }
}

impl Attempt for Arrival<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        (self.is_settled.get() || lock(&self.barrier.state).rounds.number() != self.round).then_some(())
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `Rounds::select_some`, under the lock of the queue.
unsafe impl Waitable for Arrival<'_> {
    fn register(&self, armed: Armed) -> bool {
        let mut state = lock(&self.barrier.state);
        if state.rounds.number() != self.round {
            return false;
        }
        state.rounds.join(&self.entry, armed);
        true
    }

    fn unregister(&self, ended: Ended) {
        if ended.is_selected() {
            self.is_settled.set(true);
        } else {
            lock(&self.barrier.state).rounds.leave(&self.entry, ended);
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}

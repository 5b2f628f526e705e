//! The state that a manual clock and its handles share: the time, and the subscribers to wake after a move.
//!
//! No wake-up is lost if a waiter takes its steps in this order:
//!
//! | the waiter                             | `advance`                                          |
//! |----------------------------------------|----------------------------------------------------|
//! | 1. subscribes, under the lock          | a. sets the time, under the lock                   |
//! | 2. reads the time                      | b. copies the list of subscribers, under the same  |
//! | 3. parks, if its deadline has not come | c. calls them, without the lock                    |
//!
//! If 1 comes before b, the waiter is called, and its parker keeps a call that comes before the parking. If not, 1
//! comes after a, and the lock carries the new time to 2. A waiter that was called reads the time again, and the call
//! orders that read after the move. The time is stored with release and loaded with acquire. So a thread that sees a
//! new time also sees what the test did before it moved the clock.

use crate::{
    sys::sync::{AtomicU64, Mutex, Ordering, lock},
    time::tick::{NEVER, Tick, nanos},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The function that a clock calls after a move.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// See the [module](self).
pub(super) struct Manual {
    origin: Instant,
    /// A [`Tick`]. Written under the lock of the subscribers, read without the lock.
    elapsed: AtomicU64,
    subscribers: Mutex<Subscribers>,
}

struct Subscribers {
    /// The number of the latest subscriber.
    last: u64,
    list: Vec<(u64, Wake)>,
}

/// A subscription to the moves of a manual clock, until it is dropped. See [`Clock::subscribe`](super::Clock).
#[must_use = "dropping it ends the subscription"]
pub(crate) struct Subscription(Option<(Arc<Manual>, u64)>);

impl Manual {
    pub(super) fn new() -> Self {
        let subscribers = Subscribers { last: 0, list: Vec::new() };
        Self { origin: Instant::now(), elapsed: AtomicU64::new(0), subscribers: Mutex::new(subscribers) }
    }

    pub(super) fn origin(&self) -> Instant {
        self.origin
    }

    pub(super) fn tick(&self) -> Tick {
        self.elapsed.load(Ordering::Acquire)
    }

    pub(super) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.tick())
    }

    /// Moves the time and wakes the subscribers.
    pub(super) fn advance(&self, duration: Duration) {
        for wake in self.move_on(duration) {
            wake();
        }
    }

    /// Moves the time, and returns the subscribers to wake.
    fn move_on(&self, duration: Duration) -> Vec<Wake> {
        let subscribers = lock(&self.subscribers);
        let elapsed = self.tick().saturating_add(nanos(duration));
        self.elapsed.store(elapsed.min(NEVER - 1), Ordering::Release);
        subscribers.list.iter().map(|(_, wake)| Arc::clone(wake)).collect()
    }

    pub(super) fn subscribe(self: &Arc<Self>, wake: Wake) -> Subscription {
        let mut subscribers = lock(&self.subscribers);
        subscribers.last += 1;
        let number = subscribers.last;
        subscribers.list.push((number, wake));
        Subscription(Some((Arc::clone(self), number)))
    }
}

impl Subscription {
    /// The subscription to a clock that makes no calls.
    pub(super) const NONE: Self = Self(None);
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some((manual, number)) = &self.0 else { return };
        let mut subscribers = lock(&manual.subscribers);
        let position = subscribers.list.iter().position(|(other, _)| other == number);
        let ended = position.map(|position| subscribers.list.swap_remove(position));
        // The captures of the closure are dropped without the lock.
        drop(subscribers);
        drop(ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::parker::Parker;
    use std::{
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        thread,
    };

    const TICK: Duration = Duration::from_nanos(1);

    #[test]
    fn subscribers_are_called_after_the_move_until_they_unsubscribe() {
        let manual = Arc::new(Manual::new());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let subscribe = |name| {
            let (clock, seen) = (Arc::clone(&manual), Arc::clone(&seen));
            manual.subscribe(Arc::new(move || lock(&seen).push((name, clock.tick()))))
        };
        let (first, second) = (subscribe('a'), subscribe('b'));
        manual.advance(5 * TICK);
        drop(first);
        manual.advance(2 * TICK);
        drop(second);
        manual.advance(TICK);
        assert_eq!(*lock(&seen), [('a', 5), ('b', 5), ('b', 7)]);
        assert!(lock(&manual.subscribers).list.is_empty());
    }

    #[test]
    fn subscribers_are_called_without_the_lock() {
        let manual = Arc::new(Manual::new());
        let calls = Arc::new(AtomicUsize::new(0));
        let _subscription = manual.subscribe({
            let (manual, calls) = (Arc::clone(&manual), Arc::clone(&calls));
            Arc::new(move || {
                // With the lock held this would deadlock.
                drop(manual.subscribe(Arc::new(|| ())));
                if calls.fetch_add(1, SeqCst) == 0 {
                    manual.advance(TICK);
                }
            })
        });
        manual.advance(TICK);
        assert_eq!((calls.load(SeqCst), manual.tick()), (2, 2));
    }

    #[test]
    fn no_wake_up_is_lost() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 500;
        let manual = Arc::new(Manual::new());
        let rounds = AtomicUsize::new(0);
        let wait = |deadline: Tick| {
            let parker = Arc::new(Parker::new());
            let _subscription = manual.subscribe({
                let parker = Arc::clone(&parker);
                Arc::new(move || parker.unpark())
            });
            while manual.tick() < deadline {
                assert!(parker.park_timeout(Duration::from_secs(60)), "not woken for {deadline}");
            }
        };
        thread::scope(|s| {
            for _ in 0..THREADS {
                s.spawn(|| {
                    for round in 1..=ROUNDS {
                        wait(round);
                        rounds.fetch_add(1, SeqCst);
                    }
                });
            }
            for round in 1..=ROUNDS {
                manual.advance(TICK);
                while rounds.load(SeqCst) < (round * THREADS) as usize {
                    thread::yield_now();
                }
            }
        });
    }
}

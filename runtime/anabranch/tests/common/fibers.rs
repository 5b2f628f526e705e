//! Helpers for tests of fibers: pools with and without membarrier, every kind of `Cx`, a rendezvous, and a view of the
//! waiting fibers.

use super::{LONG, watchdog};
use anabranch::{
    Cancelled, Cx, Pool, WaitError,
    pool::FiberState,
    sync::{Signal, Trigger},
};
use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// Longer than any test.
pub const FOREVER: Duration = Duration::from_secs(1 << 20);

/// Sleeps until it is cancelled, for scopes with a deadline.
pub fn sleep_for_ever(cx: &Cx<'_>) -> Result<(), WaitError> {
    Ok(cx.sleep(FOREVER)?)
}

/// Runs the check on pools of 1, 2 and 8 threads, with membarrier and without, under one watchdog.
pub fn in_all_pools(check: impl Fn(&Pool)) {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            check(&Pool::builder().threads(threads).build().unwrap());
            check(&Pool::builder().threads(threads).without_membarrier().build().unwrap());
        }
    });
}

/// Runs the check with each kind of `Cx`, in all pools: that of an outside thread, of one that is in the pool already,
/// of one that is in another pool, and of a fiber.
pub fn with_every_cx(check: impl Fn(&Cx<'_>) + Send + Sync + 'static) {
    let check = Arc::new(check);
    let other = Pool::builder().threads(1).build().unwrap();
    in_all_pools(|pool| {
        pool.run(|cx| check(cx));
        pool.install(|| anabranch::run(|cx| check(cx)));
        other.install(|| pool.run(|cx| check(cx)));
        on_fiber(pool, {
            let check = Arc::clone(&check);
            move |cx| check(cx)
        });
    });
}

/// Runs `body` on a fiber of the pool. Its panic propagates.
pub fn on_fiber<R: Send + 'static>(pool: &Pool, body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
    let handle = pool.spawn(body);
    match pool.run(|cx| handle.join(cx)) {
        Ok(result) => result,
        Err(anabranch::JoinError::Panicked(panic)) => std::panic::resume_unwind(panic),
        Err(error) => panic!("{error}"),
    }
}

/// A rendezvous of two: in each round each waits for the other.
pub struct Meeting {
    own: Vec<Trigger>,
    other: Vec<Signal>,
}

impl Meeting {
    pub fn pair(rounds: usize) -> (Self, Self) {
        let triggers = || (0..rounds).map(|_| Trigger::new()).collect::<Vec<_>>();
        let signals = |triggers: &[Trigger]| triggers.iter().map(Trigger::signal).collect();
        let (one, two) = (triggers(), triggers());
        let (to_one, to_two) = (signals(&one), signals(&two));
        (Self { own: one, other: to_two }, Self { own: two, other: to_one })
    }

    /// Goes through all rounds, and returns their number.
    pub fn attend(self, cx: &Cx<'_>) -> Result<usize, Cancelled> {
        let mut rounds = 0;
        for (mut own, other) in self.own.into_iter().zip(self.other) {
            other.send();
            own.wait(cx)?;
            rounds += 1;
        }
        Ok(rounds)
    }
}

/// A trigger and its signal.
pub fn trigger() -> (Trigger, Signal) {
    let trigger = Trigger::new();
    let signal = trigger.signal();
    (trigger, signal)
}

/// An event for any number of waiters.
#[derive(Clone, Default)]
pub struct Event(Arc<Mutex<(bool, Vec<Signal>)>>);

impl Event {
    pub fn set(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        for signal in state.1.drain(..) {
            signal.send();
        }
    }

    pub fn is_set(&self) -> bool {
        self.0.lock().unwrap().0
    }

    pub fn wait(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        let mut trigger = Trigger::new();
        {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Ok(());
            }
            state.1.push(trigger.signal());
        }
        trigger.wait(cx)
    }
}

/// Returns how many fibers of the pool wait.
pub fn waiting(pool: &Pool) -> usize {
    pool.fibers().iter().filter(|fiber| !fiber.is_thread() && fiber.state() == FiberState::Waiting).count()
}

/// Waits until exactly so many fibers of the pool wait, and no other runs or is ready.
pub fn until_waiting(pool: &Pool, count: usize) {
    loop {
        let mut fibers = pool.fibers();
        fibers.retain(|fiber| !fiber.is_thread());
        if fibers.len() == count && fibers.iter().all(|fiber| fiber.state() == FiberState::Waiting) {
            return;
        }
        thread::sleep(Duration::from_micros(100));
    }
}

/// Yields to other fibers until the condition holds.
pub fn until_in(cx: &Cx<'_>, condition: impl Fn() -> bool) {
    while !condition() {
        cx.yield_now();
    }
}

/// Waits for the condition on a plain thread, outside of pools.
pub fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_micros(100));
    }
}

//! Code of users: each step of it may be the one that panics.

use crate::{
    common::{Counted, Tally},
    explore::{Seen, any, pause_randomly},
};
use anabranch::{Builder, JoinError, Odds, Pool, catch_unwind, resume_unwind, set_odds};
use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// What happens in one execution. Its counters are no part of the schedule: nothing changes hands when they are
/// touched.
#[derive(Default)]
pub struct Trap {
    /// The step that panics; 0 where none does.
    at: u64,
    /// Once in so many times a later step panics too; 0 where none does.
    again: usize,
    steps: AtomicU64,
    thrown: AtomicU64,
    arrived: AtomicU64,
    /// A panic arrived that no step has thrown: an assertion, in a place where no caller waits for it.
    is_broken: AtomicBool,
    /// Handles may be dropped, and with each the panic of its fiber.
    is_loose: AtomicBool,
    values: Tally,
}

/// What a step panics with.
struct Payload {
    step: u64,
    _counted: Counted,
}

impl Trap {
    /// One of the first `most` steps panics, and in one of four executions others after it.
    pub fn within(most: usize) -> Arc<Self> {
        let again = if any(1, 4) == 1 { any(1, 8) } else { 0 };
        Arc::new(Self { at: any(1, most) as u64, again, ..Self::default() })
    }

    /// No step panics.
    pub fn none() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// A bit of work, which may panic.
    pub fn step(&self) -> Counted {
        pause_randomly();
        let counted = self.make();
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        if self.at != 0 && (step == self.at || step > self.at && self.again != 0 && any(1, self.again) == 1) {
            self.thrown.fetch_add(1, Ordering::Relaxed);
            // Without the panic hook, where shuttle takes each panic for the end.
            resume_unwind(Box::new(Payload { step, _counted: self.make() }));
        }
        counted
    }

    pub fn make(&self) -> Counted {
        self.values.make()
    }

    /// A panic has come to where it ends.
    pub fn receive(&self, payload: Box<dyn Any + Send>) -> u64 {
        match payload.downcast::<Payload>() {
            Ok(payload) => {
                self.arrived.fetch_add(1, Ordering::Relaxed);
                payload.step
            }
            Err(payload) => {
                self.is_broken.store(true, Ordering::Relaxed);
                resume_unwind(payload)
            }
        }
    }

    /// What a fiber has come to, if no step of it panicked.
    #[track_caller]
    pub fn ended<R>(&self, result: Result<R, JoinError>) -> Option<R> {
        match result {
            Ok(result) => Some(result),
            Err(JoinError::Panicked(payload)) => {
                self.receive(payload);
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls `body`. The step that panicked, if one has.
    pub fn catch<R>(&self, body: impl FnOnce() -> R) -> Result<R, u64> {
        catch_unwind(AssertUnwindSafe(body)).map_err(|payload| self.receive(payload))
    }

    /// A pool of 1 to 3 threads, which gives panics that reach no caller back to the trap. From now on nothing may
    /// depend on the net under waits that should have been ended, nor on spares.
    pub fn pool(self: &Arc<Self>) -> Pool {
        self.pool_of(self.builder())
    }

    /// As `pool`, of a builder that says more.
    pub fn pool_of(self: &Arc<Self>, builder: Builder) -> Pool {
        set_odds(Odds { long_waits_end: true, refusals: 0 });
        let pool = builder.build().unwrap();
        // Spares may be had or not.
        set_odds(Odds { long_waits_end: any(0, 1) == 0, refusals: any(0, 2) as u32 });
        pool
    }

    pub fn builder(self: &Arc<Self>) -> Builder {
        let trap = Arc::clone(self);
        let builder = Pool::builder().threads(any(1, 3)).max_spare_threads(any(0, 2));
        let builder = builder.on_panic(move |payload| _ = trap.receive(payload));
        if any(1, 4) == 1 { builder.without_membarrier() } else { builder }
    }

    pub fn thrown(&self) -> u64 {
        self.thrown.load(Ordering::Relaxed)
    }

    /// From now on handles may be dropped, and with each the panic of its fiber.
    pub fn let_go(&self) {
        self.is_loose.store(true, Ordering::Relaxed);
    }

    /// All has ended: each panic has arrived, once, and nothing is left of what was made. Gives back what came out.
    pub fn settle<R>(&self, seen: &Seen, outcome: Result<R, u64>) -> Option<R> {
        let thrown = self.thrown();
        assert!(!self.is_broken.load(Ordering::Relaxed), "an assertion failed, see above");
        let arrived = self.arrived.load(Ordering::Relaxed);
        if self.is_loose.load(Ordering::Relaxed) {
            assert!(thrown >= arrived, "{thrown} panics thrown, and {arrived} arrived");
        } else {
            assert_eq!(thrown, arrived, "panics thrown, and panics arrived");
        }
        assert_eq!(self.values.made(), self.values.dropped(), "values made, and values dropped");
        if thrown > 0 {
            seen.add_panic(self.at);
        }
        outcome.ok()
    }
}

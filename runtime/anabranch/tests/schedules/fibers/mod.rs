//! Fibers, and what they wait for.
//!
//! They run on stacks of their own as always, switched by the lines that ship: a thread of shuttle that is on the stack
//! of a fiber when another has its turn goes on there. Most programs are played on a pool whose clock is moved by a
//! thread, the hand, or by chance.

mod blocking;
mod channels;
mod join_sets;
mod locks;
mod plain_threads;
mod scopes;
mod spawned;
mod streams;
mod time;

use crate::{
    common::Counted,
    explore::{Event, Seen, any, pause_randomly},
    sum,
    trap::Trap,
};
use anabranch::{
    Builder, Cancelled, Cx, Odds, Pool, WaitError, fiber::CancelHandle, panicking, set_odds, time::ManualClock,
};
use shuttle::{sync::Mutex, thread};
use std::{
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Shorter than what the odds take for a wait without end.
const SHORT: Duration = Duration::from_millis(1);

/// Longer than any program.
const FOREVER: Duration = Duration::from_secs(1 << 20);

/// The shared objects of a program.
pub struct Stage<'a> {
    pub seen: &'a Seen,
    pub trap: Arc<Trap>,
    pub pool: Pool,
    threats: Mutex<Vec<thread::JoinHandle<()>>>,
    /// How many values have been either sent or dropped, it is unknown which: with futures that were dropped.
    unsure: AtomicUsize,
}

impl Stage<'_> {
    /// Notes how a wait has ended, which must not have been left for a thread that unwinds.
    pub fn note<T, E>(&self, result: Result<T, E>, error: Event, ok: Event) -> Option<T> {
        assert!(!panicking(), "a fiber goes on on a thread that unwinds");
        self.seen.add(if result.is_ok() { ok } else { error }, 1);
        result.ok()
    }

    /// Whether so many were sent if so many were received.
    pub fn assert_received(&self, sent: usize, received: usize) {
        let unsure = self.unsure.load(Ordering::Relaxed);
        assert!(
            (sent..=sent + unsure).contains(&received),
            "{sent} sent and {unsure} perhaps, and {received} received"
        );
        self.seen.add(Event::Received, received as u64);
    }

    pub fn make(&self) -> Counted {
        self.trap.make()
    }

    /// Cancels at some time, from a thread, or now, or never.
    pub fn cancel_at_random(&self, canceller: CancelHandle) {
        match any(0, 7) {
            0..=3 => {}
            4 => canceller.cancel(),
            _ => {
                let threat = thread::spawn(move || {
                    (0..any(0, 6)).for_each(|_| pause_randomly());
                    canceller.cancel();
                });
                unpoisoned(self.threats.lock()).push(threat);
            }
        }
    }

    /// Runs `body` in a scope that is perhaps cancelled.
    pub fn with_random_cancellation<R>(&self, cx: &Cx<'_>, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        cx.cancellable(|cx, canceller| {
            self.cancel_at_random(canceller);
            body(cx)
        })
    }
}

/// One execution of `program`, by a plain thread or by a fiber, one of whose first `most` steps panics; none where that
/// is 0. What it returns, if nothing has.
fn run_program<R: Send>(seen: &Seen, most: usize, program: impl FnOnce(&Cx<'_>, &Stage<'_>) -> R + Send) -> Option<R> {
    run_program_in(seen, most, |builder| builder, program)
}

/// As `run_program`, for programs in which fibers keep their threads, so that spares have to be had.
fn run_program_with_spares<R: Send>(
    seen: &Seen,
    most: usize,
    program: impl FnOnce(&Cx<'_>, &Stage<'_>) -> R + Send,
) -> Option<R> {
    run_program_in(
        seen,
        most,
        |builder| builder.max_spare_threads(12),
        |cx, stage| {
            set_odds(Odds { long_waits_end: true, refusals: 0 });
            program(cx, stage)
        },
    )
}

/// As `run_program`, in a pool of a builder that says more.
fn run_program_in<R: Send>(
    seen: &Seen,
    most: usize,
    with: impl FnOnce(Builder) -> Builder,
    program: impl FnOnce(&Cx<'_>, &Stage<'_>) -> R + Send,
) -> Option<R> {
    let trap = if most == 0 { Trap::none() } else { Trap::within(most) };
    let by_hand = any(0, 1) == 0;
    let manual = ManualClock::new();
    let builder = with(trap.builder());
    let pool = trap.pool_of(if by_hand { builder.clock(manual.clock()) } else { builder });
    let stage = Stage { seen, trap: Arc::clone(&trap), pool, threats: Mutex::default(), unsure: AtomicUsize::new(0) };
    let is_over = Arc::new(AtomicBool::new(false));
    let hand = by_hand.then(|| {
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                // Now and then long enough for threads that wait for something else to look.
                (0..[4, 4, 60][any(0, 2)]).for_each(|_| thread::yield_now());
                manual.advance(SHORT / 2 * any(0, 3) as u32);
            }
        })
    });
    let outcome = trap.catch(|| {
        stage.pool.run(|cx| {
            if any(0, 1) == 0 {
                program(cx, &stage)
            } else {
                let result = cx.scope(|s| s.spawn(|cx| program(cx, &stage)).join(s));
                result.expect("nobody cancels a fiber of this scope, and a panic goes past here")
            }
        })
    });
    assert_eq!(stage.pool.install(|| sum(0, 6)), 15);
    seen.note(&stage.pool);
    is_over.store(true, Ordering::Relaxed);
    let Stage { pool, threats, .. } = stage;
    // What is still under way is cancelled.
    drop(pool);
    hand.into_iter().chain(unpoisoned(threats.into_inner())).for_each(|thread| thread.join().unwrap());
    trap.settle(seen, outcome)
}

/// Under shuttle a lock is poisoned when it is let go while some other thread unwinds.
fn unpoisoned<G>(locked: Result<G, PoisonError<G>>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// Waits for nothing in particular, or does not wait.
fn wait_randomly(cx: &Cx<'_>) -> Result<(), Cancelled> {
    match any(0, 3) {
        0 => Ok(()),
        1 => cx.sleep(SHORT),
        _ => {
            cx.yield_now();
            Ok(())
        }
    }
}

/// Waits for a future, and perhaps drops it before it is done.
fn await_for<T>(cx: &Cx<'_>, future: impl IntoFuture<Output = T>) -> Result<T, WaitError> {
    cx.timeout(SHORT * any(1, 3) as u32, |cx| Ok(cx.block_on(future)?))
}

//! Each closure that compute code runs panics in turn: the panic arrives, and every value is dropped once.

use crate::common::{Counted, LONG, Tally, pool, sum_to, watchdog};
use anabranch::{join, prelude::*, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

/// Panics without a message, which would take most of the time.
pub fn throw(number: u64) -> ! {
    resume_unwind(Box::new(number))
}

pub fn caught(body: impl FnOnce()) -> Option<u64> {
    catch_unwind(AssertUnwindSafe(body)).err().map(|payload| *payload.downcast().unwrap())
}

/// A trap whose `n`th step panics. Each step returns a counted value.
struct Trap<'a> {
    left: AtomicU64,
    tally: &'a Tally,
}

impl Trap<'_> {
    fn step(&self) -> Counted {
        let counted = self.tally.make();
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            throw(42);
        }
        counted
    }
}

/// Calls everything that runs closures. Each closure may be the one that panics.
fn everything(trap: &Trap) {
    let step = || trap.step();
    let kept = (step(), join(step, step));
    join(|| join(step, || (step(), step())), || join(step, step));
    let mapped = (0..5u32).into_par_iter().map(|_| step()).collect::<Vec<_>>();
    mapped.par_iter().for_each(|_| drop(step()));
    (0..5u32)
        .into_par_iter()
        .fold(
            || vec![step()],
            |mut all, _| {
                all.push(step());
                all
            },
        )
        .reduce(
            || vec![step()],
            |mut a, b| {
                a.push(step());
                a.extend(b);
                a
            },
        );
    scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                let _kept = step();
                s.spawn(|| _ = join(step, step));
            });
        }
        step()
    });
    drop(kept);
}

#[test]
fn panic_at_each_step_propagates_and_leaks_nothing() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            let tally = Tally::default();
            // There are more than twenty-five steps, and fewer than fifty: beyond the last nothing panics.
            let (mut panics, mut ends) = (0, 0);
            for round in 0..3000 {
                let trap = Trap { left: AtomicU64::new(1 + round % 50), tally: &tally };
                match caught(|| pool.install(|| everything(&trap))) {
                    Some(number) => {
                        assert_eq!(number, 42);
                        panics += 1;
                    }
                    None => ends += 1,
                }
                assert_eq!(tally.made(), tally.dropped(), "round {round}");
            }
            assert!(panics > 1500 && ends > 100, "{panics} panics, {ends} ends");
            assert_eq!(pool.install(|| sum_to(200)), 20_100);
        }
    });
}

#[test]
fn panic_at_each_step_of_broadcast_propagates() {
    watchdog(LONG, || {
        let pool = pool(2);
        let tally = Tally::default();
        for round in 0..300 {
            let trap = Trap { left: AtomicU64::new(1 + round % 120), tally: &tally };
            let outcome = caught(|| _ = pool.broadcast(|_| everything(&trap)));
            assert!(outcome.is_none_or(|number| number == 42));
            assert_eq!(tally.made(), tally.dropped(), "round {round}");
        }
    });
}

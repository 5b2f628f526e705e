//! Chance, in the place of what shuttle does not have: the clock, and what the system says of threads and cores.

use shuttle::rand::{Rng, thread_rng};
use std::{cell::Cell, time::Duration};

/// True once in `n` times. Part of the schedule: a run that is repeated gets the same answers.
pub(crate) fn one_in(n: u32) -> bool {
    thread_rng().gen_ratio(1, n)
}

/// A number from 1 to `n`.
pub(crate) fn up_to(n: usize) -> usize {
    thread_rng().gen_range(1..=n)
}

/// What may happen in the executions that this thread runs from now on. For `tests/schedules`.
#[derive(Debug, Clone, Copy)]
pub struct Odds {
    /// Waits end by their time even if they are so long that a wake-up should have ended them. Where they do not, the
    /// schedule shows a lost wake-up.
    pub long_waits_end: bool,
    /// The system refuses one in so many threads; none where this is 0.
    pub refusals: u32,
}

thread_local! {
    static ODDS: Cell<Odds> = const { Cell::new(Odds { long_waits_end: true, refusals: 0 }) };
}

/// Sets the odds.
pub fn set_odds(odds: Odds) {
    ODDS.set(odds);
}

/// Returns whether a timed wait has no end.
pub(crate) fn is_endless(timeout: Duration) -> bool {
    timeout >= Duration::from_millis(5) && !ODDS.get().long_waits_end
}

/// Returns whether the system refuses to start a thread.
pub(crate) fn is_refused() -> bool {
    let refusals = ODDS.get().refusals;
    refusals != 0 && one_in(refusals)
}

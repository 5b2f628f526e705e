//! Random choices under shuttle, which replace the clock, and the system's information about threads and cores.

use shuttle::rand::{Rng, thread_rng};
use std::{cell::Cell, time::Duration};

/// Returns true once in `n` times. The choice is part of the schedule, so a repeated run gets the same answers.
pub(crate) fn one_in(n: u32) -> bool {
    thread_rng().gen_ratio(1, n)
}

/// Returns a random number from 1 to `n`.
pub(crate) fn up_to(n: usize) -> usize {
    thread_rng().gen_range(1..=n)
}

/// The odds of events in the executions that this thread runs from now on. For `tests/schedules`.
#[derive(Debug, Clone, Copy)]
pub struct Odds {
    /// Whether long timed waits time out, although a wake-up should have ended them earlier. If not, a lost wake-up
    /// hangs, and the schedule shows it.
    pub long_waits_end: bool,
    /// The system refuses one in this many threads, or none if this is 0.
    pub refusals: u32,
}

thread_local! {
    static ODDS: Cell<Odds> = const { Cell::new(Odds { long_waits_end: true, refusals: 0 }) };
}

/// Sets the odds.
pub fn set_odds(odds: Odds) {
    ODDS.set(odds);
}

/// Returns whether a timed wait never times out.
pub(crate) fn is_endless(timeout: Duration) -> bool {
    timeout >= Duration::from_millis(5) && !ODDS.get().long_waits_end
}

/// Returns whether the system refuses to start a thread.
pub(crate) fn is_refused() -> bool {
    let refusals = ODDS.get().refusals;
    refusals != 0 && one_in(refusals)
}

//! Chance, in the place of what shuttle does not have: the clock, and what the system says of threads and cores.

use shuttle::rand::{Rng, thread_rng};

/// True once in `n` times. Part of the schedule: a run that is repeated gets the same answers.
pub(crate) fn one_in(n: u32) -> bool {
    thread_rng().gen_ratio(1, n)
}

/// A number from 1 to `n`.
pub(crate) fn up_to(n: usize) -> usize {
    thread_rng().gen_range(1..=n)
}

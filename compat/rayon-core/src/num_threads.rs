//! How many threads a pool has.

use anabranch::Pool;
use std::{env, num::NonZero, thread};

/// Returns the largest number of threads that a pool can have. A builder reduces a larger number to it.
///
/// ```
/// assert_eq!(rayon_core::max_num_threads(), 4095);
/// ```
pub fn max_num_threads() -> usize {
    Pool::MAX_THREADS
}

/// Returns what `RAYON_NUM_THREADS` says, or else the older `RAYON_RS_NUM_CPUS`, but at most the maximum. A zero in the
/// first stands for as many threads as the machine offers.
pub(crate) fn from_environment() -> Option<usize> {
    let threads = match variable("RAYON_NUM_THREADS") {
        Some(0) => available(),
        Some(threads) => threads,
        None => variable("RAYON_RS_NUM_CPUS").filter(|threads| *threads > 0)?,
    };
    Some(threads.min(max_num_threads()))
}

/// Returns the number of threads of a pool for which the program does not choose it.
pub(crate) fn default() -> usize {
    from_environment().unwrap_or_else(available)
}

fn variable(name: &str) -> Option<usize> {
    env::var(name).ok()?.parse().ok()
}

fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(max_num_threads())
}

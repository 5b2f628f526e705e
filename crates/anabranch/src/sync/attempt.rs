//! What is wanted at a place.
//!
//! Everything in this room waits in one way: it attempts, waits, and attempts again (see [`waits`](super::waits)). What a
//! strand was given while it waited is kept by its place, and taken from there by the next attempt. A place that ends with
//! something untaken passes it on in its `Drop`. So nothing is lost by whichever way a wait is left: by cancellation, by a
//! deadline, by a future that is dropped, or by the panic of a foreign waker.

use crate::wait::place::Place;

/// A place together with what is wanted there.
pub(crate) trait Attempt: Place {
    /// Whether what is wanted has been had: by the wait that has just ended, or now.
    fn attempt(&self) -> bool;
}

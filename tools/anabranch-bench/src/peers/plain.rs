//! No library: one closure after the other. The baseline.

use super::Peer;

/// Recursion on the calling thread.
pub struct Plain;

impl Peer for Plain {
    type Cx<'a> = ();
    type Pool = ();

    fn pool(_threads: usize) {}

    fn enter<R, F>(_pool: &(), f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send,
    {
        f(&())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(_cx: &(), a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (a(&()), b(&()))
    }
}

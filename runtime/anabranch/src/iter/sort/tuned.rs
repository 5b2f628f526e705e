//! Lengths of pieces.

/// Returns a length, which unit tests replace by a small one, so that short slices take all paths.
pub(super) const fn tuned(length: usize, in_tests: usize) -> usize {
    if cfg!(test) { in_tests } else { length }
}

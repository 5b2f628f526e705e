//! A loop in a loop: the outer one is too short to be cut evenly, the inner one perhaps too short to be cut at all.

use std::hint::black_box;

use super::library::prelude::*;
use crate::iterators::program::Program;

/// Eight sums of a slice.
pub struct Nested {
    outer: Vec<u64>,
    inner: Vec<u64>,
}

impl Nested {
    /// Creates a slice of `count` numbers, so small that the sum does not overflow.
    pub fn new(count: usize) -> Nested {
        Nested { outer: (0..8).collect(), inner: (0..count as u64).map(|i| i * 7919 % 65_521).collect() }
    }
}

impl Program for Nested {
    fn run(&mut self) -> u64 {
        let (outer, inner) = (black_box(&self.outer), black_box(&self.inner));
        outer.par_iter().map(|i| inner.par_iter().map(|x| x ^ i).sum::<u64>()).sum()
    }
}

//! The sum of the squares of a slice.

use std::hint::black_box;

use super::library::prelude::*;
use crate::iterators::program::{Program, on_threads};

/// The sum of squares.
pub struct MapSum {
    xs: Vec<u64>,
}

impl MapSum {
    /// Creates `count` numbers, so small that the sum does not overflow.
    pub fn new(count: usize) -> MapSum {
        MapSum { xs: (0..count as u64).map(|i| i * 7919 % 65_521).collect() }
    }
}

impl Program for MapSum {
    fn run(&mut self) -> u64 {
        let xs = black_box(&self.xs);
        xs.par_iter().map(|x| x * x).sum()
    }

    fn run_by_hand(&mut self, threads: usize) -> u64 {
        let part = self.xs.len().div_ceil(threads);
        on_threads(self.xs.chunks(part).map(|xs| move || xs.iter().map(|x| x * x).sum()))
    }
}

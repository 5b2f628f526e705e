//! New vectors of the items of a slice.

use super::library::prelude::*;
use crate::iterators::program::{Program, digest};

/// The products of all items with a number.
pub struct Map {
    xs: Vec<u64>,
    output: Vec<u64>,
}

impl Map {
    /// Creates `count` numbers.
    pub fn new(count: usize) -> Map {
        Map { xs: numbers(count), output: Vec::new() }
    }
}

impl Program for Map {
    fn reset(&mut self) {
        self.output = Vec::new();
    }

    fn run(&mut self) -> u64 {
        self.output = self.xs.par_iter().map(|x| x.wrapping_mul(3)).collect();
        self.output.len() as u64
    }

    fn digest(&self) -> u64 {
        digest(self.output.iter().copied())
    }
}

/// The even ones of random items, which are half of them.
pub struct Filter {
    xs: Vec<u64>,
    output: Vec<u64>,
}

impl Filter {
    /// Creates `count` numbers.
    pub fn new(count: usize) -> Filter {
        Filter { xs: numbers(count), output: Vec::new() }
    }
}

impl Program for Filter {
    fn reset(&mut self) {
        self.output = Vec::new();
    }

    fn run(&mut self) -> u64 {
        self.output = self.xs.par_iter().copied().filter(|x| x % 2 == 0).collect();
        self.output.len() as u64
    }

    fn digest(&self) -> u64 {
        digest(self.output.iter().copied())
    }
}

/// Pairs of all items and their products with a number, in two vectors.
pub struct Unzip {
    xs: Vec<u64>,
    output: (Vec<u64>, Vec<u64>),
}

impl Unzip {
    /// Creates `count` numbers.
    pub fn new(count: usize) -> Unzip {
        Unzip { xs: numbers(count), output: Default::default() }
    }
}

impl Program for Unzip {
    fn reset(&mut self) {
        self.output = Default::default();
    }

    fn run(&mut self) -> u64 {
        self.output = self.xs.par_iter().map(|x| (*x, x.wrapping_mul(3))).unzip();
        self.output.1.len() as u64
    }

    fn digest(&self) -> u64 {
        digest(self.output.0.iter().chain(&self.output.1).copied())
    }
}

fn numbers(count: usize) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(0xc011);
    (0..count).map(|_| random.u64(..)).collect()
}

//! Sorts of slices.

use super::library::prelude::*;
use crate::iterators::input::Shape;
use crate::iterators::program::{Program, digest};

/// An unstable sort of numbers.
pub struct Numbers {
    source: Vec<u64>,
    numbers: Vec<u64>,
}

impl Numbers {
    /// Creates `count` numbers.
    pub fn new(count: usize, shape: Shape) -> Numbers {
        Numbers { source: shape.numbers(count), numbers: Vec::new() }
    }
}

impl Program for Numbers {
    fn reset(&mut self) {
        self.numbers.clone_from(&self.source);
    }

    fn run(&mut self) -> u64 {
        self.numbers.par_sort_unstable();
        0
    }

    fn digest(&self) -> u64 {
        digest(self.numbers.iter().copied())
    }
}

/// A stable sort of strings.
pub struct Strings {
    source: Vec<String>,
    strings: Vec<String>,
}

impl Strings {
    /// Creates `count` strings.
    pub fn new(count: usize, shape: Shape) -> Strings {
        Strings { source: shape.strings(count), strings: Vec::new() }
    }
}

impl Program for Strings {
    fn reset(&mut self) {
        // New strings, in the order of the memory as those of a program that has just read them.
        self.strings = Vec::new();
        self.strings = self.source.clone();
    }

    fn run(&mut self) -> u64 {
        self.strings.par_sort();
        0
    }

    fn digest(&self) -> u64 {
        digest(self.strings.iter().flat_map(|text| text.bytes()).map(u64::from))
    }
}

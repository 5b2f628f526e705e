//! Loops over the lines, the words and the characters of a text.

use super::library::prelude::*;
use crate::iterators::input;
use crate::iterators::program::Program;

/// The sum of the lengths of all lines.
pub struct LineLengths(String);

impl LineLengths {
    /// Creates a text of `bytes`.
    pub fn new(bytes: usize) -> LineLengths {
        LineLengths(input::text(bytes))
    }
}

impl Program for LineLengths {
    fn run(&mut self) -> u64 {
        self.0.par_lines().map(|line| line.len() as u64).sum()
    }
}

/// The number of words.
pub struct WordCount(String);

impl WordCount {
    /// Creates a text of `bytes`.
    pub fn new(bytes: usize) -> WordCount {
        WordCount(input::text(bytes))
    }
}

impl Program for WordCount {
    fn run(&mut self) -> u64 {
        self.0.par_split_whitespace().count() as u64
    }
}

/// The sum of the lengths of all words.
pub struct WordLengths(String);

impl WordLengths {
    /// Creates a text of `bytes`.
    pub fn new(bytes: usize) -> WordLengths {
        WordLengths(input::text(bytes))
    }
}

impl Program for WordLengths {
    fn run(&mut self) -> u64 {
        self.0.par_split_whitespace().map(|word| word.len() as u64).sum()
    }
}

/// The sum of all characters.
pub struct CharSum(String);

impl CharSum {
    /// Creates a text of `bytes`.
    pub fn new(bytes: usize) -> CharSum {
        CharSum(input::text(bytes))
    }
}

impl Program for CharSum {
    fn run(&mut self) -> u64 {
        self.0.par_chars().map(u64::from).sum()
    }
}

/// How often one letter occurs.
pub struct LetterCount(String);

impl LetterCount {
    /// Creates a text of `bytes`.
    pub fn new(bytes: usize) -> LetterCount {
        LetterCount(input::text(bytes))
    }
}

impl Program for LetterCount {
    fn run(&mut self) -> u64 {
        self.0.par_chars().filter(|&c| c == 'e').count() as u64
    }
}

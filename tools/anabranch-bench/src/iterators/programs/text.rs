//! Loops over the lines, the words and the characters of a text.

use super::library::prelude::*;
use crate::iterators::input;
use crate::iterators::program::Program;

/// A text, and a loop over it.
pub struct Text {
    text: String,
    run: fn(&str) -> u64,
}

impl Text {
    fn new(bytes: usize, run: fn(&str) -> u64) -> Text {
        Text { text: input::text(bytes), run }
    }

    /// Creates a text of `bytes`, and the sum of the lengths of all its lines.
    pub fn line_lengths(bytes: usize) -> Text {
        Text::new(bytes, |text| text.par_lines().map(|line| line.len() as u64).sum())
    }

    /// Creates a text of `bytes`, and the number of its words.
    pub fn word_count(bytes: usize) -> Text {
        Text::new(bytes, |text| text.par_split_whitespace().count() as u64)
    }

    /// Creates a text of `bytes`, and the sum of the lengths of all its words.
    pub fn word_lengths(bytes: usize) -> Text {
        Text::new(bytes, |text| text.par_split_whitespace().map(|word| word.len() as u64).sum())
    }

    /// Creates a text of `bytes`, and the sum of all its characters.
    pub fn char_sum(bytes: usize) -> Text {
        Text::new(bytes, |text| text.par_chars().map(u64::from).sum())
    }

    /// Creates a text of `bytes`, and how often one letter occurs in it.
    pub fn letter_count(bytes: usize) -> Text {
        Text::new(bytes, |text| text.par_chars().filter(|&c| c == 'e').count() as u64)
    }
}

impl Program for Text {
    fn run(&mut self) -> u64 {
        (self.run)(&self.text)
    }
}

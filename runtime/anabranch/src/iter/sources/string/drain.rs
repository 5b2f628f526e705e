//! Draining characters from a string.

use super::text::{FindChars, Text};
use crate::iter::{
    plumbing::{Consumer, Drive, Driven, bridge},
    sources::{drain::ParallelDrainRange, vec::slice_range},
};
use std::ops::{Range, RangeBounds};

/// A parallel iterator that drains characters from a string. [`par_drain`](ParallelDrainRange::par_drain) returns it.
#[derive(Debug)]
pub struct Drain<'a> {
    string: &'a mut String,
    range: Range<usize>,
}

impl<'a> ParallelDrainRange<usize> for &'a mut String {
    type Iter = Drain<'a>;
    type Item = char;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a> {
        let range = slice_range(range, self.len());
        assert!(
            self.is_char_boundary(range.start) && self.is_char_boundary(range.end),
            "the range {range:?} does not begin and end between two characters"
        );
        Drain { string: self, range }
    }
}

impl Drive for Drain<'_> {
    type Item = char;

    fn drive<C: Consumer<char>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, char> {
        bridge(Text::new(&self.string[self.range.clone()], FindChars), consumer, folder, at)
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.string.drain(self.range.clone());
    }
}

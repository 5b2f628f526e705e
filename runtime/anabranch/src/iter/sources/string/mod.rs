//! Strings.
//!
//! All of these split text in parallel, whatever the lengths of its lines or words are. They cut at a byte in the
//! middle, and then move to the next boundary.

mod drain;
mod parallel_string;
mod pattern;
mod scan;
mod text;

pub use self::{drain::Drain, parallel_string::ParallelString, pattern::Pattern};

use self::text::{
    FindAsciiWords, FindCharIndices, FindChars, FindLines, FindMatchIndices, FindMatches, FindSplit,
    FindSplitInclusive, FindSplitTerminator, FindUtf16, FindWords, Text,
};
use crate::iter::{
    plumbing::{Consumer, Drive, Driven, Producer, bridge},
    sources::producer::drive_producer,
};
use std::{fmt, iter::Copied, slice};

/// Defines a parallel iterator over the items that are found in a text.
macro_rules! found {
    ($($name:ident, $item:ty, $find:ident, $method:literal;)*) => {$(
        #[doc = concat!("[`", $method, "`](ParallelString::", $method, ") returns it.")]
        #[derive(Debug, Clone)]
        pub struct $name<'t>(&'t str);

        impl<'t> Drive for $name<'t> {
            type Item = $item;

            fn drive<C: Consumer<$item>>(
                self,
                consumer: &C,
                folder: C::Folder,
                at: C::Position,
            ) -> Driven<C, $item> {
                bridge(Text::new(self.0, $find), consumer, folder, at)
            }
        }
    )*};
}

found! {
    Chars, char, FindChars, "par_chars";
    CharIndices, (usize, char), FindCharIndices, "par_char_indices";
    EncodeUtf16, u16, FindUtf16, "par_encode_utf16";
    Lines, &'t str, FindLines, "par_lines";
    SplitWhitespace, &'t str, FindWords, "par_split_whitespace";
    SplitAsciiWhitespace, &'t str, FindAsciiWords, "par_split_ascii_whitespace";
}

/// Defines a parallel iterator over the matches of a pattern in a text.
macro_rules! found_by_pattern {
    ($($name:ident, $item:ty, $find:ident, $method:literal;)*) => {$(
        #[doc = concat!("[`", $method, "`](ParallelString::", $method, ") returns it.")]
        #[derive(Clone)]
        pub struct $name<'t, P> {
            text: &'t str,
            pattern: P,
        }

        impl<P> fmt::Debug for $name<'_, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("text", &self.text).finish_non_exhaustive()
            }
        }

        impl<'t, P: Pattern> Drive for $name<'t, P> {
            type Item = $item;

            fn drive<C: Consumer<$item>>(
                self,
                consumer: &C,
                folder: C::Folder,
                at: C::Position,
            ) -> Driven<C, $item> {
                bridge(Text::new(self.text, $find(&self.pattern)), consumer, folder, at)
            }
        }
    )*};
}

found_by_pattern! {
    Split, &'t str, FindSplit, "par_split";
    SplitInclusive, &'t str, FindSplitInclusive, "par_split_inclusive";
    SplitTerminator, &'t str, FindSplitTerminator, "par_split_terminator";
    Matches, &'t str, FindMatches, "par_matches";
    MatchIndices, (usize, &'t str), FindMatchIndices, "par_match_indices";
}

/// A parallel iterator over the bytes of a text. [`par_bytes`](ParallelString::par_bytes) returns it.
#[derive(Debug, Clone)]
pub struct Bytes<'t>(&'t [u8]);

impl<'t> Producer for Bytes<'t> {
    type Item = u8;
    type IntoIter = Copied<slice::Iter<'t, u8>>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(mid);
        (Self(left), Self(right))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().copied()
    }
}

drive_producer!(['t] Bytes<'t>, u8, |this| this.clone());

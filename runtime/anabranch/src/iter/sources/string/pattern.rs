//! Patterns that separate or match parts of a string.

use std::str;

/// A pattern that matches single characters: a `char`, a slice or an array of `char`, or a closure
/// `Fn(char) -> bool + Sync + Send`.
///
/// It cannot be implemented outside of this crate.
pub trait Pattern: Sized + Sync + Send + private::Methods {}

impl<P: private::Methods> Pattern for P {}

pub(super) mod private {
    /// The methods of `str` with a pattern, because std's own trait of patterns is unstable.
    pub trait Methods: Sized + Sync + Send {
        type Split<'t, 'p>: DoubleEndedIterator<Item = &'t str>
        where
            Self: 'p;
        type SplitInclusive<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type SplitTerminator<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type Matches<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type MatchIndices<'t, 'p>: Iterator<Item = (usize, &'t str)>
        where
            Self: 'p;

        /// Returns the index of the first match, and of the character after it.
        fn find(&self, text: &str) -> Option<(usize, usize)>;
        fn split<'t, 'p>(&'p self, text: &'t str) -> Self::Split<'t, 'p>;
        fn split_inclusive<'t, 'p>(&'p self, text: &'t str) -> Self::SplitInclusive<'t, 'p>;
        fn split_terminator<'t, 'p>(&'p self, text: &'t str) -> Self::SplitTerminator<'t, 'p>;
        fn matches<'t, 'p>(&'p self, text: &'t str) -> Self::Matches<'t, 'p>;
        fn match_indices<'t, 'p>(&'p self, text: &'t str) -> Self::MatchIndices<'t, 'p>;
    }
}
use private::Methods;

/// Implements the methods of a pattern. `$std` is the type that the methods of `str` are called with.
macro_rules! pattern {
    ([$($generics:tt)*] $pattern:ty, $std:ty, |$this:ident| $value:expr) => {
        impl<$($generics)*> Methods for $pattern {
            type Split<'t, 'p> = str::Split<'t, $std> where Self: 'p;
            type SplitInclusive<'t, 'p> = str::SplitInclusive<'t, $std> where Self: 'p;
            type SplitTerminator<'t, 'p> = str::SplitTerminator<'t, $std> where Self: 'p;
            type Matches<'t, 'p> = str::Matches<'t, $std> where Self: 'p;
            type MatchIndices<'t, 'p> = str::MatchIndices<'t, $std> where Self: 'p;

            #[inline]
            fn find(&self, text: &str) -> Option<(usize, usize)> {
                let $this = self;
                let (start, matched) = text.match_indices($value).next()?;
                Some((start, start + matched.len()))
            }
            #[inline]
            fn split<'t, 'p>(&'p self, text: &'t str) -> Self::Split<'t, 'p> {
                let $this = self;
                text.split($value)
            }
            #[inline]
            fn split_inclusive<'t, 'p>(&'p self, text: &'t str) -> Self::SplitInclusive<'t, 'p> {
                let $this = self;
                text.split_inclusive($value)
            }
            #[inline]
            fn split_terminator<'t, 'p>(&'p self, text: &'t str) -> Self::SplitTerminator<'t, 'p> {
                let $this = self;
                text.split_terminator($value)
            }
            #[inline]
            fn matches<'t, 'p>(&'p self, text: &'t str) -> Self::Matches<'t, 'p> {
                let $this = self;
                text.matches($value)
            }
            #[inline]
            fn match_indices<'t, 'p>(&'p self, text: &'t str) -> Self::MatchIndices<'t, 'p> {
                let $this = self;
                text.match_indices($value)
            }
        }
    };
}

pattern!([] char, char, |this| *this);
pattern!([] & [char], &'p [char], |this| *this);
pattern!([const N: usize] [char; N], [char; N], |this| *this);
pattern!([const N: usize] &[char; N], &'p [char; N], |this| *this);
pattern!([F: Fn(char) -> bool + Sync + Send] F, &'p F, |this| this);

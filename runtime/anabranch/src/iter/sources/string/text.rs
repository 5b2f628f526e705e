//! Pieces of text, and the items that are found in them.
//!
//! A piece is cut at a byte. The cut then moves to the next place at which the items of both parts together are the
//! items of the whole: the next character, the end of a line, a separator. So the length of a piece is a measure of the
//! work, its number of bytes. A last piece is longer by one, so that a last piece without text is not mistaken for a
//! piece without items.

use super::{
    pattern::private::Methods,
    scan::{Lines, Words},
};
use crate::iter::plumbing::Producer;
use std::{iter::FusedIterator, str};

/// A kind of items that are found in a text.
pub(super) trait Find<'t>: Copy + Send {
    type Item: Send;
    type Iter: Iterator<Item = Self::Item>;

    /// Returns the index of a place to cut, at or after `from`.
    fn boundary(self, text: &str, from: usize) -> Option<usize>;

    /// Returns the items of a piece. It begins at index `offset` of the whole text.
    fn items(self, text: &'t str, offset: usize, is_last: bool) -> Self::Iter;
}

/// A piece of a text.
pub(super) struct Text<'t, F> {
    text: &'t str,
    offset: usize,
    is_last: bool,
    find: F,
}

impl<'t, F: Find<'t>> Text<'t, F> {
    pub(super) fn new(text: &'t str, find: F) -> Self {
        Self { text, offset: 0, is_last: true, find }
    }
}

impl<'t, F: Find<'t>> Producer for Text<'t, F> {
    type Item = F::Item;
    type IntoIter = F::Iter;

    const IS_EXACT: bool = false;

    #[inline]
    fn len(&self) -> usize {
        self.text.len() + usize::from(self.is_last)
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let Self { text, offset, is_last, find } = self;
        let next = (mid..=text.len()).find(|index| text.is_char_boundary(*index));
        let boundary = next.and_then(|next| find.boundary(text, next));
        let (boundary, is_right_last) = boundary.map_or((text.len(), false), |boundary| (boundary, is_last));
        let (left, right) = text.split_at(boundary);
        (
            Self { text: left, is_last: is_last && !is_right_last, ..self },
            Self { text: right, offset: offset + boundary, is_last: is_right_last, ..self },
        )
    }
    #[inline]
    fn into_iter(self) -> F::Iter {
        self.find.items(self.text, self.offset, self.is_last)
    }
}

/// Adds the offset of a piece to the indices of its items.
pub(super) struct Offset<I> {
    items: I,
    offset: usize,
}

impl<T, I: Iterator<Item = (usize, T)>> Iterator for Offset<I> {
    type Item = (usize, T);

    #[inline]
    fn next(&mut self) -> Option<(usize, T)> {
        let (index, item) = self.items.next()?;
        Some((self.offset + index, item))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
    #[inline]
    fn fold<B, F: FnMut(B, (usize, T)) -> B>(self, init: B, mut f: F) -> B {
        let offset = self.offset;
        self.items.fold(init, |acc, (index, item)| f(acc, (offset + index, item)))
    }
}

impl<T, I: FusedIterator<Item = (usize, T)>> FusedIterator for Offset<I> {}

/// Defines something that is found in a text without a pattern.
macro_rules! find {
    (
        $name:ident, $item:ty, $iter:ty, |$text:ident, $from:ident| $boundary:expr,
        |$piece:ident, $offset:ident| $items:expr
    ) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl<'t> Find<'t> for $name {
            type Item = $item;
            type Iter = $iter;

            #[inline]
            fn boundary(self, $text: &str, $from: usize) -> Option<usize> {
                $boundary
            }
            #[inline]
            fn items(self, $piece: &'t str, $offset: usize, _: bool) -> $iter {
                $items
            }
        }
    };
}

find!(FindChars, char, str::Chars<'t>, |_text, from| Some(from), |text, _offset| text.chars());
find!(FindCharIndices, (usize, char), Offset<str::CharIndices<'t>>, |_text, from| Some(from), |text, offset| Offset {
    items: text.char_indices(),
    offset
});
find!(FindUtf16, u16, str::EncodeUtf16<'t>, |_text, from| Some(from), |text, _offset| text.encode_utf16());
find!(FindLines, &'t str, Lines<'t>, |text, from| Some(from + text[from..].find('\n')? + 1), |text, _offset| Lines(
    text
));
find!(
    FindWords,
    &'t str,
    Words<'t>,
    |text, from| Some(from + text[from..].find(char::is_whitespace)?),
    |text, _offset| Words(text)
);
find!(
    FindAsciiWords,
    &'t str,
    str::SplitAsciiWhitespace<'t>,
    |text, from| Some(from + text.as_bytes()[from..].iter().position(u8::is_ascii_whitespace)?),
    |text, _offset| text.split_ascii_whitespace()
);

/// Defines something that is found in a text with a pattern.
macro_rules! find_pattern {
    (
        $name:ident, $item:ty, $iter:ty, |$pattern:ident, $text:ident, $from:ident| $boundary:expr,
        |$piece:ident, $offset:ident, $is_last:ident| $items:expr
    ) => {
        pub(super) struct $name<'p, P>(pub(super) &'p P);

        impl<P> Clone for $name<'_, P> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<P> Copy for $name<'_, P> {}

        impl<'t, 'p, P: Methods> Find<'t> for $name<'p, P> {
            type Item = $item;
            type Iter = $iter;

            #[inline]
            #[allow(unused_variables, reason = "not each kind looks at the pattern")]
            fn boundary(self, $text: &str, $from: usize) -> Option<usize> {
                let $pattern = self.0;
                $boundary
            }
            #[inline]
            fn items(self, $piece: &'t str, $offset: usize, $is_last: bool) -> $iter {
                let $pattern = self.0;
                $items
            }
        }
    };
}

/// Returns the index after the first match at or after `from`.
#[inline]
fn after_match(pattern: &impl Methods, text: &str, from: usize) -> Option<usize> {
    Some(from + pattern.find(&text[from..])?.1)
}

find_pattern!(
    FindSplit,
    &'t str,
    P::Split<'t, 'p>,
    |pattern, text, from| after_match(pattern, text, from),
    |text, _offset, is_last| {
        // A piece that is not the last one ends with a separator, after which it has no part.
        let mut parts = pattern.split(text);
        if !is_last {
            parts.next_back();
        }
        parts
    }
);
find_pattern!(
    FindSplitInclusive,
    &'t str,
    P::SplitInclusive<'t, 'p>,
    |pattern, text, from| after_match(pattern, text, from),
    |text, _offset, _is_last| pattern.split_inclusive(text)
);
find_pattern!(
    FindSplitTerminator,
    &'t str,
    P::SplitTerminator<'t, 'p>,
    |pattern, text, from| after_match(pattern, text, from),
    |text, _offset, _is_last| pattern.split_terminator(text)
);
find_pattern!(
    FindMatches,
    &'t str,
    P::Matches<'t, 'p>,
    |pattern, _text, from| Some(from),
    |text, _offset, _is_last| pattern.matches(text)
);
find_pattern!(
    FindMatchIndices,
    (usize, &'t str),
    Offset<P::MatchIndices<'t, 'p>>,
    |pattern, _text, from| Some(from),
    |text, offset, _is_last| Offset { items: pattern.match_indices(text), offset }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iter::sources::random_cuts::{Random, cut};

    #[test]
    fn parts_of_texts_are_found_at_cuts() {
        const ALPHABETS: [&[char]; 4] =
            [&['a', ',', 'é'], &[' ', '\n', '\r', ','], &[',', '😀', '\n', ' ', '\u{2003}'], &['x']];
        for seed in 0..2000 {
            let mut random = Random(seed);
            let alphabet = ALPHABETS[seed as usize % 4];
            let text: String = (0..random.below(20)).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let text = text.as_str();
            macro_rules! same {
                ($find:expr, $plain:expr) => {
                    let found = cut(Text::new(text, $find), &mut random);
                    assert_eq!(found, $plain.collect::<Vec<_>>(), "in {text:?} with the seed {seed}");
                };
            }
            same!(FindChars, text.chars());
            same!(FindCharIndices, text.char_indices());
            same!(FindUtf16, text.encode_utf16());
            same!(FindLines, text.lines());
            same!(FindWords, text.split_whitespace());
            same!(FindAsciiWords, text.split_ascii_whitespace());
            same!(FindSplit(&','), text.split(','));
            same!(FindSplitInclusive(&['é', ',']), text.split_inclusive(['é', ',']));
            same!(FindSplitTerminator(&','), text.split_terminator(','));
            same!(FindMatches(&'😀'), text.matches('😀'));
            same!(FindMatchIndices(&','), text.match_indices(','));
        }
    }
}

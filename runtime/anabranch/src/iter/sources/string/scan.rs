//! The lines and the words of a piece of text, found several bytes at a time.
//!
//! The iterators of std decode a character at a time for white space, and start a search anew for each line. The
//! iterators here look at the eight bytes of a `u64` together (Lamport, "Multiple byte processing with full-word
//! instructions", 1975), or at 64 in a long line, and decode only what is not ASCII. The items are the same as with
//! [`str::lines`] and [`str::split_whitespace`].

use std::iter::FusedIterator;

/// The lines of a text, without their ends.
#[derive(Debug, Clone)]
pub(super) struct Lines<'t>(pub(super) &'t str);

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let text = self.0;
        let Some(end) = line_feed(text.as_bytes()) else {
            self.0 = "";
            // A carriage return ends a line only in front of a line feed.
            return (!text.is_empty()).then_some(text);
        };
        self.0 = &text[end + 1..];
        let line = &text[..end];
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

impl FusedIterator for Lines<'_> {}

const WORD: usize = size_of::<u64>();
/// The lowest bits of all bytes of a word.
const ONES: u64 = u64::from_ne_bytes([1; WORD]);
/// The highest bits.
const HIGHS: u64 = ONES << 7;

/// The number of bytes of a line that are searched by words. Vector instructions search the rest, which pays for long
/// lines only.
const BY_WORDS: usize = 128;
/// The number of bytes that vector instructions search together.
const BLOCK: usize = 64;

/// Returns the index of the first line feed.
#[inline]
fn line_feed(bytes: &[u8]) -> Option<usize> {
    let Some((head, rest)) = bytes.split_first_chunk::<BY_WORDS>() else { return line_feed_by_words(bytes) };
    line_feed_by_words(head).or_else(|| {
        let (blocks, _) = rest.as_chunks::<BLOCK>();
        let skipped = blocks.iter().take_while(|block| !has_line_feed(block)).count() * BLOCK;
        line_feed_by_words(&rest[skipped..]).map(|index| BY_WORDS + skipped + index)
    })
}

/// Looks at every byte, so that the compiler can use vector instructions.
#[inline]
fn has_line_feed(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(false, |has, byte| has | (*byte == b'\n'))
}

#[inline]
fn line_feed_by_words(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let found = line_feeds(*word);
        if found != 0 {
            return Some(index * WORD + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|byte| *byte == b'\n').map(|index| words.len() * WORD + index)
}

/// Returns a word whose lowest bit belongs to the first line feed, or 0 if there is none.
#[inline]
fn line_feeds(word: [u8; WORD]) -> u64 {
    // A byte of the difference is zero at a line feed. The subtraction sets the highest bit of the first zero byte, and
    // of bytes above it only after a borrow.
    let difference = u64::from_le_bytes(word) ^ (ONES * b'\n' as u64);
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

/// The words of a text.
#[derive(Debug, Clone)]
pub(super) struct Words<'t>(pub(super) &'t str);

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start();
        let (word, rest) = text.split_at(word_end(text));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

impl FusedIterator for Words<'_> {}

/// Returns the index of the first white space, or the length.
#[inline]
fn word_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut index = 0;
    loop {
        index += no_stop(&bytes[index..]);
        match text[index..].chars().next() {
            Some(character) if !character.is_whitespace() => index += character.len_utf8(),
            _ => return index,
        }
    }
}

/// Returns the number of bytes in front of the first one that may belong to white space.
#[inline]
fn no_stop(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let found = stops(*word);
        if found != 0 {
            return index * WORD + found.trailing_zeros() as usize / 8;
        }
    }
    let is_stop = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ' | 0x80..);
    words.len() * WORD + rest.iter().position(is_stop).unwrap_or(rest.len())
}

/// Returns the highest bits of the bytes that are ASCII white space, or not ASCII.
#[inline]
fn stops(word: [u8; WORD]) -> u64 {
    let word = u64::from_le_bytes(word);
    let low = word & !HIGHS;
    // Without their highest bits no byte of a sum carries into the next.
    let at_least = |bound: u8| low + ONES * u64::from(0x80 - bound);
    let is_control = at_least(b'\t') & !at_least(b'\r' + 1);
    let is_space = at_least(b' ') & !at_least(b' ' + 1);
    (is_control | is_space | word) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iter::sources::random_cuts::Random;

    #[test]
    fn items_are_those_of_std() {
        const ALPHABET: [&str; 12] = [
            "a",
            "bcdefghi",
            "é",
            "\n",
            "\r",
            "\r\n",
            " ",
            "\t\x0b\x0c",
            "\u{85}",
            "\u{3000}",
            "\u{2003}",
            "\x0b\x1f\u{8a}",
        ];
        for seed in 0..20_000 {
            let mut random = Random(seed);
            let text: String = (0..random.below(24)).map(|_| ALPHABET[random.below(ALPHABET.len())]).collect();
            assert!(Lines(&text).eq(text.lines()), "the lines of {text:?}");
            assert!(Words(&text).eq(text.split_whitespace()), "the words of {text:?}");
        }
    }

    #[test]
    fn every_character_is_classified_as_in_std() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            assert!(Words(&text).eq(text.split_whitespace()), "{character:?}");
            assert!(Lines(&text).eq(text.lines()), "{character:?}");
        }
    }

    #[test]
    fn bytes_that_may_be_white_space_are_found_at_every_place() {
        for byte in 0..=u8::MAX {
            let expected = !byte.is_ascii() || char::from(byte).is_whitespace();
            for place in 0..WORD {
                let mut word = *b"abcdefgh";
                word[place] = byte;
                assert_eq!(stops(word), if expected { 0x80 << (8 * place) } else { 0 }, "{byte} at {place}");
            }
        }
    }

    #[test]
    fn line_feed_is_found_beside_every_byte() {
        for byte in 0..=u8::MAX {
            for place in 0..20 {
                let mut bytes = [byte; 20];
                bytes[place] = b'\n';
                let expected = if byte == b'\n' { 0 } else { place };
                assert_eq!(line_feed(&bytes), Some(expected), "beside {byte} at {place}");
                assert_eq!(line_feed(&[byte; 20]).is_some(), byte == b'\n');
            }
        }
    }

    #[test]
    fn line_feed_is_found_at_every_place_of_a_long_line() {
        for len in 0..BY_WORDS + 3 * BLOCK + 10 {
            let mut bytes = vec![b'\r'; len];
            assert_eq!(line_feed(&bytes), None);
            for place in (0..len).rev() {
                bytes[place] = b'\n';
                assert_eq!(line_feed(&bytes), Some(place), "of {len}");
            }
        }
    }
}

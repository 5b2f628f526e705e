//! Strings and what is found in them.

use super::{check_indexed, check_order, in_order};
use crate::common::{Random, panic_text};
use anabranch::prelude::*;

/// Returns texts of several lengths: dense and sparse separators, characters of one to four bytes, none at all.
fn texts() -> Vec<String> {
    let alphabets: [&[char]; 5] =
        [&['a', ','], &[' ', '\n', '\r', ','], &['é', ',', '😀', '\n', ' ', '\u{2003}'], &[','], &['x']];
    let mut texts = vec![String::new()];
    for (seed, alphabet) in alphabets.into_iter().enumerate() {
        for len in [1, 2, 10, 2000] {
            let mut random = Random((seed + 1000 * len) as u64);
            texts.push((0..len).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect());
        }
    }
    texts.extend(["a\r\nb\r\n", "\r\n\r\n", "\n", "a\n\nb", "a\r", "a,b,", ",", ",,"].map(str::to_owned));
    texts
}

#[test]
fn characters_and_bytes_are_those_of_the_text() {
    for text in texts() {
        check_order(text.chars(), || text.par_chars());
        check_order(text.char_indices(), || text.par_char_indices());
        check_order(text.encode_utf16(), || text.par_encode_utf16());
        check_indexed(text.bytes(), || text.par_bytes());
    }
}

#[test]
fn lines_and_words_are_those_of_the_text() {
    for text in texts() {
        check_order(text.lines(), || text.par_lines());
        check_order(text.split_whitespace(), || text.par_split_whitespace());
        check_order(text.split_ascii_whitespace(), || text.par_split_ascii_whitespace());
    }
}

#[test]
fn parts_and_matches_are_those_of_the_text() {
    let is_mark = |c: char| matches!(c, ',' | '\n');
    for text in texts() {
        macro_rules! same {
            ($pattern:expr) => {
                check_order(text.split($pattern), || text.par_split($pattern));
                check_order(text.split_inclusive($pattern), || text.par_split_inclusive($pattern));
                check_order(text.split_terminator($pattern), || text.par_split_terminator($pattern));
                check_order(text.matches($pattern), || text.par_matches($pattern));
                check_order(text.match_indices($pattern), || text.par_match_indices($pattern));
            };
        }
        same!(',');
        same!(['é', ',']);
        same!(&['é', '😀']);
        same!(&['\u{2003}', '\n'][..]);
        same!(is_mark);
    }
}

#[test]
fn drain_takes_characters_out() {
    let text = "añb😀c".repeat(100);
    for range in [0..text.len(), 1..3, 4..4, 400..text.len()] {
        let (mut plain, mut parallel) = (text.clone(), text.clone());
        let drained: Vec<char> = plain.drain(range.clone()).collect();
        assert_eq!(in_order(parallel.par_drain(range.clone())), drained);
        assert_eq!(parallel, plain);
        parallel = text.clone();
        drop(parallel.par_drain(range.clone()));
        assert_eq!(parallel, plain);
        parallel = text.clone();
        std::mem::forget(parallel.par_drain(range));
        assert_eq!(parallel, text);
    }
    let mut text = "ñ".to_owned();
    let message = panic_text(|| drop(text.par_drain(..1)));
    assert_eq!(message, "the range 0..1 does not begin and end between two characters");
}

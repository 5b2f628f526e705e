//! Reads numbers from the bytes of a text.

use super::error::{Fault, ReadErrorKind};

/// What is wrong at a byte of a text.
#[derive(Debug)]
pub(crate) struct Misread {
    /// The index of the byte.
    pub(crate) at: usize,
    pub(crate) fault: Fault,
}

/// The longest excerpt of a file in a message.
const EXCERPT: usize = 24;

/// A position in a text.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Scanner<'a> {
        Scanner { bytes, at: 0 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Goes to the next line that is neither empty nor a comment, which begins with a byte for which `is_comment`
    /// holds. Returns whether there is one.
    #[inline]
    pub(crate) fn next_entry(&mut self, is_comment: impl Fn(u8) -> bool) -> bool {
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return false,
                Some(b'\n' | b'\r') => self.at += 1,
                // No comment begins with a digit.
                Some(b'0'..=b'9') => return true,
                Some(first) if is_comment(first) => self.skip_line(),
                Some(_) => return true,
            }
        }
    }

    /// Goes to the start of the next line.
    pub(crate) fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
    }

    /// Reads a whole number from 0 for `what`.
    #[inline]
    pub(crate) fn number(&mut self, what: &str) -> Result<u64, Misread> {
        self.skip_blanks();
        if let Some(chunk) = self.bytes[self.at..].first_chunk()
            && let Some((value, len)) = short_number(*chunk)
        {
            self.at += len;
            return Ok(value);
        }
        self.any_number(what)
    }

    /// Reads a whole number byte by byte.
    fn any_number(&mut self, what: &str) -> Result<u64, Misread> {
        let start = self.at;
        let mut value = Some(0u64);
        while let Some(byte) = self.peek() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit.into()));
            self.at += 1;
        }
        let is_over = matches!(self.peek(), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
        match value {
            Some(value) if is_over && self.at > start => Ok(value),
            None if is_over => Err(self.expected_at(start, &format!("{what}, a whole number up to {}", u64::MAX))),
            _ => Err(self.expected_at(start, &format!("{what}, a whole number from 0"))),
        }
    }

    /// Reads the text up to the next blank. It is empty at the end of a line.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        while !matches!(self.peek(), None | Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    /// Returns whether only blanks are left of the line.
    #[inline]
    pub(crate) fn is_at_end_of_line(&mut self) -> bool {
        self.skip_blanks();
        match self.peek() {
            None | Some(b'\n') => true,
            Some(b'\r') => matches!(self.bytes.get(self.at + 1), None | Some(b'\n')),
            Some(_) => false,
        }
    }

    /// Returns the position, for [`expected_at`](Scanner::expected_at), after the blanks there.
    #[inline]
    pub(crate) fn position(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    /// Returns the error that `what` is missing at `position`.
    #[cold]
    pub(crate) fn expected_at(&self, position: usize, what: &str) -> Misread {
        let rest = &self.bytes[position..];
        let end = rest.iter().position(|byte| b" \t\r\n".contains(byte)).unwrap_or(rest.len());
        let found = match end {
            0 => "the end of the line".to_owned(),
            _ => format!("'{}'", excerpt(&rest[..end])),
        };
        Misread { at: position, fault: Fault::malformed(format!("expected {what}, found {found}")) }
    }

    /// Returns an error of any kind at `position`.
    #[cold]
    pub(crate) fn fault_at(&self, position: usize, kind: ReadErrorKind, message: String) -> Misread {
        Misread { at: position, fault: Fault::new(kind, message) }
    }
}

/// Returns the number at the start of `bytes`, and its length. Returns `None` unless it has one to seven digits and a
/// blank or the end of a line follows.
///
/// Treats the bytes as one word, so that numbers of different lengths do not make branches unpredictable. The method is
/// from Lemire, *Number Parsing at a Gigabyte per Second*, Software: Practice and Experience 2021.
#[inline]
fn short_number(bytes: [u8; 8]) -> Option<(u64, usize)> {
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    let word = u64::from_le_bytes(bytes);
    let digits = word ^ each(b'0');
    // Sets the high bit of the first byte that is no digit: only up to 9, a byte plus 0x76 is below 0x80.
    let others = (digits.wrapping_add(each(0x76)) | digits) & each(0x80);
    let len = (others.trailing_zeros() / 8) as usize;
    if !(1..=7).contains(&len) || !matches!((word >> (8 * len)) as u8, b' ' | b'\t' | b'\r' | b'\n') {
        return None;
    }
    // Zeros before the digits fill the word. Then neighbours are joined: into pairs, into fours, and into all eight.
    let digits = digits << (64 - 8 * len);
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (fours * 10_000 + (fours >> 32)) & 0xffff_ffff;
    Some((value, len))
}

/// Returns the beginning of a text of a file, without what a terminal would obey.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&text[..text.len().min(EXCERPT)]);
    let shown: String = shown.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect();
    if text.len() > EXCERPT { shown + "..." } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_at_blanks() {
        let mut scanner = Scanner::new(b"# x\n\n 12\t0034\r\n7");
        assert!(scanner.next_entry(|byte| byte == b'#'));
        assert_eq!(scanner.number("a").unwrap(), 12);
        assert!(!scanner.is_at_end_of_line());
        assert_eq!(scanner.number("a").unwrap(), 34);
        assert!(scanner.is_at_end_of_line() && scanner.next_entry(|_| false));
        assert_eq!(scanner.word(), b"7");
        assert!(!scanner.next_entry(|_| false));
    }

    #[test]
    fn short_numbers_are_those_that_byte_by_byte_reading_finds() {
        let digits = "9081726354";
        for len in 0..=digits.len() {
            for after in 0..=255 {
                for rest in ["", "1", "99999999", "x\n: :/0"] {
                    let mut text = digits.as_bytes()[..len].to_vec();
                    text.push(after);
                    text.extend(rest.bytes());
                    let mut scanner = Scanner::new(&text);
                    let slow = scanner.any_number("a").ok().map(|value| (value, scanner.at));
                    let mut scanner = Scanner::new(&text);
                    // A blank before the number is skipped.
                    if len > 0 {
                        let fast = scanner.number("a").ok().map(|value| (value, scanner.at));
                        assert_eq!(fast, slow, "{}", text.escape_ascii());
                    }
                    if let Some((value, end)) = text.first_chunk().and_then(|chunk| short_number(*chunk)) {
                        assert_eq!(Some((value, end)), slow);
                        assert!((1..=7).contains(&end));
                    }
                }
            }
        }
        assert_eq!(short_number(*b"1234567\n"), Some((1_234_567, 7)));
        assert_eq!(short_number(*b"0 999999"), Some((0, 1)));
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in ["", "x", "-1", "1x", "1.5", "99999999999999999999x", "\u{7}bell"] {
            let misread = Scanner::new(text.as_bytes()).number("a vertex").unwrap_err();
            assert!(misread.fault.message.starts_with("expected a vertex, a whole number"), "{misread:?}");
            assert!(!misread.fault.message.contains('\u{7}'));
        }
        assert_eq!(Scanner::new(b"9999999999999999999").number("a").unwrap(), 9_999_999_999_999_999_999);
        assert_eq!(Scanner::new(b"18446744073709551615").number("a").unwrap(), u64::MAX);
        let misread = Scanner::new(b"18446744073709551616").number("a").unwrap_err();
        assert!(misread.fault.message.contains("up to 18446744073709551615, found '18446744073709551616'"));
    }
}

//! The methods of strings.

use super::{
    Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, Pattern, Split, SplitAsciiWhitespace,
    SplitInclusive, SplitTerminator, SplitWhitespace,
};

/// Parallel iterators over parts of a string.
pub trait ParallelString {
    /// Returns the string.
    fn as_parallel_string(&self) -> &str;

    /// Returns the characters. See [`str::chars`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!("naïve".par_chars().map(|c| u32::from(c == 'ï')).sum::<u32>(), 1);
    /// ```
    fn par_chars(&self) -> Chars<'_> {
        Chars(self.as_parallel_string())
    }

    /// Returns the characters and the indices at which they begin. See [`str::char_indices`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!("äb".par_char_indices().map(|(index, _)| index).sum::<usize>(), 2);
    /// ```
    fn par_char_indices(&self) -> CharIndices<'_> {
        CharIndices(self.as_parallel_string())
    }

    /// Returns the bytes. See [`str::bytes`]. Their number is known.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!("abc".par_bytes().map(u32::from).sum::<u32>(), 97 + 98 + 99);
    /// ```
    fn par_bytes(&self) -> Bytes<'_> {
        Bytes(self.as_parallel_string().as_bytes())
    }

    /// Returns the string as UTF-16. See [`str::encode_utf16`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!("a😀".par_encode_utf16().map(|_| 1).sum::<u32>(), 3);
    /// ```
    fn par_encode_utf16(&self) -> EncodeUtf16<'_> {
        EncodeUtf16(self.as_parallel_string())
    }

    /// Returns the parts between separators. See [`str::split`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: u32 = "1,2,3".par_split(',').map(|number| number.parse::<u32>().unwrap()).sum();
    /// assert_eq!(sum, 6);
    /// ```
    fn par_split<P: Pattern>(&self, separator: P) -> Split<'_, P> {
        Split { text: self.as_parallel_string(), pattern: separator }
    }

    /// Returns the parts that end with separators, and the rest if there is one. See [`str::split_inclusive`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let lengths: Vec<usize> = "a;bc;d".par_split_inclusive(';').map(|part| part.len()).collect();
    /// assert_eq!(lengths, [2, 3, 1]);
    /// ```
    fn par_split_inclusive<P: Pattern>(&self, separator: P) -> SplitInclusive<'_, P> {
        SplitInclusive { text: self.as_parallel_string(), pattern: separator }
    }

    /// Returns the parts in front of terminators, and the rest if it is not empty. See [`str::split_terminator`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let lengths: Vec<usize> = "a;bc;".par_split_terminator(';').map(|part| part.len()).collect();
    /// assert_eq!(lengths, [1, 2]);
    /// ```
    fn par_split_terminator<P: Pattern>(&self, terminator: P) -> SplitTerminator<'_, P> {
        SplitTerminator { text: self.as_parallel_string(), pattern: terminator }
    }

    /// Returns the lines, without the `\n` or `\r\n` at their ends. See [`str::lines`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let length: usize = "a\nbcd\r\n".par_lines().map(|line| line.len()).sum();
    /// assert_eq!(length, 4);
    /// ```
    fn par_lines(&self) -> Lines<'_> {
        Lines(self.as_parallel_string())
    }

    /// Returns the words: the parts that are not empty between white space. See [`str::split_whitespace`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(" to be\tor ".par_split_whitespace().map(|_| 1).sum::<u32>(), 3);
    /// ```
    fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
        SplitWhitespace(self.as_parallel_string())
    }

    /// Returns the parts that are not empty between ASCII white space. See [`str::split_ascii_whitespace`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(" to be\tor ".par_split_ascii_whitespace().map(|_| 1).sum::<u32>(), 3);
    /// ```
    fn par_split_ascii_whitespace(&self) -> SplitAsciiWhitespace<'_> {
        SplitAsciiWhitespace(self.as_parallel_string())
    }

    /// Returns the characters that match, as strings. See [`str::matches`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!("1, 23".par_matches(char::is_numeric).map(|_| 1).sum::<u32>(), 3);
    /// ```
    fn par_matches<P: Pattern>(&self, pattern: P) -> Matches<'_, P> {
        Matches { text: self.as_parallel_string(), pattern }
    }

    /// Returns the characters that match, as strings, and their indices. See [`str::match_indices`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!("1, 23".par_match_indices(['2', '3']).map(|(index, _)| index).sum::<usize>(), 3 + 4);
    /// ```
    fn par_match_indices<P: Pattern>(&self, pattern: P) -> MatchIndices<'_, P> {
        MatchIndices { text: self.as_parallel_string(), pattern }
    }
}

impl ParallelString for str {
    #[inline]
    fn as_parallel_string(&self) -> &str {
        self
    }
}

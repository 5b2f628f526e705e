//! What an edge may weigh.

/// The weight of an edge: a number, or `()` if the edges have none.
///
/// This trait is sealed.
pub trait Weight: Copy + PartialOrd + Send + Sync + 'static + sealed::Sealed {}

impl Weight for () {}
impl Weight for u32 {}
impl Weight for f32 {}

pub(crate) mod sealed {
    use crate::array::Plain;

    /// What this crate needs of a weight.
    pub trait Sealed: Plain {
        /// The weight of the edges of a file without weights.
        const ONE: Self;
        /// Whether edges have weights.
        const IS_WEIGHTED: bool;
        /// The type's number in files.
        const CODE: u32;
        /// Returns a number that sorts like the weight. A NaN sorts before or after all numbers.
        fn to_key(self) -> u32;
        /// Returns the weight with this key.
        fn from_key(key: u32) -> Self;
        /// Returns the weight's bits, as files have them.
        fn to_bits(self) -> u32;
        /// Returns the weight with these bits.
        fn from_bits(bits: u32) -> Self;
        /// Returns a weight of GAP's files, if this type has it.
        fn from_i32(weight: i32) -> Option<Self>;
        /// Reads a weight. The error names what the text should be.
        fn parse(text: &[u8]) -> Result<Self, &'static str>;
        /// Formats the weight for a text file, such that `parse` returns the same.
        fn write(self, into: &mut Vec<u8>);
    }

    impl Sealed for () {
        const ONE: Self = ();
        const IS_WEIGHTED: bool = false;
        const CODE: u32 = 0;
        #[inline]
        fn to_key(self) -> u32 {
            0
        }
        #[inline]
        fn from_key(_: u32) -> Self {}
        #[inline]
        fn from_i32(_: i32) -> Option<Self> {
            Some(())
        }
        #[inline]
        fn to_bits(self) -> u32 {
            0
        }
        #[inline]
        fn from_bits(_: u32) -> Self {}
        /// Accepts every number, since a reader without weights ignores those of a file.
        fn parse(text: &[u8]) -> Result<Self, &'static str> {
            number(text).map(drop).ok_or("a number")
        }
        fn write(self, into: &mut Vec<u8>) {
            into.push(b'1');
        }
    }

    impl Sealed for u32 {
        const ONE: Self = 1;
        const IS_WEIGHTED: bool = true;
        const CODE: u32 = 1;
        #[inline]
        fn to_key(self) -> u32 {
            self
        }
        #[inline]
        fn from_key(key: u32) -> Self {
            key
        }
        #[inline]
        fn from_i32(weight: i32) -> Option<Self> {
            u32::try_from(weight).ok()
        }
        #[inline]
        fn to_bits(self) -> u32 {
            self
        }
        #[inline]
        fn from_bits(bits: u32) -> Self {
            bits
        }
        fn parse(text: &[u8]) -> Result<Self, &'static str> {
            let expected = "a whole number from 0 to 4294967295 (other weights need f32)";
            if (1..=9).contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
                return Ok(text.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')));
            }
            let value = number(text).ok_or(expected)?;
            let is_whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
            if is_whole { Ok(value as u32) } else { Err(expected) }
        }
        fn write(self, into: &mut Vec<u8>) {
            into.extend(self.to_string().bytes());
        }
    }

    impl Sealed for f32 {
        const ONE: Self = 1.0;
        const IS_WEIGHTED: bool = true;
        const CODE: u32 = 2;
        #[inline]
        fn to_key(self) -> u32 {
            // Negative numbers in reverse, below the others.
            let bits = f32::to_bits(self);
            if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
        }
        #[inline]
        fn from_key(key: u32) -> Self {
            f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
        }
        #[inline]
        fn from_i32(weight: i32) -> Option<Self> {
            Some(weight as f32)
        }
        #[inline]
        fn to_bits(self) -> u32 {
            f32::to_bits(self)
        }
        #[inline]
        fn from_bits(bits: u32) -> Self {
            f32::from_bits(bits)
        }
        fn parse(text: &[u8]) -> Result<Self, &'static str> {
            let value: Option<f32> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            value.filter(|value| value.is_finite()).ok_or("a finite number")
        }
        fn write(self, into: &mut Vec<u8>) {
            into.extend(self.to_string().bytes());
        }
    }

    /// Reads a finite number.
    fn number(text: &[u8]) -> Option<f64> {
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Sealed;

    #[test]
    fn keys_sort_like_floats() {
        let ascending = [f32::NEG_INFINITY, -2.5, -1e-30, -0.0, 0.0, 1e-30, 1.0, 3e38, f32::INFINITY];
        assert!(ascending.is_sorted_by_key(|weight| weight.to_key()));
        for weight in ascending {
            assert_eq!(f32::from_key(weight.to_key()).to_bits(), weight.to_bits());
        }
    }

    #[test]
    fn whole_weights_in_any_notation() {
        for (text, value) in [("0", 0), ("007", 7), ("999999999", 999_999_999), ("4294967295", u32::MAX), ("1e3", 1000)]
        {
            assert_eq!(u32::parse(text.as_bytes()), Ok(value), "{text}");
        }
        for text in ["", "-1", "0.5", "4294967296", "nan", "inf", "x", "1 ", "\u{ff}"] {
            assert!(u32::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(f32::parse(b"-2.5"), Ok(-2.5));
        assert!(f32::parse(b"1e39").is_err() && f32::parse(b"nan").is_err());
        assert!(<()>::parse(b"0.5").is_ok() && <()>::parse(b"x").is_err());
    }
}

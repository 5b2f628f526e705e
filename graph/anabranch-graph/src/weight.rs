//! What an edge may weigh.

/// The weight of an edge: a number, or `()` if the edges have none.
///
/// A file's weight is read as a `u32` exactly, or refused, and as an `f64` or `f32` to the nearest such number. An
/// `f64` has every whole number up to 2^53. An `f32` takes half of the memory, and has those up to 2^24: 16777217
/// becomes 16777216.
///
/// This trait is sealed.
pub trait Weight: Copy + PartialOrd + Send + Sync + 'static + sealed::Sealed {}

impl Weight for () {}
impl Weight for u32 {}
impl Weight for f32 {}
impl Weight for f64 {}

pub(crate) mod sealed {
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicU32, AtomicU64};

    use crate::array::Plain;

    /// A whole number that stands for a weight, and sorts like it.
    pub trait Key: Copy + Ord + Default + Into<u64> + Send + Sync {
        /// A number with room for a vertex and a key.
        type Word: Copy + Ord + Default + Send + Sync;
        /// The atomic of a key.
        type Slot: Default + Send + Sync;
        /// Returns a number that sorts by the vertex, then by the key.
        fn below(self, vertex: u32) -> Self::Word;
        /// Returns what `below` has joined.
        fn split_below(word: Self::Word) -> (u32, Self);
        /// Returns a number that sorts by the key, then by the vertex.
        fn above(self, vertex: u32) -> Self::Word;
        /// Returns what `above` has joined.
        fn split_above(word: Self::Word) -> (u32, Self);
        /// Stores the key, with relaxed ordering.
        fn store(self, slot: &Self::Slot);
        /// Returns the key in `slot`.
        fn get(slot: &mut Self::Slot) -> &mut Self;
    }

    macro_rules! key {
        ($key:ty, $word:ty, $slot:ty) => {
            impl Key for $key {
                type Word = $word;
                type Slot = $slot;
                #[inline]
                fn below(self, vertex: u32) -> $word {
                    <$word>::from(vertex) << <$key>::BITS | <$word>::from(self)
                }
                #[inline]
                fn split_below(word: $word) -> (u32, $key) {
                    ((word >> <$key>::BITS) as u32, word as $key)
                }
                #[inline]
                fn above(self, vertex: u32) -> $word {
                    <$word>::from(self) << u32::BITS | <$word>::from(vertex)
                }
                #[inline]
                fn split_above(word: $word) -> (u32, $key) {
                    (word as u32, (word >> u32::BITS) as $key)
                }
                #[inline]
                fn store(self, slot: &$slot) {
                    slot.store(self, Relaxed);
                }
                #[inline]
                fn get(slot: &mut $slot) -> &mut $key {
                    slot.get_mut()
                }
            }
        };
    }
    key!(u32, u64, AtomicU32);
    key!(u64, u128, AtomicU64);

    /// What this crate needs of a weight.
    pub trait Sealed: Plain {
        /// The weight of the edges of a file without weights.
        const ONE: Self;
        /// Whether edges have weights.
        const IS_WEIGHTED: bool;
        /// The type's number in files.
        const CODE: u32;
        /// The type of keys.
        type Key: Key;
        /// Returns a number that sorts like the weight. A NaN sorts before or after all numbers.
        fn to_key(self) -> Self::Key;
        /// Returns the weight with this key.
        fn from_key(key: Self::Key) -> Self;
        /// Returns the weight's bits, as files have them in `size_of::<Self>()` bytes.
        fn to_bits(self) -> u64;
        /// Returns the weight with these bits.
        fn from_bits(bits: u64) -> Self;
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
        type Key = u32;
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
        fn to_bits(self) -> u64 {
            0
        }
        #[inline]
        fn from_bits(_: u64) -> Self {}
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
        type Key = u32;
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
        fn to_bits(self) -> u64 {
            self.into()
        }
        #[inline]
        fn from_bits(bits: u64) -> Self {
            bits as u32
        }
        fn parse(text: &[u8]) -> Result<Self, &'static str> {
            let expected = "a whole number from 0 to 4294967295 (other weights are real)";
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

    macro_rules! float {
        ($float:ident, $key:ident, $code:literal) => {
            impl Sealed for $float {
                const ONE: Self = 1.0;
                const IS_WEIGHTED: bool = true;
                const CODE: u32 = $code;
                type Key = $key;
                #[inline]
                fn to_key(self) -> $key {
                    // Negative numbers in reverse, below the others.
                    let (bits, sign) = ($float::to_bits(self), 1 << ($key::BITS - 1));
                    if bits & sign == 0 { bits | sign } else { !bits }
                }
                #[inline]
                fn from_key(key: $key) -> Self {
                    let sign = 1 << ($key::BITS - 1);
                    $float::from_bits(if key & sign == 0 { !key } else { key & !sign })
                }
                #[inline]
                fn from_i32(weight: i32) -> Option<Self> {
                    Some(weight as $float)
                }
                #[inline]
                fn to_bits(self) -> u64 {
                    $float::to_bits(self).into()
                }
                #[inline]
                fn from_bits(bits: u64) -> Self {
                    $float::from_bits(bits as $key)
                }
                fn parse(text: &[u8]) -> Result<Self, &'static str> {
                    let value: Option<$float> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                    value.filter(|value| value.is_finite()).ok_or("a finite number")
                }
                fn write(self, into: &mut Vec<u8>) {
                    into.extend(self.to_string().bytes());
                }
            }
        };
    }
    float!(f32, u32, 2);
    float!(f64, u64, 3);

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
        let wide = ascending.map(f64::from);
        assert!(wide.is_sorted_by_key(|weight| weight.to_key()));
        for (weight, wide) in ascending.into_iter().zip(wide) {
            assert_eq!(f32::from_key(weight.to_key()).to_bits(), weight.to_bits());
            assert_eq!(f64::from_key(wide.to_key()).to_bits(), wide.to_bits());
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

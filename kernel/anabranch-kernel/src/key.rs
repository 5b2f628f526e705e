//! The keys of sorts.

use crate::Element;

/// A key by which [`sort_by_key`](crate::sort_by_key) sorts: `u32`, `i32`, or `f32` in the order of
/// [`f32::total_cmp`].
///
/// ```
/// use anabranch_kernel::Key;
///
/// assert!((-1.0f32).to_ordered() < 0.5f32.to_ordered());
/// assert!((-1i32).to_ordered() < 0i32.to_ordered());
/// ```
pub trait Key: Element {
    #[doc(hidden)]
    const ORDER: KeyOrder;

    /// Returns a number with the same order as the key.
    fn to_ordered(self) -> u32;
}

/// How the words of keys are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyOrder {
    /// As unsigned numbers.
    Unsigned,
    /// As signed numbers.
    Signed,
    /// As floats, in their total order.
    Float,
}

impl Key for u32 {
    const ORDER: KeyOrder = KeyOrder::Unsigned;

    #[inline]
    fn to_ordered(self) -> u32 {
        self
    }
}

impl Key for i32 {
    const ORDER: KeyOrder = KeyOrder::Signed;

    #[inline]
    fn to_ordered(self) -> u32 {
        self.cast_unsigned() ^ (1 << 31)
    }
}

impl Key for f32 {
    const ORDER: KeyOrder = KeyOrder::Float;

    /// A negative float is smaller the larger its bits are, so all of them are flipped.
    #[inline]
    fn to_ordered(self) -> u32 {
        let bits = self.to_bits();
        if bits >> 31 == 1 { !bits } else { bits | (1 << 31) }
    }
}

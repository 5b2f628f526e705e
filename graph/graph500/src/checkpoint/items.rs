//! The elements of arrays as bytes, little-endian.

use crate::graph::Row;

/// An element of fixed size.
pub(super) trait Item: Copy {
    const SIZE: usize;
    fn put(&self, to: &mut Vec<u8>);
    /// Decodes [`SIZE`](Self::SIZE) bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Item for $type {
            const SIZE: usize = size_of::<$type>();
            #[inline]
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn get(bytes: &[u8]) -> $type {
                // A fold instead of a conversion that could fail: the compiler makes one load of it.
                bytes[..Self::SIZE].iter().rev().fold(0, |value, &byte| value << 8 | <$type>::from(byte))
            }
        }
    )*};
}
integer!(u32, u64);

impl Item for Row {
    const SIZE: usize = 8;
    #[inline]
    fn put(&self, to: &mut Vec<u8>) {
        (u64::from(self.len) << 32 | u64::from(self.offset)).put(to);
    }
    #[inline]
    fn get(bytes: &[u8]) -> Row {
        let word = u64::get(bytes);
        Row { offset: word as u32, len: (word >> 32) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_as_written() {
        let mut bytes = Vec::new();
        let word = 0x1234_5678_9abc_def0u64;
        word.put(&mut bytes);
        assert_eq!((bytes.len(), u64::get(&bytes)), (u64::SIZE, word));
        bytes.clear();
        let row = Row { offset: 0x0102_0304, len: 0xf1f2_f3f4 };
        row.put(&mut bytes);
        assert_eq!((bytes.as_slice(), Row::get(&bytes)), (&[4, 3, 2, 1, 0xf4, 0xf3, 0xf2, 0xf1][..], row));
    }
}

//! Sets of vertices, one bit each, in words of 64.

/// Returns the number of words for `bits` bits.
pub(crate) const fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

#[inline]
pub(crate) fn contains(set: &[u64], bit: u32) -> bool {
    set[(bit / 64) as usize] >> (bit % 64) & 1 != 0
}

/// Removes the first `bits` bits, and adds the rest of the last word.
pub(crate) fn clear_to(set: &mut [u64], bits: usize) {
    set.fill(0);
    if !bits.is_multiple_of(64) {
        set[bits / 64] = !0 << (bits % 64);
    }
}

pub(crate) fn count(set: &[u64]) -> u64 {
    set.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Returns the positions of the one bits of `word`, ascending.
#[inline]
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_the_bits_that_are_set() {
        let word = 1 | 1 << 17 | 1 << 63;
        assert_eq!(ones(word).collect::<Vec<_>>(), [0, 17, 63]);
        assert_eq!(ones(0).count(), 0);
        assert_eq!(count(&[word, 0, u64::MAX]), 67);
        assert!(contains(&[0, word], 81) && !contains(&[0, word], 82));
        assert_eq!((words(0), words(64), words(65)), (0, 1, 2));
    }
}

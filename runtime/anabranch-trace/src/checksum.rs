//! The checksum of a trace.

/// The checksum of a sequence of sections. Each word changes it by a bijection, so it tells apart any two files of a
/// length that differ within one word. Of other changes it misses one in 2^64. It is no protection against forgery.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    /// Adds bytes, the last word of which is filled up with zeros.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.word(word));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.word(word);
        }
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }

    fn word(&mut self, word: [u8; 8]) {
        self.0 = mix(mix(self.0 ^ u64::from_le_bytes(word)));
    }
}

/// A bijection. The multiplication carries a change upwards, and the shift carries it downwards.
fn mix(number: u64) -> u64 {
    let product = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ product >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_and_every_pair_of_near_bits_counts() {
        let sum = |bytes: &[u8]| {
            let mut sum = Checksum::default();
            sum.add(bytes);
            sum.get()
        };
        let bytes: Vec<u8> = (0..29).collect();
        let flipped = |bits: &[usize]| {
            let mut bytes = bytes.clone();
            bits.iter().for_each(|bit| bytes[bit / 8] ^= 1 << (bit % 8));
            sum(&bytes)
        };
        let bits = bytes.len() * 8;
        let mut sums = vec![sum(&bytes)];
        for one in 0..bits {
            sums.push(flipped(&[one]));
            sums.extend((one + 1..bits).map(|other| flipped(&[one, other])));
        }
        let count = sums.len();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), count);
    }
}

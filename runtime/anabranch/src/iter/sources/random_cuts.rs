//! The common parts of the tests of sources of unknown length.

use crate::iter::plumbing::Producer;

/// Pseudo-random numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// Returns the items of a producer that is cut at random places.
pub(super) fn cut<P: Producer>(producer: P, random: &mut Random) -> Vec<P::Item> {
    let len = producer.len();
    if len > 0 && random.below(5) != 0 {
        let mid = random.below(len + 1);
        let (left, right) = producer.split_at(mid);
        assert!(left.len() >= mid, "the first part is at least as long as requested");
        assert_eq!(left.len() + right.len(), len, "the parts are as long as the whole");
        // A first part that is the whole is not cut again, as a random cut could give it for ever.
        let mut items = if left.len() == len { left.into_iter().collect() } else { cut(left, random) };
        items.extend(cut(right, random));
        return items;
    }
    let items: Vec<P::Item> = producer.into_iter().collect();
    assert!(len > 0 || items.is_empty(), "a piece of no length has no items");
    items
}

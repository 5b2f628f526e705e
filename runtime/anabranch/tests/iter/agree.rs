//! Compares a chain of a parallel iterator with the plain one: cut at random places without threads, and in pools.

use crate::{common::Random, harness};
use anabranch::prelude::*;
use std::sync::OnceLock;

/// Returns random small numbers, so that neighbours are often equal.
pub fn numbers(len: usize, seed: u64) -> Vec<u32> {
    let mut random = Random(seed);
    (0..len).map(|_| random.below(5) as u32).collect()
}

/// Returns the sequences that pools run.
pub fn sequences() -> &'static [Vec<u32>] {
    static SEQUENCES: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    SEQUENCES.get_or_init(|| [0, 1, 2, 3, 300, 6000].map(|len| numbers(len, len as u64)).into())
}

/// Collects the items in order.
#[track_caller]
pub fn to_vec<I: ParallelIterator>(iter: I) -> Vec<I::Item> {
    let push = |mut items: Vec<_>, item| {
        items.push(item);
        items
    };
    let append = |mut left: Vec<_>, mut right| {
        left.append(&mut right);
        left
    };
    iter.fold(Vec::new, push).reduce(Vec::new, append)
}

/// Cuts the producer of `iter` at random places, iterates the parts forwards or backwards, and returns all items in
/// order.
pub fn from_producer<I: anabranch::iter::plumbing::DriveIndexed>(mut iter: I, random: &mut Random) -> Vec<I::Item> {
    use anabranch::iter::plumbing::Producer;

    fn cut<P>(piece: P, random: &mut Random, items: &mut Vec<P::Item>)
    where
        P: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
    {
        let len = piece.len();
        if len > 0 && random.below(3) > 0 {
            let mid = random.below(len as u64 + 1) as usize;
            let (left, right) = piece.split_at(mid);
            assert_eq!((left.len(), right.len()), (mid, len - mid));
            cut(left, random, items);
            return cut(right, random, items);
        }
        let mut part = piece.into_iter();
        assert_eq!((part.len(), part.size_hint()), (len, (len, Some(len))));
        match random.below(6) {
            0 => items.extend(part),
            3 => part.for_each(|item| items.push(item)),
            4 => {
                let mut reversed = Vec::new();
                part.rfold((), |(), item| reversed.push(item));
                items.extend(reversed.into_iter().rev());
            }
            5 => {
                // `step_by` calls these.
                let skipped = 0;
                items.extend(part.nth(skipped));
                let last = part.nth_back(skipped);
                items.extend(part);
                items.extend(last);
            }
            1 => {
                let mut reversed: Vec<_> = part.rev().collect();
                reversed.reverse();
                items.append(&mut reversed);
            }
            _ => {
                let mut back = Vec::new();
                while let Some(item) = part.next() {
                    items.push(item);
                    back.extend(part.next_back());
                }
                items.extend(back.into_iter().rev());
            }
        }
    }

    assert_eq!(iter.opt_len(), Some(iter.len()));
    let mut items = Vec::new();
    cut(iter.producer(), random, &mut items);
    items
}

/// Checks that two expressions of `items` agree: the first one for a plain iterator, the second one for a parallel one.
#[macro_export]
macro_rules! agree {
    ($items:ident => $plain:expr, $parallel:expr) => {
        for seed in 0..200 {
            let numbers = $crate::agree::numbers(seed as usize % 50, seed);
            let plain = {
                let $items = numbers.iter().copied();
                $plain
            };
            let parallel = {
                let $items = $crate::harness::pieces(numbers.iter().copied(), seed);
                $parallel
            };
            assert_eq!(parallel, plain, "cut by seed {seed}");
        }
        for numbers in $crate::agree::sequences() {
            let plain = {
                let $items = numbers.iter().copied();
                $plain
            };
            $crate::harness::check(plain, || {
                let $items = numbers.par_iter().copied();
                $parallel
            });
        }
    };
}

#[test]
fn items_are_collected_in_order() {
    agree!(items => items.collect::<Vec<_>>(), to_vec(items));
    harness::check((0..100_000).collect::<Vec<u32>>(), || {
        to_vec((0..100_000).collect::<Vec<u32>>().par_iter().copied())
    });
}

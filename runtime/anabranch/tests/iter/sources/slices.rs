//! Slices and their parts.

use super::{check_indexed, check_order, in_order, numbers};
use crate::{common::panic_text, harness::check};
use anabranch::prelude::*;

const LENGTHS: [usize; 7] = [0, 1, 2, 5, 6, 7, 100];

#[test]
fn references_are_those_of_the_slice() {
    for len in LENGTHS {
        let items = numbers(len, 100, 1);
        check_indexed(items.iter(), || items.par_iter());
        let boxed = items.clone().into_boxed_slice();
        check_indexed(boxed.iter(), || boxed.par_iter());
        check(items.iter().map(|item| item + 1).collect::<Vec<_>>(), || {
            let mut items = items.clone();
            items.par_iter_mut().for_each(|item| *item += 1);
            items
        });
        assert_eq!(in_order(items.clone().par_iter_mut().map(|item| *item)), items);
    }
    let array = [1, 2, 3];
    check_indexed(array.iter(), || array.par_iter());
    let mut copy = array;
    assert_eq!(in_order(copy.par_iter_mut().map(|item| *item)), array);
}

#[test]
fn chunks_are_those_of_the_slice() {
    for len in LENGTHS {
        let items = numbers(len, 100, 2);
        for size in [1, 2, 3, 7, 100, 101, usize::MAX] {
            check_indexed(items.chunks(size), || items.par_chunks(size));
            check_indexed(items.chunks_exact(size), || items.par_chunks_exact(size));
            check_indexed(items.rchunks(size), || items.par_rchunks(size));
            check_indexed(items.rchunks_exact(size), || items.par_rchunks_exact(size));
            check_indexed(items.windows(size), || items.par_windows(size));
            assert_eq!(items.par_chunks_exact(size).remainder(), items.chunks_exact(size).remainder());
            assert_eq!(items.par_rchunks_exact(size).remainder(), items.rchunks_exact(size).remainder());
        }
        check_indexed(items.windows(1).map(|window| window.try_into().unwrap()), || items.par_array_windows::<1>());
        check_indexed(items.windows(6).map(|window| window.try_into().unwrap()), || items.par_array_windows::<6>());
    }
}

#[test]
fn mutable_chunks_are_those_of_the_slice() {
    use anabranch::iter::plumbing::{DriveIndexed, Producer};
    for len in LENGTHS {
        let (mut plain, mut parallel) = (numbers(len, 100, 3), numbers(len, 100, 3));
        for (seed, size) in [1, 2, 3, 7, 100, 101, usize::MAX].into_iter().enumerate() {
            let mut random = crate::common::Random(seed as u64);
            macro_rules! same {
                ($plain:ident, $parallel:ident) => {
                    assert_eq!(DriveIndexed::len(&parallel.$parallel(size)), plain.$plain(size).len());
                    let cut = super::cut(parallel.$parallel(size).producer(), &mut random);
                    assert_eq!(cut, plain.$plain(size).collect::<Vec<_>>());
                    let all = in_order(parallel.$parallel(size));
                    assert_eq!(all, plain.$plain(size).collect::<Vec<_>>());
                };
            }
            same!(chunks_mut, par_chunks_mut);
            same!(chunks_exact_mut, par_chunks_exact_mut);
            same!(rchunks_mut, par_rchunks_mut);
            same!(rchunks_exact_mut, par_rchunks_exact_mut);
            assert_eq!(
                parallel.par_chunks_exact_mut(size).into_remainder(),
                plain.chunks_exact_mut(size).into_remainder()
            );
            let mut chunks = parallel.par_rchunks_exact_mut(size);
            assert_eq!(chunks.remainder(), plain.rchunks_exact_mut(size).into_remainder());
            assert_eq!(chunks.take_remainder(), plain.rchunks_exact_mut(size).into_remainder());
            assert_eq!(chunks.take_remainder(), [0; 0]);
            assert_eq!(Producer::len(&chunks), len / size);
        }
    }
}

#[test]
fn parts_between_separators_are_those_of_the_slice() {
    for len in LENGTHS.into_iter().chain([5000]) {
        for seed in 0..4 {
            let items = numbers(len, 1 + 3 * seed, seed);
            let is_zero = |item: &u64| *item == 0;
            check_order(items.split(is_zero), || items.par_split(is_zero));
            check_order(items.split_inclusive(is_zero), || items.par_split_inclusive(is_zero));
            check_order(items.chunk_by(|a, b| a <= b), || items.par_chunk_by(|a, b| a <= b));
            let (mut plain, mut parallel) = (items.clone(), items.clone());
            macro_rules! same {
                ($plain:ident, $parallel:ident, $predicate:expr) => {
                    let all = in_order(parallel.$parallel($predicate));
                    assert_eq!(all, plain.$plain($predicate).collect::<Vec<_>>());
                };
            }
            same!(split_mut, par_split_mut, is_zero);
            same!(split_inclusive_mut, par_split_inclusive_mut, is_zero);
            same!(chunk_by_mut, par_chunk_by_mut, |a, b| a <= b);
        }
    }
}

#[test]
fn zero_sized_items_are_counted() {
    let items = [(); 1000];
    check_indexed(items, || items.to_vec().into_par_iter());
    check_indexed(items.chunks(7), || items.par_chunks(7));
    check_indexed(items, || items.into_par_iter());
}

#[test]
fn chunks_of_no_elements_panic() {
    for text in [
        panic_text(|| _ = [1].par_chunks(0)),
        panic_text(|| _ = [1].par_rchunks(0)),
        panic_text(|| _ = [1].par_chunks_exact_mut(0)),
        panic_text(|| _ = [1].par_rchunks_exact(0)),
    ] {
        assert_eq!(text, "the size of chunks must not be zero");
    }
    assert_eq!(panic_text(|| _ = [1].par_windows(0)), "the size of windows must not be zero");
}

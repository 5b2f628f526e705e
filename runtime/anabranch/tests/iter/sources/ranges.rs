//! Ranges, also at the ends of their types.

use super::{check_indexed, in_order};
use crate::common::{Random, panic_text};
use anabranch::{
    iter::plumbing::{Consumer, Drive, DriveIndexed},
    prelude::*,
};
use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicBool, Ordering},
};

#[test]
fn ranges_are_the_plain_ones() {
    macro_rules! same {
        ($($int:ty)*) => {$(
            let (min, max) = (<$int>::MIN, <$int>::MAX);
            for (start, end) in [(min, min), (min, min + 1), (max - 100, max), (3, 100), (100, 3), (min, min + 99)] {
                check_indexed(start..end, || (start..end).into_par_iter());
                check_indexed(start..=end, || (start..=end).into_par_iter());
            }
            check_indexed(max..=max, || (max..=max).into_par_iter());
            let mut exhausted = 1..=1;
            exhausted.next();
            check_indexed([0 as $int; 0], || RangeInclusive::clone(&exhausted).into_par_iter());
        )*};
    }
    same!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
    check_indexed(u8::MIN..=u8::MAX, || (u8::MIN..=u8::MAX).into_par_iter());
    check_indexed(i16::MIN..=i16::MAX, || (i16::MIN..=i16::MAX).into_par_iter());
    check_indexed(i8::MIN..i8::MAX, || (i8::MIN..i8::MAX).into_par_iter());
}

#[test]
fn ranges_of_characters_skip_the_surrogates() {
    let (before, after) = ('\u{d7f0}', '\u{e010}');
    check_indexed(before..after, || (before..after).into_par_iter());
    check_indexed(before..=after, || (before..=after).into_par_iter());
    check_indexed('\u{d7ff}'..='\u{e000}', || ('\u{d7ff}'..='\u{e000}').into_par_iter());
    let all = char::MIN..=char::MAX;
    assert!(in_order(all.clone().into_par_iter()).into_iter().eq(all));
    check_indexed(char::MAX..='a', || (char::MAX..='a').into_par_iter());
}

#[test]
fn random_ranges_are_the_plain_ones() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let (start, len) = (random.next() as i8, random.below(130) as i8);
        let end = start.saturating_add(len);
        check_indexed(start..end, || (start..end).into_par_iter());
        check_indexed(start..=end, || (start..=end).into_par_iter());
    }
}

/// Takes about a thousand items.
struct Thousand(AtomicBool);

impl<T: Send + PartialOrd + Copy> Consumer<T> for Thousand {
    type Folder = Vec<T>;
    type Result = Vec<T>;
    type Position = ();

    fn folder(&self, (): ()) -> Vec<T> {
        Vec::new()
    }
    fn consume_iter(&self, mut folder: Vec<T>, items: impl Iterator<Item = T>) -> Vec<T> {
        folder.extend(items.take(1000 - folder.len().min(1000)));
        if folder.len() >= 1000 {
            self.0.store(true, Ordering::Relaxed);
        }
        folder
    }
    fn complete(&self, folder: Vec<T>) -> Vec<T> {
        folder
    }
    fn combine(&self, left: Vec<T>, _: Vec<T>) -> Vec<T> {
        left
    }
    fn is_full(&self, _: &Vec<T>, (): ()) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn range_longer_than_usize_is_iterated() {
    fn first<I: Drive<Item: PartialOrd + Copy>>(iter: I) -> Vec<I::Item> {
        let consumer = Thousand(AtomicBool::new(false));
        iter.drive(&consumer, Vec::new(), ()).finish(&consumer)
    }
    for pool in crate::harness::pools() {
        pool.install(|| {
            let all = first((0..=u64::MAX).into_par_iter());
            assert!(all.iter().copied().eq(0..all.len() as u64), "it begins at the front");
            let all = first((i128::MIN..=i128::MAX).into_par_iter());
            assert!(all.iter().copied().eq(i128::MIN..i128::MIN + all.len() as i128), "it begins at the front");
        });
    }
    assert_eq!((0..=u64::MAX).into_par_iter().opt_len(), None);
    assert_eq!((0..u64::MAX).into_par_iter().opt_len(), Some(usize::MAX));
    assert_eq!((0..=u128::MAX).into_par_iter().opt_len(), None);
    let text = panic_text(|| _ = (0..=u64::MAX).into_par_iter().len());
    assert_eq!(text, "the length of a parallel range does not fit usize");
}

#[test]
fn sums_of_ranges_are_the_plain_ones() {
    for len in [0, 1, 1000, 100_000u64] {
        crate::harness::check((0..len).sum::<u64>(), || (0..len).into_par_iter().sum::<u64>());
    }
    assert_eq!(in_order((0..10_000u32).into_par_iter()), (0..10_000).collect::<Vec<u32>>());
}

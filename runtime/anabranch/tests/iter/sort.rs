//! Slices of the lengths at which the threads share the work. The unit tests have short ones.

use crate::{
    common::{Random, panic_text, pool},
    harness::pools,
};
use anabranch::prelude::*;
use proptest::prelude::*;
use std::cmp::Ordering;

const LEN: usize = 40_000;

/// Slices in various orders.
fn patterns() -> Vec<Vec<u64>> {
    let mut random = Random(1);
    let shuffled: Vec<u64> = (0..LEN).map(|_| random.next()).collect();
    let sorted: Vec<u64> = (0..LEN as u64).collect();
    let mut tail = sorted.clone();
    tail[LEN - 500..].copy_from_slice(&shuffled[..500]);
    vec![
        sorted.iter().rev().copied().collect(),
        sorted.iter().map(|item| item % 1000).collect(),
        sorted.iter().map(|item| item / 5).rev().collect(),
        sorted.iter().map(|item| item.min(&(LEN as u64 - item)).to_owned()).collect(),
        shuffled.iter().map(|item| item % 2).collect(),
        shuffled.iter().map(|item| item % 300).collect(),
        vec![7; LEN],
        tail,
        sorted,
        shuffled,
    ]
}

#[test]
fn long_slices_are_sorted_as_std_sorts_them() {
    for input in patterns() {
        let mut expected = input.clone();
        expected.sort();
        for pool in pools().iter().step_by(2) {
            let (mut stable, mut unstable) = (input.clone(), input.clone());
            pool.install(|| stable.par_sort());
            pool.install(|| unstable.par_sort_unstable());
            assert!(stable == expected && unstable == expected, "{} threads", pool.num_threads());
        }
        let mut outside = input;
        outside.par_sort_unstable_by(|a, b| b.cmp(a));
        assert!(outside.iter().rev().eq(&expected));
    }
}

#[test]
fn long_slices_keep_the_order_of_equal_items() {
    let pool = pool(4);
    for input in patterns() {
        let input: Vec<(u64, usize)> = input.into_iter().map(|item| item % 100).zip(0..).collect();
        let mut expected = input.clone();
        expected.sort();
        let mut by_key = input.clone();
        pool.install(|| by_key.par_sort_by_key(|item| item.0));
        assert!(by_key == expected);
        let mut cached = input;
        pool.install(|| cached.par_sort_by_cached_key(|item| item.0.to_string().len() as u64 * 1000 + item.0));
        assert!(cached == expected);
    }
}

#[test]
fn key_that_panics_leaves_the_slice_as_before() {
    let mut items: Vec<usize> = (0..1000).rev().collect();
    let before = items.clone();
    let text = panic_text(|| {
        items.par_sort_by_cached_key(|item| {
            assert_ne!(*item, 500, "bad key");
            *item
        });
    });
    assert!(text.contains("bad key"));
    assert_eq!(items, before);
}

#[test]
fn long_slice_sorted_by_no_order_has_each_item_once() {
    for pool in pools() {
        for sort in [<[String]>::par_sort_by::<Compare>, <[String]>::par_sort_unstable_by::<Compare>] {
            let mut items: Vec<String> = (0..40_000).map(|item| item.to_string()).collect();
            // It may panic.
            let _ =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(|| sort(&mut items, confused))));
            items.sort_by_key(|item| item.parse::<usize>().unwrap());
            assert!(items.iter().map(|item| item.parse::<usize>().unwrap()).eq(0..40_000));
        }
    }
}

type Compare = fn(&String, &String) -> Ordering;

/// Answers at random, the same for each pair of items.
#[allow(clippy::ptr_arg, reason = "it compares the items of a slice of strings")]
fn confused(a: &String, b: &String) -> Ordering {
    let seed = a.bytes().chain(b.bytes()).fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    [Ordering::Less, Ordering::Equal, Ordering::Greater][Random(seed).below(3) as usize]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_slices_are_sorted(len in 0usize..60_000, values in 1u64..1 << 40, seed: u64, ties in 1u64..100) {
        let mut random = Random(seed);
        let mut items: Vec<(u64, u32)> = (0..len).map(|_| random.below(values) / ties * ties).zip(0..).collect();
        let mut expected = items.clone();
        expected.sort();
        let mut unstable: Vec<u64> = items.iter().map(|item| item.0).collect();
        pools()[seed as usize % pools().len()].install(|| {
            items.par_sort_by_key(|item| item.0);
            unstable.par_sort_unstable();
        });
        prop_assert!(items == expected);
        prop_assert!(unstable.iter().eq(expected.iter().map(|item| &item.0)));
    }
}

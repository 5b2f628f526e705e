//! `prefix_scan`.

use crate::{
    common::{Counted, Tally, silence_panics_with},
    cuts::{Numbers, alone},
    harness::{check, pieces, pools},
};
use anabranch::prelude::*;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::atomic::{AtomicUsize, Ordering},
};

fn plain_sums(items: impl Iterator<Item = usize>) -> Vec<usize> {
    let next = |sum: &mut usize, item: usize| {
        *sum += item;
        Some(*sum)
    };
    items.scan(0, next).collect()
}

#[test]
fn prefix_sums_match_the_plain_ones() {
    for len in [0, 1, 2, 3, 50, 1000, 100_000] {
        check(plain_sums(0..len), || Numbers(0..len).prefix_scan(|a, b| a + b));
        let even = || (0..len).filter(|item| item % 2 == 0);
        check(plain_sums(even()), || pieces(even(), len as u64).prefix_scan(|a, b| a + b));
    }
}

#[test]
fn pieces_are_combined_in_order() {
    for seed in 0..100 {
        let words: Vec<String> = (0..seed).map(|i| format!("{i} ")).collect();
        let plain: Vec<String> = (1..=words.len()).map(|n| words[..n].concat()).collect();
        let concat = |a: &String, b: &String| format!("{a}{b}");
        assert_eq!(pieces(words.clone(), seed).prefix_scan(concat), plain);
        pools()[3].install(|| assert_eq!(pieces(words.clone(), seed).prefix_scan(concat), plain));
    }
}

#[test]
fn one_thread_calls_the_operation_once_for_each_item() {
    let calls = AtomicUsize::new(0);
    let add = |a: &usize, b: &usize| {
        calls.fetch_add(1, Ordering::Relaxed);
        a + b
    };
    assert_eq!(alone(|| Numbers(0..1000).prefix_scan(&add)), plain_sums(0..1000));
    assert_eq!(calls.into_inner(), 999);
}

#[test]
fn values_are_dropped_once_when_the_operation_panics() {
    struct Thrown;
    silence_panics_with::<Thrown>();
    for pool in pools() {
        for last in [10, 150, 600, usize::MAX] {
            let (tally, calls) = (Tally::default(), AtomicUsize::new(0));
            let op = |_: &Counted, _: &Counted| {
                if calls.fetch_add(1, Ordering::Relaxed) == last {
                    panic_any(Thrown);
                }
                tally.make()
            };
            let items = pieces((0..500).map(|_| tally.make()), 7);
            let result = catch_unwind(AssertUnwindSafe(|| drop(pool.install(|| items.prefix_scan(op)))));
            assert_eq!(result.is_err(), last != usize::MAX);
            tally.assert_all_dropped();
        }
    }
}

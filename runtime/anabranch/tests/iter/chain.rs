//! `chain`, of iterators of known and of unknown length.

use crate::{
    common::{Tally, silence_panics_with, watchdog},
    cuts::{Numbers, Owned, alone, check_indexed, count_until_odd, deterministic_block_lens, to_vec},
    harness::{check, pieces, pools},
};
use anabranch::{
    iter::plumbing::{Drive, DriveIndexed, Visitor},
    prelude::*,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::Barrier,
    time::Duration,
};

#[test]
fn chain_of_indexed_iterators_is_indexed() {
    for a in [0, 1, 2, 30, 300] {
        for b in [0, 1, 2, 30, 300] {
            let chained = || Numbers(0..a).chain(Numbers(1000..1000 + b));
            check_indexed((0..a).chain(1000..1000 + b), chained);
            check_indexed((0..a).chain(1000..1000 + b).rev(), || chained().rev());
            assert_eq!(chained().opt_len(), Some(a + b));
        }
    }
}

#[test]
fn pieces_of_a_chain_keep_their_order() {
    for seed in 0..300 {
        let (a, b, c) = (seed % 40, seed % 7 * 5, seed % 3);
        let plain: Vec<u64> = (0..a).chain(100..100 + b).chain(200..200 + c).collect();
        let chained = || pieces(0..a, seed).chain(pieces(100..100 + b, seed + 1)).chain(pieces(200..200 + c, seed + 2));
        assert_eq!(to_vec(chained()), plain);
        pools()[3].install(|| assert_eq!(to_vec(chained()), plain));
        assert_eq!(chained().opt_len(), None);
        let mixed = || pieces(0..a, seed).chain(Owned((100..100 + b).collect()));
        assert_eq!(to_vec(mixed()), plain[..plain.len() - c as usize]);
    }
}

#[test]
fn long_chains_of_single_items_are_driven() {
    let one = |i| Numbers(i..i + 1);
    check((0..12).collect(), || {
        let left = one(0).chain(one(1)).chain(one(2)).chain(one(3)).chain(one(4)).chain(one(5));
        to_vec(left.chain(one(6).chain(one(7).chain(one(8).chain(one(9).chain(one(10).chain(one(11))))))))
    });
}

#[test]
fn deterministic_chain_has_the_same_pieces_in_each_run() {
    let chained = || Numbers(0..700).chain(Numbers(0..5000)).chain(pieces(0..0, 0)).chain(Numbers(0..3));
    check(alone(|| deterministic_block_lens(chained())), || deterministic_block_lens(chained()));
    let blocks = || Numbers(0..9000).chain(Numbers(0..10)).by_exponential_blocks();
    check(alone(|| deterministic_block_lens(blocks())), || deterministic_block_lens(blocks()));
}

#[test]
fn both_parts_run_at_a_time() {
    // Each of the two items waits for the other one.
    let barrier = Barrier::new(2);
    let both = || Numbers(0..1).chain(Numbers(1..2)).for_each(|_| _ = barrier.wait());
    watchdog(Duration::from_secs(60), || pools()[1].install(both));
}

#[test]
fn second_part_does_not_run_after_an_early_end() {
    alone(|| {
        assert_eq!(count_until_odd(Numbers(1..2).chain(Numbers(5..1000))), 1);
        assert_eq!(count_until_odd(Numbers(0..1).chain(Numbers(5..1000))), 2);
        assert_eq!(count_until_odd(Numbers(0..1).chain(Numbers(5..1000)).rev()), 1);
    });
}

#[test]
fn chain_is_accepted_as_indexed_if_both_parts_are() {
    struct IsIndexed;
    impl<T> Visitor<T> for IsIndexed {
        type Output = bool;
        fn visit<I: Drive<Item = T>>(self, iter: I) -> bool {
            assert_eq!(iter.opt_len(), None);
            false
        }
        fn visit_indexed<I: DriveIndexed<Item = T>>(self, iter: I) -> bool {
            assert_eq!(iter.len(), 4);
            true
        }
    }
    let (known, unknown) = (|| Owned(vec![1, 2]), || pieces([1, 2], 0));
    assert!(known().chain(known()).accept(IsIndexed));
    assert!(known().chain(known()).map(|i| i).accept(IsIndexed));
    assert!(!known().chain(unknown()).accept(IsIndexed));
    assert!(!unknown().chain(known()).accept(IsIndexed));
    assert!(!unknown().chain(unknown()).accept(IsIndexed));
}

#[test]
fn panic_in_a_part_drops_the_other() {
    struct Thrown;
    silence_panics_with::<Thrown>();
    for pool in pools() {
        for at in [0, 50, 99, 100, 199] {
            let tally = Tally::default();
            let items = |from| Owned((from..from + 100).map(|i| (i, tally.make())).collect::<Vec<_>>());
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| {
                    items(0).chain(items(100)).for_each(|(i, _)| {
                        if i == at {
                            panic_any(Thrown);
                        }
                    });
                });
            }));
            assert!(result.is_err());
            tally.assert_all_dropped();
        }
    }
}

//! The adapters of iterators of known length, against those of the standard library.

use crate::{
    common::{Random, Tally, panic_text, silence_panics_with},
    cuts::{Numbers, Owned, alone, block_lens, check_indexed, count_until_odd, cut, to_vec},
    harness::{check, pools},
};
use anabranch::{iter::plumbing::Producer, prelude::*};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::atomic::{AtomicUsize, Ordering},
};

const LENS: [usize; 8] = [0, 1, 2, 3, 4, 7, 30, 500];

#[test]
fn enumerate_and_rev_match_the_plain_ones() {
    for len in LENS {
        let items: Vec<usize> = (100..100 + len).collect();
        check_indexed(items.iter().enumerate(), || items.par_iter().enumerate());
        check_indexed(items.iter().rev(), || items.par_iter().rev());
        check_indexed(items.iter().rev().enumerate(), || items.par_iter().rev().enumerate());
        check_indexed(items.iter().enumerate().rev(), || items.par_iter().enumerate().rev());
        check_indexed(items.iter().enumerate().map(|(i, x)| i * x).rev(), || {
            items.par_iter().enumerate().map(|(i, x)| i * x).rev()
        });
    }
}

#[test]
fn skip_take_and_step_by_match_the_plain_ones() {
    for len in LENS {
        for n in [0, 1, 2, 3, len / 2, len.saturating_sub(1), len, len + 1, usize::MAX] {
            let items: Vec<usize> = (0..len).collect();
            check_indexed(items.iter().skip(n), || items.par_iter().skip(n));
            check_indexed(items.iter().take(n), || items.par_iter().take(n));
            check_indexed(items.iter().take(n).rev().skip(1), || items.par_iter().take(n).rev().skip(1));
            if n > 0 {
                check_indexed(items.iter().step_by(n), || items.par_iter().step_by(n));
                check_indexed(items.iter().step_by(n).rev(), || items.par_iter().step_by(n).rev());
                check_indexed(items.iter().rev().step_by(n), || items.par_iter().rev().step_by(n));
            }
        }
    }
}

#[test]
fn zip_is_as_long_as_the_shorter_one() {
    for a in LENS {
        for b in LENS {
            let (left, right) = (Numbers(0..a), Owned((0..b).map(|i| i.to_string()).collect()));
            let plain = (0..a).zip(right.0.clone());
            check_indexed(plain.clone(), || left.clone().zip(right.clone()));
            check_indexed(plain.clone().rev(), || left.clone().zip(right.clone()).rev());
            if a == b {
                check_indexed(plain, || left.clone().zip_eq(right.clone()));
            }
        }
    }
}

#[test]
fn zip_eq_refuses_different_lengths() {
    let text = panic_text(|| _ = Numbers(0..3).zip_eq(Numbers(0..4)));
    assert!(text.contains("iterators must have the same length"), "{text}");
}

#[test]
fn tuples_are_zipped() {
    let (a, b, mut c) = (vec![1, 2, 3, 4], vec![10, 20, 30], vec![0; 5]);
    (&a, &b, c.as_mut_slice()).into_par_iter().for_each(|(a, b, c)| *c = a + b);
    assert_eq!(c, [11, 22, 33, 0, 0]);
    let mut all = (Column(a), Column(c));
    check_indexed(all.0.0.iter().zip(&all.1.0), || all.par_iter());
    all.par_iter_mut().for_each(|(a, c)| std::mem::swap(a, c));
    assert_eq!((all.0.0, all.1.0), (vec![11, 22, 33, 0], vec![1, 2, 3, 4, 0]));
    check_indexed((0..9).map(|i| (i,)), || (Numbers(0..9),).into_par_iter());
    for len in LENS {
        let n = |i| Numbers(i..i + len);
        check_indexed((0..len).map(|i| (i, i + 1, i + 2)), || (n(0), n(1), n(2)).into_par_iter());
        let twelve = || (n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8), n(9), Numbers(10..1000), n(11));
        check(
            (0..len)
                .map(|i| [i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10, i + 11])
                .collect(),
            || {
                to_vec(
                    twelve()
                        .into_par_iter()
                        .map(|(a, b, c, d, e, f, g, h, i, j, k, l)| [a, b, c, d, e, f, g, h, i, j, k, l]),
                )
            },
        );
    }
}

/// A collection of a program.
struct Column(Vec<i32>);

impl<'data> IntoParallelIterator for &'data Column {
    type Iter = <&'data [i32] as IntoParallelIterator>::Iter;
    type Item = &'data i32;

    fn into_par_iter(self) -> Self::Iter {
        self.0.as_slice().into_par_iter()
    }
}

impl<'data> IntoParallelIterator for &'data mut Column {
    type Iter = <&'data mut [i32] as IntoParallelIterator>::Iter;
    type Item = &'data mut i32;

    fn into_par_iter(self) -> Self::Iter {
        self.0.as_mut_slice().into_par_iter()
    }
}

#[test]
fn chunks_match_those_of_slices() {
    for len in LENS {
        for size in [1, 2, 3, 10, len.max(1), len + 1, usize::MAX] {
            let items: Vec<usize> = (0..len).collect();
            let chunks = || items.chunks(size).map(<[usize]>::to_vec);
            check_indexed(chunks(), || Owned(items.clone()).chunks(size));
            check_indexed(chunks().rev(), || items.par_iter().map(|item| *item).chunks(size).rev());
            check_indexed(chunks().enumerate(), || Numbers(0..len).chunks(size).enumerate());
            let text = |items: &[usize]| items.iter().fold(String::from("<"), |text, item| format!("{text}{item},"));
            let plain = || items.chunks(size).map(text);
            let add = |text: String, item: usize| format!("{text}{item},");
            check_indexed(plain(), || Numbers(0..len).fold_chunks(size, || String::from("<"), add));
            check_indexed(plain().rev(), || Numbers(0..len).fold_chunks_with(size, String::from("<"), add).rev());
        }
    }
}

#[test]
fn interleave_takes_turns() {
    for a in [0, 1, 2, 3, 4, 9, 30] {
        for b in [0, 1, 2, 3, 4, 9, 30] {
            let (mut left, mut right) = (0..a, 100..100 + b);
            let (mut all, mut shortest) = (Vec::new(), None);
            while left.len() + right.len() > 0 {
                for turn in [&mut left, &mut right] {
                    match turn.next() {
                        Some(item) => all.push(item),
                        None => shortest = shortest.or(Some(all.len())),
                    }
                }
            }
            let shortest = &all[..shortest.unwrap_or(all.len())];
            let n = || (Numbers(0..a), Numbers(100..100 + b));
            check_indexed(all.iter().copied(), || n().0.interleave(n().1));
            check_indexed(all.iter().copied().rev(), || n().0.interleave(n().1).rev());
            check_indexed(shortest.iter().copied(), || n().0.interleave_shortest(n().1));
        }
    }
}

#[test]
fn adapters_stack() {
    let mut random = Random(1);
    for _ in 0..60 {
        let mut below = |n| random.below(n) as usize;
        let (len, other, n, step, size) = (below(200), below(200), below(20), 1 + below(5), 1 + below(9));
        let items: Vec<usize> = (0..len).collect();
        let more: Vec<usize> = (1000..1000 + other).collect();
        let joined: Vec<usize> = items.iter().chain(&more).copied().collect();
        check_indexed(joined.iter().skip(n).step_by(step).rev().enumerate(), || {
            items.par_iter().chain(&more).skip(n).step_by(step).rev().enumerate()
        });
        let stepped: Vec<usize> = joined.iter().rev().step_by(step).copied().collect();
        check_indexed(stepped.chunks(size).map(<[usize]>::to_vec).zip(&more).rev(), || {
            let joined = items.par_iter().chain(&more).map(|item| *item);
            joined.rev().step_by(step).chunks(size).zip(&more).rev()
        });
    }
}

#[test]
fn ends_of_the_index_type_are_reached() {
    let max = usize::MAX;
    let all = || Numbers(0..max);
    check_indexed([5, 6, 7].into_iter(), || all().skip(5).take(3));
    check_indexed([max - 3, max - 2, max - 1].into_iter(), || all().skip(max - 3).take(9));
    check_indexed([(max - 2, max - 2), (max - 1, max - 1)].into_iter(), || all().enumerate().skip(max - 2));
    check_indexed([max - 1, max - 2].into_iter(), || all().rev().take(2));
    check_indexed([0, max / 2, max - 1].into_iter(), || all().step_by(max / 2));
    check_indexed([0].into_iter(), || all().step_by(max));
    check_indexed([1, 0].into_iter(), || Numbers(0..2).chain(all().skip(2)).rev().skip(max - 2));
    check_indexed([max - 2, max - 1].into_iter(), || {
        Numbers(0..1).interleave(all().take(max - 1)).skip(max - 1).chain(Numbers(max - 1..max))
    });
    check_indexed([(7, max - 1)].into_iter(), || Numbers(7..8).zip(all().rev()));
    assert_eq!(all().chunks(max / 2 + 1).len(), 2);
    assert_eq!(all().fold_chunks(max, || 0, |count, _| count + 1).len(), 1);
    assert_eq!(all().interleave_shortest(Numbers(0..max / 2)).len(), max);
    assert_eq!((all(), all()).into_par_iter().len(), max);
    assert_eq!(all().chain(Numbers(0..1)).map(|item| item).opt_len_of(), None);
    for text in [
        panic_text(|| _ = all().chain(Numbers(0..1)).len()),
        panic_text(|| _ = all().interleave(Numbers(0..1)).len()),
        panic_text(|| _ = all().interleave_shortest(Numbers(0..max / 2 + 1)).len()),
        panic_text(|| _ = all().chain(Numbers(0..1)).enumerate().position_any(|_| true)),
    ] {
        assert!(text.contains("at most `usize::MAX` items"), "{text}");
    }
}

/// [`Drive::opt_len`](anabranch::iter::plumbing::Drive::opt_len), which the prelude does not bring in.
trait OptLen: ParallelIterator {
    fn opt_len_of(&self) -> Option<usize> {
        self.opt_len()
    }
}

impl<I: ParallelIterator> OptLen for I {}

#[test]
fn zero_is_refused_where_it_has_no_meaning() {
    for text in [
        panic_text(|| _ = Numbers(0..9).step_by(0)),
        panic_text(|| _ = Numbers(0..9).chunks(0)),
        panic_text(|| _ = Numbers(0..9).fold_chunks(0, || 0, |a, b| a + b)),
        panic_text(|| _ = Numbers(0..9).fold_chunks_with(0, 0, |a, b| a + b)),
        panic_text(|| _ = Numbers(0..9).by_uniform_blocks(0)),
    ] {
        assert!(text.contains("must not be zero"), "{text}");
    }
}

#[test]
fn blocks_obey_the_limits() {
    check((), || {
        for lens in block_lens(Numbers(0..10_000).with_max_len(10)) {
            assert!(lens.iter().all(|len| *len <= 10), "{lens:?}");
        }
        for lens in block_lens(Numbers(0..10_000).with_min_len(100)) {
            assert!(lens.iter().all(|len| *len >= 100), "{lens:?}");
        }
        for lens in block_lens(Numbers(0..10_000).with_max_len(10).with_min_len(40)) {
            assert!(lens.iter().all(|len| (40..80).contains(len)), "{lens:?}");
        }
    });
    assert_eq!(block_lens(Numbers(0..50).with_min_len(100)), [[50]]);
    assert_eq!(block_lens(Numbers(0..3).with_max_len(0)).concat(), [1, 1, 1]);
    check((0..100).collect(), || to_vec(Numbers(0..100).with_min_len(7).with_max_len(9)));
}

#[test]
fn limits_pass_through_adapters() {
    let n = || Numbers(0..1000).with_min_len(20).with_max_len(60);
    macro_rules! assert_limits {
        ($expected:expr, $($adapter:expr),+ $(,)?) => {
            $({
                let mut adapter = $adapter;
                let producer = anabranch::iter::plumbing::DriveIndexed::producer(&mut adapter);
                let actual = (producer.min_len(), producer.max_len());
                assert_eq!(actual, $expected, stringify!($adapter));
                cut(producer, &mut Random(3));
            })+
        };
    }
    let other = || Numbers(0..900).with_min_len(10).with_max_len(40);
    assert_limits!(
        (20, 60),
        n().rev(),
        n().enumerate(),
        n().skip(3),
        n().take(700),
        n().map(|i| i),
        (n(),).into_par_iter()
    );
    assert_limits!((20, 40), n().zip(other()), other().zip_eq(other()).zip(n()), n().chain(other()));
    assert_limits!((20, 40), n().interleave(other()), n().interleave_shortest(other()), (n(), other()).into_par_iter());
    assert_limits!((7, 20), n().step_by(3), n().chunks(3), n().fold_chunks(3, || 0, |a, b| a + b));
    assert_limits!((1, 1), n().fold_chunks_with(100, 0, |a, b| a + b), n().step_by(100));
}

#[test]
fn blocks_run_one_after_the_other() {
    for pool in pools() {
        pool.install(|| {
            let done = AtomicUsize::new(0);
            Numbers(0..1000).by_uniform_blocks(30).for_each(|item| {
                assert!(done.load(Ordering::SeqCst) >= item / 30 * 30, "item {item}");
                done.fetch_add(1, Ordering::SeqCst);
            });
            assert_eq!(done.into_inner(), 1000);
            let done = AtomicUsize::new(0);
            Numbers(0..1000).by_exponential_blocks().for_each(|item| {
                let first = pool.num_threads();
                let before = (0..10).map(|k| first * ((1 << k) - 1)).filter(|start| *start <= item).max().unwrap();
                assert!(done.load(Ordering::SeqCst) >= before, "item {item}");
                done.fetch_add(1, Ordering::SeqCst);
            });
            assert_eq!(done.into_inner(), 1000);
        });
    }
    for len in LENS {
        check((0..len).collect(), || to_vec(Numbers(0..len).by_exponential_blocks()));
        check((0..len).collect(), || to_vec(Numbers(0..len).by_uniform_blocks(7)));
        assert_eq!(Numbers(0..len).by_uniform_blocks(7).opt_len_of(), Some(len));
        assert_eq!(Numbers(0..len).by_exponential_blocks().opt_len_of(), Some(len));
    }
}

#[test]
fn blocks_after_an_early_end_do_not_run() {
    alone(|| {
        assert_eq!(count_until_odd(Numbers(1..1000).step_by(2).by_uniform_blocks(1)), 1);
        assert_eq!(count_until_odd(Numbers(0..1000).by_exponential_blocks()), 2);
    });
}

#[test]
fn items_are_dropped_once() {
    struct Thrown;
    silence_panics_with::<Thrown>();
    for pool in pools() {
        let tally = Tally::default();
        let items = |n: usize| Owned((0..n).map(|_| tally.make()).collect::<Vec<_>>());
        pool.install(|| {
            items(300).zip(items(200)).rev().skip(10).take(150).for_each(drop);
            items(300).step_by(7).chunks(4).for_each(drop);
            items(30).interleave_shortest(items(100)).chain(items(20)).skip(35).enumerate().for_each(drop);
            drop(to_vec(items(99).chunks(10).rev().take(3)));
            let panics = catch_unwind(AssertUnwindSafe(|| {
                items(200)
                    .interleave(items(300))
                    .fold_chunks(
                        9,
                        || 0,
                        |count, item| {
                            drop(item);
                            if count == 5 { panic_any(Thrown) } else { count + 1 }
                        },
                    )
                    .for_each(drop);
            }));
            assert!(panics.is_err());
        });
        tally.assert_all_dropped();
    }
}

#[test]
fn items_without_size_are_counted() {
    let units = vec![(); 1000];
    check(1000, || units.par_iter().zip(&units).rev().map(|_| 1).sum::<usize>());
    check(334, || units.par_iter().chunks(3).map(|_| 1).sum::<usize>());
    check(499_500, || units.par_iter().enumerate().map(|(index, ())| index).sum::<usize>());
}

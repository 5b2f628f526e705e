//! Adapters of items, against those of std.

use crate::{
    agree,
    agree::{from_producer, numbers, to_vec},
    common::{Counted, Random, Tally},
    harness::{check, pieces},
};
use anabranch::{iter::Either, prelude::*};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
};

#[test]
fn map_like_adapters_yield_what_those_of_std_do() {
    agree!(items => items.map(|i| i + 1).collect::<Vec<_>>(), to_vec(items.update(|i| *i += 1)));
    agree!(items => items.sum::<u32>(), {
        let sum = AtomicU32::new(0);
        items.inspect(|i| _ = sum.fetch_add(*i, Ordering::Relaxed)).for_each(drop);
        sum.into_inner()
    });
    let words: Vec<String> = numbers(50, 1).iter().map(u32::to_string).collect();
    check(words.clone(), || to_vec(words.par_iter().cloned()));
    let lengths: Vec<usize> = words.iter().map(String::len).collect();
    check(lengths.clone(), || to_vec(lengths.par_iter().copied()));
}

#[test]
fn filters_yield_what_those_of_std_do() {
    agree!(items => items.filter(|i| i % 2 == 0).collect::<Vec<_>>(), to_vec(items.filter(|i| i % 2 == 0)));
    agree!(
        items => items.filter_map(|i| i.checked_sub(2)).collect::<Vec<_>>(),
        to_vec(items.filter_map(|i| i.checked_sub(2)))
    );
}

#[test]
fn flattened_items_are_in_order() {
    let copies = |i: u32| pieces(0..i * 5, u64::from(i));
    agree!(items => items.flat_map(|i| 0..i * 5).collect::<Vec<_>>(), to_vec(items.flat_map(copies)));
    agree!(items => items.flat_map(|i| 0..i * 5).collect::<Vec<_>>(), to_vec(items.map(copies).flatten()));
    agree!(items => items.flat_map(|i| 0..i).collect::<Vec<_>>(), to_vec(items.flat_map_iter(|i| 0..i)));
    agree!(items => items.flat_map(|i| 0..i).collect::<Vec<_>>(), to_vec(items.map(|i| 0..i).flatten_iter()));
    agree!(
        items => items.flat_map(|i| (0..i).flat_map(|j| 0..j)).collect::<Vec<_>>(),
        to_vec(items.flat_map(|i| pieces(0..i, 3).flat_map(|j| pieces(0..j, 4))))
    );
}

#[test]
fn inner_loops_of_flat_map_run_in_parallel() {
    let rows: Vec<Vec<u32>> = (0..3).map(|row| numbers(20_000, row)).collect();
    let sum: u32 = rows.iter().flatten().sum();
    check(sum, || rows.par_iter().flat_map(|row| row.par_iter()).copied().sum::<u32>());
    check(rows.concat(), || to_vec(rows.par_iter().flatten().copied()));
}

#[test]
fn search_in_flattened_items_is_in_order() {
    let row = |i: u32| (0..i * 7).map(move |j| (i, j));
    for wanted in (0..30).step_by(3) {
        let is_wanted = |item: &(u32, u32)| item.1 == wanted;
        for seed in 0..100 {
            let numbers = numbers(seed as usize % 50, seed);
            let plain = || numbers.iter().flat_map(|i| row(*i));
            let cut = || pieces(numbers.iter().copied(), seed).flat_map(|i| pieces(row(i), u64::from(i) + seed));
            assert_eq!(cut().find_first(is_wanted), plain().find(is_wanted));
            assert_eq!(cut().find_last(is_wanted), plain().rfind(is_wanted));
        }
    }
    let rows: Vec<Vec<(u32, u32)>> = (0..100).map(|i| (0..1000).map(|j| (i, i * j)).collect()).collect();
    let is_wanted = |item: &&(u32, u32)| item.1 == 990;
    let items = || rows.iter().flatten();
    check(items().find(is_wanted), || rows.par_iter().flatten().find_first(is_wanted));
    check(items().rfind(is_wanted), || rows.par_iter().flatten().find_last(is_wanted));
}

#[test]
fn dedup_drops_equal_neighbours_across_pieces() {
    fn dedup(items: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut items: Vec<u32> = items.collect();
        items.dedup();
        items
    }
    agree!(items => dedup(items), to_vec(items.dedup()));
    agree!(items => dedup(items.filter(|i| *i > 1)), to_vec(items.filter(|i| *i > 1).dedup()));
    agree!(
        items => {
            let mut items: Vec<u32> = items.collect();
            items.dedup_by_key(|i| *i / 2);
            items
        },
        to_vec(items.dedup_by_key(|i| i / 2))
    );
    // The items before do not belong to the sequence.
    agree!(
        items => items.flat_map(|i| dedup((0..i).map(|j| j / 2))).collect::<Vec<_>>(),
        to_vec(items.flat_map(|i| pieces((0..i).map(|j| j / 2), 5).dedup()))
    );
}

#[test]
fn separators_are_between_items_only() {
    fn interspersed(items: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut items: Vec<u32> = items.flat_map(|i| [99, i]).collect();
        items.drain(..items.len().min(1));
        items
    }
    agree!(items => interspersed(items), to_vec(items.intersperse(99)));
    agree!(items => interspersed(items.filter(|i| *i == 1)), to_vec(items.filter(|i| *i == 1).intersperse(99)));
    agree!(items => interspersed(items).into_iter().find(|i| *i > 3), items.intersperse(99).find_first(|i| *i > 3));
    for seed in 0..300 {
        let (numbers, mut random) = (numbers(seed as usize % 20, seed), Random(seed));
        let plain = interspersed(numbers.iter().copied());
        assert_eq!(from_producer(numbers.par_iter().copied().intersperse(99), &mut random), plain);
    }
}

#[test]
fn producers_of_adapters_yield_each_item_once() {
    for seed in 0..300 {
        let (numbers, mut random) = (numbers(seed as usize % 40, seed), Random(seed));
        let items = || numbers.par_iter().copied();
        assert_eq!(from_producer(items(), &mut random), numbers);
        assert_eq!(from_producer(numbers.par_iter().cloned(), &mut random), numbers);
        let either = |left| if left { Either::Left(items()) } else { Either::Right(items().map(|i| i)) };
        assert_eq!(from_producer(either(true), &mut random), numbers);
        assert_eq!(from_producer(either(false), &mut random), numbers);
        assert_eq!(from_producer(items().panic_fuse(), &mut random), numbers);
        let (seen, reported) = (AtomicU32::new(0), AtomicUsize::new(0));
        let inspect = |i: &u32| _ = seen.fetch_add(*i, Ordering::Relaxed);
        let report = |n| _ = reported.fetch_add(n, Ordering::Relaxed);
        assert_eq!(from_producer(items().inspect(inspect).progress(report), &mut random), numbers);
        assert_eq!((seen.into_inner(), reported.into_inner()), (numbers.iter().sum(), numbers.len()));
        let doubled: Vec<u32> = numbers.iter().map(|i| i * 2).collect();
        assert_eq!(from_producer(items().update(|i| *i *= 2), &mut random), doubled);
        let double = |factor: &mut u32, i| *factor * i;
        assert_eq!(from_producer(items().map_with(2, double), &mut random), doubled);
        assert_eq!(from_producer(items().map_init(|| 2, double), &mut random), doubled);
    }
}

#[test]
fn zero_sized_items_are_kept() {
    check(70_000, || vec![(); 70_000].par_iter().copied().update(|()| ()).inspect(|()| ()).count());
    check(139_999, || vec![(); 70_000].par_iter().copied().intersperse(()).count());
    check(1, || vec![(); 70_000].par_iter().copied().dedup().count());
}

#[test]
fn each_piece_has_a_state_of_its_own() {
    for seed in 0..100 {
        let states = AtomicUsize::new(0);
        let state = || states.fetch_add(1, Ordering::Relaxed);
        // Not `Sync`, nor `Send`.
        let ids = to_vec(pieces(0..40, seed).map_init(|| std::rc::Rc::new(state()), |id, _| **id));
        assert!(ids.is_sorted(), "one state for each piece, in order: {ids:?}");
        let (made, used) = (states.into_inner(), ids.last().expect("items") + 1);
        assert!(made >= used, "{made} states, {used} used");
    }
    agree!(
        items => items.map(|i| i + 1).collect::<Vec<_>>(),
        to_vec(items.map_with(Cell::new(1), |one, i| i + one.get()))
    );
    // A loop that no thread helps with has one state.
    let one = crate::common::pool(1);
    let states = AtomicUsize::new(0);
    let init = || states.fetch_add(1, Ordering::Relaxed);
    one.install(|| vec![(); 100_000].par_iter().for_each_init(init, |_, ()| ()));
    assert_eq!(states.into_inner(), 1);
}

#[test]
fn accumulators_cover_all_items() {
    agree!(items => items.sum::<u32>(), items.fold(|| 0, |sum, i| sum + i).sum::<u32>());
    agree!(items => items.sum::<u32>(), items.fold_with(0, |sum, i| sum + i).sum::<u32>());
    let mut accumulators = 0;
    for seed in 0..100 {
        let counts = to_vec(pieces(0..40, seed).fold(|| 0, |n, _| n + 1));
        assert_eq!(counts.iter().sum::<u32>(), 40);
        accumulators += counts.len();
    }
    assert!(accumulators > 200, "pieces have accumulators of their own");
    assert_eq!(to_vec(pieces(0..0, 1).fold(|| 7, |n, _: u32| n)), [7], "an empty sequence has one");
}

#[test]
fn failure_ends_an_accumulator() {
    let add = |sum: u32, i: u32| if i == 4 { Err(sum) } else { Ok(sum + i) };
    agree!(items => items.clone().any(|i| i == 4), {
        items.try_fold(|| 0, add).try_reduce(|| 0, |a, b| Ok(a + b)).is_err()
    });
    agree!(items => items.filter(|i| *i != 4).sum::<u32>(), {
        items.filter(|i| *i != 4).try_fold_with(0, add).map(|sum| sum.expect("no 4")).sum::<u32>()
    });
    let taken = AtomicUsize::new(0);
    for seed in 0..100 {
        let items = pieces(0..40, seed).inspect(|_| _ = taken.fetch_add(1, Ordering::Relaxed));
        assert!(to_vec(items.try_fold(|| (), |(), i| (i != 20).then_some(()))).contains(&None));
    }
    assert!(taken.into_inner() < 3500, "a piece that has failed takes no more items");
}

#[test]
fn panic_leaks_no_item() {
    crate::common::silence_panics_with::<Panicked>();
    struct Panicked;

    for seed in 0..40 {
        for at in [0, 7, 39] {
            let tally = Tally::default();
            let call = |(i, _): &(usize, Counted)| {
                if *i == at {
                    std::panic::panic_any(Panicked);
                }
                *i % 3
            };
            let items = || pieces((0..40).map(|i| (i, tally.make())).collect::<Vec<_>>(), seed);
            let panics = |run: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            panics(&|| _ = items().filter(|item| call(item) > 0).count());
            panics(&|| _ = items().dedup_by_key(call).count());
            panics(&|| _ = items().take_while(|item| call(item) < 3).count());
            panics(&|| _ = items().skip_while(|item| call(item) < 3).count());
            panics(&|| _ = items().find_last(|item| call(item) < 3));
            panics(&|| _ = items().min_by_key(call));
            panics(&|| _ = items().map(|item| (call(&item), item)).reduce_with(|a, b| if a.0 < b.0 { b } else { a }));
            panics(&|| {
                let push = |mut all: Vec<_>, item| {
                    call(&item);
                    all.push(item);
                    all
                };
                items().fold(Vec::new, push).for_each(drop);
            });
            tally.assert_all_dropped();
        }
    }
}

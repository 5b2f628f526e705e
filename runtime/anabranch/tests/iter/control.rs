//! Adapters that control the loop, and those that take or skip items.

use crate::{
    agree,
    agree::{numbers, to_vec},
    common::{Counted, Random, Tally, silence_panics_with, wait_until},
    harness::{check, pieces, pools},
};
use anabranch::{Cancelled, prelude::*, time::ManualClock};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

#[test]
fn prefix_and_suffix_are_those_of_the_sequence() {
    for end in 0..6 {
        agree!(
            items => items.take_while(|i| *i != end).collect::<Vec<_>>(),
            to_vec(items.take_while(|i| *i != end))
        );
        agree!(
            items => items.skip_while(|i| *i != end).collect::<Vec<_>>(),
            to_vec(items.skip_while(|i| *i != end))
        );
    }
    // A search beyond the end must not end the search before it.
    agree!(
        items => items.take_while(|i| *i != 4).find(|i| *i == 3),
        items.take_while(|i| *i != 4).find_any(|i| *i == 3)
    );
    let numbers: Vec<u32> = (0..50_000).collect();
    for end in [0, 1, 777, 49_999, 50_000] {
        check(numbers[..end].to_vec(), || to_vec(numbers.par_iter().copied().take_while(|i| *i < end as u32)));
        check(numbers[end..].to_vec(), || to_vec(numbers.par_iter().copied().skip_while(|i| *i < end as u32)));
    }
}

#[test]
fn take_any_takes_exactly_as_many() {
    for n in [0, 1, 7, 1000, usize::MAX] {
        agree!(items => items.count().min(n), items.take_any(n).count());
        agree!(items => items.count().saturating_sub(n), items.skip_any(n).count());
    }
    let numbers: Vec<u32> = (0..20_000).collect();
    for pool in pools() {
        pool.install(|| {
            let taken = to_vec(numbers.par_iter().copied().take_any(500));
            assert!(taken.is_sorted(), "in order");
            let rest = to_vec(numbers.par_iter().copied().skip_any(500));
            assert!(rest.is_sorted(), "in order");
        });
    }
}

#[test]
fn any_while_adapters_end_on_all_threads() {
    for seed in 0..200 {
        let items = numbers(40, seed);
        let cut = || pieces(items.iter().copied(), seed);
        // The harness runs one piece after the other, so the order is that of the items.
        let taken: Vec<u32> = items.iter().copied().take_while(|i| *i < 4).collect();
        assert_eq!(to_vec(cut().take_any_while(|i| *i < 4)), taken);
        assert_eq!(to_vec(cut().map(|i| (i < 4).then_some(i)).while_some()), taken);
        let rest: Vec<u32> = items.iter().copied().skip_while(|i| *i < 4).collect();
        assert_eq!(to_vec(cut().skip_any_while(|i| *i < 4)), rest);
    }
}

#[test]
fn deterministic_loop_is_cut_at_the_same_places_in_each_run() {
    let items = vec![1u8; 10_000];
    let mut blocks = vec![1024; 9];
    blocks.push(784);
    // The caller's folder is the first accumulator, without items.
    blocks.insert(0, 0);
    check(blocks, || to_vec(items.par_iter().deterministic().fold(|| 0, |n, _| n + 1)));
    let sum = |(left, depth), (right, other)| (left + right, 1 + std::cmp::max::<u32>(depth, other));
    // Four levels above ten blocks, and eleven within one.
    let pairs = |len| vec![(); len].par_iter().map(|()| (1, 0)).deterministic().reduce(|| (0, 0), sum);
    for len in [1, 1024, 1025, 5000, 50_000] {
        check(pairs(len), || pairs(len));
    }
}

#[test]
fn deterministic_sums_have_the_same_bits_on_any_number_of_threads() {
    let mut random = Random(1);
    let values: Vec<f64> = (0..60_000).map(|_| random.below(1 << 40) as f64 / f64::from(1 << 20) + 1e-9).collect();
    for _ in 0..6 {
        let len = random.below(values.len() as u64) as usize;
        let values = &values[..len];
        let sum = || values.par_iter().map(|x| x.sin()).deterministic().sum::<f64>().to_bits();
        check(sum(), sum);
        let sum = || values.par_iter().deterministic().map(|x| *x as f32).sum::<f32>().to_bits();
        check(sum(), sum);
        let reduce = || values.par_iter().deterministic().map(|x| x.cos()).reduce(|| 0.0, |a, b| a + b).to_bits();
        check(reduce(), reduce);
        let halves = values.split_at(len / 2);
        let rows = [halves.0, halves.1];
        let flat = || rows.par_iter().flat_map(|row| row.par_iter()).map(|x| x.sqrt()).deterministic().sum::<f64>();
        check(flat().to_bits(), || flat().to_bits());
    }
}

#[test]
fn progress_reports_each_item_once_and_once_a_block() {
    let items = numbers(100_000, 1);
    for pool in pools() {
        let reports = Mutex::new(Vec::new());
        let sum = pool.install(|| items.par_iter().progress(|n| reports.lock().unwrap().push(n)).sum::<u32>());
        assert_eq!(sum, items.iter().sum::<u32>());
        let reports = reports.into_inner().unwrap();
        assert_eq!(reports.iter().sum::<usize>(), items.len());
        assert!(!reports.contains(&0));
        if pool.num_threads() == 1 {
            assert!(reports.len() < items.len() / 4, "{} reports", reports.len());
        }
    }
    let reported = AtomicUsize::new(0);
    let report = |n| _ = reported.fetch_add(n, Ordering::Relaxed);
    let found = pools()[0].install(|| items.par_iter().progress(report).filter(|i| **i < 9).take_any(10).count());
    // Unless a block ends just there.
    let looked_at = reported.into_inner();
    assert!(found == 10 && matches!(looked_at, 10 | 11), "{found} found in {looked_at}: take_any looks at one more");
}

#[test]
fn loop_of_a_live_scope_yields_all_items() {
    anabranch::run(|cx| {
        agree!(items => items.map(Ok::<u32, Cancelled>).collect::<Vec<_>>(), to_vec(items.cancelled_by(cx)));
    });
}

#[test]
fn cancelled_loop_stops_within_a_block_and_drops_its_results() {
    for pool in pools() {
        let (tally, started) = (Tally::default(), AtomicUsize::new(0));
        let items = vec![(); 10_000_000];
        let result = pool.run(|cx| {
            cx.cancellable(|cx, handle| {
                let make = |item: Result<&(), Cancelled>| {
                    item?;
                    if started.fetch_add(1, Ordering::Relaxed) == 1000 {
                        handle.cancel();
                    }
                    Ok::<_, Cancelled>(tally.make())
                };
                let push = |mut all: Vec<_>, item: Result<Counted, Cancelled>| {
                    all.push(item?);
                    Ok::<_, Cancelled>(all)
                };
                let append = |mut left: Vec<_>, mut right: Vec<_>| {
                    left.append(&mut right);
                    Ok(left)
                };
                items.par_iter().cancelled_by(cx).map(make).try_fold(Vec::new, push).try_reduce(Vec::new, append)
            })
        });
        assert_eq!(result.map(|items| items.len()), Err(Cancelled));
        tally.assert_all_dropped();
        assert!(started.into_inner() < 1_000_000);
    }
}

#[test]
fn each_piece_of_a_cancelled_loop_yields_one_error() {
    anabranch::run(|cx| {
        cx.cancellable(|cx, handle| {
            for seed in 0..50 {
                let plain = to_vec(pieces(0..40, seed).cancelled_by(cx));
                assert_eq!(plain.len(), 40);
            }
            handle.cancel();
            for seed in 0..50 {
                let errors = to_vec(pieces(0..40, seed).cancelled_by(cx));
                let pieces_run = to_vec(pieces(0..40, seed).fold(|| (), |(), _| ())).len();
                assert!((1..=pieces_run).contains(&errors.len()), "{} errors, {pieces_run} pieces", errors.len());
                assert!(errors.iter().all(Result::is_err));
                let sum: Result<u32, Cancelled> = pieces(0..40, seed).cancelled_by(cx).sum();
                assert_eq!(sum, Err(Cancelled));
            }
            // The scope above is not cancelled.
            Ok::<_, Cancelled>(())
        })
        .unwrap();
        assert!(to_vec(pieces(0..40, 1).cancelled_by(cx)).iter().all(Result::is_ok));
    });
}

#[test]
fn deadline_ends_a_loop() {
    let manual = ManualClock::new();
    let pool = anabranch::Pool::builder().threads(2).clock(manual.clock()).build().unwrap();
    let items = vec![(); 1_000_000];
    let result = pool.run(|cx| {
        cx.timeout(Duration::from_secs(60), |cx| {
            let seen = AtomicUsize::new(0);
            items.par_iter().cancelled_by(cx).try_for_each(|item| {
                if seen.fetch_add(1, Ordering::Relaxed) == 100 {
                    manual.advance(Duration::from_secs(61));
                }
                item.map(drop).map_err(anabranch::WaitError::from)
            })
        })
    });
    assert_eq!(result, Err(anabranch::WaitError::TimedOut));
}

#[test]
fn panic_ends_a_fused_loop_on_all_threads() {
    struct Panicked;
    silence_panics_with::<Panicked>();
    let items: Vec<u32> = (0..20_000).collect();
    for pool in &pools()[1..] {
        let (count, is_shared, has_panicked) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
        let body = |i: &u32| {
            count.fetch_add(1, Ordering::Relaxed);
            if *i == 100 {
                wait_until(|| is_shared.load(Ordering::Relaxed));
                has_panicked.store(true, Ordering::Relaxed);
                std::panic::panic_any(Panicked);
            }
            if *i > 100 {
                // Another thread has taken a part of the loop. It waits for the panic, and then takes long.
                is_shared.store(true, Ordering::Relaxed);
                wait_until(|| has_panicked.load(Ordering::Relaxed));
                std::thread::sleep(Duration::from_micros(200));
            }
        };
        let run = std::panic::AssertUnwindSafe(|| pool.install(|| items.par_iter().panic_fuse().for_each(body)));
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(count.into_inner() < 10_000);
    }
}

//! Reductions, searches and ends that stop early, against those of std.

use crate::{
    agree,
    agree::{numbers, to_vec},
    common::wait_until,
    harness::{check, pieces, pools},
};
use anabranch::{iter::Try, prelude::*};
use std::{
    ops::ControlFlow,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    task::Poll,
};

#[test]
fn reductions_return_what_those_of_std_do() {
    agree!(items => items.count(), items.count());
    check(3_628_800, || [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].par_iter().product::<u32>());
    // Not commutative.
    agree!(
        items => items.map(|i| i.to_string()).collect::<String>(),
        items.map(|i| i.to_string()).reduce(String::new, |a, b| a + &b)
    );
    agree!(
        items => items.map(|i| i.to_string()).reduce(|a, b| a + &b),
        items.map(|i| i.to_string()).reduce_with(|a, b| a + &b)
    );
}

#[test]
fn of_equal_items_min_is_the_first_and_max_the_last() {
    // The items carry their index, which the comparison ignores.
    fn indexed(items: &[u32]) -> Vec<(u32, usize)> {
        items.iter().copied().zip(0..).collect()
    }
    let by = |a: &(u32, usize), b: &(u32, usize)| a.0.cmp(&b.0);
    for seed in 0..300 {
        let items = indexed(&numbers(seed as usize % 50, seed));
        let plain = || items.iter().copied();
        let cut = || pieces(plain(), seed);
        assert_eq!(cut().min_by(by), plain().min_by(by));
        assert_eq!(cut().max_by(by), plain().max_by(by));
        assert_eq!(cut().min_by_key(|item| item.0), plain().min_by_key(|item| item.0));
        assert_eq!(cut().max_by_key(|item| item.0), plain().max_by_key(|item| item.0));
        assert_eq!(cut().min(), plain().min());
        assert_eq!(cut().max(), plain().max());
    }
    let items = indexed(&numbers(20_000, 1));
    check(items.iter().min_by_key(|item| item.0), || items.par_iter().min_by_key(|item| item.0));
    check(items.iter().max_by_key(|item| item.0), || items.par_iter().max_by_key(|item| item.0));
}

#[test]
fn searches_find_what_those_of_std_do() {
    for wanted in [0, 3, 7] {
        agree!(items => items.clone().any(|i| i == wanted), items.any(|i| i == wanted));
        agree!(items => items.clone().all(|i| i != wanted), items.all(|i| i != wanted));
        agree!(items => items.clone().find(|i| *i == wanted), items.find_any(|i| *i == wanted));
    }
    for seed in 0..500 {
        // The index tells which of the equal items was found.
        let items: Vec<(usize, u32)> = numbers(seed as usize % 70, seed).into_iter().enumerate().collect();
        let is_wanted = |item: &(usize, u32)| item.1 == 3;
        let map = |item: (usize, u32)| (item.1 == 3).then_some(item.0);
        let (plain, cut) = (|| items.iter().copied(), || pieces(items.iter().copied(), seed));
        assert_eq!(cut().find_first(is_wanted), plain().find(is_wanted));
        assert_eq!(cut().find_last(is_wanted), plain().rfind(is_wanted));
        assert_eq!(cut().find_map_first(map), plain().find_map(map));
        assert_eq!(cut().find_map_last(map), plain().filter_map(map).next_back());
        assert_eq!(cut().find_map_any(map).is_some(), plain().any(|item| is_wanted(&item)));
    }
    for rare in [1, 100, 5000] {
        let items: Vec<usize> = (0..100_000).collect();
        let is_wanted = |item: &&usize| **item % rare == rare / 2;
        check(items.iter().find(is_wanted), || items.par_iter().find_first(is_wanted));
        check(items.iter().rfind(is_wanted), || items.par_iter().find_last(is_wanted));
    }
}

/// Returns how many items of a long loop on one thread `run` passes to its closure.
fn calls(run: impl Fn(&[u32], &(dyn Fn() + Sync))) -> usize {
    let items: Vec<u32> = (0..100_000).collect();
    let calls = AtomicUsize::new(0);
    pools()[0].install(|| run(&items, &|| _ = calls.fetch_add(1, Ordering::Relaxed)));
    calls.into_inner()
}

#[test]
fn early_end_stops_at_once_on_its_own_thread() {
    let stop = |seen: &u32, call: &(dyn Fn() + Sync)| {
        call();
        *seen == 9
    };
    assert_eq!(calls(|items, call| assert!(items.par_iter().any(|i| stop(i, call)))), 10);
    assert_eq!(calls(|items, call| assert_eq!(items.par_iter().find_first(|i| stop(i, call)), Some(&9))), 10);
    let check = |i: &u32, call: &(dyn Fn() + Sync)| if stop(i, call) { Err(*i) } else { Ok(()) };
    assert_eq!(calls(|items, call| assert_eq!(items.par_iter().try_for_each(|i| check(i, call)), Err(9))), 10);
    let keep = |items: &[u32], call: &(dyn Fn() + Sync)| {
        assert_eq!(items.par_iter().map(|i| (!stop(i, call)).then_some(*i)).while_some().count(), 9);
    };
    assert_eq!(calls(keep), 10);
    let reduce = |items: &[u32], call: &(dyn Fn() + Sync)| {
        assert_eq!(items.par_iter().map(|i| (!stop(i, call)).then_some(*i)).try_reduce(|| 0, |a, b| Some(a + b)), None);
    };
    assert_eq!(calls(reduce), 10);
    assert_eq!(calls(|items, call| assert_eq!(items.par_iter().take_any(10).inspect(|_| call()).count(), 10)), 10);
    assert_eq!(calls(|items, call| assert_eq!(items.par_iter().inspect(|_| call()).take_any(0).count(), 0)), 0);
}

/// Checks that `run`, which ends when its closure returns `true`, ends the other threads too.
#[track_caller]
fn stops_others(run: impl Fn(&[u32], &(dyn Fn(&u32) -> bool + Sync))) {
    let items: Vec<u32> = (0..20_000).collect();
    for pool in &pools()[1..] {
        let (count, is_shared, is_found) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
        let is_end = |i: &u32| {
            count.fetch_add(1, Ordering::Relaxed);
            if *i == 100 {
                wait_until(|| is_shared.load(Ordering::Relaxed));
                is_found.store(true, Ordering::Relaxed);
            }
            if *i > 100 {
                // Another thread has taken a part of the loop. It waits for the end, and then takes long.
                is_shared.store(true, Ordering::Relaxed);
                wait_until(|| is_found.load(Ordering::Relaxed));
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            *i == 100
        };
        pool.install(|| run(&items, &is_end));
        assert!(count.into_inner() < 10_000);
    }
}

#[test]
fn early_end_stops_the_other_threads() {
    stops_others(|items, is_end| assert!(items.par_iter().any(is_end)));
    stops_others(|items, is_end| assert_eq!(items.par_iter().find_first(|i| is_end(i)), Some(&100)));
    stops_others(|items, is_end| {
        assert_eq!(items.par_iter().try_for_each(|i| if is_end(i) { Err(*i) } else { Ok(()) }), Err(100));
    });
    stops_others(|items, is_end| {
        let sum = items.par_iter().map(|i| (!is_end(i)).then_some(*i));
        assert_eq!(sum.try_reduce(|| 0, |a, b| Some(a.wrapping_add(b))), None);
    });
    stops_others(|items, is_end| _ = items.par_iter().map(|i| (!is_end(i)).then_some(*i)).while_some().count());
    stops_others(|items, is_end| _ = items.par_iter().take_any_while(|i| !is_end(i)).count());
}

#[test]
fn failures_end_loops_of_all_types() {
    fn ends<R: Try<Output = ()> + Send + PartialEq + std::fmt::Debug>(continues: fn() -> R, ends: fn() -> R) {
        for seed in 0..50 {
            let items = || pieces(0..40, seed);
            assert_eq!(items().try_for_each(|i| if i == 30 { ends() } else { continues() }), ends());
            assert_eq!(items().try_for_each(|_| continues()), continues());
        }
    }
    ends(|| Some(()), || None);
    ends(|| Ok(()), || Err("failed"));
    ends(|| ControlFlow::Continue(()), || ControlFlow::Break("failed"));

    // The content of a `Poll` is one, so it cannot be `()`.
    for seed in 0..50 {
        let add = |sum: Poll<u32>, i: u32| match sum {
            Poll::Ready(_) if i == 30 => Poll::Ready(Err(i)),
            sum => sum.map(|sum| Ok(sum + i)),
        };
        let failed = to_vec(pieces(0..40, seed).try_fold(|| Poll::Ready(0), add));
        assert!(failed.contains(&Poll::Ready(Err(30))));
        let sums = to_vec(pieces(0..30, seed).try_fold(|| Poll::Ready(0), add));
        assert_eq!(sums.iter().map(|sum| if let Poll::Ready(Ok(sum)) = sum { *sum } else { 0 }).sum::<u32>(), 435);
        let option = |sum: Poll<Option<u32>>, i: u32| match sum {
            Poll::Ready(Some(_)) if i == 30 => Poll::Ready(Some(Err(i))),
            sum => sum.map(|sum| sum.map(|sum| Ok(sum + i))),
        };
        let failed = to_vec(pieces(0..40, seed).try_fold(|| Poll::Ready(Some(0)), option));
        assert!(failed.contains(&Poll::Ready(Some(Err(30)))));
        let ended = to_vec(pieces(0..40, seed).try_fold(|| Poll::Ready(None), option));
        assert!(ended.iter().all(|sum| *sum == Poll::Ready(None)));
    }
}

#[test]
fn first_failure_that_was_met_is_returned() {
    for seed in 0..200 {
        let met = Mutex::new(Vec::new());
        let fail = |i: u32| {
            if i % 3 < 2 {
                return Ok(());
            }
            met.lock().unwrap().push(i);
            Err(i)
        };
        let failure = pieces(0..40, seed).try_for_each(fail);
        assert_eq!(failure.err(), met.into_inner().unwrap().into_iter().min());
    }
}

#[test]
fn try_reduce_ends_at_failures_of_items_and_of_the_closure() {
    let add = |a: u32, b: u32| a.checked_add(b).filter(|sum| *sum < 1000);
    for seed in 0..200 {
        let cut = |len: u32| pieces(0..len, seed);
        assert_eq!(cut(40).map(Some).try_reduce(|| 0, add), Some(780));
        assert_eq!(cut(40).map(Some).try_reduce_with(add), Some(Some(780)));
        assert_eq!(cut(50).map(Some).try_reduce(|| 0, add), None, "the closure fails");
        assert_eq!(cut(40).map(|i| (i != 30).then_some(i)).try_reduce(|| 0, add), None, "an item fails");
        assert_eq!(cut(40).map(|i| (i != 30).then_some(i)).try_reduce_with(add), Some(None));
        assert_eq!(cut(0).map(Some).try_reduce(|| 7, add), Some(7));
        assert_eq!(cut(0).map(Some).try_reduce_with(add), None);
        let join = |a: String, b: String| Ok::<_, u32>(a + &b);
        let digits = cut(10).map(|i| Ok(i.to_string())).try_reduce(String::new, join);
        assert_eq!(digits, Ok(String::from("0123456789")), "in order");
    }
    check(None, || numbers(20_000, 1).par_iter().map(|i| Some(*i)).try_reduce(|| 0, add));
}

#[test]
fn states_of_for_each_reach_all_items() {
    for seed in 0..50 {
        let (sender, receiver) = mpsc::channel();
        pieces(0..40, seed).for_each_with(sender, |sender, i| sender.send(i).unwrap());
        assert_eq!(receiver.iter().sum::<u32>(), 780);
        let (sender, receiver) = mpsc::channel();
        assert_eq!(pieces(0..40, seed).try_for_each_with(sender, |sender, i| sender.send(i)), Ok(()));
        assert_eq!(receiver.iter().sum::<u32>(), 780);
        let fail = |count: &mut u32, _| {
            *count += 1;
            if *count < 30 { Ok(()) } else { Err(*count) }
        };
        let result = pieces(0..400, seed).try_for_each_init(|| 0, fail);
        assert!(matches!(result, Ok(()) | Err(30)));
    }
}

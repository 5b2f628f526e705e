//! Positions and comparisons of iterators of known length.

use crate::{
    common::{wait_until, watchdog},
    cuts::{Numbers, alone, to_vec},
    harness::{check, pools},
};
use anabranch::prelude::*;
use std::{
    cmp::Ordering,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

#[test]
fn positions_match_the_plain_ones() {
    for len in [0, 1, 2, 3, 40, 3000] {
        for (modulus, rest) in [(1, 0), (2, 1), (7, 3), (1000, 999), (5000, 4999)] {
            let items: Vec<usize> = (0..len).collect();
            let fits = |item: &usize| item % modulus == rest;
            let all: Vec<usize> = items.iter().filter(|item| fits(item)).copied().collect();
            check(all.clone(), || to_vec(items.par_iter().positions(fits)));
            check(all.first().copied(), || items.par_iter().position_first(fits));
            check(all.last().copied(), || items.par_iter().position_last(fits));
            check(true, || match items.par_iter().position_any(fits) {
                Some(index) => all.contains(&index),
                None => all.is_empty(),
            });
        }
    }
}

#[test]
fn comparisons_match_the_plain_ones() {
    let sequences: Vec<Vec<f64>> = [0, 1, 2, 3, 200]
        .into_iter()
        .flat_map(|len: usize| {
            let same = vec![1.0; len];
            let changed = |at: usize, to: f64| {
                let mut items = same.clone();
                items[at..].fill(-1.0);
                items[at] = to;
                items
            };
            let places = if len == 0 { vec![] } else { vec![0, len / 2, len - 1] };
            let all = places.into_iter().flat_map(|at| [changed(at, 0.5), changed(at, 1.5), changed(at, f64::NAN)]);
            all.chain([same.clone()]).collect::<Vec<_>>()
        })
        .collect();
    let pool = &pools()[3];
    for a in &sequences {
        for b in &sequences {
            pool.install(|| {
                let par = || a.par_iter();
                assert_eq!(par().partial_cmp(b), a.iter().partial_cmp(b), "{a:?} {b:?}");
                assert_eq!(par().eq(b), a.iter().eq(b), "{a:?} {b:?}");
                assert_eq!(par().ne(b), a.iter().ne(b), "{a:?} {b:?}");
                assert_eq!(par().lt(b), a.iter().lt(b), "{a:?} {b:?}");
                assert_eq!(par().le(b), a.iter().le(b), "{a:?} {b:?}");
                assert_eq!(par().gt(b), a.iter().gt(b), "{a:?} {b:?}");
                assert_eq!(par().ge(b), a.iter().ge(b), "{a:?} {b:?}");
                let (a, b) = (a.iter().map(|item| item.to_bits()), b.iter().map(|item| item.to_bits()));
                let (a, b): (Vec<u64>, Vec<u64>) = (a.collect(), b.collect());
                assert_eq!(a.par_iter().cmp(&b), a.cmp(&b));
            });
        }
    }
}

#[test]
fn first_difference_decides() {
    let (mut a, b) = (vec![0; 10_000], vec![0; 10_000]);
    for (less, greater) in [(0, 9999), (17, 18), (5000, 5001), (9998, 9999)] {
        (a[less], a[greater]) = (-1, 1);
        check(Ordering::Less, || a.par_iter().cmp(&b));
        check(Ordering::Greater, || b.par_iter().cmp(&a));
        check((true, false), || (a.par_iter().lt(&b), a.par_iter().ge(&b)));
        (a[less], a[greater]) = (0, 0);
    }
}

type Predicate<'a> = &'a (dyn Fn(usize) -> bool + Sync);

/// The items are too many to visit. The thread that finds the item waits until another thread visits some of the
/// others, so the search ends only if that one stops.
#[test]
fn searches_stop_all_threads() {
    let all = || Numbers(0..usize::MAX);
    for pool in &pools()[1..] {
        let search = |place: usize, run: &dyn Fn(Predicate) -> bool| {
            let is_stolen = AtomicBool::new(false);
            let is_place = |item| {
                if item == place {
                    wait_until(|| is_stolen.load(Relaxed));
                } else {
                    is_stolen.store(true, Relaxed);
                }
                item == place
            };
            watchdog(Duration::from_secs(60), || assert!(pool.install(|| run(&is_place))));
        };
        search(0, &|is_place| all().position_first(is_place) == Some(0));
        search(0, &|is_place| all().position_any(is_place) == Some(0));
        search(usize::MAX - 1, &|is_place| all().position_last(is_place) == Some(usize::MAX - 1));
        search(0, &|is_place| !all().map(is_place).eq(all().map(|_| false)));
        search(0, &|is_place| all().map(is_place).cmp(all().map(|_| false)) == Ordering::Greater);
        search(0, &|is_place| all().map(is_place).gt(all().map(|_| false)));
    }
}

#[test]
fn one_thread_visits_hardly_more_than_it_needs() {
    let visited = AtomicUsize::new(0);
    let items = || Numbers(0..1_000_000).map(|item| (visited.fetch_add(1, Relaxed), item).1);
    alone(|| {
        for place in [0, 1, 5, 20, 1000] {
            let check = |name: &str| assert_eq!(visited.swap(0, Relaxed), place + 1, "{name}, {place}");
            assert_eq!(items().position_first(|item| item == place), Some(place));
            check("position_first");
            assert_eq!(items().position_any(|item| item == place), Some(place));
            check("position_any");
            let from_end = 999_999 - place;
            assert_eq!(items().position_last(|item| item == from_end), Some(from_end));
            check("position_last");
            let other = || Numbers(0..1_000_000).map(|item| if item == place { usize::MAX } else { item });
            assert!(!items().eq(other()));
            check("eq");
            assert_eq!(items().cmp(other()), Ordering::Less);
            check("cmp");
        }
        assert!(!items().eq(Numbers(0..999_999)));
        assert_eq!(visited.swap(0, Relaxed), 0, "other lengths");
    });
}

//! Short slices, which take all paths because [`tuned`](super::tuned::tuned) makes the pieces short.

use super::{cached_key::by_cached_key, stable::stable, unstable::unstable};
use crate::iter::ParallelSliceMut;
use crate::pool::handle::Pool;
use std::{
    cell::Cell,
    cmp::Ordering,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The pools that the tests share.
fn pools() -> &'static [Pool] {
    static POOLS: OnceLock<Vec<Pool>> = OnceLock::new();
    let threads: &[usize] = if cfg!(miri) { &[2] } else { &[1, 2, 4, 32] };
    POOLS.get_or_init(|| threads.iter().map(|&threads| Pool::builder().threads(threads).build().unwrap()).collect())
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % n
    }
}

/// Slices of `len` items in various orders.
fn patterns(len: usize) -> Vec<Vec<u64>> {
    let mut random = Random(len as u64);
    let shuffled: Vec<u64> = (0..len).map(|_| random.below(1 << 30)).collect();
    let sorted: Vec<u64> = (0..len as u64).collect();
    let mut almost = sorted.clone();
    if len > 2 {
        almost.swap(len - 2, 0);
    }
    if cfg!(miri) {
        return vec![shuffled];
    }
    vec![
        sorted.iter().rev().copied().collect(),
        sorted.iter().map(|i| i % 7).collect(),
        sorted.iter().map(|i| i / 3).collect(),
        sorted.iter().rev().map(|i| i / 3).collect(),
        shuffled.iter().map(|i| i % 4).collect(),
        vec![1; len],
        // Two runs that meet where the slice is cut.
        (0..len / 2).chain(0..len - len / 2).map(|i| i as u64).collect(),
        (0..len / 2).rev().chain((0..len - len / 2).rev()).map(|i| i as u64).collect(),
        almost,
        sorted,
        shuffled,
    ]
}

fn lengths() -> Vec<usize> {
    if cfg!(miri) { vec![40] } else { (0..70).chain([100, 127, 128, 300, 1000, 3000]).collect() }
}

#[test]
fn slices_are_sorted_as_std_sorts_them() {
    for pool in pools() {
        for input in lengths().into_iter().flat_map(patterns) {
            let mut expected = input.clone();
            expected.sort();
            let check = |sort: fn(&mut [u64])| {
                let mut items = input.clone();
                pool.install(|| sort(&mut items));
                assert_eq!(items, expected, "{input:?}");
            };
            check(|items| items.par_sort());
            check(|items| items.par_sort_by(u64::cmp));
            check(|items| items.par_sort_by_key(|item| *item));
            check(|items| items.par_sort_by_cached_key(|item| *item));
            check(|items| items.par_sort_unstable());
            check(|items| items.par_sort_unstable_by(u64::cmp));
            check(|items| items.par_sort_unstable_by_key(|item| *item));
        }
    }
}

#[test]
fn equal_items_keep_their_order() {
    for pool in pools() {
        for len in lengths() {
            let mut random = Random(17);
            let input: Vec<(u64, usize)> = (0..len).map(|index| (random.below(5), index)).collect();
            let mut expected = input.clone();
            expected.sort();
            let (mut by_key, mut by_cached) = (input.clone(), input.clone());
            pool.install(|| stable(&mut by_key, |a, b| a.0.cmp(&b.0)));
            pool.install(|| by_cached_key(&mut by_cached, |item| item.0));
            assert_eq!(by_key, expected);
            assert_eq!(by_cached, expected);
        }
    }
}

/// An item that is not `Sync`. It counts its drop and the comparisons that it takes part in.
struct Item {
    value: u64,
    compared: Cell<usize>,
    drops: Arc<AtomicUsize>,
    /// So that Miri sees a double drop.
    _memory: Box<u64>,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Relaxed);
    }
}

/// Sorts `len` items by a comparison that `answer` provides for the n-th call. Checks that each item is there once,
/// with its latest state, whether or not a comparison panicked. Returns the number of comparisons.
fn check_items(
    sort: impl Fn(&mut [Item], &(dyn Fn(&Item, &Item) -> Ordering + Sync)),
    values: &[u64],
    answer: impl Fn(usize, Ordering) -> Ordering + Sync,
) -> usize {
    let drops = Arc::new(AtomicUsize::new(0));
    let item = |value: &u64| Item {
        value: *value,
        compared: Cell::new(0),
        drops: Arc::clone(&drops),
        _memory: Box::new(*value),
    };
    let mut items: Vec<Item> = values.iter().map(item).collect();
    let (calls, answers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let compare = |a: &Item, b: &Item| {
        let call = calls.fetch_add(1, Relaxed);
        let order = answer(call, a.value.cmp(&b.value));
        for item in [a, b] {
            item.compared.set(item.compared.get() + 1);
        }
        answers.fetch_add(1, Relaxed);
        order
    };
    // What it panics with is the business of `answer`.
    let _ = catch_unwind(AssertUnwindSafe(|| sort(&mut items, &compare)));
    assert_eq!(drops.load(Relaxed), 0);
    let compared: usize = items.iter().map(|item| item.compared.get()).sum();
    assert_eq!(compared, 2 * answers.into_inner(), "the latest state of each item");
    let (mut found, mut expected): (Vec<u64>, Vec<u64>) =
        (items.iter().map(|item| item.value).collect(), values.into());
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "each item once");
    drop(items);
    assert_eq!(drops.load(Relaxed), values.len());
    calls.into_inner()
}

struct Expected;

fn silence_expected_panics() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Expected>() {
                hook(info);
            }
        }));
    });
}

#[test]
fn panic_in_any_comparison_leaves_each_item_once() {
    silence_expected_panics();
    let mut random = Random(3);
    let len = if cfg!(miri) { 24 } else { 48 };
    let values: Vec<u64> = (0..len).map(|_| random.below(30)).collect();
    for pool in pools() {
        pool.install(|| {
            let count_stable = check_items(|items, compare| stable(items, compare), &values, |_, order| order);
            let count_unstable = check_items(|items, compare| unstable(items, compare), &values, |_, order| order);
            assert!(count_stable > 20 && count_unstable > 20);
            for bad in (0..count_stable.max(count_unstable)).step_by(if cfg!(miri) { 29 } else { 1 }) {
                let answer = |call, order| if call == bad { std::panic::panic_any(Expected) } else { order };
                check_items(|items, compare| stable(items, compare), &values, answer);
                check_items(|items, compare| unstable(items, compare), &values, answer);
            }
        });
    }
}

#[test]
fn comparison_that_is_no_order_leaves_each_item_once() {
    let values: Vec<u64> = (0..if cfg!(miri) { 24 } else { 400 }).map(|i| i * 37 % 101).collect();
    for pool in pools() {
        pool.install(|| {
            for seed in 0..if cfg!(miri) { 1 } else { 40 } {
                let answer = |call: usize, _| match Random(call as u64 ^ seed << 32).below(97) % 3 {
                    0 => Ordering::Less,
                    1 => Ordering::Equal,
                    _ => Ordering::Greater,
                };
                check_items(|items, compare| stable(items, compare), &values, answer);
                check_items(|items, compare| unstable(items, compare), &values, answer);
            }
            for constant in [Ordering::Less, Ordering::Equal, Ordering::Greater] {
                check_items(|items, compare| stable(items, compare), &values, |_, _| constant);
                check_items(|items, compare| unstable(items, compare), &values, |_, _| constant);
            }
        });
    }
}

#[test]
fn zero_sized_items_are_sorted() {
    for pool in pools() {
        let mut items = [(); 50];
        pool.install(|| {
            items.par_sort();
            items.par_sort_unstable();
            items.par_sort_by_cached_key(|()| 1);
        });
        assert_eq!(items.len(), 50);
    }
}

#[test]
fn large_items_are_sorted() {
    let mut items: Vec<[u64; 20]> = (0..if cfg!(miri) { 40 } else { 200 }).map(|i| [i * 77 % 199; 20]).collect();
    let mut expected = items.clone();
    expected.sort();
    for pool in pools() {
        items.reverse();
        pool.install(|| items.par_sort_unstable());
        assert_eq!(items, expected);
    }
}

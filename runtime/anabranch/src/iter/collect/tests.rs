//! Collecting in place: what happens to the items when one panics, or when a producer yields an unexpected number of
//! items.

use crate::{
    fork::join::join,
    iter::{
        IndexedParallelIterator, IntoParallelRefIterator, ParallelExtend, ParallelIterator,
        plumbing::{DriveIndexed, Producer, drive_indexed},
    },
    pool::handle::Pool,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

fn pools() -> &'static [Pool] {
    static POOLS: OnceLock<Vec<Pool>> = OnceLock::new();
    let threads: &[usize] = if cfg!(miri) { &[2] } else { &[1, 2, 8] };
    POOLS.get_or_init(|| threads.iter().map(|&threads| Pool::builder().threads(threads).build().unwrap()).collect())
}

/// The numbers below `len`, of which each piece's iterator yields `missing` too few, or too many if it is negative.
struct Wrong {
    len: usize,
    missing: isize,
}

struct WrongProducer {
    start: usize,
    end: usize,
    missing: isize,
}

impl crate::iter::plumbing::Drive for Wrong {
    drive_indexed!(usize);
}

impl DriveIndexed for Wrong {
    type Producer<'a> = WrongProducer;

    fn len(&self) -> usize {
        self.len
    }
    fn producer(&mut self) -> WrongProducer {
        WrongProducer { start: 0, end: self.len, missing: self.missing }
    }
}

impl Producer for WrongProducer {
    type Item = usize;
    type IntoIter = std::ops::Range<usize>;

    fn len(&self) -> usize {
        self.end - self.start
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        (Self { end: self.start + mid, ..self }, Self { start: self.start + mid, ..self })
    }
    fn into_iter(self) -> Self::IntoIter {
        self.start..self.end.saturating_add_signed(-self.missing).max(self.start)
    }
}

/// Counts the items that exist.
#[derive(Clone, Default)]
struct Live(Arc<AtomicUsize>);

struct Item(usize, Live, Box<usize>);

impl Live {
    fn make(&self, value: usize) -> Item {
        self.0.fetch_add(1, Relaxed);
        Item(value, self.clone(), Box::new(value))
    }
    fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        assert_eq!(*self.2, self.0);
        self.1.0.fetch_sub(1, Relaxed);
    }
}

fn text_of(result: thread::Result<()>) -> String {
    let payload = result.expect_err("this ought to panic");
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| (*payload.downcast_ref::<&str>().unwrap()).to_owned())
}

#[test]
fn missing_items_are_reported_and_the_others_dropped() {
    for pool in pools() {
        for (len, missing) in [(1, 1), (2, 1), (20, 1), (20, 3), (20, 20)] {
            let live = Live::default();
            let mut items = vec![live.make(7)];
            let collect = || items.par_extend(Wrong { len, missing }.map(|item| live.make(item)));
            let text = text_of(catch_unwind(AssertUnwindSafe(|| pool.install(collect))));
            assert!(text.contains("yielded only"), "{text}");
            assert_eq!((items.len(), items[0].0, live.count()), (1, 7, 1), "the vector is as before");
            let (mut left, mut right) = (Vec::new(), Vec::new());
            let pairs = Wrong { len, missing }.map(|item| (live.make(item), ()));
            let result =
                catch_unwind(AssertUnwindSafe(|| pool.install(|| pairs.unzip_into_vecs(&mut left, &mut right))));
            assert!(text_of(result).contains("yielded only"));
            assert_eq!((left.len(), right.len(), live.count()), (0, 0, 1));
        }
    }
}

#[test]
fn surplus_items_are_ignored() {
    for pool in pools() {
        let live = Live::default();
        let items: Vec<Item> = pool.install(|| Wrong { len: 40, missing: -2 }.map(|item| live.make(item)).collect());
        assert!(items.iter().map(|item| item.0).eq(0..40));
        let numbers: Vec<usize> = pool.install(|| Wrong { len: 40, missing: -2 }.map(|item| item).collect());
        assert!(numbers.into_iter().eq(0..40));
        drop(items);
        assert_eq!(live.count(), 0);
    }
}

#[test]
fn finished_items_are_dropped_once_when_an_item_panics() {
    let source: Vec<usize> = (0..24).collect();
    for pool in pools() {
        for bad in (0..source.len()).step_by(if cfg!(miri) { 13 } else { 1 }) {
            let live = Live::default();
            let make = |item: &usize| if *item == bad { panic_any(bad) } else { live.make(*item) };
            let panics = |run: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(|| pool.install(run))).is_err());
            panics(&|| _ = source.par_iter().map(make).collect::<Vec<_>>());
            panics(&|| _ = source.par_iter().map(|item| [make(item)]).collect::<std::collections::LinkedList<_>>());
            panics(&|| source.par_iter().map(|i| (*i, make(i))).unzip_into_vecs(&mut Vec::new(), &mut Vec::new()));
            assert_eq!(live.count(), 0);
        }
    }
}

/// Each of two items waits for the other, so two threads have to run them.
#[test]
fn items_that_two_threads_write_are_in_order() {
    let pool = Pool::builder().threads(2).build().unwrap();
    let begun = AtomicUsize::new(0);
    let meet = |item: &usize| {
        begun.fetch_add(1, Relaxed);
        while begun.load(Relaxed) < 2 {
            join(|| (), || ());
            thread::yield_now();
        }
        Box::new(*item)
    };
    let source = [0, 1, 2, 3, 4, 5];
    let items: Vec<Box<usize>> = pool.install(|| source.par_iter().map(meet).collect());
    assert!(items.iter().map(|item| **item).eq(0..6));
    begun.store(0, Relaxed);
    let (mut left, mut right) = (Vec::new(), vec![1]);
    pool.install(|| source.par_iter().map(|i| (meet(i), *i)).unzip_into_vecs(&mut left, &mut right));
    assert!(left.iter().map(|item| **item).eq(0..6));
    assert_eq!(right, source);
    begun.store(0, Relaxed);
    let bad = |item: &usize| {
        let item = meet(item);
        if *item == 1 { panic_any(1) } else { item }
    };
    let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| source.par_iter().map(bad).collect::<Vec<_>>())));
    assert!(result.is_err());
}

#[test]
fn zero_sized_items_are_collected() {
    for pool in pools() {
        let units: Vec<()> = pool.install(|| Wrong { len: 100, missing: 0 }.map(|_| ()).collect());
        assert_eq!(units.len(), 100);
        let missing = || _ = Wrong { len: 100, missing: 1 }.map(|_| ()).collect::<Vec<()>>();
        assert!(text_of(catch_unwind(AssertUnwindSafe(|| pool.install(missing)))).contains("yielded only"));
    }
}

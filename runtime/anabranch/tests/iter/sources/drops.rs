//! Items by value are dropped once: those that are reached, those that are not, and those of pieces that panic.

use super::{cut, in_order};
use crate::{
    common::{Counted, Random, Tally, panic_text},
    harness::pools,
};
use anabranch::{
    iter::plumbing::{Consumer, Drive, DriveIndexed, Producer},
    prelude::*,
};
use std::collections::VecDeque;

fn counted(tally: &Tally, len: usize) -> Vec<Counted> {
    (0..len).map(|_| tally.make()).collect()
}

/// Runs `check` with each source of `len` items by value.
macro_rules! each_source {
    ($tally:ident, |$source:ident| $check:expr) => {{
        let $source = || counted(&$tally, 500).into_par_iter();
        $check;
        let $source = || std::array::from_fn::<_, 500, _>(|_| $tally.make()).into_par_iter();
        $check;
        let $source = || counted(&$tally, 500).into_iter().collect::<VecDeque<_>>().into_par_iter();
        $check;
        #[cfg(feature = "imbl")]
        {
            let $source = || counted(&$tally, 500).into_iter().collect::<imbl::Vector<_>>().into_par_iter();
            $check;
        }
    }};
}

#[test]
fn items_that_no_loop_reaches_are_dropped() {
    let tally = Tally::default();
    each_source!(tally, |source| {
        drop(source());
        drop(source().producer());
        for seed in 0..50 {
            let mut random = Random(seed);
            drop(cut(source().producer(), &mut random));
            // Some are taken from the front and some from the back, and the rest is dropped with the iterator.
            let mut iter = source();
            let (left, right) = iter.producer().split_at(random.below(501) as usize);
            let mut items = Producer::into_iter(right);
            drop((items.next(), items.next_back(), items.nth(random.below(20) as usize)));
            drop((left, items));
        }
        tally.assert_all_dropped();
    });
}

#[test]
fn panics_drop_all_items() {
    for pool in pools() {
        let tally = Tally::default();
        each_source!(tally, |source| {
            for stop in [0, 3, 250] {
                let left = std::sync::atomic::AtomicIsize::new(stop);
                let body = |item: Counted| {
                    drop(item);
                    assert!(left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) != 0, "stop");
                };
                assert_eq!(panic_text(|| pool.install(|| source().for_each(body))), "stop");
                tally.assert_all_dropped();
            }
        });
    }
}

/// A consumer that takes one item of each block, and is full after the first block.
struct One;

impl<T: Send> Consumer<T> for One {
    type Folder = bool;
    type Result = ();
    type Position = ();

    fn folder(&self, (): ()) -> bool {
        false
    }
    fn consume_iter(&self, _: bool, mut items: impl Iterator<Item = T>) -> bool {
        items.next().is_some()
    }
    fn complete(&self, _: bool) {}
    fn combine(&self, (): (), (): ()) {}
    fn is_full(&self, has_one: &bool, (): ()) -> bool {
        *has_one
    }
}

#[test]
fn early_end_drops_all_items() {
    for pool in pools() {
        let tally = Tally::default();
        each_source!(tally, |source| {
            pool.install(|| source().drive(&One, false, ()).finish::<Counted, _>(&One));
            tally.assert_all_dropped();
        });
    }
}

#[test]
fn drain_drops_its_items_and_keeps_the_others() {
    for pool in pools() {
        let tally = Tally::default();
        for range in [0..500, 100..200, 0..100, 400..500, 250..250] {
            let dropped = || tally.dropped();
            let mut vec = counted(&tally, 500);
            let before = dropped();
            pool.install(|| vec.par_drain(range.clone()).drive(&One, false, ()).finish::<Counted, _>(&One));
            assert_eq!((dropped() - before, vec.len()), (range.len(), 500 - range.len()));
            drop(vec);
            let mut vec = counted(&tally, 500);
            if !range.is_empty() {
                panic_text(|| pool.install(|| vec.par_drain(range.clone()).for_each(|_| panic!("stop"))));
                assert_eq!(vec.len(), 500 - range.len());
            }
            drop(vec);
            tally.assert_all_dropped();
        }
    }
}

#[test]
fn drained_vector_keeps_its_capacity() {
    let mut vec: Vec<u32> = (0..1000).collect();
    let capacity = vec.capacity();
    assert_eq!(in_order(vec.par_drain(..)).len(), 1000);
    assert_eq!((vec.len(), vec.capacity()), (0, capacity));
}

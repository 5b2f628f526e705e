//! Producers that are wrong about themselves: a loop over them panics or ends, and no item is lost or dropped twice.

use crate::{
    common::{Counted, Tally, everywhere, panic_text},
    harness::Indexed,
};
use anabranch::{iter::plumbing::Producer, prelude::*};
use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

/// A range that reports a wrong length and yields wrong items.
#[derive(Clone)]
struct Liar {
    truth: Range<usize>,
    claimed: usize,
    tally: Tally,
}

impl Producer for Liar {
    type Item = Counted;
    type IntoIter = std::vec::IntoIter<Counted>;

    fn len(&self) -> usize {
        self.claimed
    }

    fn split_at(self, mid: usize) -> (Self, Self) {
        let middle = (self.truth.start + mid).min(self.truth.end);
        let left = Self { truth: self.truth.start..middle, claimed: mid, tally: self.tally.clone() };
        (left, Self { truth: middle..self.truth.end, claimed: self.claimed - mid, tally: self.tally })
    }

    fn into_iter(self) -> Self::IntoIter {
        self.truth.map(|_| self.tally.make()).collect::<Vec<_>>().into_iter()
    }
}

#[test]
fn collect_panics_if_source_yields_too_few_items() {
    everywhere(|| {
        for (yields, claimed) in [(0, 1), (0, 1000), (1, 2), (500, 1000), (999, 1000)] {
            let tally = Tally::default();
            let one = tally.make();
            let liar = Liar { truth: 0..yields, claimed, tally: tally.clone() };
            let text = panic_text(|| _ = Indexed(liar).collect::<Vec<_>>());
            assert!(text.contains("yielded only"), "{text}");
            drop(one);
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn surplus_items_of_source_are_ignored() {
    everywhere(|| {
        for (yields, claimed) in [(1, 0), (1000, 0), (1000, 999), (1000, 10)] {
            let tally = Tally::default();
            let liar = Liar { truth: 0..yields, claimed, tally: tally.clone() };
            let results = Indexed(liar).collect::<Vec<_>>();
            assert_eq!(results.len(), claimed);
            drop(results);
            assert_eq!(tally.made(), tally.dropped());
        }
    });
}

#[test]
fn collect_panics_if_claimed_length_exceeds_memory() {
    let liar = Liar { truth: 0..5, claimed: usize::MAX, tally: Tally::default() };
    assert!(panic_text(|| _ = Indexed(liar).map(|_| 0u64).collect::<Vec<_>>()).contains("capacity overflow"));
}

type Cut = fn(&Range<usize>, usize) -> (Range<usize>, Range<usize>);

/// A source whose pieces and lengths the fields determine.
#[derive(Clone)]
struct Wrong {
    items: Range<usize>,
    cut: Cut,
    len: fn(&Range<usize>) -> usize,
}

impl Producer for Wrong {
    type Item = usize;
    type IntoIter = Range<usize>;

    fn len(&self) -> usize {
        (self.len)(&self.items)
    }

    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = (self.cut)(&self.items, mid);
        (Self { items: left, ..self }, Self { items: right, ..self })
    }

    fn into_iter(self) -> Range<usize> {
        self.items
    }
}

#[test]
fn wrong_cut_panics() {
    let len = |items: &Range<usize>| items.end - items.start;
    let cuts: [Cut; 4] = [
        |all, _| (all.clone(), all.end..all.end),
        |all, _| (all.start..all.start, all.clone()),
        |all, mid| (all.start..all.start + mid, all.clone()),
        |all, mid| (all.start..all.start + mid - 1, all.start + mid - 1..all.end),
    ];
    everywhere(|| {
        for (items, cut) in
            [0..2, 0..1000, 0..100_000].into_iter().flat_map(|items| cuts.map(|cut| (items.clone(), cut)))
        {
            let wrong = || Indexed(Wrong { items: items.clone(), cut, len });
            let of_loops: [&dyn Fn(); 5] = [
                &|| wrong().for_each(|_| ()),
                &|| _ = wrong().sum::<usize>(),
                &|| _ = wrong().collect::<Vec<_>>(),
                &|| wrong().by_uniform_blocks(7).for_each(|_| ()),
                &|| wrong().by_exponential_blocks().for_each(|_| ()),
            ];
            for run in of_loops {
                let text = panic_text(run);
                assert!(text.starts_with(&format!("a producer of length {}, split at", items.end)), "{text}");
            }
        }
    });
}

#[test]
fn growing_length_panics_without_endless_recursion() {
    static CALLS: AtomicUsize = AtomicUsize::new(100);
    let len = |_: &Range<usize>| 2 * CALLS.fetch_add(1, Ordering::Relaxed);
    everywhere(|| {
        let wrong = || Indexed(Wrong { items: 0..100, cut: |all, _| (all.clone(), all.clone()), len });
        assert!(panic_text(|| wrong().for_each(|_| ())).starts_with("a producer of length"));
        assert!(panic_text(|| _ = wrong().collect::<Vec<_>>()).contains("a producer"));
    });
}

/// Its pieces are as long as they say, and its iterator is not.
#[derive(Clone)]
struct Longer(Range<usize>);

impl Producer for Longer {
    type Item = usize;
    type IntoIter = std::ops::Range<usize>;

    fn len(&self) -> usize {
        self.0.end - self.0.start
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        (Self(self.0.start..self.0.start + mid), Self(self.0.start + mid..self.0.end))
    }
    fn into_iter(self) -> Self::IntoIter {
        0..2
    }
}

#[test]
fn loop_over_iterators_of_wrong_lengths_ends() {
    everywhere(|| {
        let visited = AtomicUsize::new(0);
        Indexed(Longer(0..1000)).for_each(|_| _ = visited.fetch_add(1, Ordering::Relaxed));
        let visited = visited.into_inner();
        assert!((2..=2000).contains(&visited), "{visited} items");
        // A collection cannot have results for items that are not there.
        let mapped = std::panic::catch_unwind(|| Indexed(Longer(0..1000)).map(Box::new).collect::<Vec<_>>());
        assert!(mapped.is_err() || mapped.is_ok_and(|results| results.len() == 1000));
    });
}

//! The parallel loops return what sequential loops return.

use crate::common::{self, LONG, Tally, everywhere, in_pools, panic_text, pool, wait_until, watchdog};
use anabranch::{Splittable, chunks, chunks_mut, par_for_each, par_map, par_reduce};
use proptest::prelude::*;
use std::{
    collections::HashSet,
    ops::Range,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

static POOLS: LazyLock<[anabranch::Pool; 3]> = LazyLock::new(|| [1, 2, 8].map(pool));

/// All three loops return what a plain loop returns, in pools of 1, 2 and 8 threads and outside.
fn agrees<S, T>(items: impl Fn() -> S, expected: &[T])
where
    S: Splittable<Item = T>,
    T: Clone + PartialEq + std::fmt::Debug + Send + Sync,
{
    let check = || {
        assert_eq!(items().len(), expected.len());
        assert_eq!(par_map(items(), |x| x), expected);
        let folded = par_reduce(
            items(),
            Vec::new,
            |mut all, x| {
                all.push(x);
                all
            },
            |mut a, b| {
                a.extend(b);
                a
            },
        );
        assert_eq!(folded, expected, "pieces are combined in the order of the items");
        let visited = Mutex::new(Vec::new());
        par_for_each(items(), |x| visited.lock().unwrap().push(x));
        let visited = visited.into_inner().unwrap();
        assert_eq!(visited.len(), expected.len());
        assert!(expected.iter().all(|x| visited.contains(x)));
    };
    watchdog(LONG, || {
        check();
        POOLS.iter().for_each(|pool| pool.install(check));
    });
}

macro_rules! ranges_agree {
    ($($int:ident: $lengths:expr),* $(,)?) => {$(
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(24))]
            #[test]
            fn $int(start in any::<$int>(), length in $lengths) {
                let end = start.saturating_add(length as $int);
                agrees(|| start..end, &(start..end).collect::<Vec<_>>());
            }
        }
    )*};
}

mod ranges_agree {
    use super::*;

    ranges_agree! {
        u8: 0..=127u8, i8: 0..=127i8,
        u16: 0..600u16, i16: 0..600i16,
        u32: 0..600u32, i32: 0..600i32,
        u64: 0..600u64, i64: 0..600i64,
        usize: 0..600usize, isize: 0..600isize,
    }
}

#[test]
fn ranges_at_ends_of_their_types_match_sequential_loops() {
    agrees(|| i8::MIN..i8::MAX, &(i8::MIN..i8::MAX).collect::<Vec<_>>());
    agrees(|| u8::MIN..u8::MAX, &(u8::MIN..u8::MAX).collect::<Vec<_>>());
    agrees(|| i64::MIN..i64::MIN + 300, &(i64::MIN..i64::MIN + 300).collect::<Vec<_>>());
    agrees(|| i64::MAX - 300..i64::MAX, &(i64::MAX - 300..i64::MAX).collect::<Vec<_>>());
    agrees(|| u64::MAX - 300..u64::MAX, &(u64::MAX - 300..u64::MAX).collect::<Vec<_>>());
    in_pools(|pool| {
        let count = pool.install(|| par_reduce(i16::MIN..i16::MAX, || 0u64, |n, _| n + 1, |a, b| a + b));
        assert_eq!(count, 65_535);
    });
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "they are what is tested")]
fn empty_and_reversed_ranges_have_no_items() {
    agrees(|| 5..5u32, &[]);
    agrees(|| 9..5u32, &[]);
    agrees(|| i8::MAX..i8::MIN, &[]);
    agrees(|| i64::MAX..i64::MIN, &[]);
    agrees(|| &[] as &[u8], &[]);
    assert_eq!((9..5u32).split_at(0), (9..9, 9..9));
}

#[test]
fn split_beyond_end_panics() {
    common::panic_text(|| _ = (0..5u32).split_at(6));
    common::panic_text(|| _ = chunks(&[1, 2, 3], 2).split_at(3));
    common::panic_text(|| _ = chunks_mut(&mut [1, 2, 3], 2).split_at(3));
    common::panic_text(|| _ = (0..9u32, 0..3u32).split_at(4));
    assert!(common::panic_text(|| _ = chunks(&[1], 0)).contains("no elements"));
    assert!(common::panic_text(|| _ = chunks_mut(&mut [1], 0)).contains("no elements"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn slices_match_sequential_loops(xs in prop::collection::vec(any::<u32>(), 0..500)) {
        agrees(|| &xs[..], &xs.iter().collect::<Vec<_>>());
    }

    #[test]
    fn chunks_match_sequential_loops(xs in prop::collection::vec(any::<u16>(), 0..500), size in prop_oneof![1..20usize, Just(600), Just(usize::MAX)]) {
        agrees(|| chunks(&xs, size), &xs.chunks(size).collect::<Vec<_>>());
    }

    #[test]
    fn zips_match_sequential_loops(xs in prop::collection::vec(any::<u16>(), 0..400), n in 0..400u64, size in 1..9usize) {
        agrees(|| (&xs[..], 0..n), &xs.iter().zip(0..n).collect::<Vec<_>>());
        let deep: Vec<_> = (0..n).zip(xs.chunks(size).zip(5..250i16)).collect();
        agrees(|| (0..n, (chunks(&xs, size), 5..250i16)), &deep);
    }

    #[test]
    fn mutable_slices_and_chunks_match_sequential_loops(xs in prop::collection::vec(any::<u32>(), 0..500), size in prop_oneof![1..20usize, Just(600), Just(usize::MAX)]) {
        for pool in POOLS.iter() {
            let (mut ours, mut theirs) = (xs.clone(), xs.clone());
            pool.install(|| par_for_each(&mut ours[..], |x| *x = x.rotate_left(3)));
            theirs.iter_mut().for_each(|x| *x = x.rotate_left(3));
            prop_assert_eq!(&ours, &theirs);
            pool.install(|| par_for_each((chunks_mut(&mut ours, size), 0..u32::MAX), |(run, i)| {
                run.reverse();
                run[0] ^= i;
            }));
            theirs.chunks_mut(size).zip(0..u32::MAX).for_each(|(run, i)| {
                run.reverse();
                run[0] ^= i;
            });
            prop_assert_eq!(&ours, &theirs);
        }
    }

    #[test]
    fn any_split_keeps_all_items(len in 0..200usize, size in 1..9usize, at in any::<prop::sample::Index>()) {
        let xs: Vec<_> = (0..len).collect();
        let whole = || (chunks(&xs, size), -100..100i8);
        let mid = at.index(whole().len() + 1);
        let (left, right) = whole().split_at(mid);
        prop_assert_eq!((left.len(), right.len()), (mid, whole().len() - mid));
        let joined: Vec<_> = left.into_seq().chain(right.into_seq()).collect();
        prop_assert_eq!(joined, whole().into_seq().collect::<Vec<_>>());
    }

    #[test]
    fn reduction_combines_in_order(words in prop::collection::vec("[a-z]{0,5}", 0..300)) {
        for pool in POOLS.iter() {
            let text = pool.install(|| par_reduce(&words[..], String::new, |text, word| text + word, |a, b| a + &b));
            prop_assert_eq!(text, words.concat());
        }
    }
}

#[test]
fn zero_sized_results_are_counted_and_dropped() {
    static DROPPED: AtomicU64 = AtomicU64::new(0);
    struct Unit;
    impl Drop for Unit {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    everywhere(|| {
        let before = DROPPED.load(Ordering::Relaxed);
        let units = par_map(0..5000u32, |_| Unit);
        assert_eq!(units.len(), 5000);
        assert_eq!(DROPPED.load(Ordering::Relaxed), before);
        drop(units);
        assert_eq!(DROPPED.load(Ordering::Relaxed) - before, 5000);
    });
    assert_eq!(DROPPED.load(Ordering::Relaxed), 4 * 5000);
}

#[test]
fn long_loop_visits_each_item_once() {
    everywhere(|| {
        let visits: Vec<_> = (0..200_000).map(|_| AtomicUsize::new(0)).collect();
        par_for_each(&visits[..], |count| _ = count.fetch_add(1, Ordering::Relaxed));
        assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn loops_nest() {
    everywhere(|| {
        let table = par_map(0..60u64, |i| par_reduce(0..60u64, || 0, |sum, j| sum + i * j, |a, b| a + b));
        assert!((0..).zip(&table).all(|(i, &x)| x == i * 1770));
    });
}

#[test]
fn two_pieces_run_at_once() {
    watchdog(LONG, || {
        for pool in &POOLS[1..] {
            let threads = Mutex::new(HashSet::new());
            pool.install(|| {
                par_for_each(0..1000u32, |_| {
                    threads.lock().unwrap().insert(thread::current().id());
                    // No thread gets beyond the first items until a second one takes part.
                    while threads.lock().unwrap().len() < 2 {
                        wait_until(|| true);
                        thread::yield_now();
                    }
                });
            });
        }
    });
}

/// A range that reports a wrong length and yields wrong items.
#[derive(Clone)]
struct Liar {
    truth: Range<usize>,
    claimed: usize,
    tally: Tally,
}

impl Splittable for Liar {
    type Item = common::Counted;
    type IntoIter = std::vec::IntoIter<common::Counted>;

    fn len(&self) -> usize {
        self.claimed
    }

    fn split_at(self, mid: usize) -> (Self, Self) {
        let middle = (self.truth.start + mid).min(self.truth.end);
        let left = Self { truth: self.truth.start..middle, claimed: mid, tally: self.tally.clone() };
        (left, Self { truth: middle..self.truth.end, claimed: self.claimed - mid, tally: self.tally })
    }

    fn into_seq(self) -> Self::IntoIter {
        self.truth.map(|_| self.tally.make()).collect::<Vec<_>>().into_iter()
    }
}

#[test]
fn map_panics_if_sequence_yields_too_few_items() {
    everywhere(|| {
        for (yields, claimed) in [(0, 1), (0, 1000), (1, 2), (500, 1000), (999, 1000)] {
            let tally = Tally::default();
            let _one = tally.make();
            let liar = Liar { truth: 0..yields, claimed, tally: tally.clone() };
            let text = common::panic_text(|| _ = par_map(liar, |item| item));
            assert!(text.contains("fewer items"), "{text}");
            drop(_one);
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn surplus_items_of_sequence_are_ignored() {
    everywhere(|| {
        for (yields, claimed) in [(1, 0), (1000, 0), (1000, 999), (1000, 10)] {
            let tally = Tally::default();
            let liar = Liar { truth: 0..yields, claimed, tally: tally.clone() };
            let results = par_map(liar, |item| item);
            assert_eq!(results.len(), claimed);
            drop(results);
            assert_eq!(tally.made(), tally.dropped());
        }
    });
}

#[test]
fn map_panics_if_claimed_length_exceeds_memory() {
    let liar = Liar { truth: 0..5, claimed: usize::MAX, tally: Tally::default() };
    assert!(common::panic_text(|| _ = par_map(liar, |_| 0u64)).contains("capacity overflow"));
}

type Cut = fn(&Range<usize>, usize) -> (Range<usize>, Range<usize>);

/// A source whose pieces and lengths the fields determine.
struct Wrong {
    items: Range<usize>,
    cut: Cut,
    len: fn(&Range<usize>) -> usize,
}

impl Splittable for Wrong {
    type Item = usize;
    type IntoIter = Range<usize>;

    fn len(&self) -> usize {
        (self.len)(&self.items)
    }

    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = (self.cut)(&self.items, mid);
        (Self { items: left, ..self }, Self { items: right, ..self })
    }

    fn into_seq(self) -> Range<usize> {
        self.items
    }
}

#[test]
fn wrong_split_panics() {
    type Cut = fn(&Range<usize>, usize) -> (Range<usize>, Range<usize>);
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
            let wrong = || Wrong { items: items.clone(), cut, len };
            let of_loops: [&dyn Fn(); 3] = [
                &|| par_for_each(wrong(), |_| ()),
                &|| _ = par_reduce(wrong(), || 0, |sum, item| sum + item, |a, b| a + b),
                &|| _ = par_map(wrong(), |item| item),
            ];
            for run in of_loops {
                let text = panic_text(run);
                assert!(text.starts_with(&format!("a Splittable of {} items, split at", items.end)), "{text}");
            }
        }
    });
}

#[test]
fn growing_length_panics_without_endless_recursion() {
    static CALLS: AtomicUsize = AtomicUsize::new(100);
    let len = |_: &Range<usize>| 2 * CALLS.fetch_add(1, Ordering::Relaxed);
    everywhere(|| {
        let wrong = || Wrong { items: 0..100, cut: |all, _| (all.clone(), all.clone()), len };
        assert!(panic_text(|| par_for_each(wrong(), |_| ())).starts_with("a Splittable of"));
        assert!(panic_text(|| _ = par_map(wrong(), |item| item)).contains("Splittable"));
    });
}

#[test]
fn loop_with_wrong_lengths_ends() {
    // The pieces are as long as they say and the iterator is not. A map cannot have results for items that are not
    // there.
    struct Longer(Range<usize>);
    impl Splittable for Longer {
        type Item = usize;
        type IntoIter = std::iter::Take<Range<usize>>;
        fn len(&self) -> usize {
            self.0.end - self.0.start
        }
        fn split_at(self, mid: usize) -> (Self, Self) {
            (Self(self.0.start..self.0.start + mid), Self(self.0.start + mid..self.0.end))
        }
        fn into_seq(self) -> Self::IntoIter {
            (0..usize::MAX).take(2)
        }
    }
    everywhere(|| {
        let visited = AtomicUsize::new(0);
        par_for_each(Longer(0..1000), |_| _ = visited.fetch_add(1, Ordering::Relaxed));
        let visited = visited.into_inner();
        assert!((2..=2000).contains(&visited), "{visited} items");
        let mapped = std::panic::catch_unwind(|| par_map(Longer(0..1000), Box::new));
        assert!(mapped.is_err() || mapped.is_ok_and(|results| results.len() == 1000));
    });
}

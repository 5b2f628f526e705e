//! Each collection contains what the plain iterator collects, from sources of known and of unknown length.

use crate::{
    common::{Tally, panic_text, pool},
    harness::{check, pieces, pools},
};
use anabranch::{
    iter::{Either, FromParallelIterator, plumbing::Drive},
    prelude::*,
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    ffi::{OsStr, OsString},
    fmt::Debug,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

const LENGTHS: [usize; 8] = [0, 1, 2, 3, 7, 100, 1000, 6000];

/// Checks a collection of `0..len`, whose items `make` provides, for many lengths and cuts.
#[track_caller]
fn check_collection<T, C>(make: impl Fn(usize) -> T + Sync + Send + Copy)
where
    T: Send + Clone,
    C: FromIterator<T> + FromParallelIterator<T> + PartialEq + Debug,
{
    for len in LENGTHS {
        let plain = || (0..len).map(make).collect::<C>();
        let indices: Vec<usize> = (0..len).collect();
        check(plain(), || indices.par_iter().map(|index| make(*index)).collect::<C>());
        for seed in 0..if len > 1000 { 2 } else { 20 } {
            assert_eq!(pieces((0..len).map(make), seed).collect::<C>(), plain());
        }
    }
}

/// Checks that items are added to what a collection contains.
#[track_caller]
fn check_extend<T, C>(make: impl Fn(usize) -> T + Sync + Send + Copy)
where
    T: Send + Clone,
    C: FromIterator<T> + Extend<T> + ParallelExtend<T> + PartialEq + Debug,
{
    for (before, len) in [(0, 0), (0, 5), (3, 0), (4, 9), (100, 1000), (3, 5000)] {
        let mut plain: C = (0..before).map(make).collect();
        plain.extend((before / 2..len).map(make));
        let indices: Vec<usize> = (before / 2..len).collect();
        for pool in pools() {
            let mut parallel: C = (0..before).map(make).collect();
            pool.install(|| parallel.par_extend(indices.par_iter().map(|index| make(*index))));
            assert_eq!(parallel, plain);
        }
        for seed in 0..20 {
            let mut parallel: C = (0..before).map(make).collect();
            parallel.par_extend(pieces((before / 2..len).map(make), seed));
            assert_eq!(parallel, plain);
        }
    }
}

#[test]
fn sequences_keep_the_order() {
    check_collection::<_, Vec<usize>>(|index| index * 3);
    check_collection::<_, Vec<String>>(|index| index.to_string());
    check_collection::<_, Vec<()>>(|_| ());
    check_collection::<_, Box<[usize]>>(|index| index);
    check_collection::<_, Rc<[usize]>>(|index| index);
    check_collection::<_, Arc<[String]>>(|index| index.to_string());
    check_collection::<_, VecDeque<usize>>(|index| index);
    check_collection::<_, LinkedList<usize>>(|index| index);
    check_extend::<_, Vec<usize>>(|index| index);
    check_extend::<_, Vec<String>>(|index| index.to_string());
    check_extend::<_, VecDeque<usize>>(|index| index);
    check_extend::<_, LinkedList<usize>>(|index| index);
}

#[test]
fn maps_and_sets_keep_the_last_value_of_a_key() {
    check_collection::<_, BTreeMap<usize, usize>>(|index| (index * 7 % 1001, index));
    check_collection::<_, HashMap<usize, usize>>(|index| (index * 7 % 1001, index));
    check_collection::<_, BTreeSet<usize>>(|index| index * 7 % 1001);
    check_collection::<_, HashSet<usize>>(|index| index * 7 % 1001);
    check_extend::<_, BTreeMap<usize, usize>>(|index| (index * 7 % 1001, index));
    check_extend::<_, HashMap<usize, usize>>(|index| (index * 7 % 1001, index));
    check_extend::<_, BTreeSet<usize>>(|index| index * 7 % 1001);
    check_extend::<_, HashSet<usize>>(|index| index * 7 % 1001);
}

#[test]
fn heaps_contain_each_item() {
    let items: Vec<usize> = (0..5000).map(|index| index * 7 % 1001).collect();
    let plain = items.iter().copied().collect::<BinaryHeap<_>>().into_sorted_vec();
    check(plain.clone(), || items.par_iter().map(|item| *item).collect::<BinaryHeap<_>>().into_sorted_vec());
    let mut heap = BinaryHeap::from(items[..100].to_vec());
    heap.par_extend(pieces(items[100..].to_vec(), 3));
    assert_eq!(heap.into_sorted_vec(), plain);
}

#[test]
fn texts_are_concatenated() {
    const TEXTS: [&str; 4] = ["", "a", "größe", "日本"];
    check_collection::<_, String>(|index| char::from(b'a' + (index % 26) as u8));
    check_collection::<_, String>(|index| &['ä', 'b', 'ß'][index % 3]);
    check_collection::<_, String>(|index| TEXTS[index % 4]);
    check_collection::<_, String>(|index| index.to_string());
    check_collection::<_, String>(|index| TEXTS[index % 4].to_owned().into_boxed_str());
    check_collection::<_, String>(|index| Cow::Borrowed(TEXTS[index % 4]));
    check_collection::<_, Box<str>>(|index| TEXTS[index % 4]);
    check_collection::<_, Box<str>>(|index| index.to_string());
    check_extend::<_, String>(|index| TEXTS[index % 4]);
    check_extend::<_, String>(|index| index.to_string());
    check_collection::<_, OsString>(|index| OsStr::new(TEXTS[index % 4]));
    check_collection::<_, OsString>(|index| OsString::from(index.to_string()));
    check_collection::<_, OsString>(|index| Cow::Borrowed(OsStr::new(TEXTS[index % 4])));
    check_collection::<_, Cow<'static, str>>(|index| TEXTS[index % 4]);
    check_collection::<_, Cow<'static, [usize]>>(|index| index);
}

#[test]
fn references_are_copied_into_a_collection() {
    let items: Vec<usize> = (0..1000).collect();
    macro_rules! check_copied {
        ($($collection:ty),*) => {$(
            let mut collection: $collection = [5].into_iter().collect();
            collection.par_extend(&items);
            let mut plain: $collection = [5].into_iter().collect();
            plain.extend(&items);
            assert!(collection.into_iter().eq(plain));
        )*};
    }
    check_copied!(Vec<usize>, VecDeque<usize>, LinkedList<usize>, BTreeSet<usize>);
    let mut heap = BinaryHeap::from([5]);
    heap.par_extend(&items);
    assert_eq!(heap.len(), 1001);
    let mut set = HashSet::from([5]);
    set.par_extend(&items);
    assert_eq!(set, items.iter().copied().collect());
    let pairs: Vec<(usize, usize)> = items.iter().map(|item| (*item, item + 1)).collect();
    let (mut tree, mut map) = (BTreeMap::new(), HashMap::new());
    tree.par_extend(pairs.par_iter().map(|(key, value)| (key, value)));
    map.par_extend(pairs.par_iter().map(|(key, value)| (key, value)));
    assert_eq!((tree, map), (pairs.iter().copied().collect(), pairs.iter().copied().collect()));
}

#[test]
fn units_are_consumed() {
    let count = AtomicUsize::new(0);
    let items: Vec<usize> = (0..1000).collect();
    items.par_iter().map(|_| _ = count.fetch_add(1, Ordering::Relaxed)).collect::<()>();
    ().par_extend(items.par_iter().map(|_| _ = count.fetch_add(1, Ordering::Relaxed)));
    assert_eq!(count.into_inner(), 2000);
}

#[test]
fn results_and_options_are_collected_up_to_a_failure() {
    let items: Vec<usize> = (0..3000).collect();
    for bad in [0, 1, 17, 1500, 2999, 3000] {
        let check_item = |item: &usize| if *item == bad { Err(*item) } else { Ok(*item) };
        let plain: Result<Vec<usize>, usize> = items.iter().map(check_item).collect();
        check(plain.clone(), || items.par_iter().map(check_item).collect());
        check(plain.clone().ok(), || items.par_iter().map(|item| check_item(item).ok()).collect());
        check(plain.clone().map(|_| ()), || items.par_iter().map(|item| check_item(item).map(|_| ())).collect());
        for seed in 0..10 {
            assert_eq!(pieces(items.clone(), seed).map(|item| check_item(&item)).collect::<Result<_, _>>(), plain);
        }
    }
}

#[test]
fn one_of_several_errors_is_returned() {
    let items: Vec<usize> = (0..3000).collect();
    for pool in pools() {
        let odd = |item: &usize| if item % 2 == 1 { Err(*item) } else { Ok(*item) };
        let result: Result<Vec<usize>, usize> = pool.install(|| items.par_iter().map(odd).collect());
        assert_eq!(result.unwrap_err() % 2, 1);
    }
}

/// The second item waits for the failure of the first, so its thread sees the failure at the end of its block.
#[test]
fn error_stops_the_other_threads() {
    let items: Vec<usize> = (0..100_000).collect();
    let (visited, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let pool = pool(2);
    let result: Result<Vec<()>, ()> = pool.install(|| {
        let visit = |item: &usize| {
            visited.fetch_add(1, Ordering::Relaxed);
            if *item == 0 {
                failed.store(1, Ordering::Relaxed);
                return Err(());
            }
            crate::common::wait_until(|| failed.load(Ordering::Relaxed) > 0);
            Ok(())
        };
        items.par_iter().map(visit).collect()
    });
    assert_eq!(result, Err(()));
    assert!(visited.into_inner() < items.len() / 2, "the others stop");
}

#[test]
fn pairs_are_split_in_order() {
    for len in LENGTHS {
        let items: Vec<usize> = (0..len).collect();
        let pair = |item: &usize| (*item, item.to_string());
        let plain: (Vec<usize>, Vec<String>) = items.iter().map(pair).unzip();
        check(plain.clone(), || items.par_iter().map(pair).unzip());
        check(plain.clone(), || items.par_iter().map(pair).collect());
        check(plain.clone(), || {
            let (mut left, mut right) = (vec![1; 10], Vec::new());
            items.par_iter().map(pair).unzip_into_vecs(&mut left, &mut right);
            (left, right)
        });
        for seed in 0..if len > 1000 { 2 } else { 20 } {
            assert_eq!(pieces(items.clone(), seed).map(|item| pair(&item)).unzip::<_, _, Vec<_>, Vec<_>>(), plain);
            let nested = |item: usize| ((item, item + 1), (item + 2, item + 3));
            let ((a, b), (c, d)): ((Vec<_>, Vec<_>), (BTreeSet<_>, VecDeque<_>)) =
                pieces(items.clone(), seed).map(nested).collect();
            assert_eq!((a.len(), b, c.len(), d.len()), (len, (1..=len).collect(), len, len));
        }
    }
}

/// A failure on one side does not end the other side.
#[test]
fn pairs_with_failures_are_split() {
    let items: Vec<usize> = (0..3000).collect();
    let pair = |item: &usize| (if *item == 1000 { Err("bad") } else { Ok(*item) }, *item);
    check((Err("bad"), items.clone()), || {
        items.par_iter().map(pair).collect::<(Result<Vec<usize>, &str>, Vec<usize>)>()
    });
}

#[test]
fn partitions_keep_the_order() {
    for len in LENGTHS {
        let items: Vec<usize> = (0..len).collect();
        let plain: (Vec<usize>, Vec<usize>) = items.iter().partition(|item| *item % 3 == 0);
        check(plain.clone(), || items.par_iter().map(|item| *item).partition(|item| item % 3 == 0));
        let side =
            |item: usize| if item.is_multiple_of(3) { Either::Left(item) } else { Either::Right(item.to_string()) };
        let sides = (plain.0.clone(), plain.1.iter().map(ToString::to_string).collect::<VecDeque<_>>());
        check(sides.clone(), || items.par_iter().map(|item| *item).partition_map(side));
        check(sides.clone(), || items.par_iter().map(|item| side(*item)).collect());
        for seed in 0..10 {
            let parts: (Vec<_>, LinkedList<_>) = pieces(items.clone(), seed).partition(|item| item % 3 == 0);
            assert_eq!((parts.0, parts.1.into_iter().collect()), plain);
        }
    }
}

#[test]
fn vec_list_has_no_empty_vector() {
    for len in LENGTHS {
        let items: Vec<usize> = (0..len).collect();
        let list = items.par_iter().map(|item| *item).collect_vec_list();
        assert!(list.len() <= 1 && list.into_iter().flatten().eq(0..len));
        for seed in 0..10 {
            let list = pieces(items.clone(), seed).collect_vec_list();
            assert!(list.iter().all(|vec| !vec.is_empty()));
            assert!(list.into_iter().flatten().eq(0..len));
        }
    }
}

#[test]
fn memory_of_a_target_is_used_again() {
    let items: Vec<usize> = (0..100).collect();
    let mut target = Vec::with_capacity(1000);
    let memory = target.as_ptr();
    items.par_iter().map(|item| *item).collect_into_vec(&mut target);
    assert!(target == items && target.as_ptr() == memory);
    target.clear();
    target.par_extend(pieces(items.clone(), 3).map(|item| item));
    assert!(target == items && target.as_ptr() == memory);
}

#[test]
fn items_are_dropped_when_one_panics() {
    let items: Vec<usize> = (0..300).collect();
    for bad in [1, 150, 299] {
        for pool in pools() {
            let tally = Tally::default();
            let make = |item: &usize| {
                assert_ne!(*item, bad, "bad item");
                tally.make()
            };
            let check = |run: &dyn Fn()| assert!(panic_text(|| pool.install(run)).contains("bad item"));
            check(&|| _ = items.par_iter().map(make).collect::<Vec<_>>());
            check(&|| _ = items.par_iter().map(|item| (make(item), make(item))).unzip::<_, _, Vec<_>, VecDeque<_>>());
            check(&|| _ = items.par_iter().map(|item| Some(make(item))).collect::<Option<LinkedList<_>>>());
            check(&|| _ = items.par_iter().map(|item| (*item, make(item))).collect::<BTreeMap<_, _>>());
            tally.assert_all_dropped();
        }
    }
}

/// A collection that ignores its parallel iterator.
#[derive(Debug, Default, PartialEq)]
struct Deaf;

impl<T: Send> ParallelExtend<T> for Deaf {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        assert_eq!(items.into_par_iter().opt_len(), Some(3));
    }
}

#[test]
fn unzip_into_a_collection_that_ignores_the_items_returns() {
    let items = [1, 2, 3];
    let (numbers, Deaf): (Vec<i32>, Deaf) = items.par_iter().map(|item| (*item, *item)).unzip();
    assert_eq!(numbers, [0; 0], "the left items come with the right ones");
    let (Deaf, numbers): (Deaf, Vec<i32>) = items.par_iter().map(|item| (*item, *item)).unzip();
    assert_eq!(numbers, [0; 0]);
}

#[cfg(feature = "imbl")]
#[test]
fn tree_vectors_keep_the_order() {
    check_collection::<_, imbl::Vector<usize>>(|index| index);
    check_extend::<_, imbl::Vector<usize>>(|index| index);
}

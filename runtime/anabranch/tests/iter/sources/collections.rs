//! Collections, options and results.

use super::{check_indexed, in_order, numbers};
use crate::{common::panic_text, harness::check};
use anabranch::{
    iter::{empty, once, plumbing::Drive, repeat, repeat_n},
    prelude::*,
};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

const LENGTHS: [usize; 5] = [0, 1, 2, 7, 1000];

#[test]
fn items_by_value_are_those_of_the_collection() {
    for len in LENGTHS {
        let items = numbers(len, 1000, 1);
        check_indexed(items.clone(), || items.clone().into_par_iter());
        check_indexed(items.clone(), || items.clone().into_boxed_slice().into_par_iter());
        let list: LinkedList<u64> = items.iter().copied().collect();
        check_indexed(items.clone(), || list.clone().into_par_iter());
        check_indexed(&list, || list.par_iter());
        let set: BTreeSet<u64> = items.iter().copied().collect();
        check_indexed(set.clone(), || set.clone().into_par_iter());
        check_indexed(&set, || set.par_iter());
        let map: BTreeMap<u64, usize> = items.iter().copied().zip(0..).collect();
        check_indexed(map.clone(), || map.clone().into_par_iter());
        check_indexed(&map, || map.par_iter());
        let heap: BinaryHeap<u64> = items.iter().copied().collect();
        check_indexed(heap.iter(), || heap.par_iter());
        check_indexed(heap.clone().into_vec(), || heap.clone().into_par_iter());
        let set: HashSet<u64> = items.iter().copied().collect();
        check_indexed(&set, || set.par_iter());
        check_indexed(set.clone(), || set.clone().into_par_iter());
        let map: HashMap<u64, usize> = items.iter().copied().zip(0..).collect();
        check_indexed(&map, || map.par_iter());
        check_indexed(map.clone(), || map.clone().into_par_iter());
    }
    check_indexed([1, 2, 3], || [1, 2, 3].into_par_iter());
    check_indexed([0; 0], || [0; 0].into_par_iter());
    check_indexed([1, 2, 3], || [1, 2, 3].into_par_iter().clone());
}

#[test]
fn values_of_collections_can_be_changed() {
    let mut list: LinkedList<u64> = (0..1000).collect();
    list.par_iter_mut().for_each(|item| *item += 1);
    assert!(list.into_iter().eq(1..=1000));
    let mut map: HashMap<u64, u64> = (0..1000).map(|key| (key, key)).collect();
    map.par_iter_mut().for_each(|(key, value)| *value += key);
    assert!(map.into_iter().all(|(key, value)| value == 2 * key));
    let mut map: BTreeMap<u64, u64> = (0..1000).map(|key| (key, key)).collect();
    map.par_iter_mut().for_each(|(key, value)| *value += key);
    assert!(map.into_iter().all(|(key, value)| value == 2 * key));
}

/// Returns a queue of `len` items, of which the first `front` are in its first slice.
fn queue(len: usize, front: usize) -> VecDeque<u64> {
    let mut queue: VecDeque<u64> = (front as u64..len as u64).collect();
    queue.shrink_to_fit();
    queue.reserve_exact(front);
    (0..front as u64).rev().for_each(|item| queue.push_front(item));
    queue
}

#[test]
fn queue_is_cut_in_both_of_its_slices() {
    let mut have_two = 0;
    for len in LENGTHS {
        for front in [0, 1, len / 2] {
            let mut queue = queue(len, front);
            have_two += usize::from(!queue.as_slices().1.is_empty());
            check_indexed(queue.iter(), || queue.par_iter());
            check_indexed(queue.clone(), || queue.clone().into_par_iter());
            let plain: Vec<u64> = queue.iter().copied().collect();
            for seed in 0..30 {
                use anabranch::iter::plumbing::DriveIndexed;
                let cut = super::cut(queue.par_iter_mut().producer(), &mut crate::common::Random(seed));
                assert_eq!(cut.into_iter().map(|item| *item).collect::<Vec<_>>(), plain);
            }
            assert_eq!(in_order(queue.par_iter_mut().map(|item| *item)), plain);
        }
    }
    assert!(have_two > 0, "no queue had two slices");
}

#[cfg(feature = "imbl")]
#[test]
fn tree_vector_is_cut_in_its_chunks() {
    for len in LENGTHS {
        let mut vector: imbl::Vector<u64> = (0..len as u64).collect();
        check_indexed(vector.iter(), || vector.par_iter());
        // Trees that were cut and joined have chunks of all lengths, and share them with other vectors.
        let right = vector.split_off(len / 3);
        vector.append(right.clone());
        vector.append(right);
        check_indexed(vector.iter(), || vector.par_iter());
        check_indexed(vector.clone(), || vector.clone().into_par_iter());
    }
}

#[test]
fn options_and_results_have_one_item_or_none() {
    let error = || Err::<i32, &str>("no");
    check_indexed(Some(1), || Some(1).into_par_iter());
    check_indexed(None::<i32>, || None::<i32>.into_par_iter());
    let (some, ok) = (Some(1), Ok::<i32, &str>(1));
    check_indexed(&some, || some.par_iter());
    check_indexed(&ok, || ok.par_iter());
    check_indexed(Ok::<i32, &str>(1), || Ok::<i32, &str>(1).into_par_iter());
    check_indexed(error(), || error().into_par_iter());
    let (mut some, mut ok) = (Some(1), Ok::<i32, &str>(1));
    some.par_iter_mut().for_each(|item| *item += 1);
    ok.par_iter_mut().for_each(|item| *item += 1);
    assert_eq!((some.par_iter().sum::<i32>(), ok.par_iter().sum::<i32>()), (2, 2));
    assert_eq!(error().par_iter().sum::<i32>() + error().par_iter_mut().map(|item| *item).sum::<i32>(), 0);
}

#[test]
fn repeated_values_are_counted() {
    for len in LENGTHS {
        check_indexed(std::iter::repeat_n("item", len), || repeat_n("item", len));
        check_indexed(std::iter::repeat_n("item", len), || repeat("item").take(len));
    }
    #[allow(deprecated)]
    let old = anabranch::iter::repeatn(1, 3);
    assert_eq!(old.sum::<i32>(), 3);
    check_indexed([3], || once(3));
    check_indexed([0; 0], empty::<i32>);
    assert_eq!(repeat(1).opt_len(), None);
}

#[test]
fn drain_takes_a_range_out() {
    for len in LENGTHS {
        for range in [0..len, 0..len / 2, len / 2..len, len / 3..len / 2] {
            let plain: Vec<String> = (0..len).map(|item| item.to_string()).collect();
            let mut plain_rest = plain.clone();
            let drained: Vec<String> = plain_rest.drain(range.clone()).collect();
            check(drained.clone(), || in_order(plain.clone().par_drain(range.clone())));
            let mut vec = plain.clone();
            assert_eq!(in_order(vec.par_drain(range.clone())), drained);
            assert_eq!(vec, plain_rest);
            let mut queue: VecDeque<String> = plain.iter().cloned().collect();
            assert_eq!(in_order(queue.par_drain(range.clone())), drained);
            assert_eq!(queue, plain_rest);
            let mut vec = plain.clone();
            drop(vec.par_drain(range.clone()));
            assert_eq!(vec, plain_rest, "a drain that does not run removes its items too");
            let mut vec = plain.clone();
            std::mem::forget(vec.par_drain(range));
            assert_eq!(vec, plain, "a drain that is forgotten leaves the vector as it is");
        }
    }
    let mut vec = vec![1, 2, 3];
    assert_eq!(in_order(vec.par_drain(..=1)), [1, 2]);
    assert_eq!(panic_text(|| drop(vec.par_drain(2..))), "the range 2..1 is not within a collection of 1 items");
    assert_eq!(vec, [3]);
}

#[test]
fn drain_empties_maps_sets_and_heaps() {
    let mut heap: BinaryHeap<u64> = (0..1000).collect();
    let mut set: HashSet<u64> = (0..1000).collect();
    let mut map: HashMap<u64, u64> = (0..1000).zip(0..).collect();
    assert_eq!(heap.par_drain().sum::<u64>(), 499_500);
    assert_eq!(set.par_drain().sum::<u64>(), 499_500);
    assert_eq!(map.par_drain().map(|(key, value)| key + value).sum::<u64>(), 999_000);
    assert!(heap.is_empty() && set.is_empty() && map.is_empty());
    set.extend([1, 2]);
    std::mem::forget(set.par_drain());
    assert!(set.is_empty());
}

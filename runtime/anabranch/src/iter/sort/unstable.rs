//! The unstable sort: a quicksort that forks, and leaves short pieces to std.
//!
//! The pivot is the median of a sample. A partition is one pass without unpredictable branches. It is sequential,
//! because the items need not be `Sync`: two threads must not compare with the same pivot. So the first pass runs on
//! one thread, the next two on two, and so on.
//!
//! If the sample contains the pivot's value repeatedly, a second pass gathers the items that equal the pivot, which are
//! then at their places. So a slice of few different values takes few passes.
//!
//! If the comparison panics or is not a total order, the order of the items is unspecified.

use crate::{
    fork::join::join,
    iter::sort::{run::sort_run, tuned::tuned},
    pool::current_num_threads,
};
use std::{cmp::Ordering, mem::ManuallyDrop, ops::Range, ptr};

/// The length of a slice that one thread sorts: some hundreds of microseconds of work.
const LEAF: usize = tuned(1 << 14, 16);

/// The number of items of which the pivot is the median.
const SAMPLE: usize = tuned(127, 7);

/// The number of items next to the median of the sample that must not both equal it, or else a second pass follows.
const EQUAL: usize = 3;

/// The size in bytes up to which an item is moved at each step, although it may be in the right part already.
const MAX_BRANCHLESS: usize = 96;

/// Sorts `items` by `compare`.
#[track_caller]
pub(in crate::iter) fn unstable<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    if items.len() <= LEAF || size_of::<T>() == 0 || current_num_threads() == 1 {
        return items.sort_unstable_by(compare);
    }
    if !sort_run(items, &|a, b| compare(a, b).is_lt()) {
        quicksort(items, &compare, 2 * items.len().ilog2());
    }
}

/// Sorts `items`. After `limit` partitions, std does it, whatever the length.
fn quicksort<T: Send>(items: &mut [T], compare: &(impl Fn(&T, &T) -> Ordering + Sync), limit: u32) {
    if items.len() <= LEAF || limit == 0 {
        return items.sort_unstable_by(compare);
    }
    let is_repeated = choose_pivot(items, compare);
    let Some((pivot, rest)) = items.split_first_mut() else { return };
    let mid = partition(rest, pivot, &|item, pivot| compare(item, pivot).is_lt());
    // The pivot goes between the parts.
    items.swap(0, mid);
    let (left, right) = items.split_at_mut(mid);
    let sort_right = || {
        let Some((pivot, mut right)) = right.split_first_mut() else { return };
        if is_repeated {
            let equal = partition(right, pivot, &|item, pivot| compare(pivot, item).is_ge());
            right = &mut right[equal..];
        }
        quicksort(right, compare, limit - 1);
    };
    join(|| quicksort(left, compare, limit - 1), sort_right);
}

/// Moves the median of a sample to the front. Returns whether the sample contains its value repeatedly.
fn choose_pivot<T>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) -> bool {
    // Evenly spaced, at a distance that is no multiple of a small number, with a different remainder for each item: the
    // items may be a pattern that repeats.
    let distance = items.len() / SAMPLE;
    let mut random = items.len();
    for index in 0..SAMPLE {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d_u64 as usize).wrapping_add(0x1405_7b7f);
        items.swap(index, index * distance + (random >> 8) % distance);
    }
    let sample = &mut items[..SAMPLE];
    sample.sort_unstable_by(compare);
    let median = SAMPLE / 2;
    let is_repeated = [median - EQUAL, median + EQUAL].map(|index| compare(&sample[index], &sample[median]).is_eq());
    items.swap(0, median);
    is_repeated.contains(&true)
}

/// Moves the items for which `less(item, pivot)` holds to the front, and returns their number.
#[inline(never)]
fn partition<T>(items: &mut [T], pivot: &T, less: &impl Fn(&T, &T) -> bool) -> usize {
    if size_of::<T>() <= MAX_BRANCHLESS {
        return partition_branchless(items, pivot, less);
    }
    let mut count = 0;
    for index in 0..items.len() {
        if less(&items[index], pivot) {
            items.swap(count, index);
            count += 1;
        }
    }
    count
}

/// A partition that moves each item, without a branch on the comparison.
///
/// The first item is taken out, which leaves a gap. Each further item goes to the end of the front part. The item that
/// was there goes into the gap, and the gap moves to where the further item was (Lomuto's partition along a cycle).
fn partition_branchless<T>(items: &mut [T], pivot: &T, less: &impl Fn(&T, &T) -> bool) -> usize {
    let Range { start, end } = items.as_mut_ptr_range();
    if start == end {
        return 0;
    }
    // SAFETY: there is a first item. `gap` writes it back, so that it exists once.
    let mut gap = Gap { place: start, item: unsafe { ManuallyDrop::new(ptr::read(start)) } };
    let mut count = 0;
    // SAFETY: `next` goes from the second item to the end. `count` is less than the number of items before `next`, so
    // `front` is before `next`, and after the loop before the end. What `gap.place` contains exists elsewhere, so it
    // may be overwritten: at first in `gap.item`, and then at `front`, where `next` was copied. If `less` panics, `gap`
    // puts its item there, and each item exists once.
    unsafe {
        let mut next = start.add(1);
        while next < end {
            let is_less = less(&*next, pivot);
            let front = start.add(count);
            ptr::copy(front, gap.place, 1);
            ptr::copy_nonoverlapping(next, front, 1);
            gap.place = next;
            count += usize::from(is_less);
            next = next.add(1);
        }
        let is_less = less(&gap.item, pivot);
        let front = start.add(count);
        ptr::copy(front, gap.place, 1);
        gap.place = front;
        count + usize::from(is_less)
    }
}

/// A place whose content exists elsewhere, and the item that belongs there.
struct Gap<T> {
    place: *mut T,
    item: ManuallyDrop<T>,
}

impl<T> Drop for Gap<T> {
    fn drop(&mut self) {
        // SAFETY: `place` is within the slice that is being partitioned, and its content exists elsewhere. `item` is
        // not used any more.
        unsafe { ptr::copy_nonoverlapping(&*self.item, self.place, 1) };
    }
}

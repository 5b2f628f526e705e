//! Slices that are sorted already, or in the reverse order.

use crate::{fork::join::join, iter::sort::tuned::tuned};
use std::mem;

/// The length of a slice that one thread handles.
const BLOCK: usize = tuned(1 << 14, 8);

/// The length of the run at the beginning of a slice for which the rest is looked at. A slice in random order has none.
const PREFIX: usize = 1 << 6;

/// If the slice is sorted, or strictly descending, sorts it in *O*(*n*) and returns `true`.
pub(super) fn sort_run<T: Send>(items: &mut [T], less: &(impl Fn(&T, &T) -> bool + Sync)) -> bool {
    let ascends = |a: &T, b: &T| !less(b, a);
    let descends = |a: &T, b: &T| less(b, a);
    if is_run_from_start(items, &ascends) {
        return true;
    }
    let is_reversed = is_run_from_start(items, &descends);
    if is_reversed {
        reverse(items);
    }
    is_reversed
}

fn is_run_from_start<T: Send>(items: &mut [T], precedes: &(impl Fn(&T, &T) -> bool + Sync)) -> bool {
    let prefix = items.len().min(PREFIX);
    items[..prefix].is_sorted_by(precedes) && is_run(items, precedes)
}

/// Returns whether `precedes` holds for all neighbours.
///
/// The threads have `&mut` to their parts, although they do not change them, because the items need not be `Sync`.
fn is_run<T: Send>(items: &mut [T], precedes: &(impl Fn(&T, &T) -> bool + Sync)) -> bool {
    if items.len() <= BLOCK {
        return items.is_sorted_by(precedes);
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    if !precedes(&left[middle - 1], &right[0]) {
        return false;
    }
    let (left, right) = join(|| is_run(left, precedes), || is_run(right, precedes));
    left && right
}

fn reverse<T: Send>(items: &mut [T]) {
    let (front, rest) = items.split_at_mut(items.len() / 2);
    let back = rest.len() - front.len();
    swap_reversed(front, &mut rest[back..]);
}

/// Swaps the first item of `front` with the last one of `back`, and so on. The lengths are equal.
fn swap_reversed<T: Send>(front: &mut [T], back: &mut [T]) {
    if front.len() <= BLOCK {
        front.iter_mut().zip(back.iter_mut().rev()).for_each(|(a, b)| mem::swap(a, b));
        return;
    }
    let middle = front.len() / 2;
    let (first, second) = front.split_at_mut(middle);
    let (before, last) = back.split_at_mut(back.len() - middle);
    join(|| swap_reversed(first, last), || swap_reversed(second, before));
}

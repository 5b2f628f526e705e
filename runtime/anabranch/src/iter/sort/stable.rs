//! The stable sort: pieces that std sorts, and parallel merges.
//!
//! The items move between the slice and a buffer of the same length. Each level of merges reads one of them and writes
//! the other, and the last level writes the slice. The number of levels is even, so the pieces are sorted in the slice
//! and need no copy.
//!
//! The slice owns the items throughout. A merge into the buffer leaves the slice as it was. A merge into the slice
//! overwrites it while the buffer has a copy of each item, and [`Restore`] copies these back if a comparison panics. So
//! the slice always has each item once when this function returns or panics.

use crate::{
    fork::join::join,
    iter::sort::{
        merge::{copy_here, merge},
        run::sort_run,
        tuned::tuned,
    },
    pool::current_num_threads,
};
use std::{cmp::Ordering, mem, mem::MaybeUninit, slice};

/// The least length of a piece.
const LEAF: usize = tuned(1 << 11, 3);

/// The number of pieces for each thread. The threads need not end at the same time.
const PIECES: usize = 4;

/// Sorts `items` by `compare`, and keeps the order of equal ones.
#[track_caller]
pub(in crate::iter) fn stable<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    let threads = current_num_threads();
    if items.len() < 4 * LEAF || size_of::<T>() == 0 || threads == 1 {
        return items.sort_by(compare);
    }
    if sort_run(items, &is_less(&compare)) {
        return;
    }
    let mut levels = 2;
    while 1 << levels < PIECES * threads && items.len() >> (levels + 2) >= LEAF {
        levels += 2;
    }
    let mut buffer = Vec::with_capacity(items.len());
    let buffer = &mut buffer.spare_capacity_mut()[..items.len()];
    sort_in_place(items, buffer, levels, &compare);
}

fn is_less<T>(compare: &impl Fn(&T, &T) -> Ordering) -> impl Fn(&T, &T) -> bool {
    |a, b| compare(a, b).is_lt()
}

/// Sorts `items` with an even number of levels of merges.
fn sort_in_place<T: Send>(
    items: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    levels: u32,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    if levels == 0 {
        return items.sort_by(compare);
    }
    let mid = items.len() / 2;
    let ((left, right), (left_buffer, right_buffer)) = (items.split_at_mut(mid), buffer.split_at_mut(mid));
    join(
        || sort_into_buffer(left, left_buffer, levels - 1, compare),
        || sort_into_buffer(right, right_buffer, levels - 1, compare),
    );
    let restore = Restore { items: as_uninit(items), buffer };
    let (left, right) = restore.buffer.split_at_mut(mid);
    // SAFETY: `sort_into_buffer` has initialised the buffer, which is as long as `items`. If `merge` panics, `restore`
    // makes `items` whole.
    unsafe { merge(left, right, restore.items, &is_less(compare)) };
    mem::forget(restore);
}

/// Copies the items to `buffer` in order, with an odd number of levels of merges. `items` has each item once, too.
fn sort_into_buffer<T: Send>(
    items: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    levels: u32,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    let mid = items.len() / 2;
    let ((left, right), (left_buffer, right_buffer)) = (items.split_at_mut(mid), buffer.split_at_mut(mid));
    join(
        || sort_in_place(left, left_buffer, levels - 1, compare),
        || sort_in_place(right, right_buffer, levels - 1, compare),
    );
    // SAFETY: both are parts of `items`, which are initialised, and the buffer is as long as `items`. `merge` does not
    // change its sources.
    unsafe { merge(as_uninit(left), as_uninit(right), buffer, &is_less(compare)) };
}

/// Returns the items as memory. They remain initialised as long as only items are written to it.
fn as_uninit<T>(items: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: a `MaybeUninit<T>` has the layout of a `T`. The function is private to this file, whose callers read the
    // items, or overwrite them with copies of the same items under the guard of `Restore`.
    unsafe { slice::from_raw_parts_mut(items.as_mut_ptr().cast(), items.len()) }
}

/// Copies the items back from the buffer when a merge into `items` panics.
struct Restore<'a, T> {
    items: &'a mut [MaybeUninit<T>],
    /// Each item once.
    buffer: &'a mut [MaybeUninit<T>],
}

impl<T> Drop for Restore<'_, T> {
    fn drop(&mut self) {
        copy_here(self.buffer, self.items);
    }
}

//! Merging two sorted runs into a third place, in parallel.
//!
//! Items are copied bitwise, so for a while each exists twice. The caller determines which copy counts. No copy is
//! compared after it was written, so the original always has the latest state of items that change when they are
//! compared.

use crate::{fork::join::join, iter::sort::tuned::tuned};
use std::{mem::MaybeUninit, ptr};

/// The number of items that one thread merges.
const LEAF: usize = tuned(1 << 12, 6);

/// Copies the items of `left` and `right` to `out` in order. Equal items of `left` come before those of `right`.
///
/// The sources are `&mut`, although they are not changed, because the items need not be `Sync`.
///
/// # Safety
/// `left` and `right` are initialised, and `out` is as long as both together.
///
/// When this function returns, `out` has a copy of each item of `left` and `right`, whatever `less` returns. When it
/// panics, `out` has copies of some of them.
pub(super) unsafe fn merge<T: Send>(
    left: &mut [MaybeUninit<T>],
    right: &mut [MaybeUninit<T>],
    out: &mut [MaybeUninit<T>],
    less: &(impl Fn(&T, &T) -> bool + Sync),
) {
    debug_assert_eq!(left.len() + right.len(), out.len());
    // SAFETY: the caller promises that the items of `left` and `right` are initialised.
    let less_at = |a: &MaybeUninit<T>, b: &MaybeUninit<T>| unsafe { less(a.assume_init_ref(), b.assume_init_ref()) };
    let are_in_order = match (&*left, &*right) {
        ([.., last], [first, ..]) => !less_at(first, last),
        _ => true,
    };
    if are_in_order {
        let (before, after) = out.split_at_mut(left.len());
        join(|| copy(left, before), || copy(right, after));
        return;
    }
    if out.len() <= LEAF {
        // SAFETY: as above.
        return unsafe { merge_here(left, right, out, less) };
    }
    // The middle item of the longer run, and the place for it in the other one.
    let (left_mid, right_mid) = if left.len() >= right.len() {
        let mid = left.len() / 2;
        (mid, right.partition_point(|item| less_at(item, &left[mid])))
    } else {
        let mid = right.len() / 2;
        (left.partition_point(|item| !less_at(&right[mid], item)), mid)
    };
    let (left, left_rest) = left.split_at_mut(left_mid);
    let (right, right_rest) = right.split_at_mut(right_mid);
    let (out, out_rest) = out.split_at_mut(left_mid + right_mid);
    // SAFETY: the parts of initialised runs are initialised, and each part of `out` is as long as its sources.
    join(|| unsafe { merge(left, right, out, less) }, || unsafe { merge(left_rest, right_rest, out_rest, less) });
}

/// Copies the items bitwise, in parallel.
fn copy<T: Send>(from: &mut [MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    if from.len() <= LEAF {
        return copy_here(from, to);
    }
    let mid = from.len() / 2;
    let ((from, from_rest), (to, to_rest)) = (from.split_at_mut(mid), to.split_at_mut(mid));
    join(|| copy(from, to), || copy(from_rest, to_rest));
}

/// Copies the items bitwise.
pub(super) fn copy_here<T>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    assert_eq!(from.len(), to.len());
    // SAFETY: both slices have this length, and do not overlap, because `to` is borrowed mutably. Nothing relies on
    // what a `MaybeUninit` contains.
    unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), from.len()) };
}

/// Merges on this thread.
///
/// # Safety
/// As for [`merge`].
#[inline(never)]
unsafe fn merge_here<T>(
    left: &[MaybeUninit<T>],
    right: &[MaybeUninit<T>],
    out: &mut [MaybeUninit<T>],
    less: &impl Fn(&T, &T) -> bool,
) {
    let (mut left, mut right) = (left.as_ptr_range(), right.as_ptr_range());
    let mut out = out.as_mut_ptr();
    while left.start < left.end && right.start < right.end {
        // SAFETY: both runs have an item left, and the caller promises that it is initialised. `out` has as many places
        // left as both runs have items. There is no branch on the result of the comparison, which is unpredictable.
        unsafe {
            let is_right = less((*right.start).assume_init_ref(), (*left.start).assume_init_ref());
            let next = if is_right { right.start } else { left.start };
            ptr::copy_nonoverlapping(next, out, 1);
            out = out.add(1);
            right.start = right.start.add(usize::from(is_right));
            left.start = left.start.add(usize::from(!is_right));
        }
    }
    for rest in [left, right] {
        // SAFETY: the items of `rest` were not copied yet, and `out` has as many places left as both runs have items.
        unsafe {
            let len = rest.end.offset_from_unsigned(rest.start);
            ptr::copy_nonoverlapping(rest.start, out, len);
            out = out.add(len);
        }
    }
}

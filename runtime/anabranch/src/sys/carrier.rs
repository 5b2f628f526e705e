//! Large values, which are passed on in boxes. A value that passes through several functions is often copied to the
//! frame of each, and a fiber has a small stack.

use std::{
    mem::{ManuallyDrop, MaybeUninit},
    ptr,
};

/// The size of the largest value that is passed by itself, in bytes.
const MAX_ON_STACK: usize = 4 << 10;

/// Returns whether values of this type are passed on in a [`Box`]. A constant, so small values cost no instruction.
pub(crate) const fn is_large<T>() -> bool {
    size_of::<T>() > MAX_ON_STACK
}

/// The form in which a `T` is passed on: by itself, or in a box, to and from which it is copied directly.
pub(crate) trait Carrier<T>: Sized {
    /// Copies the bits of a value.
    ///
    /// # Safety
    /// There is a value in this place. Either the copy counts from now on, or the caller [forgets](Self::forget) it.
    unsafe fn read(place: *const T) -> Self;

    /// Returns the place of the value.
    fn place(this: &Self) -> *const T;

    /// Frees what carries the value, but does not drop the value, which was copied elsewhere or belongs there.
    ///
    /// # Safety
    /// The carrier in this place is not used any more.
    unsafe fn forget(this: *mut Self);
}

/// Moves a value to a place, whose content is not dropped.
///
/// # Safety
/// The place is valid for writes, and aligned.
#[inline(always)]
pub(crate) unsafe fn write<T, V: Carrier<T>>(value: V, place: *mut T) {
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the caller passes a place that is valid for writes, and not in the carrier, which it has given up. The
    // value counts there from now on.
    unsafe {
        place.copy_from_nonoverlapping(V::place(&value), 1);
        V::forget(&raw mut *value);
    }
}

/// Returns the value.
#[inline(always)]
pub(crate) fn into_value<T, V: Carrier<T>>(value: V) -> T {
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the carrier is forgotten, so only the copy counts.
    unsafe {
        let copy = V::place(&value).read();
        V::forget(&raw mut *value);
        copy
    }
}

/// Puts a value into an `Option` without one.
#[inline(always)]
pub(crate) fn put<T, V: Carrier<T>>(value: V, into: &mut Option<T>) {
    debug_assert!(into.is_none());
    // SAFETY: the reference is to a valid place, which holds nothing to drop.
    unsafe { ptr::from_mut(into).write(Some(into_value(value))) };
}

/// Takes the value out of an `Option`.
#[inline(always)]
pub(crate) fn take<T, V: Carrier<T>>(from: &mut Option<T>) -> Option<V> {
    // SAFETY: the place is overwritten without a drop, so only the copy counts.
    let value = unsafe { V::read(from.as_ref()?) };
    // SAFETY: the reference is to a valid place.
    unsafe { ptr::from_mut(from).write(None) };
    Some(value)
}

impl<T> Carrier<T> for T {
    #[inline(always)]
    unsafe fn read(place: *const T) -> T {
        // SAFETY: the caller passes the place of a value, and uses only one of the two copies.
        unsafe { place.read() }
    }

    #[inline(always)]
    fn place(this: &T) -> *const T {
        this
    }

    #[inline(always)]
    unsafe fn forget(_: *mut T) {}
}

impl<T> Carrier<T> for Box<T> {
    unsafe fn read(place: *const T) -> Box<T> {
        let mut copy = Box::<T>::new_uninit();
        // SAFETY: the caller passes the place of a value, and uses only one of the two copies. A new box overlaps with
        // nothing.
        unsafe {
            copy.as_mut_ptr().copy_from_nonoverlapping(place, 1);
            copy.assume_init()
        }
    }

    fn place(this: &Box<T>) -> *const T {
        ptr::from_ref::<T>(this)
    }

    unsafe fn forget(this: *mut Box<T>) {
        // SAFETY: the caller does not use the box any more. A box of `MaybeUninit` frees the memory alone, which has
        // the same layout.
        unsafe { drop(Box::from_raw(Box::into_raw(this.read()).cast::<MaybeUninit<T>>())) };
    }
}

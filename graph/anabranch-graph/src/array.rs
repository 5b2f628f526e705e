//! Arrays in memory, or in a mapped file.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::Mmap;

/// A slice with its owner. Access costs the same for both owners.
pub(crate) struct Array<T> {
    /// Invariant: points to initialized elements that `owner` keeps in place, and that nothing writes.
    elements: NonNull<[T]>,
    /// The mapped file, or `None` for elements in a box of this array.
    owner: Option<Arc<Mmap>>,
}

// SAFETY: an array only reads its elements, and drops them on one thread, like a box of them.
unsafe impl<T: Send> Send for Array<T> {}
// SAFETY: a shared array only lends shared references to its elements.
unsafe impl<T: Sync> Sync for Array<T> {}

/// Types for which every bit pattern is a value.
///
/// # Safety
/// Every sequence of `size_of::<Self>()` initialized bytes is a value of the type.
pub unsafe trait Plain: Copy + 'static {}
// SAFETY: every bit pattern is an integer.
unsafe impl Plain for u32 {}
// SAFETY: every bit pattern is an integer.
unsafe impl Plain for u64 {}
// SAFETY: every bit pattern is a float.
unsafe impl Plain for f32 {}
// SAFETY: every bit pattern is a float.
unsafe impl Plain for f64 {}
// SAFETY: it has no bytes.
unsafe impl Plain for () {}

impl<T: Plain> Array<T> {
    /// Returns the `len` elements at `offset` of the file, or `None` if the file does not have them there, aligned.
    pub(crate) fn mapped(map: &Arc<Mmap>, offset: u64, len: u64) -> Option<Array<T>> {
        let (offset, len) = (usize::try_from(offset).ok()?, usize::try_from(len).ok()?);
        let end = offset.checked_add(len.checked_mul(size_of::<T>())?)?;
        let bytes = map.get(offset..end)?;
        let start = bytes.as_ptr().cast::<T>();
        if !start.is_aligned() {
            return None;
        }
        // A slice has no null pointer, so neither has this.
        let elements = NonNull::slice_from_raw_parts(NonNull::new(start.cast_mut())?, len);
        Some(Array { elements, owner: Some(map.clone()) })
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(elements: Vec<T>) -> Array<T> {
        Array { elements: NonNull::from(Box::leak(elements.into_boxed_slice())), owner: None }
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: by the field's invariant the elements are initialized, and stay while `self` is borrowed. `mapped`
        // has checked bounds and alignment, and `Plain` guarantees that the bytes are values.
        unsafe { self.elements.as_ref() }
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        if self.owner.is_none() {
            // SAFETY: without another owner the elements come from the box that `from` has leaked, and only this call
            // takes them back.
            drop(unsafe { Box::from_raw(self.elements.as_ptr()) });
        }
    }
}

impl<T: Copy> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        self.to_vec().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owned_elements_move_with_their_array() {
        for len in [0, 1, 1000] {
            let array = Array::from((0..len).collect::<Vec<u64>>());
            let moved = Box::new(array);
            let copy = moved.clone();
            assert!(moved.iter().copied().eq(0..len));
            drop(moved);
            assert_eq!(copy.len(), len as usize);
        }
        assert_eq!(Array::from(vec![(); 5]).len(), 5);
    }
}

//! The elements of vectors.
//!
//! An element consists of words of 32 bits, as on a device. This module is the only one that views elements as words.

use std::slice;
use std::sync::atomic::AtomicU32;

/// A type of elements that a [`DeviceVec`](crate::DeviceVec) can hold: `f32`, `i32`, `u32`, arrays of them, and the
/// structs of a `#[kernel] mod`.
///
/// # Safety
/// - The type consists of words of 32 bits: its alignment is 4, and its size is a multiple of 4.
/// - It has no padding.
/// - Every bit pattern is a value of the type.
/// - It has no interior mutability.
///
/// The attribute `#[kernel]` on a module implements it for the structs of the module.
///
/// ```
/// fn bytes_of_an_element<T: anabranch_kernel::Element>() -> usize {
///     size_of::<T>()
/// }
/// assert_eq!(bytes_of_an_element::<[f32; 3]>(), 12);
/// ```
pub unsafe trait Element: Copy + Send + Sync + 'static {}

// SAFETY: words of 32 bits without padding and without invalid patterns.
unsafe impl Element for f32 {}
// SAFETY: words of 32 bits without padding and without invalid patterns.
unsafe impl Element for i32 {}
// SAFETY: words of 32 bits without padding and without invalid patterns.
unsafe impl Element for u32 {}
// SAFETY: an array has the layout of its elements, one after the other.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}

/// A type that an item of a lazy vector can have: an [`Element`] or `bool`.
///
/// ```
/// fn takes_item(_: impl anabranch_kernel::Item) {}
/// takes_item(1.5f32);
/// takes_item(true);
/// ```
pub trait Item: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    fn push_words(&self, words: &mut Vec<u32>);
}

impl<T: Element> Item for T {
    fn push_words(&self, words: &mut Vec<u32>) {
        words.extend_from_slice(as_words(slice::from_ref(self)));
    }
}

impl Item for bool {
    /// On a device it occupies a word.
    fn push_words(&self, words: &mut Vec<u32>) {
        words.push((*self).into());
    }
}

/// Checks at compile time what `Element` requires of sizes.
const fn check<T: Element>() {
    const { assert!(align_of::<T>() == 4 && size_of::<T>().is_multiple_of(4), "an element consists of 32-bit words") }
}

/// Returns the words of an element.
pub(crate) const fn words<T: Element>() -> usize {
    check::<T>();
    size_of::<T>() / 4
}

/// Returns the elements as words.
pub(crate) fn as_words<T: Element>(elements: &[T]) -> &[u32] {
    let len = elements.len() * words::<T>();
    // SAFETY: `Element` requires words of 32 bits without padding, and `check` has compared size and alignment.
    unsafe { slice::from_raw_parts(elements.as_ptr().cast(), len) }
}

/// Returns the elements as words that can be written.
pub(crate) fn as_words_mut<T: Element>(elements: &mut [T]) -> &mut [u32] {
    let len = elements.len() * words::<T>();
    // SAFETY: as in `as_words`, and `Element` requires that every pattern that is written is a value.
    unsafe { slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

/// Returns the elements as words that several threads can write.
pub(crate) fn as_atomic_words<T: Element>(elements: &mut [T]) -> &[AtomicU32] {
    let words = as_words_mut(elements);
    // SAFETY: `AtomicU32` has the layout of `u32`. The caller's exclusive borrow lasts as long as the result.
    unsafe { slice::from_raw_parts(words.as_mut_ptr().cast_const().cast(), words.len()) }
}

/// Returns the element whose words are all 0.
pub(crate) fn zero<T: Element>() -> T {
    check::<T>();
    // SAFETY: `Element` requires that every bit pattern is a value.
    unsafe { std::mem::zeroed() }
}

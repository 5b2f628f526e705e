//! The only module with `unsafe`: large zeroed arrays on huge pages, shared writes to disjoint positions, and tuples as
//! words.
//!
//! **Huge pages.** Every array with random accesses comes from [`zeroed`]. The allocator returns large zeroed arrays as
//! untouched pages. Before the first touch this module advises the kernel to use huge pages for the array. If the
//! kernel does not follow the advice, or on systems other than Linux, only the speed changes. Huge pages make searches
//! at scale 20 10 to 20% faster.
//!
//! **Shared writes.** In a scatter, threads write to positions that are disjoint but not contiguous. [`Shared`] lends
//! an exclusively borrowed slice as a slice of atomics. A relaxed atomic load or store is a plain `mov` on today's
//! machines. A mistake of the caller produces a wrong number, never a data race.

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use crate::graph::{AtomicRow, Row};
use crate::{Edge, WeightedEdge};

/// Types for which all-zero bytes are a valid value, and which need no drop.
///
/// # Safety
/// A value of the type whose bytes are all zero is valid.
pub(crate) unsafe trait Zeroable: Copy {}
// SAFETY: integers are valid for every bit pattern.
unsafe impl Zeroable for u16 {}
// SAFETY: integers are valid for every bit pattern.
unsafe impl Zeroable for u32 {}
// SAFETY: integers are valid for every bit pattern.
unsafe impl Zeroable for u64 {}
// SAFETY: integers are valid for every bit pattern.
unsafe impl Zeroable for i64 {}
// SAFETY: zero bytes are the float 0.
unsafe impl Zeroable for f32 {}
// SAFETY: `Edge` is `repr(C)` and contains only integers.
unsafe impl Zeroable for Edge {}
// SAFETY: `WeightedEdge` is `repr(C)` and contains an `Edge` and a float, for both of which zero bytes are a value.
unsafe impl Zeroable for WeightedEdge {}
// SAFETY: `Row` is `repr(C)` and contains only integers.
unsafe impl Zeroable for Row {}

/// An error: the allocator had no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    /// The purpose of the array.
    pub what: &'static str,
    /// The requested size.
    pub bytes: u64,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory for {} ({} MB): choose a smaller scale", self.what, self.bytes.div_ceil(1_000_000))
    }
}

/// Returns an array of `len` zeros for `what`, on huge pages if it is large and the system provides them.
pub(crate) fn zeroed<T: Zeroable>(what: &'static str, len: usize) -> Result<Vec<T>, OutOfMemory> {
    let failed = OutOfMemory { what, bytes: (len as u64).saturating_mul(size_of::<T>() as u64) };
    let layout = Layout::array::<T>(len).map_err(|_| failed)?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout's size is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        return Err(failed);
    }
    // SAFETY: `start` comes from the global allocator with the layout of an array of `len` elements, so length and
    // capacity are `len`. Its bytes are zero, and `Zeroable` guarantees that zero bytes are valid elements.
    let mut array = unsafe { Vec::from_raw_parts(start.cast::<T>(), len, len) };
    advise_huge_pages(&mut array);
    Ok(array)
}

/// Requests huge pages for the whole pages of `array`.
fn advise_huge_pages<T>(array: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        const WORTHWHILE: usize = 1 << 20;
        // SAFETY: the call has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let range = array.as_mut_ptr_range();
        let start = range.start.addr().next_multiple_of(page);
        let end = range.end.addr() / page * page;
        if end.saturating_sub(start) >= WORTHWHILE {
            let first = range.start.with_addr(start).cast();
            // SAFETY: the range is page-aligned and inside the exclusively borrowed array, and this advice changes no
            // contents. If the kernel refuses, only the speed changes, so the result is ignored.
            unsafe { libc::madvise(first, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = array;
}

/// Returns the same memory as words of 32 bits: three for each edge, first the low halves of its ends.
pub(crate) fn into_words(edges: Vec<Edge>) -> Vec<u32> {
    const { assert!(size_of::<Edge>() == 3 * size_of::<u32>() && align_of::<Edge>() == align_of::<u32>()) };
    let mut edges = ManuallyDrop::new(edges);
    // SAFETY: the vector's memory is not freed through `edges`. `Edge` is `repr(C)`, and its integers fill its twelve
    // bytes, so that it is three initialised words. The assertion checks that the layout of the allocation is the same.
    unsafe { Vec::from_raw_parts(edges.as_mut_ptr().cast(), edges.len() * 3, edges.capacity() * 3) }
}

/// A slice that can be borrowed as a slice of atomics.
pub(crate) trait Shared {
    /// The atomic type of the elements.
    type Atomic;
    /// Returns the same memory, for concurrent access while the exclusive borrow lasts.
    fn shared(&mut self) -> &[Self::Atomic];
}

macro_rules! shared {
    ($($plain:ty => $atomic:ty),*) => {$(
        impl Shared for [$plain] {
            type Atomic = $atomic;
            #[inline]
            fn shared(&mut self) -> &[$atomic] {
                const { assert!(align_of::<$plain>() == align_of::<$atomic>()) };
                const { assert!(size_of::<$plain>() == size_of::<$atomic>()) };
                // SAFETY: an atomic has the valid values of its integer, `AtomicRow` is `Row` with atomic fields in the
                // same order, and the assertions check size and alignment. The result keeps the exclusive borrow, so
                // every access is through the atomics.
                unsafe { &*(std::ptr::from_mut(self) as *const [$atomic]) }
            }
        }
    )*};
}
shared!(u16 => AtomicU16, u32 => AtomicU32, u64 => AtomicU64, Row => AtomicRow);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn zeroed_returns_zeros_for_each_size() {
        for len in [0, 1, 1000, 3 << 20] {
            let array = zeroed::<u32>("a test", len).unwrap();
            assert_eq!(array.len(), len);
            assert!(array.iter().all(|&x| x == 0));
        }
    }

    #[test]
    fn impossible_size_returns_error() {
        let error = zeroed::<u64>("a test", usize::MAX / 4).unwrap_err();
        assert_eq!(error.what, "a test");
        assert!(error.to_string().contains("a test"));
    }

    #[test]
    fn shared_writes_are_visible_afterwards() {
        let mut array = vec![0u64; 4];
        array.shared()[2].store(9, Relaxed);
        assert_eq!(array, [0, 0, 9, 0]);
    }
}

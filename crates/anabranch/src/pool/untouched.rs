//! Arrays of atomics that take no memory before they are used, and can give it back.

#[cfg(all(unix, not(any(loom, shuttle, miri))))]
use crate::sys::memory::{Mapping, discard};
use std::ops::Deref;
#[cfg(all(unix, not(any(loom, shuttle, miri))))]
use std::slice;

/// See the [module](self).
pub(crate) struct Untouched<T> {
    places: Places<T>,
}

enum Places<T> {
    Allocated(Vec<T>),
    /// So many at the start of a mapping.
    #[cfg(all(unix, not(any(loom, shuttle, miri))))]
    Mapped(Mapping, usize),
}

// SAFETY: it owns its places, wherever they are.
unsafe impl<T: Send> Send for Untouched<T> {}
// SAFETY: a shared one gives out shared references to the places alone.
unsafe impl<T: Sync> Sync for Untouched<T> {}

impl<T: Default> Untouched<T> {
    /// No places.
    #[cfg(not(loom))]
    pub(crate) const fn none() -> Self {
        Self { places: Places::Allocated(Vec::new()) }
    }

    /// # Safety
    /// All bits zero are a `T`, the default one, if its atomics are those of std; and a `T` needs no drop.
    pub(crate) unsafe fn new(len: usize) -> Self {
        if cfg!(any(loom, shuttle)) {
            return Self { places: Places::Allocated((0..len).map(|_| T::default()).collect()) };
        }
        #[cfg(all(unix, not(any(loom, shuttle, miri))))]
        if let Ok(mapping) = Mapping::new(len * size_of::<T>()) {
            return Self { places: Places::Mapped(mapping, len) };
        }
        // SAFETY: the caller's word.
        let places = unsafe { Box::<[T]>::new_zeroed_slice(len).assume_init() };
        Self { places: Places::Allocated(places.into_vec()) }
    }

    /// Gives the memory back to the system, where that is possible. The places stay, and are zero afterwards or as they were.
    ///
    /// # Safety
    /// Nobody minds when a place becomes zero, and none is written meanwhile.
    #[cfg(not(loom))]
    pub(crate) unsafe fn give_back(&self) {
        #[cfg(all(unix, not(any(shuttle, miri))))]
        if let Places::Mapped(mapping, _) = &self.places {
            // SAFETY: a mapping consists of whole pages, and for the rest the caller's word.
            unsafe { discard([mapping.range()]) };
        }
    }
}

impl<T> Deref for Untouched<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.places {
            Places::Allocated(places) => places,
            // SAFETY: so many were mapped, all zero at first, which is a `T` by the word of who made this.
            #[cfg(all(unix, not(any(loom, shuttle, miri))))]
            Places::Mapped(mapping, len) => unsafe { slice::from_raw_parts(mapping.start().cast(), *len) },
        }
    }
}

//! A substitute for memory maps on systems that do not use them: memory from the allocator.

use std::{
    alloc::{Layout, alloc, dealloc},
    io,
    ptr::NonNull,
};

/// Memory of this process, readable and writable. Freed when dropped.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    layout: Layout,
}

impl Mapping {
    /// Allocates `len` bytes at an address that is a multiple of `len`, a power of two that is not zero.
    pub(crate) fn aligned(len: usize, _is_huge: bool) -> io::Result<Self> {
        assert!(len > 0);
        let layout = Layout::from_size_align(len, len).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, layout })
    }

    /// Returns a pointer to the first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `aligned` has allocated it with this layout, and only this frees it, once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

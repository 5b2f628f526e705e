//! The allocator of programs that simulate.

use crate::{engine, lines::LINE};
use std::alloc::{GlobalAlloc, Layout, System};

/// An allocator whose blocks begin at cache lines, for `#[global_allocator]`. With another one, the distribution of
/// blocks over lines, and with it the times, would depend on what the process did before.
///
/// A new block is in the cache of the thread that has allocated it.
pub struct LineAllocator;

fn aligned(layout: Layout) -> Layout {
    // An error only for sizes that no allocator has either.
    layout.align_to(LINE).map_or(layout, |layout| layout.pad_to_align())
}

// SAFETY: all calls go to the system's allocator, with the same layout at both ends of a block's life.
unsafe impl GlobalAlloc for LineAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let layout = aligned(layout);
        // SAFETY: the caller passes a layout of at least one byte, and it did not get smaller.
        let block = unsafe { System.alloc(layout) };
        engine::with(|engine| engine.forget(block.addr(), layout.size()));
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller passes a block of `alloc` with its layout.
        unsafe { System.dealloc(block, aligned(layout)) };
    }
}

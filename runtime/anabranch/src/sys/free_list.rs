//! A free list of blocks of one size, which messages allocate and free often. A worker keeps a few of the blocks that
//! it has freed.
//!
//! One fiber reuses the block that another has freed, while it is still in the first-level cache. The allocator also
//! keeps a few blocks per size (glibc seven), but a burst takes more. Threads that are not workers keep none, because
//! nothing would free them.

use crate::sys::thread::thread_local;
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    cell::Cell,
    ptr,
};

/// The size of a block.
pub(crate) const SIZE: usize = 192;

/// The alignment of a block.
pub(crate) const ALIGN: usize = 16;

/// The number of blocks that a worker keeps: 6 KB.
const MOST: u32 = if cfg!(shuttle) { 1 } else { 32 };

const LAYOUT: Layout = match Layout::from_size_align(SIZE, ALIGN) {
    Ok(layout) => layout,
    Err(_) => panic!("the alignment is a power of two"),
};

/// A free block in the list. It begins with the address of the next one.
type Kept = *mut *mut u8;

thread_local! {
    static FIRST: Cell<Kept> = const { Cell::new(ptr::null_mut()) };
    /// How many more blocks the list can keep.
    static REMAINING: Cell<u32> = const { Cell::new(0) };
}

/// Returns an uninitialised block.
#[inline]
pub(crate) fn take() -> *mut u8 {
    let first = FIRST.get();
    if first.is_null() {
        return allocate();
    }
    // SAFETY: only this thread accesses the blocks that it keeps, and `free` has written the address of the next to the
    // start of each.
    FIRST.set(unsafe { first.read() }.cast());
    REMAINING.set(REMAINING.get() + 1);
    first.cast()
}

#[cold]
#[inline(never)]
fn allocate() -> *mut u8 {
    // SAFETY: the size of the layout is not zero.
    let block = unsafe { alloc(LAYOUT) };
    if block.is_null() {
        handle_alloc_error(LAYOUT);
    }
    block
}

/// Frees a block.
///
/// # Safety
/// The block is from [`take`], on any thread, and is not used any more.
#[inline]
pub(crate) unsafe fn free(block: *mut u8) {
    let remaining = REMAINING.get();
    if remaining == 0 {
        // SAFETY: the caller passes a block from `take`, which allocated it with this layout, and does not use it any
        // more.
        return unsafe { dealloc(block, LAYOUT) };
    }
    let block: Kept = block.cast();
    // SAFETY: the caller passes a block that is not used any more. It is large enough for an address, and aligned for
    // it.
    unsafe { block.write(FIRST.get().cast()) };
    FIRST.set(block);
    REMAINING.set(remaining - 1);
}

/// While this value exists, the thread keeps some of the blocks that it frees.
pub(crate) struct Keeping(());

/// Makes the thread keep some of the blocks that it frees. Calls do not nest.
pub(crate) fn keep() -> Keeping {
    REMAINING.set(MOST);
    Keeping(())
}

impl Drop for Keeping {
    fn drop(&mut self) {
        REMAINING.set(0);
        while !FIRST.get().is_null() {
            let block = take();
            REMAINING.set(0);
            // SAFETY: the block was just taken, and is not used.
            unsafe { free(block) };
        }
    }
}

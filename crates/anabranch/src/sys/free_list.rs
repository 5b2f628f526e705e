//! Blocks of memory of one size that come and go with the messages: a worker keeps a few of those that it has freed.
//!
//! What one fiber leaves behind another fills next, while it is still in the first cache. The allocator keeps a few of
//! a size, too (glibc seven), but a burst takes more. Threads that are no workers keep none: nobody would be there to
//! free them.

use crate::sys::thread::thread_local;
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    cell::Cell,
    ptr,
};

/// How large a block is.
pub(crate) const SIZE: usize = 192;

/// What it is aligned to.
pub(crate) const ALIGN: usize = 16;

/// How many a worker keeps: 6 KB.
const MOST: u32 = if cfg!(shuttle) { 1 } else { 32 };

const LAYOUT: Layout = match Layout::from_size_align(SIZE, ALIGN) {
    Ok(layout) => layout,
    Err(_) => panic!("the alignment is a power of two"),
};

/// A block that is kept. It begins with the address of the next.
type Kept = *mut *mut u8;

thread_local! {
    static FIRST: Cell<Kept> = const { Cell::new(ptr::null_mut()) };
    /// How many more can be kept.
    static ROOM: Cell<u32> = const { Cell::new(0) };
}

/// A block, which is not initialised.
#[inline]
pub(crate) fn take() -> *mut u8 {
    let first = FIRST.get();
    if first.is_null() {
        return allocate();
    }
    // SAFETY: kept blocks are this thread's alone, and begin with the address of the next.
    FIRST.set(unsafe { first.read() }.cast());
    ROOM.set(ROOM.get() + 1);
    first.cast()
}

#[cold]
#[inline(never)]
fn allocate() -> *mut u8 {
    // SAFETY: not of size zero.
    let block = unsafe { alloc(LAYOUT) };
    if block.is_null() {
        handle_alloc_error(LAYOUT);
    }
    block
}

/// Frees a block.
///
/// # Safety
/// By [`take`], on whatever thread, and nobody else has it.
#[inline]
pub(crate) unsafe fn free(block: *mut u8) {
    let room = ROOM.get();
    if room == 0 {
        // SAFETY: the caller's word.
        return unsafe { dealloc(block, LAYOUT) };
    }
    let block: Kept = block.cast();
    // SAFETY: the caller's word; it has room for an address, and is aligned for it.
    unsafe { block.write(FIRST.get().cast()) };
    FIRST.set(block);
    ROOM.set(room - 1);
}

/// For as long as this is there the thread keeps some.
pub(crate) struct Keeping(());

/// From here on the thread keeps some of the blocks that it frees. Once at a time.
pub(crate) fn keep() -> Keeping {
    ROOM.set(MOST);
    Keeping(())
}

impl Drop for Keeping {
    fn drop(&mut self) {
        ROOM.set(0);
        while !FIRST.get().is_null() {
            let block = take();
            ROOM.set(0);
            // SAFETY: just taken.
            unsafe { free(block) };
        }
    }
}

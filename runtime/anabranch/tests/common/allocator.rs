//! A global allocator that counts blocks and bytes, for each thread and for the process.
//!
//! A block that one thread allocates and another frees counts for both.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicI64, Ordering},
};

struct Counting;

static ALL_BYTES: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BLOCKS: Cell<i64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(blocks: i64, bytes: usize) {
    let bytes = blocks * bytes as i64;
    BLOCKS.set(BLOCKS.get() + blocks);
    BYTES.set(BYTES.get() + bytes);
    PEAK.set(PEAK.get().max(BYTES.get()));
    ALL_BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        count(1, layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same for `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-1, layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same for `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns how often this thread has allocated so far.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Returns how often `body` allocates on this thread.
pub fn allocations_of(body: impl FnOnce()) -> u64 {
    let before = allocations();
    body();
    allocations() - before
}

/// Returns how many blocks this thread has allocated and not freed.
pub fn blocks() -> i64 {
    BLOCKS.get()
}

/// Returns how many bytes all threads have allocated and not freed.
pub fn bytes_of_all() -> i64 {
    ALL_BYTES.load(Ordering::Relaxed)
}

/// Returns the peak number of bytes that `body` had allocated on this thread.
pub fn peak<R>(body: impl FnOnce() -> R) -> (R, usize) {
    let before = BYTES.get();
    PEAK.set(before);
    let result = body();
    (result, (PEAK.get() - before) as usize)
}

/// The growth of this thread's bytes since the creation of this value.
pub struct Since(i64);

impl Since {
    pub fn now() -> Self {
        Self(BYTES.get())
    }

    pub fn bytes(&self) -> isize {
        (BYTES.get() - self.0) as isize
    }
}

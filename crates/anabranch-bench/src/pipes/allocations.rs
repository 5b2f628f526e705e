//! How many allocations a message takes.
//!
//! They are counted in a run of its own, after the one that is timed, so that the counting takes no part in that.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, which counts when it is asked to. A program that counts makes it its global allocator.
pub struct Counting;

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_COUNTING.load(Relaxed) {
            COUNT.fetch_add(1, Relaxed);
        }
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's word.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The allocations of one more unit of `body`, which does so many: of what stays the same however many there are,
/// nothing is left.
pub fn each(units: u64, body: impl Fn(u64)) -> f64 {
    let count = |units| {
        COUNT.store(0, Relaxed);
        IS_COUNTING.store(true, Relaxed);
        body(units);
        IS_COUNTING.store(false, Relaxed);
        COUNT.load(Relaxed) as f64
    };
    let few = count(units);
    ((count(2 * units) - few) / units as f64).max(0.0)
}

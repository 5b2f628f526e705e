//! The number of allocations per message.
//!
//! They are counted in a separate run, after the timed one, so that the count does not affect the time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, which counts on request. A program that counts makes it its global allocator.
pub struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_COUNTING.load(Relaxed) {
            COUNT.fetch_add(1, Relaxed);
        }
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`, which is that of `System::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`, and `System` allocated the block.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Returns the allocations per unit of `body`, which makes the given number of units. Allocations that do not depend on
/// that number cancel out. Returns `None` if the program has another global allocator, which does not count.
pub fn each(units: u64, body: impl Fn(u64)) -> Option<f64> {
    let count = |body: &dyn Fn()| {
        COUNT.store(0, Relaxed);
        IS_COUNTING.store(true, Relaxed);
        body();
        IS_COUNTING.store(false, Relaxed);
        COUNT.load(Relaxed)
    };
    if count(&|| drop(black_box(Box::new(black_box(0u64))))) == 0 {
        return None;
    }
    let (few, twice) = (count(&|| body(units)), count(&|| body(2 * units)));
    Some((twice as f64 - few as f64).max(0.0) / units as f64)
}

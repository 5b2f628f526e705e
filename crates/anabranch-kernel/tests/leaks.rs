//! Operations that fail leak no memory. The allocator of this process counts bytes, so it runs no other test.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic;
use std::sync::atomic::{AtomicIsize, Ordering};

use anabranch::Pool;
use anabranch_kernel::{Queue, Vector, indices, kernel, sort_by_key};

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: each call is passed on to the system's allocator, and the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[kernel]
fn panic_at(number: u32, bad: u32) -> u32 {
    if number == bad { 1 / (number - bad) } else { number }
}

#[kernel]
fn add(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

#[kernel]
fn is_odd(number: u32) -> bool {
    number % 2 == 1
}

const LEN: usize = 100_000;

/// Lets each operation fail once, at an element that another thread may have.
fn fail(queue: &Queue, bad: u32) {
    let numbers = || panic_at::map(indices(LEN), bad);
    assert!(numbers().collect(queue).is_err());
    assert!(numbers().sum(queue).is_err());
    assert!(numbers().scan::<add>(queue, 0).is_err());
    assert!(numbers().exclusive_scan::<add>(queue, 0).is_err());
    assert!(numbers().histogram(queue, LEN).is_err());
    assert!(sort_by_key(queue, numbers(), indices(LEN)).is_err());
    assert!(anabranch::run(|cx| numbers().compact::<is_odd>(cx, queue)).is_err());
    let mut target = queue.zeroed(LEN).expect("the processor has memory");
    assert!(numbers().scatter(queue, indices(LEN), &mut target).is_err());
}

#[test]
fn failed_operations_leak_nothing() {
    panic::set_hook(Box::new(|_| {}));
    let queue = Queue::cpu();
    Pool::builder().threads(3).build().expect("a pool").install(|| {
        // The pool keeps what it needs for its work.
        (0..5).for_each(|round| fail(&queue, round * 9_999 + 7));
        let before = LIVE.load(Ordering::Relaxed);
        (0..20).for_each(|round| fail(&queue, round * 4_999 + 7));
        let grown = LIVE.load(Ordering::Relaxed) - before;
        assert!(grown < 4 * LEN.cast_signed() / 2, "{grown} bytes are leaked, or half a vector at least");
    });
}

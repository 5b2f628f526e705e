//! Operations that fail leak no memory. The allocator of this process counts bytes, so it runs no other test.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

use anabranch::{Cx, Pool, fiber::CancelHandle};
use anabranch_kernel::{Kernel, Map, Queue, Vector, indices, kernel, sort_by_key};

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

/// Cancels the scope of the operation at an element.
enum CancelAt {}

static SCOPE: Mutex<Option<CancelHandle>> = Mutex::new(None);

impl Kernel for CancelAt {
    type Params = (u32, u32);
    type Output = u32;
    const NAME: &'static str = "cancel_at";
    const PROGRAM: &'static [u8] = &[];

    fn call((number, bad): (u32, u32)) -> u32 {
        if number == bad {
            SCOPE.lock().unwrap().as_ref().expect("the operation has a scope").cancel();
        }
        number
    }
}

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

/// Cancels each operation once, at such an element. The operation may have looked for the last time before that.
fn cancel(queue: &Queue, bad: u32) {
    let numbers = || Map::<CancelAt, _>::new((indices(LEN), bad));
    let in_scope = |operation: &dyn Fn(&Cx<'_>)| {
        anabranch::run(|cx| {
            cx.cancellable(|cx, handle| {
                *SCOPE.lock().unwrap() = Some(handle);
                operation(cx);
            });
        });
    };
    in_scope(&|cx| drop(numbers().collect(queue.cancelled_by(cx))));
    in_scope(&|cx| drop(numbers().sum(queue.cancelled_by(cx))));
    in_scope(&|cx| drop(numbers().scan::<add>(queue.cancelled_by(cx), 0)));
    in_scope(&|cx| drop(numbers().exclusive_scan::<add>(queue.cancelled_by(cx), 0)));
    in_scope(&|cx| drop(numbers().histogram(queue.cancelled_by(cx), LEN)));
    in_scope(&|cx| drop(sort_by_key(queue.cancelled_by(cx), numbers(), indices(LEN))));
    in_scope(&|cx| drop(numbers().compact::<is_odd>(cx, queue)));
    in_scope(&|cx| {
        let mut target = queue.zeroed(LEN).expect("the processor has memory");
        let _ = numbers().scatter(queue.cancelled_by(cx), indices(LEN), &mut target);
    });
}

#[test]
fn failed_operations_leak_nothing() {
    panic::set_hook(Box::new(|_| {}));
    let queue = Queue::cpu();
    Pool::builder().threads(3).build().expect("a pool").install(|| {
        // The pool keeps what it needs for its work.
        (0..5).for_each(|round| {
            fail(&queue, round * 9_999 + 7);
            cancel(&queue, round * 9_999 + 7);
        });
        let before = LIVE.load(Ordering::Relaxed);
        (0..20).for_each(|round| {
            fail(&queue, round * 4_999 + 7);
            cancel(&queue, round * 4_999 + 7);
        });
        let grown = LIVE.load(Ordering::Relaxed) - before;
        assert!(grown < 4 * LEN.cast_signed() / 2, "{grown} bytes are leaked, or half a vector at least");
    });
}

//! The stacks of a worker's fibers, used and free.
//!
//! | state | where                               | memory                    | left by                              |
//! |-------|-------------------------------------|---------------------------|--------------------------------------|
//! | uncut | the end of the newest slab          | none                      | `take` -> out                        |
//! | out   | a [`FiberStack`] of a caller        | the pages it has touched  | `give_back` -> warm                  |
//! | warm  | the top of `free`                   | as before                 | `take` -> out; newer stacks -> cool    |
//! | cool  | below the warm stacks                 | its topmost page          | `take` -> out; newer stacks -> cold    |
//! | cold  | below the cool stacks                 | none but page tables      | `take` -> out; `trim`, if its slab is free -> unmapped |
//!
//! `free` is a stack itself: the stack that was returned last, and is still in the caches, is taken first. Only deep
//! entries return their pages to the system. So taking and returning stacks in turn makes no system call, however many
//! are free. Pages are returned for [`BATCH`] stacks at a time, because each call that frees a page interrupts all
//! other threads. Most fibers touch only the topmost page. Returning all the other pages is then cheap, and saves a
//! page fault when the stack is used again.
//!
//! A pool belongs to one worker, and has no lock. No fiber can run on freed memory: if a pool is dropped while one of
//! its stacks is in use, the process ends.

pub use crate::fiber::stack::error::StackError;

pub(crate) use crate::fiber::stack::config::StackConfig;

use crate::{
    fiber::stack::{
        overflow::{self, Guarded},
        slab::{Place, Slabs},
    },
    sys::{diagnostics, memory},
};
use corosensei::stack::{Stack, StackPointer};
use std::{
    array,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

/// The number of stacks whose pages are returned in one call.
const BATCH: usize = 128;

/// The number of free stacks that keep their memory when the pool is [trimmed](StackPool::trim).
const FLOOR: usize = 32;

/// A stack of a [`StackPool`]. The holder must give it back: a stack that is dropped still counts as out.
#[derive(Debug)]
#[must_use = "a stack that is not given back ends the process when its pool is dropped"]
pub(crate) struct FiberStack {
    place: Place,
    /// The number of the pool that owns the stack.
    pool: u64,
}

impl FiberStack {
    /// Returns the inaccessible addresses below the stack.
    pub(crate) fn guard(&self) -> Range<usize> {
        self.place.guard.clone()
    }

    /// Returns the number of whole-page bytes that a fiber can use; it can use a part of another page too.
    pub(crate) fn size(&self) -> usize {
        self.lower_pages().len()
    }

    /// Returns the record for the overflow handler, for a fiber that runs on this stack.
    pub(crate) fn guarded(&self, name: Option<&str>) -> Guarded {
        Guarded::new(self.guard(), self.size(), name)
    }

    fn lower_pages(&self) -> Range<usize> {
        self.place.guard.end..self.place.base - memory::page_size()
    }

    fn top_page(&self) -> Range<usize> {
        self.place.base - memory::page_size()..self.place.base
    }
}

// SAFETY: `Slabs::cut` has installed a guard, and guards are never removed. Between the guard and the base there are at
// least MIN_STACK_SIZE bytes of writable memory. The pool keeps their slab for as long as the stack is out. The limit
// is page-aligned, and the base is aligned to sixteen bytes. Each place has one value: `cut` returns it once, and
// afterwards it only moves to and from `free`.
unsafe impl Stack for FiberStack {
    #[inline]
    fn base(&self) -> StackPointer {
        StackPointer::new(self.place.base).expect("a stack lies above address zero")
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        StackPointer::new(self.place.guard.start).expect("no slab begins at address zero")
    }
}

/// The stacks of one worker. See the [module](self).
#[derive(Debug)]
pub(crate) struct StackPool {
    config: StackConfig,
    number: u64,
    /// The cold stacks, then the cool ones, then the warm ones. The newest is the last.
    free: Vec<FiberStack>,
    /// The index in `free` at which the cold stacks end, and that at which the cool ones end.
    cold: usize,
    cool: usize,
    slabs: Slabs,
}

impl StackPool {
    /// Creates a pool that has no stack yet.
    ///
    /// # Errors
    /// Fails when a stack of this size does not fit into the address space.
    pub(crate) fn new(config: StackConfig) -> Result<Self, StackError> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let slabs = Slabs::new(config.stack_size, config.guard_size, !config.without_guard_markers)?;
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { config, number, free: Vec::new(), cold: 0, cool: 0, slabs })
    }

    /// Returns the stack that was given back last, or else a new one. O(1). A new stack takes one or more system calls.
    ///
    /// # Errors
    /// Fails when no stack is free and the system has no address space or no mappings left for another.
    #[inline]
    pub(crate) fn take(&mut self) -> Result<FiberStack, StackError> {
        let Some(stack) = self.free.pop() else { return self.cut() };
        self.cool = self.cool.min(self.free.len());
        self.cold = self.cold.min(self.cool);
        Ok(stack)
    }

    /// Takes a stack back. Amortised O(1), with an occasional system call.
    ///
    /// # Panics
    /// Panics when the stack belongs to another pool.
    #[inline]
    pub(crate) fn give_back(&mut self, stack: FiberStack) {
        assert_eq!(stack.pool, self.number, "a stack goes back to the pool that it is of");
        self.free.push(stack);
        if self.free.len() - self.cool >= self.config.warm + BATCH {
            self.cool_down();
        }
    }

    /// Returns the memory of the free stacks to the system, except for that of the newest [`FLOOR`].
    pub(crate) fn trim(&mut self) {
        // SAFETY: the stacks in `free` were cut from these slabs. Their holders gave them back, so no code uses them.
        self.cold = unsafe { self.slabs.unmap_free(&mut self.free, |stack| &stack.place, self.cold) };
        let end = self.free.len().saturating_sub(FLOOR);
        for stack in self.free.get(self.cold..end).unwrap_or_default() {
            // SAFETY: these are whole pages of the slabs of this pool, and the stack is free.
            unsafe { memory::discard([stack.lower_pages(), stack.top_page()]) };
        }
        self.cold = self.cold.max(end);
        self.cool = self.cold;
        self.free.shrink_to_fit();
    }

    #[cold]
    fn cut(&mut self) -> Result<FiberStack, StackError> {
        if self.slabs.is_used_up() {
            overflow::install();
        }
        Ok(FiberStack { place: self.slabs.cut()?, pool: self.number })
    }

    /// Makes the oldest warm stacks cool, and the oldest cool stacks cold.
    #[cold]
    fn cool_down(&mut self) {
        let discard = |from: usize, pages: fn(&FiberStack) -> Range<usize>| {
            let batch = &self.free[from..][..BATCH];
            // SAFETY: these are whole pages of the slabs of this pool. The stacks are free, since their holders gave
            // them back, so no code uses the pages.
            unsafe { memory::discard::<BATCH>(array::from_fn(|index| pages(&batch[index]))) };
        };
        discard(self.cool, FiberStack::lower_pages);
        self.cool += BATCH;
        if self.cool - self.cold >= self.config.cool + BATCH {
            discard(self.cold, FiberStack::top_page);
            self.cold += BATCH;
        }
    }
}

impl Drop for StackPool {
    fn drop(&mut self) {
        let out = self.slabs.cut_so_far() - self.free.len();
        if out > 0 {
            // A fiber may run on these stacks, or another thread may have pointers into them.
            diagnostics::abort(format_args!("a worker ends while {out} of its fibers have not; aborting"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fiber::stack::child, sys::memory::probe};
    use corosensei::{Coroutine, CoroutineResult};
    use std::sync::Mutex;

    fn pool(warm: usize, cool: usize, without_guard_markers: bool) -> StackPool {
        StackPool::new(StackConfig { stack_size: 64 << 10, guard_size: 64 << 10, warm, cool, without_guard_markers })
            .unwrap()
    }

    /// Writes to every page.
    fn touch(stack: &FiberStack) {
        for address in (stack.guard().end..stack.base().get()).step_by(memory::page_size()) {
            // SAFETY: the address is on a stack on which no fiber runs.
            unsafe { (address as *mut u8).write(1) };
        }
    }

    fn give_all_back(pool: &mut StackPool, stacks: Vec<FiberStack>) {
        stacks.into_iter().for_each(|stack| pool.give_back(stack));
    }

    #[test]
    fn last_returned_stack_is_reused_first() {
        let mut pool = StackPool::new(StackConfig { stack_size: 256 << 10, ..StackConfig::default() }).unwrap();
        let stacks: Vec<_> = (0..20).map(|_| pool.take().unwrap()).collect();
        let bases: Vec<_> = stacks.iter().map(Stack::base).collect();
        give_all_back(&mut pool, stacks);
        let again: Vec<_> = (0..20).map(|_| pool.take().unwrap()).collect();
        assert!(again.iter().map(Stack::base).eq(bases.into_iter().rev()));
        assert_eq!(pool.slabs.cut_so_far(), 20);
        assert_eq!(again[0].size(), 256 << 10);
        give_all_back(&mut pool, again);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn long_idle_stacks_lose_memory_and_keep_guards() {
        for without_guard_markers in [false, true] {
            let mut pool = pool(3, 5, without_guard_markers);
            let stacks: Vec<_> = (0..500).map(|_| pool.take().unwrap()).collect();
            stacks.iter().for_each(touch);
            give_all_back(&mut pool, stacks);
            // Whenever 131 stacks were warm, 128 of them became cool: after 131, 259 and 387. Whenever 133 were cool,
            // 128 of them became cold: at the second and the third of these times.
            assert_eq!((pool.cold, pool.cool), (256, 384));
            let pages = |stack: &FiberStack| {
                (probe::resident_pages(stack.lower_pages()), probe::resident_pages(stack.top_page()))
            };
            let all = (64 << 10) / memory::page_size();
            for (index, stack) in pool.free.iter().enumerate() {
                let expected = match index {
                    0..256 => (0, 0),
                    256..384 => (0, 1),
                    _ => (all, 1),
                };
                assert_eq!(pages(stack), expected, "stack {index}");
                assert!(!probe::is_readable(stack.guard().start) && !probe::is_readable(stack.guard().end - 1));
            }
            // A page that was returned to the system is there again, zeroed, when it is touched.
            let stack = &pool.free[0];
            // SAFETY: no fiber runs on the stack.
            assert_eq!(unsafe { (stack.guard().end as *const u8).read() }, 0);
            // Stacks taken from the deep end count as warm when they come back.
            let stacks: Vec<_> = (0..490).map(|_| pool.take().unwrap()).collect();
            assert_eq!((pool.cold, pool.cool), (10, 10));
            give_all_back(&mut pool, stacks);
            assert_eq!((pool.free.len(), pool.slabs.cut_so_far()), (500, 500));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn alternating_take_and_return_keeps_memory() {
        let mut pool = pool(0, 0, false);
        let stacks: Vec<_> = (0..300).map(|_| pool.take().unwrap()).collect();
        give_all_back(&mut pool, stacks);
        let stack = pool.take().unwrap();
        touch(&stack);
        pool.give_back(stack);
        for _ in 0..1000 {
            let stack = pool.take().unwrap();
            assert_eq!(probe::resident_pages(stack.lower_pages()), (64 << 10) / memory::page_size());
            pool.give_back(stack);
        }
    }

    #[test]
    fn trimmed_pool_keeps_slabs_with_stacks_in_use() {
        for without_guard_markers in [false, true] {
            let mut pool = pool(64, 1024, without_guard_markers);
            let mut stacks: Vec<_> = (0..300).map(|_| pool.take().unwrap()).collect();
            // The slabs have 16, 32, 64, 128 and 256 stacks. The last one is not used up.
            let used = stacks.remove(16);
            touch(&used);
            give_all_back(&mut pool, stacks);
            pool.trim();
            assert_eq!(pool.slabs.cut_so_far(), 16 + 32 + 60);
            assert_eq!(pool.free.len(), 16 + 31 + 60);
            touch(&used);
            // The stacks that are left can be used, and so can new ones.
            let stacks: Vec<_> = (0..400).map(|_| pool.take().unwrap()).collect();
            stacks.iter().for_each(touch);
            give_all_back(&mut pool, stacks);
            pool.give_back(used);
            pool.trim();
            pool.trim();
            assert!(pool.free.len() == pool.slabs.cut_so_far() && pool.free.len() < 400);
        }
    }

    #[test]
    #[should_panic(expected = "a stack goes back to the pool that it is of")]
    fn stack_returns_to_its_own_pool() {
        // The stack stays out, so its pool must not be dropped when this test panics.
        static ONE: Mutex<Option<StackPool>> = Mutex::new(None);
        let mut other = pool(1, 1, false);
        let stack = ONE.lock().unwrap().insert(pool(1, 1, false)).take().unwrap();
        other.give_back(stack);
    }

    #[test]
    fn stack_pool_outlives_fibers() {
        let Some(_) = child::case() else {
            let child = child::run("fiber::stack::pool::tests::stack_pool_outlives_fibers", "drop");
            child::assert_killed(&child, &[libc::SIGABRT]);
            let text = child::error_text(&child);
            return assert!(text.contains("a worker ends while 2 of its fibers have not"), "{text}");
        };
        let mut pool = pool(1, 1, false);
        let _stacks = [pool.take().unwrap(), pool.take().unwrap()];
        drop(pool);
    }

    #[test]
    fn coroutines_reuse_stacks() {
        fn depth(n: u64) -> u64 {
            if std::hint::black_box(n) == 0 { 0 } else { 1 + depth(n - 1) }
        }
        for without_guard_markers in [false, true] {
            let mut pool = pool(1, 1, without_guard_markers);
            for round in 0..300_u64 {
                let stacks = [pool.take().unwrap(), pool.take().unwrap()];
                let mut fibers = stacks.map(|stack| {
                    Coroutine::with_stack(stack, move |yielder, n: u64| {
                        let first = depth(n % 100);
                        first + yielder.suspend(first)
                    })
                });
                for fiber in &mut fibers {
                    assert!(matches!(fiber.resume(round), CoroutineResult::Yield(n) if n == round % 100));
                }
                for mut fiber in fibers {
                    assert!(matches!(fiber.resume(1), CoroutineResult::Return(n) if n == round % 100 + 1));
                    pool.give_back(fiber.into_stack());
                }
            }
            assert_eq!(pool.slabs.cut_so_far(), 2);
        }
    }

    #[test]
    fn stack_is_reusable_after_panic() {
        let mut pool = pool(1, 1, false);
        let mut fiber = Coroutine::<(), (), (), _>::with_stack(pool.take().unwrap(), |_, ()| {
            std::panic::resume_unwind(Box::new(7))
        });
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fiber.resume(())));
        assert_eq!(panic.unwrap_err().downcast_ref::<i32>(), Some(&7));
        pool.give_back(fiber.into_stack());
        assert_eq!(pool.free.len(), 1);
    }
}

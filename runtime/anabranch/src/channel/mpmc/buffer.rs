//! The values of a shared channel: a queue of any length in blocks, or a queue of given length in one block used as a
//! ring.
//!
//! Values are never copied to a larger block. The longer the queue, the longer its next block, so it rarely calls the
//! allocator and has little more memory than it needs. It gives memory back as it drains.

use crate::{
    channel::dropping::drop_all,
    sys::carrier::{self, Carrier},
};
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    mem::MaybeUninit,
    ptr,
};

/// The size of a block in bytes if its values are small. An empty queue keeps one, and should be small.
const SMALL: usize = 104;

/// The size of the blocks of a long queue.
const LARGE: usize = 1 << 11;

/// Queues of a given length have all their memory from the beginning if it is no more than this many bytes.
const AT_ONCE: usize = 1 << 16;

/// The head of a block; its values follow it in memory.
#[repr(C)]
struct Block<T> {
    /// Null in the last block. In a ring, the block itself.
    next: *mut Block<T>,
    /// The number of values there is room for.
    capacity: u32,
    values: [MaybeUninit<T>; 0],
}

impl<T> Block<T> {
    /// Returns the number of values in a block of that many bytes.
    const fn fitting(bytes: usize) -> u32 {
        let fitting = bytes.saturating_sub(size_of::<Self>()) / if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        if cfg!(shuttle) || fitting < 3 { 3 } else { fitting as u32 }
    }

    fn layout(capacity: u32) -> Layout {
        let values = size_of::<T>().checked_mul(capacity as usize);
        let size = values.and_then(|values| values.checked_add(size_of::<Self>()));
        size.and_then(|size| Layout::from_size_align(size, align_of::<Self>()).ok())
            .expect("a few values are smaller than the address space")
    }

    fn new(capacity: u32) -> *mut Self {
        let layout = Self::layout(capacity);
        // SAFETY: not of size zero, and large enough for the head.
        unsafe {
            let block = alloc(layout).cast::<Self>();
            if block.is_null() {
                handle_alloc_error(layout);
            }
            block.write(Self { next: ptr::null_mut(), capacity, values: [] });
            block
        }
    }

    /// # Safety
    /// The block was made by `new` and is not used any more.
    unsafe fn free(this: *mut Self) {
        // SAFETY: the caller promises that `new` made the block, with this layout, and that it is not used any more.
        unsafe { dealloc(this.cast(), Self::layout((*this).capacity)) }
    }

    /// # Safety
    /// The block is alive, and has room for more than `index`.
    #[inline]
    unsafe fn at(this: *mut Self, index: u32) -> *mut T {
        // SAFETY: the values follow the head, which ends where their alignment wants it.
        unsafe { (&raw mut (*this).values).cast::<T>().add(index as usize) }
    }
}

/// First in, first out. See the [module](self).
///
/// The values lie from `head` in the block `first` to `tail` in the block `last`. An empty queue has no block, or one.
pub(crate) struct Buffer<T> {
    first: *mut Block<T>,
    last: *mut Block<T>,
    len: usize,
    head: u32,
    tail: u32,
    /// Of the first block and of the last; zero where there is none.
    first_capacity: u32,
    last_capacity: u32,
}

// SAFETY: the blocks are the queue's own.
unsafe impl<T: Send> Send for Buffer<T> {}

impl<T> Buffer<T> {
    /// Creates a queue for at most `capacity` values at a time. `None` and zero mean any number.
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let mut buffer = Self {
            first: ptr::null_mut(),
            last: ptr::null_mut(),
            len: 0,
            head: 0,
            tail: 0,
            first_capacity: 0,
            last_capacity: 0,
        };
        if let Some(capacity) = capacity
            && (1..=AT_ONCE / size_of::<T>().max(1)).contains(&capacity)
        {
            let ring = Block::new(capacity as u32);
            // SAFETY: just made.
            unsafe { (*ring).next = ring };
            (buffer.first, buffer.last) = (ring, ring);
            (buffer.first_capacity, buffer.last_capacity) = (capacity as u32, capacity as u32);
        }
        buffer
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn is_ring(&self) -> bool {
        // SAFETY: the first block, if there is one, is alive.
        unsafe { self.first.as_ref() }.is_some_and(|first| ptr::eq(first.next, self.first))
    }

    #[inline]
    pub(crate) fn push_back<V: Carrier<T>>(&mut self, value: V) {
        if self.tail == self.last_capacity {
            self.extend();
        }
        // SAFETY: there is a last block, with room at `tail`.
        unsafe { carrier::write(value, Block::at(self.last, self.tail)) };
        self.tail += 1;
        self.len += 1;
    }

    #[cold]
    fn extend(&mut self) {
        self.tail = 0;
        if self.is_ring() {
            return assert!(self.len < self.last_capacity as usize, "no more values than there is room for");
        }
        let wanted = u32::try_from(self.len / 8).unwrap_or(u32::MAX);
        self.last_capacity = wanted.clamp(Block::<T>::fitting(SMALL), Block::<T>::fitting(LARGE));
        let block = Block::new(self.last_capacity);
        // SAFETY: the last block, if there is one, is alive.
        match unsafe { self.last.as_mut() } {
            Some(last) => last.next = block,
            None => (self.first, self.first_capacity) = (block, self.last_capacity),
        }
        self.last = block;
    }

    #[inline]
    pub(crate) fn pop_front<V: Carrier<T>>(&mut self) -> Option<V> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: there is a first block, with a value at `head`.
        let value = unsafe { V::read(Block::at(self.first, self.head)) };
        self.head += 1;
        self.len -= 1;
        if self.len == 0 {
            // The queue restarts in the same block, which is in the caches.
            self.head = 0;
            self.tail = 0;
            if self.first_capacity > Block::<T>::fitting(SMALL) && !self.is_ring() {
                self.give_back();
            }
        } else if self.head == self.first_capacity {
            self.leave_block();
        }
        Some(value)
    }

    /// Called when all values of the first block have been taken.
    #[cold]
    fn leave_block(&mut self) {
        self.head = 0;
        if !self.is_ring() {
            let left = self.first;
            // SAFETY: made by `extend`, and out of the queue after this. There are values, so there is a next block.
            unsafe {
                self.first = (*left).next;
                self.first_capacity = (*self.first).capacity;
                Block::free(left);
            }
        }
    }

    /// Frees the only block of an empty queue, if there is one.
    #[cold]
    fn give_back(&mut self) {
        let only = std::mem::replace(&mut self.first, ptr::null_mut());
        (self.last, self.first_capacity, self.last_capacity) = (ptr::null_mut(), 0, 0);
        if !only.is_null() {
            // SAFETY: made by `Block::new`, and out of the queue.
            unsafe { Block::free(only) };
        }
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let dropped = drop_all(|| self.pop_front::<T>());
        self.give_back();
        dropped.finish();
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// Values of any size, that are dropped once.
    fn check<T: Clone + PartialEq + std::fmt::Debug>(capacity: Option<usize>, steps: &[u8], make: impl Fn(usize) -> T) {
        let mut buffer = Buffer::new(capacity);
        let mut model = VecDeque::new();
        for (n, step) in steps.iter().enumerate() {
            let times = [1, 1, 40, 1, 45, 400][usize::from(*step)];
            for n in n..n + times {
                if matches!(step, 0..=2 | 5) {
                    if capacity.is_none_or(|capacity| model.len() < capacity) {
                        buffer.push_back(make(n));
                        model.push_back(make(n));
                    }
                } else {
                    assert_eq!(buffer.pop_front(), model.pop_front());
                }
            }
            assert_eq!(buffer.len(), model.len());
            assert!(!model.is_empty() || buffer.first == buffer.last);
        }
    }

    proptest! {
        #[test]
        fn buffer_behaves_like_queue(steps in proptest::collection::vec(0..6_u8, 0..300)) {
            for capacity in [None, Some(0), Some(1), Some(7), Some(128)] {
                let capacity = capacity.filter(|&capacity| capacity > 0);
                check(capacity, &steps, Box::new);
                check(capacity, &steps, |_| ());
                check(capacity, &steps, |n| [n as u8; 3]);
            }
            check(Some(1 << 20), &steps, |n| [n; 20]);
        }
    }
}

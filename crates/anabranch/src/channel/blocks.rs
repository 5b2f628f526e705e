//! A queue of any length in blocks: nothing is ever copied to a larger place, and memory is given back as the queue drains.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    mem::MaybeUninit,
    ptr,
};

/// How large a block is, in bytes, if its values are small: an empty queue keeps one, and ought to be small.
const BLOCK: usize = 112;

/// The head of a block; its values follow it in memory.
#[repr(C)]
struct Block<T> {
    next: *mut Block<T>,
    values: [MaybeUninit<T>; 0],
}

impl<T> Block<T> {
    /// How many values there are in one.
    const LEN: usize = {
        let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        let fitting = BLOCK.saturating_sub(size_of::<Self>()) / size;
        if cfg!(shuttle) || fitting < 4 { 4 } else { fitting }
    };

    const LAYOUT: Layout = {
        let size = size_of::<Self>() + Self::LEN * size_of::<T>();
        match Layout::from_size_align(size, align_of::<Self>()) {
            Ok(layout) => layout,
            Err(_) => panic!("values are smaller than the address space"),
        }
    };

    /// # Safety
    /// The block is alive, and there is no value at `index`, or it is not touched.
    #[inline]
    unsafe fn at(this: *mut Self, index: usize) -> *mut T {
        // SAFETY: the values follow the head, which ends where their alignment wants it.
        unsafe { (&raw mut (*this).values).cast::<T>().add(index) }
    }
}

/// First in, first out. See the [module](self).
///
/// The values lie from `head` in the block `first` to `tail` in the block `last`. An empty queue has no block, or one.
pub(crate) struct Blocks<T> {
    first: *mut Block<T>,
    last: *mut Block<T>,
    head: usize,
    tail: usize,
    len: usize,
}

// SAFETY: the blocks are the queue's own.
unsafe impl<T: Send> Send for Blocks<T> {}

impl<T> Blocks<T> {
    pub(crate) const fn new() -> Self {
        Self { first: ptr::null_mut(), last: ptr::null_mut(), head: 0, tail: Block::<T>::LEN, len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.tail == Block::<T>::LEN {
            self.extend();
        }
        // SAFETY: there is a last block, with room at `tail`.
        unsafe { Block::at(self.last, self.tail).write(value) };
        self.tail += 1;
        self.len += 1;
    }

    #[cold]
    fn extend(&mut self) {
        // SAFETY: not of size zero. `next` is all that has to be initialised; the last block, if there is one, is the queue's.
        unsafe {
            let block = alloc(Block::<T>::LAYOUT).cast::<Block<T>>();
            if block.is_null() {
                handle_alloc_error(Block::<T>::LAYOUT);
            }
            (&raw mut (*block).next).write(ptr::null_mut());
            match self.last.as_mut() {
                Some(last) => last.next = block,
                None => {
                    self.first = block;
                    self.head = 0;
                }
            }
            self.last = block;
        }
        self.tail = 0;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: there is a first block, with a value at `head`.
        let value = unsafe { Block::at(self.first, self.head).read() };
        self.head += 1;
        self.len -= 1;
        if self.len == 0 {
            // Begins anew in the same block.
            self.head = 0;
            self.tail = 0;
        } else if self.head == Block::<T>::LEN {
            self.leave_block();
        }
        Some(value)
    }

    /// All values of the first block have been taken.
    #[cold]
    fn leave_block(&mut self) {
        let left = self.first;
        // SAFETY: allocated by `extend`, and out of the queue after this.
        unsafe {
            self.first = (*left).next;
            dealloc(left.cast(), Block::<T>::LAYOUT);
        }
        self.head = 0;
    }
}

impl<T> Drop for Blocks<T> {
    fn drop(&mut self) {
        struct Rest<'a, T>(&'a mut Blocks<T>);
        // Goes on where the drop of a value has panicked.
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                while self.0.pop_front().is_some() {}
                if !self.0.first.is_null() {
                    self.0.leave_block();
                }
            }
        }
        let rest = Rest(self);
        while rest.0.pop_front().is_some() {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn blocks_are_a_queue(steps in proptest::collection::vec(0..5_u8, 0..300)) {
            let mut blocks = Blocks::new();
            let mut model = VecDeque::new();
            for (n, step) in steps.into_iter().enumerate() {
                let value = Box::new(n);
                match step {
                    0 | 1 => {
                        blocks.push_back(value.clone());
                        model.push_back(value);
                    }
                    2 => for _ in 0..40 {
                        blocks.push_back(value.clone());
                        model.push_back(value.clone());
                    },
                    3 => prop_assert_eq!(blocks.pop_front(), model.pop_front()),
                    _ => for _ in 0..45 {
                        prop_assert_eq!(blocks.pop_front(), model.pop_front());
                    },
                }
                prop_assert_eq!(blocks.len(), model.len());
                prop_assert!(!model.is_empty() || blocks.first == blocks.last);
            }
        }
    }
}

//! Blocks that other threads free: they return to the store, unless the store has ended.

use super::explore;
use crate::{fiber::task_alloc::Store, sys::sync::Arc};
use loom::{cell::UnsafeCell, thread};
use std::alloc::Layout;

const LAYOUT: Layout = Layout::new::<UnsafeCell<u32>>();

/// A block. The thread that has it writes to it, and loom reports unordered writes.
struct Block(*mut UnsafeCell<u32>);

// SAFETY: a block is its holder's.
unsafe impl Send for Block {}

impl Block {
    fn take(store: *mut Store, layout: Layout) -> Self {
        // SAFETY: the model's owner calls this. The block is large enough, and the caller's.
        unsafe {
            let block: *mut UnsafeCell<u32> = Store::take(store, layout).expect("there is memory").cast();
            block.write(UnsafeCell::new(0));
            Self(block)
        }
    }

    fn touch(&self) {
        // SAFETY: the block is the caller's; loom reports it if it is another's too.
        unsafe { (*self.0).with_mut(|value| *value += 1) };
    }

    fn free(self, own: *const Store) {
        // SAFETY: taken from a store, and not used any more.
        unsafe {
            self.0.drop_in_place();
            Store::free(own, self.0.cast());
        }
    }
}

#[test]
fn models_task_alloc_free_while_owner_ends() {
    explore("pages, freed while the owner leaves", None, || {
        let store = Store::new();
        let (mine, lent) = (Block::take(store, LAYOUT), Block::take(store, LAYOUT));
        let other = thread::spawn(move || {
            lent.touch();
            lent.free(std::ptr::null());
        });
        mine.touch();
        mine.free(store);
        // SAFETY: the model's owner.
        unsafe { Store::leave(store) };
        other.join().unwrap();
    });
}

#[test]
fn models_task_alloc_two_free_after_owner_ended() {
    explore("pages, freed by two", None, || {
        let store = Store::new();
        let others = [(); 2].map(|()| {
            let lent = Block::take(store, LAYOUT);
            thread::spawn(move || lent.free(std::ptr::null()))
        });
        // SAFETY: the model's owner.
        unsafe { Store::leave(store) };
        for other in others {
            other.join().unwrap();
        }
    });
}

#[test]
fn models_task_alloc_freed_blocks_return_to_owner() {
    explore("pages, blocks come back", None, || {
        let store = Store::new();
        let before = Arc::new(UnsafeCell::new(0));
        let others = [(); 2].map(|()| {
            let (lent, before) = (Block::take(store, LAYOUT), Arc::clone(&before));
            thread::spawn(move || {
                // SAFETY: as in `Block::touch`.
                before.with(|before| unsafe { assert_eq!(*before, 0) });
                drop(before);
                lent.free(std::ptr::null());
            })
        });
        // The first block of another size: what others have freed is found.
        let large = Block::take(store, Layout::from_size_align(200, 8).unwrap());
        let again = Block::take(store, LAYOUT);
        again.touch();
        again.free(store);
        large.free(store);
        for other in others {
            other.join().unwrap();
        }
        // SAFETY: the model's owner.
        unsafe { Store::leave(store) };
    });
}

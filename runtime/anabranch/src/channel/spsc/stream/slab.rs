//! The memory of a stream: slabs, which are arrays of slots.

use crate::{
    sys::{
        free_list,
        sync::{AtomicPtr, Cell, Ordering},
    },
    wait::state_word::{Content, Word, number},
};
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    cell::UnsafeCell,
    mem::MaybeUninit,
    ptr,
};

pub(crate) const EMPTY: Content = number(0);
pub(crate) const FULL: Content = number(1);
pub(crate) const END: Content = number(2);

/// The size in bytes of the first slab of an unbounded stream, if its values are small.
const SLAB: usize = free_list::SIZE;

/// The largest size in bytes of later slabs, if the values are small and the receiver is on another thread. If one
/// thread allocates memory and another frees it, both use a lock of the allocator, and wait for each other. With slabs
/// of 200 bytes a message took 45 ns, with this size 12 ns.
const LARGE_SLAB: usize = 4080;

/// The smallest number of slots of a slab.
const MIN_SLOTS: usize = if cfg!(any(loom, shuttle)) { 2 } else { 4 };

pub(crate) struct Slot<T> {
    pub(crate) word: Word,
    pub(crate) value: UnsafeCell<MaybeUninit<T>>,
}

/// The head of a slab. The slots follow it in memory.
#[repr(C)]
pub(crate) struct Slab<T> {
    pub(crate) next: AtomicPtr<Slab<T>>,
    pub(crate) len: usize,
    /// Accessed by the end that advances from this slab and by the end that frees it, so that loom checks the order of
    /// the two.
    pub(crate) life: Cell<()>,
    slots: [Slot<T>; 0],
}

impl<T> Slab<T> {
    /// The number of slots of the first slab of an unbounded stream.
    pub(crate) const LEN: usize = {
        let fitting = Self::fitting(SLAB);
        if cfg!(any(loom, shuttle)) || fitting < MIN_SLOTS { MIN_SLOTS } else { fitting }
    };

    /// The largest number of slots of a slab of an unbounded stream.
    pub(crate) const MOST: usize = {
        let fitting = Self::fitting(LARGE_SLAB);
        match fitting {
            _ if cfg!(any(loom, shuttle)) => 2 * Self::LEN,
            few if few < Self::LEN => Self::LEN,
            _ => fitting,
        }
    };

    const fn fitting(bytes: usize) -> usize {
        bytes.saturating_sub(size_of::<Self>()) / size_of::<Slot<T>>()
    }

    /// Returns whether a slab with this many slots fits a block of [`free_list`].
    #[inline]
    fn is_block(len: usize) -> bool {
        let fits = const {
            size_of::<Self>() + Self::LEN * size_of::<Slot<T>>() <= free_list::SIZE
                && align_of::<Self>() <= free_list::ALIGN
        };
        fits && len == Self::LEN
    }

    fn layout(len: usize) -> Layout {
        let slots = Layout::array::<Slot<T>>(len);
        let whole = slots.and_then(|slots| Layout::new::<Self>().extend(slots));
        whole.expect("a channel is smaller than the address space").0
    }

    pub(crate) fn new(len: usize) -> *const Self {
        // SAFETY: the layout is not of size zero, and everything except the values is initialised.
        unsafe {
            let slab = if Self::is_block(len) { free_list::take() } else { Self::allocate(len) }.cast::<Self>();
            slab.write(Self { next: AtomicPtr::new(ptr::null_mut()), len, life: Cell::new(()), slots: [] });
            let clear = |index| {
                let slot = (&raw mut (*slab).slots).cast::<Slot<T>>().add(index);
                (&raw mut (*slot).word).write(Word::new(EMPTY));
            };
            // Most slabs have this length, which the compiler knows.
            if len == Self::LEN {
                (0..Self::LEN).for_each(clear)
            } else {
                (0..len).for_each(clear)
            }
            slab
        }
    }

    fn allocate(len: usize) -> *mut u8 {
        let layout = Self::layout(len);
        // SAFETY: the layout is not of size zero.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            // Larger slabs are those of streams whose capacity the program has chosen.
            assert!(layout.size() <= LARGE_SLAB, "there is no memory for a stream of {len} values");
            handle_alloc_error(layout);
        }
        memory
    }

    /// # Safety
    /// The slab is alive.
    #[inline]
    pub(crate) unsafe fn first(this: *const Self) -> *const Slot<T> {
        // SAFETY: the slots follow the head in one allocation. The field `slots` ends the head and has their alignment.
        unsafe { (&raw const (*this).slots).cast() }
    }

    /// Frees a slab and all slabs that are linked to it. Does nothing if `this` is null.
    ///
    /// # Safety
    /// For each slab the contract of [`free`](Self::free) holds.
    pub(crate) unsafe fn free_all(mut this: *const Self) {
        // SAFETY: the caller ensures that each slab is alive, has no values, and is unknown to other threads.
        unsafe {
            while !this.is_null() {
                let next = (*this).next.load(Ordering::Relaxed);
                Self::free(this);
                this = next;
            }
        }
    }

    /// # Safety
    /// The slab is alive, no other thread knows of it, and it holds no value.
    pub(crate) unsafe fn free(this: *const Self) {
        // SAFETY: the caller ensures that the slab is alive, has no values, and is unknown to other threads. loom's
        // words must be dropped.
        unsafe {
            (*this).life.set(());
            let len = (*this).len;
            for index in 0..len {
                ptr::drop_in_place((&raw const (*Self::first(this).add(index)).word).cast_mut());
            }
            ptr::drop_in_place(this.cast_mut());
            if Self::is_block(len) {
                free_list::free(this.cast_mut().cast());
            } else {
                dealloc(this.cast_mut().cast(), Self::layout(len));
            }
        }
    }
}

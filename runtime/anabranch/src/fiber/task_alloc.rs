//! Memory for the blocks of spawned fibers: pages of blocks of one size, which belong to a worker.
//!
//! A million unstarted fibers are a million small blocks, most of which one worker both makes and frees. So each worker
//! has its own [`Store`], and takes and frees blocks without a lock and without a read-modify-write. (The idea comes
//! from mimalloc's pages; Leijen, Zorn, de Moura 2019.) A page is aligned to its size, so the address of a block
//! determines its page. A page has a list of free blocks, and at its end a part that was never used. A page whose
//! blocks are all free is returned to the system, except for a few spare pages.
//!
//! Another thread that frees a block pushes it onto the store's list `freed`, a Treiber stack (1986). Only the owner
//! takes from it, and always takes everything, when a page is used up.
//!
//! A handle may outlive the pool. So if blocks are still in use when the owner of a store ends, the threads that free
//! these blocks also free the store:
//!
//! | `freed`  | meaning                                            | left by                              |
//! |----------|----------------------------------------------------|--------------------------------------|
//! | a list   | blocks that other threads have freed               | a push; the owner takes all -> null; `leave` -> LEFT |
//! | LEFT     | the owner is gone; each page counts its blocks in `left`, and the store its pages | |
//!
//! The thread that frees the last block of a page that was left gives the page back. The thread that gives back the
//! last page frees the store.
//!
//! Orderings: a push releases and the owner acquires, so reuse of a block comes after its last use. `leave` writes the
//! counts before it releases LEFT, and a thread that finds LEFT acquires it. Each decrement releases, and the last
//! decrement acquires.

use crate::{
    fiber::task_region::{self, PAGE},
    sys::sync::{AtomicPtr, AtomicU64, Cell, Ordering},
};
use std::{alloc::Layout, ptr};

/// The step between the sizes of blocks, and their alignment.
const STEP: usize = if cfg!(loom) { 128 } else { 16 };

const _: () = assert!(size_of::<Free>() <= STEP);

/// The size of the largest blocks in pages. Larger blocks come from the heap.
const MOST: usize = 256;

const CLASSES: usize = MOST / STEP;

/// The number of empty pages that a store keeps.
const SPARE: usize = if cfg!(loom) { 0 } else { 4 };

const LEFT: *mut Free = ptr::without_provenance_mut(1);

/// The content of a free block.
struct Free {
    next: Cell<*mut Free>,
}

/// See the [module](self). Only the owner accesses the fields other than `freed` and `left`.
pub(crate) struct Store {
    /// For each size, the page from which blocks are taken, and the other pages with free blocks.
    classes: [Class; CLASSES],
    /// All pages.
    pages: Cell<*mut Page>,
    spare: Cell<*mut Page>,
    spares: Cell<usize>,
    freed: AtomicPtr<Free>,
    /// The number of pages that were left, plus one while the owner leaves.
    left: AtomicU64,
}

struct Class {
    current: Cell<*mut Page>,
    open: Cell<*mut Page>,
}

/// The head of a page. Only the owner accesses the fields other than `left`, except `store`, which is only read.
#[repr(C)]
struct Page {
    store: *const Store,
    size: usize,
    free: Cell<*mut Free>,
    /// The beginning of the part that was never used.
    fresh: Cell<usize>,
    /// The number of blocks that are in use, or that other threads have freed and the owner has not collected.
    used: Cell<u64>,
    /// Whether it is the current one of its class or among the open ones.
    is_listed: Cell<bool>,
    next_open: Cell<*mut Page>,
    /// The cell that refers to it in the list of open pages.
    open_from: Cell<*const Cell<*mut Page>>,
    /// The neighbours among all pages of the store.
    next: Cell<*mut Page>,
    previous: Cell<*mut Page>,
    left: AtomicU64,
}

/// Returns whether blocks of this layout are allocated in pages.
pub(crate) const fn suits(layout: Layout) -> bool {
    layout.size() <= MOST && layout.align() <= STEP
}

/// The offset of the first block in a page.
const BEGIN: usize = size_of::<Page>().next_multiple_of(STEP);

/// # Safety
/// The block is one of a page.
unsafe fn page_of(block: *mut u8) -> *mut Page {
    block.map_addr(|address| address & !(PAGE - 1)).cast()
}

impl Store {
    pub(crate) fn new() -> *mut Self {
        Box::into_raw(Box::new(Self {
            classes: [(); CLASSES]
                .map(|()| Class { current: Cell::new(ptr::null_mut()), open: Cell::new(ptr::null_mut()) }),
            pages: Cell::new(ptr::null_mut()),
            spare: Cell::new(ptr::null_mut()),
            spares: Cell::new(0),
            freed: AtomicPtr::new(ptr::null_mut()),
            left: AtomicU64::new(0),
        }))
    }

    // ---- the owner ----

    /// Takes a block of this layout, which suits pages. Returns `None` if the system has no memory.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn take(this: *const Self, layout: Layout) -> Option<*mut u8> {
        let class = layout.size().saturating_sub(1) / STEP;
        // SAFETY: the caller is the owner. A store keeps the pages of its classes alive, and only the owner accesses
        // them and their free blocks.
        unsafe {
            let page = (*this).classes[class].current.get();
            if let Some(head) = page.as_ref() {
                let free = head.free.get();
                if !free.is_null() {
                    head.free.set((*free).next.get());
                    head.used.set(head.used.get() + 1);
                    return Some(free.cast());
                }
                let fresh = head.fresh.get();
                if fresh + head.size <= PAGE {
                    head.fresh.set(fresh + head.size);
                    head.used.set(head.used.get() + 1);
                    return Some(page.cast::<u8>().add(fresh));
                }
            }
            Self::take_elsewhere(this, class, layout)
        }
    }

    #[cold]
    unsafe fn take_elsewhere(this: *const Self, class: usize, layout: Layout) -> Option<*mut u8> {
        // SAFETY: `take` calls this as the owner. A store keeps the pages of its classes alive, and only the owner
        // accesses them.
        unsafe {
            Self::collect(this);
            let Class { current, open } = &(*this).classes[class];
            // `collect` may have returned blocks to the page that was used up.
            if current.get().as_ref().is_none_or(|page| page.free.get().is_null()) {
                if let Some(page) = current.get().as_ref() {
                    page.is_listed.set(false);
                }
                let next = open.get();
                match next.as_ref() {
                    Some(page) => Class::close(page),
                    None => {
                        current.set(ptr::null_mut());
                        current.set(Self::add(this, (class + 1) * STEP)?);
                        return Self::take(this, layout);
                    }
                }
                current.set(next);
            }
            Self::take(this, layout)
        }
    }

    /// Adds a page of blocks of this size.
    unsafe fn add(this: *const Self, size: usize) -> Option<*mut Page> {
        // SAFETY: the caller is the owner. A spare or new page is in no other list, and only the owner accesses its
        // neighbours.
        unsafe {
            let mut page = (*this).spare.get();
            if page.is_null() {
                page = task_region::take()?.cast::<Page>();
            } else {
                (*this).spare.set((*page).next.get());
                (*this).spares.set((*this).spares.get() - 1);
            }
            let next = (*this).pages.replace(page);
            if let Some(next) = next.as_ref() {
                next.previous.set(page);
            }
            page.write(Page {
                store: this,
                size,
                free: Cell::new(ptr::null_mut()),
                fresh: Cell::new(BEGIN),
                used: Cell::new(0),
                is_listed: Cell::new(true),
                next_open: Cell::new(ptr::null_mut()),
                open_from: Cell::new(ptr::null()),
                next: Cell::new(next),
                previous: Cell::new(ptr::null_mut()),
                left: AtomicU64::new(0),
            });
            Some(page)
        }
    }

    /// Frees a block, from any thread. `own` is the store of the calling thread, or null.
    ///
    /// # Safety
    /// The block was taken from a store, and no thread uses it any more. The calling thread is the owner of `own`.
    #[inline]
    pub(crate) unsafe fn free(own: *const Self, block: *mut u8) {
        // SAFETY: the caller passes a block in use, which keeps its page and its store alive. The calling thread is the
        // owner of `own`.
        unsafe {
            let page = page_of(block);
            let store = (*page).store;
            if ptr::eq(store, own) { Self::free_here(store, page, block) } else { Self::free_elsewhere(store, block) }
        }
    }

    /// Returns a block to its page, as the owner: one that it frees, or one that other threads have freed.
    #[inline]
    unsafe fn free_here(this: *const Self, page: *mut Page, block: *mut u8) {
        // SAFETY: the caller is the owner of the page, and no thread uses the block any more.
        unsafe {
            let head = &*page;
            block.cast::<Free>().write(Free { next: Cell::new(head.free.get()) });
            head.free.set(block.cast());
            let used = head.used.get() - 1;
            head.used.set(used);
            if used == 0 || !head.is_listed.get() {
                Self::note_room(this, page);
            }
        }
    }

    /// Lists a page that has free blocks again, or retires a page that has only free blocks.
    #[cold]
    unsafe fn note_room(this: *const Self, page: *mut Page) {
        // SAFETY: `free_here` calls this as the owner of the page. Only the owner accesses the page and its lists.
        unsafe {
            let head = &*page;
            let class = &(*this).classes[head.size / STEP - 1];
            if head.used.get() > 0 {
                head.is_listed.set(true);
                class.add_open(page);
            } else if !ptr::eq(class.current.get(), page) {
                if head.is_listed.get() {
                    Class::close(head);
                }
                Self::retire(this, page);
            }
        }
    }

    /// Keeps an empty page as a spare, or gives it back.
    unsafe fn retire(this: *const Self, page: *mut Page) {
        // SAFETY: the caller is the owner. The page is only in the list of all pages, and none of its blocks is in use.
        unsafe {
            let (previous, next) = ((*page).previous.get(), (*page).next.get());
            match previous.as_ref() {
                Some(previous) => previous.next.set(next),
                None => (*this).pages.set(next),
            }
            if let Some(next) = next.as_ref() {
                next.previous.set(previous);
            }
            if (*this).spares.get() < SPARE {
                (*page).next.set((*this).spare.replace(page));
                (*this).spares.set((*this).spares.get() + 1);
            } else {
                give_back(page);
            }
        }
    }

    /// Takes back the blocks that other threads have freed.
    unsafe fn collect(this: *const Self) {
        // SAFETY: the blocks in the list are free, and only the owner, which calls this, takes from it.
        unsafe {
            if (*this).freed.load(Ordering::Relaxed).is_null() {
                return;
            }
            let mut block = (*this).freed.swap(ptr::null_mut(), Ordering::Acquire);
            while !block.is_null() {
                let next = (*block).next.get();
                Self::free_here(this, page_of(block.cast()), block.cast());
                block = next;
            }
        }
    }

    /// Ends the owner's use of the store. The store is freed once all blocks are free.
    ///
    /// # Safety
    /// The caller is the owner, and does not use the store any more.
    pub(crate) unsafe fn leave(this: *mut Self) {
        // SAFETY: the caller is the owner, and only the owner accesses the pages until LEFT is written. Afterwards the
        // counts keep the store and the counted pages alive until the last decrement.
        unsafe {
            Self::collect(this);
            let mut spare = (*this).spare.get();
            while !spare.is_null() {
                let next = (*spare).next.get();
                give_back(std::mem::replace(&mut spare, next));
            }
            let mut pages = 0;
            let mut page = (*this).pages.get();
            while !page.is_null() {
                let next = (*page).next.get();
                if (*page).used.get() == 0 {
                    give_back(page);
                } else {
                    pages += 1;
                    (*page).left.store((*page).used.get(), Ordering::Relaxed);
                }
                page = next;
            }
            (*this).left.store(pages + 1, Ordering::Relaxed);
            let mut block = (*this).freed.swap(LEFT, Ordering::AcqRel);
            while !block.is_null() {
                let next = (*block).next.get();
                Self::free_left(page_of(block.cast()));
                block = next;
            }
            Self::give_up_page(this);
        }
    }

    // ---- others ----

    #[cold]
    unsafe fn free_elsewhere(this: *const Self, block: *mut u8) {
        let free = block.cast::<Free>();
        // SAFETY: the block keeps the store alive until it is freed, and belongs to the caller until it is in the list.
        unsafe {
            let mut head = (*this).freed.load(Ordering::Acquire);
            free.write(Free { next: Cell::new(head) });
            while head != LEFT {
                (*free).next.set(head);
                match (*this).freed.compare_exchange_weak(head, free, Ordering::Release, Ordering::Acquire) {
                    Ok(_) => return,
                    Err(found) => head = found,
                }
            }
            Self::free_left(page_of(block));
        }
    }

    /// Counts down the blocks of a page that was left.
    unsafe fn free_left(page: *mut Page) {
        // SAFETY: the count of blocks keeps the page alive until the last decrement, and the count of pages the store.
        unsafe {
            if (*page).left.fetch_sub(1, Ordering::AcqRel) == 1 {
                let store = (*page).store.cast_mut();
                give_back(page);
                Self::give_up_page(store);
            }
        }
    }

    unsafe fn give_up_page(this: *mut Self) {
        // SAFETY: the count of pages keeps the store alive until the last decrement. The thread of that decrement is
        // the only one that accesses the store.
        unsafe {
            if (*this).left.fetch_sub(1, Ordering::AcqRel) == 1 {
                drop(Box::from_raw(this));
            }
        }
    }
}

impl Class {
    /// Adds a page to the open ones. The pointer is one to the whole page, not to its head alone: `take` derives
    /// pointers to blocks from it when the page is the current one.
    ///
    /// # Safety
    /// The caller is the owner of the page, which is not among the open ones.
    unsafe fn add_open(&self, page: *mut Page) {
        let next = self.open.replace(page);
        // SAFETY: the caller is the owner of the page, and only the owner accesses the pages in the list, which are
        // alive.
        unsafe {
            (*page).open_from.set(&raw const self.open);
            (*page).next_open.set(next);
            if let Some(next) = next.as_ref() {
                next.open_from.set(&raw const (*page).next_open);
            }
        }
    }

    /// Takes a page out of the open ones.
    unsafe fn close(page: &Page) {
        let (from, next) = (page.open_from.get(), page.next_open.get());
        // SAFETY: the caller is the owner, and the page is in the list. Only the owner accesses the pages in the list,
        // which are alive.
        unsafe {
            (*from).set(next);
            if let Some(next) = next.as_ref() {
                next.open_from.set(from);
            }
        }
    }
}

/// # Safety
/// The page is from `task_region::take`, and no thread uses it any more.
unsafe fn give_back(page: *mut Page) {
    // SAFETY: the caller passes a page of `task_region` that no thread uses any more.
    unsafe {
        page.drop_in_place();
        task_region::give_back(page.cast());
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{PAGE, STEP, Store};
    use std::{alloc::Layout, ptr};

    /// The owner and another thread free blocks, before the owner has left and afterwards. For Miri.
    #[test]
    fn blocks_of_page_with_room_are_reused() {
        const LAYOUT: Layout = Layout::new::<[u64; 32]>();
        let store = Store::new();
        let take = || {
            // SAFETY: this thread is the owner.
            let block = unsafe { Store::take(store, LAYOUT) }.expect("there is memory").cast::<[u64; 32]>();
            // SAFETY: the block is large enough, aligned to `STEP`, and only this thread uses it.
            unsafe { block.write([1; 32]) };
            block
        };
        const { assert!(LAYOUT.align() <= STEP) };
        // Two pages are used up.
        let mut blocks: Vec<_> = (0..2 * (PAGE / LAYOUT.size())).map(|_| take()).collect();
        // SAFETY: each was taken and is freed once; the owner does not use the store after it has left.
        unsafe {
            let free = |blocks: &mut Vec<*mut [u64; 32]>, own: *const Store| {
                let block = blocks.remove(0);
                assert_eq!(*block, [1; 32]);
                Store::free(own, block.cast());
            };
            free(&mut blocks, store);
            // As another thread does.
            free(&mut blocks, ptr::null());
            blocks.extend([take(), take(), take()]);
            for _ in 0..blocks.len() / 2 {
                free(&mut blocks, store);
            }
            blocks.push(take());
            Store::leave(store);
            while !blocks.is_empty() {
                free(&mut blocks, ptr::null());
            }
        }
    }
}

//! Pages for the models and Miri: each comes from the heap.

use super::PAGE;
use std::alloc::{Layout, alloc, dealloc};

const LAYOUT: Layout = match Layout::from_size_align(PAGE, PAGE) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

pub(crate) fn take() -> Option<*mut u8> {
    // SAFETY: of some size.
    Some(unsafe { alloc(LAYOUT) })
}

pub(crate) unsafe fn give_back(page: *mut u8) {
    // SAFETY: from `take`, and not used any more.
    unsafe { dealloc(page, LAYOUT) };
}

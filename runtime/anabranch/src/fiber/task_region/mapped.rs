//! Where pages come from: regions of memory straight from the system, shared by all workers of the process.
//!
//! Empty regions are unmapped, except for one. The first region consists of ordinary pages of memory. A program that
//! needs more regions has millions of fibers, and then each huge page, where the system has them, saves hundreds of
//! page faults.

use super::PAGE;
use crate::sys::memory::Mapping;
use std::sync::Mutex;

/// The size of a region, and what its address is a multiple of: a huge page.
const REGION: usize = 2 << 20;

/// A bit for each page of a region.
const ALL: u32 = u32::MAX;

const _: () = assert!(REGION / PAGE == ALL.count_ones() as usize);

struct Region {
    _mapping: Mapping,
    start: *mut u8,
    /// Which pages are free.
    free: u32,
}

// SAFETY: the pointer is to memory of the process, which any thread may use and unmap.
unsafe impl Send for Region {}

/// Those with free pages are found from the end, where the newest are.
static REGIONS: Mutex<Vec<Region>> = Mutex::new(Vec::new());

/// Takes a page, whose content is arbitrary. Returns `None` if the system has no memory.
pub(crate) fn take() -> Option<*mut u8> {
    let mut regions = locked();
    let region = match regions.iter_mut().position(|region| region.free > 0) {
        Some(index) => &mut regions[index],
        None => {
            let new = Region::new(!regions.is_empty())?;
            regions.push(new);
            regions.last_mut().expect("just pushed")
        }
    };
    let index = region.free.trailing_zeros();
    region.free &= !(1 << index);
    // SAFETY: a region has a page for each bit, so the address is within the region.
    Some(unsafe { region.start.add(index as usize * PAGE) })
}

/// # Safety
/// The page is from `take`, and no thread uses it any more.
pub(crate) unsafe fn give_back(page: *mut u8) {
    let mut regions = locked();
    let start = page.addr() & !(REGION - 1);
    let index = regions.iter().position(|region| region.start.addr() == start).expect("a page is in a region");
    let region = &mut regions[index];
    region.free |= 1 << ((page.addr() - start) / PAGE);
    let is_other_empty = |other: &Region| other.free == ALL && other.start.addr() != start;
    if region.free == ALL && regions.iter().any(is_other_empty) {
        let region = regions.swap_remove(index);
        drop(regions);
        drop(region);
    }
}

fn locked() -> std::sync::MutexGuard<'static, Vec<Region>> {
    REGIONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Region {
    fn new(is_huge: bool) -> Option<Self> {
        let mapping = Mapping::aligned(REGION, is_huge).ok()?;
        let start = mapping.start();
        Some(Self { _mapping: mapping, start, free: ALL })
    }
}

//! Slabs: the memory from which the stacks of fibers are cut.
//!
//! A *slab* is one mapping with many stacks, each above its own guard:
//!
//! ```text
//! | guard | stack ........... | guard | stack ........... | ...
//! ^ limit ^ floor      base ^ ^ limit of the next
//! ```
//!
//! A stack grows from its base down to its floor. Compiled Rust touches every page in order, so one page below the
//! floor would stop it. C code may touch a large frame anywhere. So a guard is larger than the frames of nearly all
//! functions (`config` has the default). Otherwise a large frame would reach into the stack below.
//!
//! The distance from one stack to the next is an odd number of pages. The topmost pages, which all fibers use, then
//! spread over all sets of the processor's TLB. With a power of two they would compete for a few of them.
//!
//! Slabs double in size as more stacks are needed. Stacks are cut one at a time. A worker that rests unmaps slabs whose
//! stacks are all free, because page tables, 1 KiB for each guard, stay with a mapping.
//!
//! With a guard of 64 KiB, a C function with a frame of 137 KiB stepped over it and wrote to the stack of another
//! fiber. With the default of 256 KiB it ends the process, and the message names the right fiber. A larger guard would
//! stop more, and costs page tables. Where guards are mappings, an eighth of the mappings that Linux allows is left to
//! the program. Stack number 28,670 is then an error with advice. Some emulators accept the call for markers and do
//! nothing. So a marker is trusted only if the kernel itself refuses to read there.

use crate::{
    fiber::stack::{
        error::StackError,
        mappings::{MAPPINGS, Mappings},
    },
    sys::memory::{self, Guard, Mapping},
};
use corosensei::stack::MIN_STACK_SIZE;
use std::ops::Range;

/// The number of stacks in the first slab, and the maximum in any slab.
const FIRST_SLAB: usize = 16;
const LAST_SLAB: usize = 1024;

/// The maximum address space of a slab with more than one stack, in bytes.
const MAX_SLAB_BYTES: usize = if usize::BITS >= 64 { 1 << 30 } else { 16 << 20 };

/// The place of a stack. The `guard` below it is inaccessible.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) guard: Range<usize>,
    /// The base of the stack, from which it grows down: the end of its topmost page.
    pub(crate) base: usize,
}

#[derive(Debug)]
struct Slab {
    mapping: Mapping,
    guard: Guard,
    /// The number of stacks cut from it.
    cut: usize,
}

impl Slab {
    fn range(&self) -> Range<usize> {
        self.mapping.range()
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Slabs {
    layout: Layout,
    slabs: Vec<Slab>,
    /// The number of stacks in the next slab.
    next_slab: usize,
    /// The uncut part of the newest slab.
    uncut: Range<usize>,
    /// The number of stacks cut.
    cut: usize,
    /// Whether guard markers may be used, and the kind of guards in the newest slab.
    markers: bool,
    guard: Guard,
    mappings: &'static Mappings,
    /// The number of stacks for which mappings are reserved.
    booked: usize,
}

impl Slabs {
    /// Creates an empty set of slabs. With `markers`, guards need no mappings if the system supports that.
    pub(crate) fn new(stack_size: usize, guard_size: usize, markers: bool) -> Result<Self, StackError> {
        Self::with_mappings(stack_size, guard_size, markers, &MAPPINGS)
    }

    fn with_mappings(
        stack_size: usize,
        guard_size: usize,
        markers: bool,
        mappings: &'static Mappings,
    ) -> Result<Self, StackError> {
        let layout = Layout::new(stack_size, guard_size).ok_or(StackError::TooLarge(stack_size))?;
        Ok(Self {
            layout,
            slabs: Vec::new(),
            next_slab: FIRST_SLAB.min(layout.max_slab()),
            uncut: 0..0,
            cut: 0,
            markers,
            guard: Guard::Protection,
            mappings,
            booked: 0,
        })
    }

    /// Returns the number of stacks cut.
    pub(crate) fn cut_so_far(&self) -> usize {
        self.cut
    }

    /// Returns whether the next stack needs another slab.
    pub(crate) fn is_used_up(&self) -> bool {
        self.uncut.is_empty()
    }

    /// Cuts a new stack. Its guard is installed, and stays.
    pub(crate) fn cut(&mut self) -> Result<Place, StackError> {
        if self.is_used_up() {
            self.grow()?;
        }
        let limit = self.uncut.start;
        let end = limit + self.layout.stride();
        let guard = limit..limit + self.layout.guard;
        let books = usize::from(self.guard == Guard::Protection);
        self.mappings.book(books)?;
        // SAFETY: the guard consists of whole pages of the newest slab, in the part from which no stack has been cut.
        if let Err(source) = unsafe { memory::install_guard(guard.clone(), self.guard) } {
            self.mappings.cancel(books);
            return Err(StackError::Guard(source));
        }
        self.booked += books;
        self.uncut.start = end;
        self.cut += 1;
        self.slabs.last_mut().expect("stacks are cut from the newest slab").cut += 1;
        Ok(Place { guard, base: end })
    }

    /// Unmaps the slabs all of whose stacks are free, except for the first slab and a part that was never cut. Removes
    /// their stacks from `free`. Returns how many of the first `cold` entries are left.
    ///
    /// # Safety
    /// The stacks in `free` were cut from these slabs, and are not used.
    pub(crate) unsafe fn unmap_free<S>(
        &mut self,
        free: &mut Vec<S>,
        place: impl Fn(&S) -> &Place,
        cold: usize,
    ) -> usize {
        let mut starts: Vec<_> = self.slabs.iter().enumerate().map(|(slab, it)| (it.range().start, slab)).collect();
        starts.sort_unstable();
        let slab_of = |stack: &S| {
            let base = place(stack).base;
            starts[starts.partition_point(|(start, _)| *start < base) - 1].1
        };
        let mut free_in = vec![0; self.slabs.len()];
        free.iter().for_each(|stack| free_in[slab_of(stack)] += 1);
        let is_free: Vec<bool> = (0..self.slabs.len())
            .map(|slab| {
                let has_uncut = slab + 1 == self.slabs.len() && !self.uncut.is_empty();
                slab > 0 && !has_uncut && free_in[slab] == self.slabs[slab].cut
            })
            .collect();
        let cold = free[..cold].iter().filter(|stack| !is_free[slab_of(stack)]).count();
        free.retain(|stack| !is_free[slab_of(stack)]);
        let mut slab = 0;
        self.slabs.retain(|it| {
            slab += 1;
            if !is_free[slab - 1] {
                return true;
            }
            self.cut -= it.cut;
            if it.guard == Guard::Protection {
                self.mappings.cancel(it.cut);
                self.booked -= it.cut;
            }
            false
        });
        cold
    }

    /// Maps another slab. If the system refuses, maps a smaller one.
    fn grow(&mut self) -> Result<(), StackError> {
        let mut stacks = self.next_slab;
        let slab = loop {
            match Mapping::new(stacks * self.layout.stride()) {
                Ok(slab) => break slab,
                Err(_) if stacks > 1 => stacks /= 2,
                Err(source) => return Err(StackError::Map { bytes: self.layout.stride(), source }),
            }
        };
        // SAFETY: the slab is new, and begins with a guard.
        let has_markers = self.markers && unsafe { memory::has_guard_markers(&slab, self.layout.guard) };
        self.guard = if has_markers { Guard::Marker } else { Guard::Protection };
        self.next_slab = (stacks * 2).min(self.layout.max_slab());
        self.uncut = slab.range();
        self.slabs.push(Slab { mapping: slab, guard: self.guard, cut: 0 });
        Ok(())
    }
}

impl Drop for Slabs {
    fn drop(&mut self) {
        self.mappings.cancel(self.booked);
    }
}

/// The sizes of the parts of a slab in bytes, multiples of the page size.
#[derive(Debug, Clone, Copy)]
struct Layout {
    guard: usize,
    stack: usize,
}

impl Layout {
    fn new(stack_size: usize, guard_size: usize) -> Option<Self> {
        let page = memory::page_size();
        let guard = guard_size.max(1).checked_next_multiple_of(page)?;
        let mut stack = stack_size.max(MIN_STACK_SIZE).checked_next_multiple_of(page)?;
        if (guard / page + stack / page).is_multiple_of(2) {
            stack = stack.checked_add(page)?;
        }
        stack.checked_add(guard).filter(|stride| *stride <= isize::MAX as usize)?;
        Some(Self { guard, stack })
    }

    /// Returns the distance from one stack to the next.
    fn stride(self) -> usize {
        self.guard + self.stack
    }

    /// Returns the maximum number of stacks in a slab.
    fn max_slab(self) -> usize {
        (MAX_SLAB_BYTES / self.stride()).clamp(1, LAST_SLAB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fiber::stack::{child, config::DEFAULT_GUARD_SIZE},
        sys::memory::probe::is_readable,
    };

    const KIB: usize = 1 << 10;

    fn slabs(markers: bool) -> Slabs {
        Slabs::new(256 * KIB, DEFAULT_GUARD_SIZE, markers).unwrap()
    }

    #[test]
    fn guard_is_below_every_stack_and_nowhere_else() {
        let page = memory::page_size();
        for markers in [true, false] {
            let mut slabs = slabs(markers);
            // This reaches the second slab.
            for _ in 0..FIRST_SLAB + 3 {
                let place = slabs.cut().unwrap();
                assert!(place.guard.len() >= DEFAULT_GUARD_SIZE);
                for address in place.guard.clone().step_by(page) {
                    assert!(!is_readable(address) && !is_readable(address + page - 1));
                }
                for address in (place.guard.end..place.base).step_by(page) {
                    assert!(is_readable(address));
                }
                assert!(is_readable(place.base - 1));
            }
        }
    }

    #[test]
    fn access_to_guard_kills_process() {
        for case in ["marker first", "marker last", "protection first", "protection last"] {
            let Some(case) = child::case() else {
                child::assert_killed(
                    &child::run("fiber::stack::slab::tests::access_to_guard_kills_process", case),
                    &[libc::SIGSEGV, libc::SIGBUS],
                );
                continue;
            };
            let guard = slabs(case.starts_with("marker")).cut().map(|place| place.guard).unwrap();
            let address = if case.ends_with("first") { guard.start } else { guard.end - 1 };
            // SAFETY: none. The write is meant to end the process.
            unsafe { (address as *mut u8).write_volatile(1) };
            return;
        }
    }

    #[test]
    fn stacks_have_requested_size_and_are_aligned_and_disjoint() {
        let page = memory::page_size();
        for (asked, least) in [(0, MIN_STACK_SIZE), (1, MIN_STACK_SIZE), (10_000, 10_000), (64 * KIB, 64 * KIB)] {
            let mut slabs = Slabs::new(asked, 64 * KIB, true).unwrap();
            let places: Vec<_> = (0..200).map(|_| slabs.cut().unwrap()).collect();
            for place in &places {
                let size = place.base - place.guard.end;
                assert!(size >= least && size - least < 2 * page);
                assert_eq!((place.base % page, place.guard.start % page), (0, 0));
                assert_eq!((place.base - place.guard.start) / page % 2, 1);
            }
            let mut ranges: Vec<_> = places.iter().map(|place| place.guard.start..place.base).collect();
            ranges.sort_by_key(|range| range.start);
            assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
            assert_eq!(slabs.cut_so_far(), 200);
        }
    }

    #[test]
    fn guards_have_requested_size() {
        let page = memory::page_size();
        for (asked, expected) in [(0, page), (1, page), (3 * page, 3 * page), (2 << 20, 2 << 20)] {
            let mut slabs = Slabs::new(64 * KIB, asked, true).unwrap();
            let guards: Vec<_> = (0..20).map(|_| slabs.cut().unwrap().guard).collect();
            assert!(guards.iter().all(|guard| guard.len() == expected));
        }
        assert!(matches!(Slabs::new(64 * KIB, usize::MAX, true), Err(StackError::TooLarge(_))));
    }

    #[test]
    fn slabs_double_up_to_a_limit() {
        let mut slabs = Slabs::new(4 * KIB, 64 * KIB, true).unwrap();
        let stride = slabs.layout.stride();
        let count = 16 + 32 + 64 + 128 + 256 + 512 + 1024 + 1024;
        for _ in 0..count {
            slabs.cut().unwrap();
        }
        let sizes: Vec<_> = slabs.slabs.iter().map(|slab| slab.range().len() / stride).collect();
        assert_eq!(sizes, [16, 32, 64, 128, 256, 512, 1024, 1024]);
        assert!(slabs.is_used_up());
        let large = Slabs::new(MAX_SLAB_BYTES, 64 * KIB, true).unwrap();
        assert_eq!((large.next_slab, large.layout.max_slab()), (1, 1));
    }

    #[test]
    fn stack_beyond_address_space_is_refused() {
        for size in [usize::MAX, isize::MAX as usize, usize::MAX - DEFAULT_GUARD_SIZE] {
            let error = Slabs::new(size, DEFAULT_GUARD_SIZE, true).unwrap_err();
            assert!(matches!(error, StackError::TooLarge(bytes) if bytes == size), "{error}");
            assert!(error.to_string().contains(&size.to_string()));
        }
    }

    #[test]
    fn protected_stacks_leave_mappings_to_the_program() {
        static MAPPINGS: Mappings = Mappings::new(80);
        let slabs = || Slabs::with_mappings(64 * KIB, 64 * KIB, false, &MAPPINGS).unwrap();
        let (mut one, mut other) = (slabs(), slabs());
        // 80 less an eighth is 70 mappings, two for each stack.
        for _ in 0..30 {
            one.cut().unwrap();
        }
        for _ in 0..5 {
            other.cut().unwrap();
        }
        for slabs in [&mut one, &mut other] {
            let error = slabs.cut().unwrap_err();
            assert!(matches!(error, StackError::Mappings { stacks: 35, allowed: 80 }), "{error}");
            let text = error.to_string();
            assert!(text.contains("35 stacks") && text.contains("vm.max_map_count"), "{text}");
        }
        drop(one);
        for _ in 0..30 {
            other.cut().unwrap();
        }
        drop(other);
        assert_eq!(MAPPINGS.booked(), 0);
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn refused_guard_counts_no_mapping() {
        static MAPPINGS: Mappings = Mappings::new(80);
        let mut slabs = Slabs::with_mappings(64 * KIB, 64 * KIB, false, &MAPPINGS).unwrap();
        slabs.cut().unwrap();
        // The kernel's part of the address space.
        let good = std::mem::replace(&mut slabs.uncut, 1 << 63..(1 << 63) + (1 << 20));
        let error = slabs.cut().unwrap_err();
        assert!(matches!(error, StackError::Guard(_)), "{error}");
        assert!(error.to_string().contains("vm.max_map_count"), "{error}");
        assert_eq!((slabs.cut_so_far(), slabs.booked, MAPPINGS.booked()), (1, 1, 1));
        slabs.uncut = good;
        slabs.cut().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn markers_take_no_mappings() {
        static MAPPINGS: Mappings = Mappings::new(0);
        let mut slabs = Slabs::with_mappings(64 * KIB, 64 * KIB, true, &MAPPINGS).unwrap();
        match slabs.cut() {
            Ok(_) => assert!((0..100).all(|_| slabs.cut().is_ok()) && slabs.booked == 0),
            // Linux before 6.13 has no guard markers.
            Err(error) => assert!(slabs.guard == Guard::Protection && matches!(error, StackError::Mappings { .. })),
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn missing_address_space_is_an_error() {
        let Some(_) = child::case() else {
            let child = child::run("fiber::stack::slab::tests::missing_address_space_is_an_error", "limited");
            return child::assert_passed(&child);
        };
        let mut slabs = Slabs::new(1 << 20, 64 * KIB, true).unwrap();
        slabs.cut().unwrap();
        let size = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = size.split_whitespace().next().unwrap().parse().unwrap();
        let limit = (pages * memory::page_size() + (100 << 20)) as libc::rlim_t;
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: `limit` is a live `rlimit`, which the call reads.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let error = loop {
            if let Err(error) = slabs.cut() {
                break error;
            }
        };
        assert!(matches!(error, StackError::Map { .. }), "{error}");
        assert!(error.to_string().contains("ulimit -v"), "{error}");
        // Slabs become smaller at the end, so as many stacks as possible fit.
        assert!(slabs.cut_so_far() > 16 + 80, "{} stacks", slabs.cut_so_far());
        assert!(slabs.slabs.last().unwrap().range().len() < 32 << 20);
    }
}

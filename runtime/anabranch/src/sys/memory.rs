//! Memory directly from the system: mappings, inaccessible pages, pages returned to the system.
//!
//! A **guard** makes a range of pages inaccessible for good. There are two kinds. `mprotect` splits the mapping, and
//! Linux allows a process 65,530 mappings by default (`vm.max_map_count`). A *marker* (`madvise(MADV_GUARD_INSTALL)`,
//! Linux 6.13) is an entry in the page table and takes no mapping. It stays when the pages around it, or its own, are
//! returned.

use std::{
    io,
    ops::Range,
    ptr::{self, NonNull},
    sync::OnceLock,
};

/// From `linux/mman.h`; the `libc` crate does not have it yet.
#[cfg(target_os = "linux")]
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// From `linux/pidfd.h`, Linux 6.14: stands for the calling process where a call takes a process descriptor.
#[cfg(target_os = "linux")]
const PIDFD_SELF: libc::c_int = -10_000;

/// The kind of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Markers in the page table.
    Marker,
    /// Page protection, which makes the range a separate mapping.
    Protection,
}

/// Returns the size of a page, in bytes.
pub(crate) fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    // SAFETY: `sysconf` has no preconditions.
    *SIZE.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize)
}

/// Private, anonymous memory of this process, readable and writable, without huge pages. Unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and the value is its only owner.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len` bytes. A page takes memory once it is touched.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        const MORE: libc::c_int = libc::MAP_NORESERVE;
        // OpenBSD allows stack pointers only into such mappings.
        #[cfg(target_os = "openbsd")]
        const MORE: libc::c_int = libc::MAP_STACK;
        #[cfg(not(any(target_os = "linux", target_os = "openbsd")))]
        const MORE: libc::c_int = 0;
        // SAFETY: a new mapping at an address that the system chooses overlaps no other memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANON | MORE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).expect("the system maps nothing at address zero unless asked to");
        let mapping = Self { start, len };
        // A kernel built without huge pages refuses this, and does not need it.
        #[cfg(target_os = "linux")]
        // SAFETY: the range is the whole new mapping, and the advice does not change its contents.
        let _ = unsafe { advise(mapping.range(), libc::MADV_NOHUGEPAGE) };
        Ok(mapping)
    }

    /// Maps `len` bytes at an address that is a multiple of `len`, a power of two. Uses huge pages if possible and
    /// requested.
    pub(crate) fn aligned(len: usize, is_huge: bool) -> io::Result<Self> {
        // The parts are unmapped one by one.
        let start = std::mem::ManuallyDrop::new(Self::new(2 * len)?).start.as_ptr();
        let before = start.align_offset(len);
        // SAFETY: both parts are whole pages of the mapping, which is not used yet. From here on the mapping consists
        // of the rest.
        unsafe {
            let kept = start.add(before);
            for (part, bytes) in [(start, before), (kept.add(len), len - before)] {
                if bytes > 0 {
                    libc::munmap(part.cast(), bytes);
                }
            }
            let mapping = Self { start: NonNull::new_unchecked(kept), len };
            if is_huge {
                // A kernel built without them refuses this.
                #[cfg(target_os = "linux")]
                let _ = advise(mapping.range(), libc::MADV_HUGEPAGE);
            }
            Ok(mapping)
        }
    }

    /// Returns a pointer to the first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the addresses of the mapping.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.start.as_ptr() as usize;
        start..start + self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `start` and `len` are those of the mapping that `new` made, of which `self` is the only owner.
        let result = unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }
}

/// Makes a range inaccessible for as long as its mapping lives.
///
/// # Safety
/// The range consists of whole pages of a [`Mapping`] that the caller owns, and their contents are not used.
pub(crate) unsafe fn install_guard(range: Range<usize>, guard: Guard) -> io::Result<()> {
    match guard {
        #[cfg(target_os = "linux")]
        // SAFETY: the caller owns the mapping of these whole pages, and their contents are not used.
        Guard::Marker => unsafe { advise(range, MADV_GUARD_INSTALL) },
        #[cfg(not(target_os = "linux"))]
        Guard::Marker => Err(io::ErrorKind::Unsupported.into()),
        Guard::Protection => {
            // SAFETY: the caller owns the mapping of these whole pages, and their contents are not used.
            let result = unsafe { libc::mprotect(range.start as *mut _, range.len(), libc::PROT_NONE) };
            if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        }
    }
}

/// Returns whether markers work for this mapping, by making its first `len` bytes inaccessible.
///
/// Older kernels refuse the advice, and every kernel does for locked memory (`mlockall`). Some emulators accept every
/// advice and do nothing. So this checks that the kernel cannot read through the guard.
///
/// # Safety
/// `len` is a multiple of the page size, no larger than the mapping, and the contents of these bytes are not used.
pub(crate) unsafe fn has_guard_markers(mapping: &Mapping, len: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        let start = mapping.range().start;
        let range = start..start + len;
        // SAFETY: the bytes are whole pages of the mapping, whose contents the caller does not use. Populating a page
        // for reading changes nothing in it.
        let populated =
            unsafe { advise(range.clone(), MADV_GUARD_INSTALL).map(|()| advise(range, libc::MADV_POPULATE_READ)) };
        matches!(populated, Ok(Err(refusal)) if refusal.raw_os_error() == Some(libc::EFAULT))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (mapping, len);
        false
    }
}

/// Returns the memory of some ranges to the system. The addresses, and guards in the ranges, stay. Later reads return
/// zero or, on systems other than Linux, the previous contents.
///
/// Uses one call for all ranges if the system supports that, because each call that frees memory interrupts every other
/// thread.
///
/// # Safety
/// The ranges consist of whole pages of a [`Mapping`] that the caller owns, and their contents are not used.
pub(crate) unsafe fn discard<const N: usize>(ranges: [Range<usize>; N]) {
    #[cfg(target_os = "linux")]
    const ADVICE: libc::c_int = libc::MADV_DONTNEED;
    #[cfg(not(target_os = "linux"))]
    const ADVICE: libc::c_int = libc::MADV_FREE;
    #[cfg(target_os = "linux")]
    {
        let bytes: usize = ranges.iter().map(Range::len).sum();
        let parts =
            ranges.each_ref().map(|range| libc::iovec { iov_base: range.start as *mut _, iov_len: range.len() });
        // SAFETY: `parts` is a live array. The caller owns the mappings of these whole pages, and their contents are
        // not used. An older kernel rejects the descriptor.
        let done =
            unsafe { libc::syscall(libc::SYS_process_madvise, PIDFD_SELF, parts.as_ptr(), parts.len(), ADVICE, 0) };
        if usize::try_from(done) == Ok(bytes) {
            return;
        }
    }
    for range in ranges {
        // The system refuses this if the program has locked its memory (`mlockall`), which it then wants to keep.
        // SAFETY: the caller owns the mapping of these whole pages, and their contents are not used.
        let _ = unsafe { advise(range, ADVICE) };
    }
}

/// # Safety
/// The range consists of whole pages of a mapping that the caller owns, and the advice may take effect on them.
unsafe fn advise(range: Range<usize>, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: the caller owns the mapping of these whole pages, and their contents are not used.
    let result = unsafe { libc::madvise(range.start as *mut _, range.len(), advice) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the number of mappings that the system allows to a process, or `None` if it does not limit them.
pub(crate) fn max_mappings() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return Some(
        std::fs::read_to_string("/proc/sys/vm/max_map_count")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(65_530),
    );
    #[cfg(not(target_os = "linux"))]
    None
}

/// Inspects memory without touching it.
#[cfg(test)]
pub(crate) mod probe {
    use super::page_size;
    use std::{io, ops::Range, os::fd::AsRawFd};

    /// Returns whether a byte can be read. The system checks it, so an inaccessible page is an error and not a fault.
    pub(crate) fn is_readable(address: usize) -> bool {
        let (_reader, writer) = io::pipe().unwrap();
        // SAFETY: the system checks the address.
        let written = unsafe { libc::write(writer.as_raw_fd(), address as *const _, 1) };
        assert!(written == 1 || io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT));
        written == 1
    }

    /// Returns the number of pages of a range that have memory.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_pages(range: Range<usize>) -> usize {
        let mut pages = vec![0_u8; range.len() / page_size()];
        // SAFETY: `pages` has a byte for each page of the range.
        let result = unsafe { libc::mincore(range.start as *mut _, range.len(), pages.as_mut_ptr()) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        pages.iter().filter(|page| **page & 1 != 0).count()
    }
}

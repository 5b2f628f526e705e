//! Memory straight from the system: mappings, pages that must not be touched, pages given back.
//!
//! A **guard** makes a range of pages inaccessible for good. There are two kinds. `mprotect` cuts the mapping in
//! pieces, and Linux allows a process 65,530 of those unless told otherwise (`vm.max_map_count`). A *marker*
//! (`madvise(MADV_GUARD_INSTALL)`, Linux 6.13) is a note in the page table and costs no mapping; it stays when the
//! pages around it, or it, are given back.

use std::{
    io,
    ops::Range,
    ptr::{self, NonNull},
    sync::OnceLock,
};

/// Of `linux/mman.h`; the `libc` crate does not have it yet.
#[cfg(target_os = "linux")]
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// Of `linux/pidfd.h`, Linux 6.14: the calling process, where a descriptor of a process is asked for.
#[cfg(target_os = "linux")]
const PIDFD_SELF: libc::c_int = -10_000;

/// How a range of pages is made inaccessible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// By markers in the page table.
    Marker,
    /// By the protection of the range, which makes it a mapping of its own.
    Protection,
}

/// The size of a page, in bytes.
pub(crate) fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    // SAFETY: `sysconf` has no preconditions.
    *SIZE.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize)
}

/// Private, anonymous memory of this process, readable and writable, without huge pages; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and the value is its only owner.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len` bytes. Pages take memory only once they are touched, and one touched page is one page of memory.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        const MORE: libc::c_int = libc::MAP_NORESERVE;
        // OpenBSD lets no stack pointer point elsewhere.
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
        // A kernel built without huge pages refuses this, and needs it not.
        #[cfg(target_os = "linux")]
        // SAFETY: the range is the whole new mapping; the advice changes nothing of what is in it.
        let _ = unsafe { advise(mapping.range(), libc::MADV_NOHUGEPAGE) };
        Ok(mapping)
    }

    /// Maps `len` bytes whose address is a multiple of `len`, a power of two, in huge pages if that is possible and
    /// wanted.
    pub(crate) fn aligned(len: usize, is_huge: bool) -> io::Result<Self> {
        // Its parts are unmapped one by one.
        let start = std::mem::ManuallyDrop::new(Self::new(2 * len)?).start.as_ptr();
        let before = start.align_offset(len);
        // SAFETY: both parts are whole pages of the mapping, which is not used yet, and which from here on consists of
        // the rest.
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

    /// Its first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The addresses of the mapping.
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
/// The range consists of whole pages of a [`Mapping`] of the caller's, and their contents are not used.
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
/// An older kernel refuses the advice, and so does every kernel for memory that is locked (`mlockall`). Some emulators
/// accept every advice and do nothing, so this checks that the guard keeps the kernel out.
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

/// Gives the memory of some ranges back to the system; the addresses stay, and guards in the ranges too. What is read
/// there afterwards is zero, or, on systems other than Linux, what was there before.
///
/// All at once where the system can do it: every other thread is interrupted for each call that finds something to give
/// back.
///
/// # Safety
/// The ranges consist of whole pages of a [`Mapping`] of the caller's, and their contents are not used.
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
        // SAFETY: `parts` is valid to be read. The caller owns the mappings of these whole pages, and their contents
        // are not used. An older kernel rejects the descriptor.
        let done =
            unsafe { libc::syscall(libc::SYS_process_madvise, PIDFD_SELF, parts.as_ptr(), parts.len(), ADVICE, 0) };
        if usize::try_from(done) == Ok(bytes) {
            return;
        }
    }
    for range in ranges {
        // Refused where the program has locked its memory (`mlockall`): then it wants to keep it.
        // SAFETY: the caller owns the mapping of these whole pages, and their contents are not used.
        let _ = unsafe { advise(range, ADVICE) };
    }
}

/// # Safety
/// The range consists of whole pages of a mapping of the caller's, and the advice may have its effect on them.
unsafe fn advise(range: Range<usize>, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: the caller owns the mapping of these whole pages, and their contents are not used.
    let result = unsafe { libc::madvise(range.start as *mut _, range.len(), advice) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns how many mappings the system allows to a process, or `None` where it does not count them.
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

/// Ways to look at memory without touching it.
#[cfg(test)]
pub(crate) mod probe {
    use super::page_size;
    use std::{io, ops::Range, os::fd::AsRawFd};

    /// Returns whether a byte can be read: the system checks it, so an inaccessible page is an error and no fault.
    pub(crate) fn is_readable(address: usize) -> bool {
        let (_reader, writer) = io::pipe().unwrap();
        // SAFETY: the system checks the address.
        let written = unsafe { libc::write(writer.as_raw_fd(), address as *const _, 1) };
        assert!(written == 1 || io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT));
        written == 1
    }

    /// Returns how many pages of a range have memory.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_pages(range: Range<usize>) -> usize {
        let mut pages = vec![0_u8; range.len() / page_size()];
        // SAFETY: `pages` has a byte for each page of the range.
        let result = unsafe { libc::mincore(range.start as *mut _, range.len(), pages.as_mut_ptr()) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        pages.iter().filter(|page| **page & 1 != 0).count()
    }
}

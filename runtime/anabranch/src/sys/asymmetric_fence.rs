//! An asymmetric fence: free on the frequent side, a system call on the rare side.
//!
//! Dekker's pattern: one side writes A and reads B, the other writes B and reads A, and at least one of them must see
//! the other's write. Each side needs a full fence between its two steps. On the owner's side of a fork stack that
//! fence would cost more than the rest of a fork. Linux can make the *other* threads of the process execute a full
//! fence on request (`membarrier`, private expedited, since 4.14). So the owner only prevents reordering by the
//! compiler ([`light`]), and the rare thread pays for both ([`heavy`]).
//!
//! Windows offers the same as `FlushProcessWriteBuffers`. On other systems there is no such call, and both sides of a
//! [`Fence`] are full fences.
//!
//! **A barrier that starts to fail.** A program may install a filter of system calls (seccomp) after its start, which
//! refuses `membarrier` from then on. The frequent side cannot react: threads may be between their two steps, and their
//! code has no fence there. So the process ends with a message that states the reason. It does not unwind, because the
//! caller may be in the middle of a wait. [`is_available`] detects a call that is refused from the start, and the pool
//! then works without it.
//!
//! An alternative at that point was rejected: to lower the protection of a page, or to unmap it, so that the kernel
//! interrupts all processors to flush their TLB (as folly does without `membarrier`). The kernel does not promise that
//! interrupt. AArch64 never sends one: the instruction TLBI is a broadcast, and orders only accesses by the old
//! translation. s390x and POWER send none either. On x86, Linux since 6.15 sends none if the processor has INVLPGB (AMD
//! from Zen 3 on), and plans the same with RAR (Intel). A hypervisor may use either for a guest whose processor seems
//! to have neither. A missing barrier would be undefined behaviour in safe programs.
//!
//! Source: Dice, Huang, Yang: Asymmetric Dekker Synchronization (2001); Linux `membarrier(2)`. Under loom, shuttle and
//! Miri both sides are full fences, to which the pair is equivalent. The rare side is always a fence for its own thread
//! too.

#[cfg(loom)]
use crate::sys::sync::full_fence;
use crate::sys::sync::{Ordering, fence};

#[cfg(not(any(loom, shuttle, sim, miri)))]
pub(crate) use crate::sys::asymmetric_fence::real::{heavy, is_available, light};

/// Memory is sequentially consistent in a simulation, so a light fence does nothing. `heavy` costs virtual time.
#[cfg(sim)]
pub(crate) fn light() {}

#[cfg(sim)]
pub(crate) use anabranch_sim::thread::barrier as heavy;

#[cfg(any(shuttle, miri))]
pub(crate) fn light() {
    fence(Ordering::SeqCst);
}

#[cfg(any(shuttle, miri))]
pub(crate) fn heavy() {
    fence(Ordering::SeqCst);
}

#[cfg(loom)]
pub(crate) fn light() {
    full_fence();
}

#[cfg(loom)]
pub(crate) fn heavy() {
    full_fence();
    fence(Ordering::SeqCst);
}

#[cfg(any(loom, shuttle, sim, miri))]
pub(crate) fn is_available() -> bool {
    true
}

/// The kind of fence of the two sides of Dekker's pattern, for code that must work on every system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// [`light`] and [`heavy`].
    Asymmetric,
    /// A full fence on both sides.
    Symmetric,
}

impl Fence {
    /// The fence between the two steps of the frequent side.
    #[inline(always)]
    pub(crate) fn frequent(self) {
        match self {
            Self::Asymmetric => light(),
            Self::Symmetric => fence(Ordering::SeqCst),
        }
    }

    /// The fence between the two steps of the rare side.
    pub(crate) fn rare(self) {
        match self {
            Self::Asymmetric => heavy(),
            Self::Symmetric => fence(Ordering::SeqCst),
        }
    }
}

#[cfg(not(any(loom, shuttle, sim, miri)))]
mod real {
    use std::sync::atomic::{Ordering, compiler_fence};

    /// The fence of the frequent side, which is free. It pairs with [`heavy`] if [`is_available`], and otherwise with
    /// nothing.
    #[inline(always)]
    pub(crate) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    #[cfg(target_os = "linux")]
    mod system {
        use crate::sys::diagnostics;
        use std::{io, sync::LazyLock};

        /// The commands of `linux/membarrier.h`, which older versions of libc lack.
        const QUERY: libc::c_int = 0;
        const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
        const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

        /// Runs a command, and returns its result: for [`QUERY`], the set of the offered commands.
        fn membarrier(command: libc::c_int) -> io::Result<libc::c_int> {
            let (flags, core): (libc::c_int, libc::c_int) = (0, 0);
            // SAFETY: the system call has these three arguments, and no preconditions.
            match unsafe { libc::syscall(libc::SYS_membarrier, command, flags, core) } {
                -1 => Err(io::Error::last_os_error()),
                result => Ok(result as libc::c_int),
            }
        }

        /// Registers the process with the kernel on first use, and tries the barrier. `false` if the kernel is too old
        /// or a filter forbids it.
        static WORKS: LazyLock<bool> = LazyLock::new(|| {
            let needed = PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED;
            membarrier(QUERY).is_ok_and(|offered| offered & needed == needed)
                && membarrier(REGISTER_PRIVATE_EXPEDITED).is_ok()
                && membarrier(PRIVATE_EXPEDITED).is_ok()
        });

        pub(crate) fn works() -> bool {
            *WORKS
        }

        pub(crate) fn run() {
            if let Err(error) = membarrier(PRIVATE_EXPEDITED) {
                diagnostics::abort(format_args!(
                    "the system call membarrier, which worked when this process began to use it, fails now: {error}. Without it the \
                     threads cannot go on safely, so the process ends. A filter of system calls (seccomp) has to allow \
                     membarrier, or else be installed before the first use of this library, which then does without"
                ));
            }
        }
    }

    #[cfg(windows)]
    mod system {
        #[link(name = "kernel32")]
        unsafe extern "system" {
            fn FlushProcessWriteBuffers();
        }

        pub(crate) fn works() -> bool {
            true
        }

        pub(crate) fn run() {
            // SAFETY: the function has no preconditions, and every Windows since Vista has it. It cannot fail.
            unsafe { FlushProcessWriteBuffers() };
        }
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    mod system {
        pub(crate) fn works() -> bool {
            false
        }

        pub(crate) fn run() {
            unreachable!("nobody relies on a barrier that is not available");
        }
    }

    /// Returns whether [`heavy`] can be used in this process.
    pub(crate) fn is_available() -> bool {
        system::works()
    }

    /// The fence of the rare side: a full fence on every running thread of the process, which takes some microseconds.
    /// Use it only if [`is_available`].
    ///
    /// Ends the process if the system refuses the barrier, see the [module](super).
    pub(crate) fn heavy() {
        system::run();
    }
}

//! An asymmetric barrier: nothing on the frequent side, a system call on the rare one.
//!
//! Dekker's pattern: one side writes A and reads B, the other writes B and reads A, and at least one of them must see
//! what the other wrote. Each side needs a full fence between its two steps, and on the owner's side of a fork stack
//! that fence would cost more than all the rest of a fork. Linux can make the *other* threads of the process go through
//! a full fence on request (`membarrier`, private expedited, since 4.14), so the owner only has to keep the compiler
//! from reordering ([`light`]) and the thread that comes rarely pays for both ([`heavy`]).
//!
//! Windows offers the same as `FlushProcessWriteBuffers`. Elsewhere there is nothing of the kind, and both sides of a
//! [`Fence`] are full fences.
//!
//! **A barrier that begins to fail.** A program may install a filter of system calls (seccomp) after its start, and
//! `membarrier` is refused from then on. The frequent side cannot be told: threads may be between their two steps, and
//! the code has no fence there. So the process ends, with a message that says why; nothing unwinds, as the caller may
//! be in the middle of a wait. What is refused from the start, the barrier itself included, is found out by
//! [`is_available`], and done without.
//!
//! Considered and rejected, as a substitute at that point: to lower the protection of a page, or to unmap it, so that
//! the kernel interrupts all processors to have them flush their TLB (as folly does where there is no `membarrier`).
//! The interrupt is no promise of the kernel's. AArch64 never sends one: the instruction TLBI is a broadcast, and
//! orders accesses by the old translation alone. Nor does s390x or POWER. On x86 Linux sends none since 6.15 where the
//! processor has INVLPGB (AMD from Zen 3 on), plans to do the same with RAR (Intel), and a hypervisor may use either on
//! behalf of a guest whose processor seems to have neither. A missing barrier would be undefined behaviour in safe
//! programs.
//!
//! Source: Dice, Huang, Yang: Asymmetric Dekker Synchronization (2001); Linux `membarrier(2)`. Under loom, shuttle and
//! Miri both sides are full fences, which is what the pair amounts to; the rare side is one for its own thread, too,
//! whatever the other does.

#[cfg(loom)]
use crate::sys::sync::full_fence;
use crate::sys::sync::{Ordering, fence};

#[cfg(not(any(loom, shuttle, miri)))]
pub(crate) use crate::sys::asymmetric_fence::real::{heavy, is_available, light};

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

#[cfg(any(loom, shuttle, miri))]
pub(crate) fn is_available() -> bool {
    true
}

/// How the two sides of Dekker's pattern fence where it has to work on every system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// By [`light`] and [`heavy`].
    Asymmetric,
    /// By a full fence on both sides.
    Symmetric,
}

impl Fence {
    /// Between the two steps of the side that comes often.
    #[inline(always)]
    pub(crate) fn frequent(self) {
        match self {
            Self::Asymmetric => light(),
            Self::Symmetric => fence(Ordering::SeqCst),
        }
    }

    /// Between the two steps of the side that comes rarely.
    pub(crate) fn rare(self) {
        match self {
            Self::Asymmetric => heavy(),
            Self::Symmetric => fence(Ordering::SeqCst),
        }
    }
}

#[cfg(not(any(loom, shuttle, miri)))]
mod real {
    use std::sync::atomic::{Ordering, compiler_fence};

    /// The frequent side: free. Pairs with [`heavy`] where [`is_available`], and with nothing elsewhere.
    #[inline(always)]
    pub(crate) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    #[cfg(target_os = "linux")]
    mod system {
        use crate::sys::diagnostics;
        use rustix::thread::{MembarrierCommand, membarrier, membarrier_query};
        use std::sync::LazyLock;

        /// Registers the process with the kernel on first use, and tries the barrier. `false` where the kernel is too
        /// old or a filter forbids it.
        static WORKS: LazyLock<bool> = LazyLock::new(|| {
            let offered = membarrier_query();
            offered.contains_command(MembarrierCommand::RegisterPrivateExpedited)
                && offered.contains_command(MembarrierCommand::PrivateExpedited)
                && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
                && membarrier(MembarrierCommand::PrivateExpedited).is_ok()
        });

        pub(crate) fn works() -> bool {
            *WORKS
        }

        pub(crate) fn run() {
            if let Err(error) = membarrier(MembarrierCommand::PrivateExpedited) {
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

    /// The rare side: a full fence on every running thread of the process, at some microseconds. Only where
    /// [`is_available`].
    ///
    /// Ends the process if the system refuses the barrier, see the [module](super).
    pub(crate) fn heavy() {
        system::run();
    }
}

//! An asymmetric barrier: nothing on the frequent side, a system call on the rare one.
//!
//! Dekker's pattern: one side writes A and reads B, the other writes B and reads A, and at least one of them must see what
//! the other wrote. Each side needs a full fence between its two steps, and on the owner's side of a fork stack that fence
//! would cost more than all the rest of a fork. Linux can make the *other* threads of the process go through a full fence
//! on request (`membarrier`, private expedited, since 4.14), so the owner only has to keep the compiler from reordering
//! ([`light`]) and the thread that comes rarely pays for both ([`heavy`]).
//!
//! Source: Dice, Huang, Yang: Asymmetric Dekker Synchronization (2001); Linux `membarrier(2)`. Under loom, shuttle
//! and Miri both sides are full fences, which is what the pair amounts to; the rare side is one for its own thread, too, whatever
//! the other does.

#[cfg(loom)]
use crate::sys::sync::full_fence;
use crate::sys::sync::{Ordering, fence};

#[cfg(not(any(loom, shuttle, miri)))]
pub(crate) use self::real::{heavy, is_available, light};

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
    mod membarrier {
        use rustix::thread::{MembarrierCommand, membarrier, membarrier_query};
        use std::sync::LazyLock;

        /// Registers the process with the kernel on first use. `false` where the kernel is too old or a filter forbids it.
        pub(super) static REGISTERED: LazyLock<bool> = LazyLock::new(|| {
            let offered = membarrier_query();
            offered.contains_command(MembarrierCommand::RegisterPrivateExpedited)
                && offered.contains_command(MembarrierCommand::PrivateExpedited)
                && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
        });

        pub(super) fn run() {
            membarrier(MembarrierCommand::PrivateExpedited).expect("the process is registered for membarrier");
        }
    }

    /// Whether [`heavy`] can be used in this process.
    pub(crate) fn is_available() -> bool {
        #[cfg(target_os = "linux")]
        return *membarrier::REGISTERED;
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// The rare side: a full fence on every running thread of the process, at some microseconds.
    ///
    /// # Panics
    /// Where [`is_available`] is false.
    pub(crate) fn heavy() {
        assert!(is_available());
        #[cfg(target_os = "linux")]
        membarrier::run();
    }
}

//! Errors that leave a fiber without a stack, with advice.

use std::{fmt, io};

/// A stack with a guard by page protection is one mapping, and its guard is another.
pub(crate) const MAPPINGS_PER_STACK: usize = 2;

/// Why there is no stack for another fiber.
#[derive(Debug)]
#[non_exhaustive]
#[cfg_attr(not(unix), allow(dead_code, reason = "other systems have other reasons"))]
pub enum StackError {
    /// The system has no support for switching stacks.
    #[cfg(not(any(unix, windows)))]
    Unsupported,
    /// A stack of this many bytes does not fit into the address space.
    TooLarge(usize),
    /// The system refused the address space.
    Map {
        /// The number of bytes that one more stack takes.
        bytes: usize,
        /// The error of the system.
        source: io::Error,
    },
    /// The system refused the guard below the stack.
    Guard(io::Error),
    /// The existing stacks use up the mappings that the system allows to a process.
    Mappings {
        /// The number of stacks in the process.
        stacks: usize,
        /// The number of mappings that the process may have.
        allowed: usize,
    },
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(not(any(unix, windows)))]
            Self::Unsupported => write!(f, "there are no fibers on this system"),
            Self::TooLarge(bytes) => write!(f, "a fiber's stack of {bytes} bytes does not fit into the address space"),
            Self::Map { bytes, source } => write!(
                f,
                "the system refused {} KiB of address space for another fiber's stack: {source}; have fewer fibers at \
                 a time, or smaller stacks or guards (Builder::fiber_stack_size, Builder::fiber_guard_size), or raise the \
                 limit (ulimit -v, vm.overcommit_memory)",
                bytes >> 10
            ),
            Self::Guard(source) => write!(
                f,
                "the system refused to guard another fiber's stack: {source}; have fewer fibers at a time, or allow \
                 the process more mappings (sysctl vm.max_map_count)"
            ),
            Self::Mappings { stacks, allowed } => write!(
                f,
                "{stacks} stacks of fibers take {MAPPINGS_PER_STACK} mappings each, and the system allows {allowed} in \
                 all; have fewer fibers at a time, or allow the process more (sysctl vm.max_map_count), or run Linux \
                 6.13 or later, where stacks take none"
            ),
        }
    }
}

impl std::error::Error for StackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Map { source, .. } | Self::Guard(source) => Some(source),
            _ => None,
        }
    }
}

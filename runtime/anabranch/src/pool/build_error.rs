//! The error of building a pool.

use crate::pool::handle::Pool;
use std::{fmt, io};

/// The environment variable that says how many threads the default pool has.
pub(crate) const NUM_THREADS: &str = "ANABRANCH_NUM_THREADS";

/// The smallest stack on which a thread of a pool can run, in a debug build too.
pub(super) const MIN_STACK: usize = 64 << 10;

/// The largest stack and the largest guard of a fiber. With larger ones the address space has room for few fibers.
pub(super) const MAX_FIBER_STACK: usize = if usize::BITS >= 64 { 1 << 40 } else { 256 << 20 };

/// The limit that messages name.
const MAX_THREADS: usize = Pool::MAX_THREADS;

/// Why a pool could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The number of threads was zero.
    ZeroThreads,
    /// The number of threads was above 4,095.
    TooManyThreads(usize),
    /// `ANABRANCH_NUM_THREADS` is not a whole number from 1 to 4,095. Contains its value.
    BadVariable(String),
    /// The [stack size](crate::Builder::stack_size) of threads was below 64 KiB.
    StackTooSmall(usize),
    /// The [stack size](crate::Builder::fiber_stack_size) of fibers was above 1 TiB, or 256 MiB on 32-bit systems.
    FiberStackTooLarge(usize),
    /// The [guards](crate::Builder::fiber_guard_size) of fibers were above 1 TiB, or 256 MiB on 32-bit systems.
    FiberGuardTooLarge(usize),
    /// The operating system refused to start a thread.
    Spawn(io::Error),
    /// A start handler panicked.
    StartHandlerPanicked,
    /// The default pool already exists.
    DefaultExists,
    /// The calling thread was to become a part of the pool, but is already in a pool.
    CurrentThreadInPool,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroThreads => write!(f, "a pool needs at least one thread, but zero were asked for"),
            Self::TooManyThreads(n) => write!(f, "a pool has at most {MAX_THREADS} threads, but {n} were asked for"),
            Self::StackTooSmall(bytes) => {
                write!(f, "a thread needs a stack of at least {MIN_STACK} bytes, but {bytes} were asked for")
            }
            Self::FiberStackTooLarge(bytes) => {
                write!(f, "the stack of a fiber has at most {MAX_FIBER_STACK} bytes, but {bytes} were asked for")
            }
            Self::FiberGuardTooLarge(bytes) => {
                write!(f, "the guard of a fiber has at most {MAX_FIBER_STACK} bytes, but {bytes} were asked for")
            }
            Self::BadVariable(value) => {
                write!(
                    f,
                    "{NUM_THREADS} must be a whole number from 1 to {MAX_THREADS}, not `{value}`; unset it to use all cores"
                )
            }
            Self::Spawn(error) => write!(f, "the system refused to start a thread of the pool: {error}"),
            Self::CurrentThreadInPool => {
                write!(f, "the calling thread was to be a part of the pool, but is in one already")
            }
            Self::StartHandlerPanicked => write!(f, "a start handler of the pool panicked"),
            Self::DefaultExists => write!(
                f,
                "the default pool exists already; call build_default before the first use of join, scope or a parallel loop"
            ),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Spawn(error) => Some(error),
            _ => None,
        }
    }
}

//! Why a run ended early.

use std::fmt;

use crate::memory::OutOfMemory;
use crate::paths::PathError;
#[cfg(feature = "sssp")]
use crate::paths::PathVerdict;
use crate::validate::ValidationError;

/// Why a run, or a part of one, has no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// The observer cancelled the run.
    Cancelled,
    /// A search returned a wrong tree.
    Invalid {
        /// The start vertex of the search.
        key: u64,
        /// The error.
        error: ValidationError,
    },
    /// Kernel 3 returned wrong paths.
    InvalidPaths {
        /// The start vertex of the paths.
        key: u64,
        /// The error.
        error: PathError,
    },
    /// No vertex has an edge to another one, so no search can start.
    NoKeys,
    /// The allocator had no memory.
    OutOfMemory {
        /// The purpose of the memory.
        what: &'static str,
        /// The requested size.
        bytes: u64,
    },
    /// A vertex number exceeds the limit of this crate, or the number of vertices.
    TooManyVertices {
        /// The vertex number.
        label: u64,
    },
    /// The weight of a tuple is negative or not a number.
    BadWeight {
        /// The weight.
        weight: f32,
    },
    /// A few vertices together have more than 2^32 edges.
    TooDense,
    /// The crate was built without the feature `sssp`, which kernel 3 needs.
    NoKernel3,
    /// Another process of a distributed run has failed.
    Process {
        /// The number of that process, from 0.
        process: usize,
        /// Its error.
        message: String,
    },
}

impl RunError {
    /// Returns the error of a run whose paths from `key` were not validated.
    #[cfg(feature = "sssp")]
    pub(crate) fn of_paths(key: u64, verdict: PathVerdict) -> RunError {
        match verdict {
            PathVerdict::Invalid(error) => RunError::InvalidPaths { key, error },
            PathVerdict::Cancelled => RunError::Cancelled,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Cancelled => f.write_str("cancelled"),
            RunError::Invalid { key, error } => {
                write!(f, "the search from vertex {key} is wrong: {error}")
            }
            RunError::InvalidPaths { key, error } => {
                write!(f, "the shortest paths from vertex {key} are wrong: {error}")
            }
            RunError::NoKeys => {
                f.write_str("no vertex has an edge to another one: choose a larger scale or edge factor")
            }
            &RunError::OutOfMemory { what, bytes } => OutOfMemory { what, bytes }.fmt(f),
            RunError::TooManyVertices { label } => {
                write!(
                    f,
                    "vertex {label} is out of range: a graph has at most 2^32 vertices, so choose a scale of at most 32"
                )
            }
            RunError::BadWeight { weight } => write!(f, "an edge weighs {weight}: weights must be 0 or more"),
            RunError::TooDense => {
                f.write_str("a few vertices have more than 2^32 edges together: choose a smaller edge factor")
            }
            RunError::NoKernel3 => f.write_str("kernel 3 is not built in: build graph500 with the feature `sssp`"),
            RunError::Process { process, message } => write!(f, "process {process}: {message}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<OutOfMemory> for RunError {
    fn from(OutOfMemory { what, bytes }: OutOfMemory) -> RunError {
        RunError::OutOfMemory { what, bytes }
    }
}

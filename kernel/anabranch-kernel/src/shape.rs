//! The shape of a machine.

use std::error::Error;
use std::fmt;

/// The parallel parts of a machine. All numbers are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Processors that run independently: streaming multiprocessors, compute units, Xe cores, or hardware threads.
    pub cores: u32,
    /// Lanes of a vector: the elements that one instruction computes.
    pub lanes: u32,
    /// The maximum number of vectors that a core keeps resident, and switches between without cost.
    pub resident_vectors: u32,
    /// The maximum number of vectors in one block.
    pub max_block_vectors: u32,
}

/// A number of a [`Shape`] is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroInShape {
    pub(crate) field: &'static str,
}

impl fmt::Display for ZeroInShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is 0, and must be at least 1", self.field)
    }
}

impl Error for ZeroInShape {}

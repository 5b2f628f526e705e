//! Lazy vectors as data, for devices.
//!
//! A lazy vector describes itself as a [`Node`], a tree. The buffers and values of a launch are in the
//! [`Graph`](crate::graph::Graph). So a device can keep the code that it has compiled for a tree: nodes can be compared
//! and hashed. Lengths are not part of a tree, except the width of rows.

use crate::Kernel;

/// An index into the buffers of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId(pub(crate) usize);

/// Computes element `i` of a lazy vector, or the slice that belongs to it.
///
/// The type of a node is the parameter type of the [`Call`](Self::Call) that it is an argument of. A node without such
/// a call is only copied, as `words` words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "only a device reads the fields"))]
pub enum Node {
    /// The same value for each element: `words` words of its values, from number `first` on.
    Uniform { first: usize, words: usize },
    /// Element `i` of a buffer whose elements have `words` words.
    Buffer { buffer: BufferId, words: usize },
    /// `i` itself, as `u32`.
    Index,
    /// The result of a kernel, which is the last function of `program`. The program can be empty: then it is an error.
    Call { name: &'static str, program: &'static [u8], args: Vec<Node> },
    /// The element with number `index` of a buffer whose elements have `words` words. A number out of range traps.
    Gather { buffer: BufferId, words: usize, index: Box<Node> },
    /// A slice: the whole buffer.
    Whole { buffer: BufferId, words: usize },
    /// A slice: `width` elements of a buffer from element `i * width` on. The launch has as many elements as the buffer
    /// has rows. The width is the uniform word number `width`.
    Rows { buffer: BufferId, words: usize, width: usize },
    /// A slice: the elements of a buffer from `offsets[i]` up to `offsets[i + 1]`, excluded. `offsets` has one word
    /// more than there are elements. Offsets that decrease, or are larger than the length of the buffer, trap.
    Segments { offsets: BufferId, buffer: BufferId, words: usize },
}

/// A kernel that an operation calls: the operator of a reduction, or the predicate of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "only a device reads the fields"))]
pub struct Operator {
    /// The name of the kernel.
    pub(crate) name: &'static str,
    /// Its program. The kernel is its last function.
    pub(crate) program: &'static [u8],
}

impl Operator {
    pub(crate) fn of<K: Kernel>() -> Self {
        Self { name: K::NAME, program: K::PROGRAM }
    }
}

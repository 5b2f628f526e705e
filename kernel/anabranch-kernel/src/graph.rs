//! The buffers and values of launches, which differ between two launches of the same [tree](crate::tree).

use std::ptr;

use crate::Item;
use crate::gpu::Buffer;
use crate::tree::{BufferId, Node};

/// The buffers and values of the trees of a launch.
#[derive(Default)]
pub struct Graph<'a> {
    buffers: Vec<&'a Buffer>,
    uniforms: Vec<u32>,
}

impl<'a> Graph<'a> {
    /// Returns the number of a buffer. The same buffer has the same number each time.
    pub(crate) fn buffer(&mut self, buffer: &'a Buffer) -> BufferId {
        let known = self.buffers.iter().position(|known| ptr::eq(*known, buffer));
        BufferId(known.unwrap_or_else(|| {
            self.buffers.push(buffer);
            self.buffers.len() - 1
        }))
    }

    /// Appends the words of a value, and returns the number of the first one.
    pub(crate) fn uniform(&mut self, value: &impl Item) -> usize {
        let first = self.uniforms.len();
        value.push_words(&mut self.uniforms);
        first
    }

    /// Returns the buffers, in the order of their numbers.
    pub(crate) fn buffers(&self) -> &[&'a Buffer] {
        &self.buffers
    }

    /// Returns the words of all values.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "only a device reads it"))]
    pub(crate) fn uniforms(&self) -> &[u32] {
        &self.uniforms
    }
}

/// Lazy vectors of the same length that an operation reads.
#[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "only a device reads the fields"))]
pub(crate) struct Inputs<'a, const N: usize> {
    /// The buffers and values of all trees.
    pub(crate) graph: Graph<'a>,
    /// The trees.
    pub(crate) roots: [Node; N],
    /// The words of an element of each tree.
    pub(crate) words: [usize; N],
    /// The number of elements.
    pub(crate) len: u32,
}

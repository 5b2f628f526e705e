//! The buffers and values of launches, which differ between two launches of the same [tree](crate::tree).

use std::ptr;

use crate::element::{self, Element};
use crate::gpu::{Buffer, GpuQueue};
use crate::tree::{BufferId, Node};
use crate::{Error, Item};

/// The buffers and values of the trees of a launch.
#[derive(Default)]
pub struct Graph<'a> {
    /// Where slices are uploaded.
    queue: Option<&'a GpuQueue>,
    buffers: Vec<Input<'a>>,
    uniforms: Vec<u32>,
}

/// A buffer of a launch.
enum Input<'a> {
    Stored(&'a Buffer),
    /// A copy of these words.
    Uploaded(&'a [u32], Buffer),
}

impl Input<'_> {
    fn buffer(&self) -> &Buffer {
        match self {
            Self::Stored(buffer) => buffer,
            Self::Uploaded(_, buffer) => buffer,
        }
    }
}

impl<'a> Graph<'a> {
    /// Returns a graph that uploads slices to a queue.
    pub(crate) fn of_queue(queue: &'a GpuQueue) -> Self {
        Self { queue: Some(queue), ..Self::default() }
    }

    /// Returns the number of a buffer. The same buffer has the same number each time.
    pub(crate) fn buffer(&mut self, buffer: &'a Buffer) -> BufferId {
        let known = self.buffers.iter().position(|known| ptr::eq(known.buffer(), buffer));
        BufferId(known.unwrap_or_else(|| self.push(Input::Stored(buffer))))
    }

    /// Uploads a slice, and returns the number of the buffer. The same slice is uploaded once.
    pub(crate) fn upload<T: Element>(&mut self, elements: &'a [T]) -> Result<BufferId, Error> {
        let words = element::as_words(elements);
        let is_same = |known: &Input<'_>| matches!(known, Input::Uploaded(from, _) if ptr::eq(*from, words));
        if let Some(known) = self.buffers.iter().position(is_same) {
            return Ok(BufferId(known));
        }
        let queue = self.queue.expect("the passes of a sort read buffers");
        let buffer = queue.upload(words)?;
        Ok(BufferId(self.push(Input::Uploaded(words, buffer))))
    }

    fn push(&mut self, input: Input<'a>) -> usize {
        self.buffers.push(input);
        self.buffers.len() - 1
    }

    /// Appends the words of a value, and returns the number of the first one.
    pub(crate) fn uniform(&mut self, value: &impl Item) -> usize {
        let first = self.uniforms.len();
        value.push_words(&mut self.uniforms);
        first
    }

    /// Returns the buffers, in the order of their numbers.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter().map(Input::buffer)
    }

    /// Returns a buffer.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "only a device reads it"))]
    pub(crate) fn buffer_of(&self, id: BufferId) -> &Buffer {
        self.buffers[id.0].buffer()
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

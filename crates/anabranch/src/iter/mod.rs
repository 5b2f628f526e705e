//! Parallel loops over sequences that can be cut in two: slices, ranges, chunks, and pairs of them.
//!
//! A loop is cut only when another thread requests work, never by a preset count. So there is no grain size to choose,
//! and a small loop costs as much as a plain one.

mod drive;
mod loops;
mod source;

pub use self::{
    loops::{par_for_each, par_map, par_reduce},
    source::{Chunks, ChunksMut, Splittable, chunks, chunks_mut},
};

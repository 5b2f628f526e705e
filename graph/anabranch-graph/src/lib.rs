//! Graphs in memory, and kernels on them, on the anabranch worker pool.
//!
//! A [`Graph`] is built from edges. It is directed or undirected, and has weights or none.
//!
//! ```
//! use anabranch_graph::Graph;
//! let graph = Graph::undirected([(0, 1), (1, 2)]);
//! assert_eq!(graph.out_neighbours(1), [0, 2]);
//! ```

mod array;
mod files;
mod graph;
pub mod kernels;
mod labels;
mod rows;
mod weight;

pub use files::{
    Format, Input, Observer, Part, Phase, ReadError, ReadErrorKind, ReadOptions, WeightType, map, read, read_part,
    read_with, weight_type, write,
};
pub use graph::{DamagedGraph, Graph};
pub use labels::Labels;
pub use weight::Weight;

//! Kernels on a [`Graph`](crate::Graph): those of the GAP benchmark suite, and core numbers and strongly connected
//! components. The defaults of PageRank and betweenness are those of networkx.
//!
//! Source: Beamer, Asanović, Patterson, *The GAP Benchmark Suite*, 2015 (arXiv:1508.03619).
//!
//! | kernel | result |
//! |---|---|
//! | [`bfs()`] | the parent and the level of each vertex that the root reaches |
//! | [`sssp()`] | each vertex's distance; [`sssp::parents`] computes a tree; [`sssp::LightFirst`] is for many roots |
//! | [`connected_components`] | the least vertex of each vertex's component |
//! | [`strongly_connected_components`] | the least vertex of each vertex's component |
//! | [`core_numbers`] | the core number of each vertex |
//! | [`pagerank()`] | the score of each vertex |
//! | [`count_triangles`] | the number of triangles |
//! | [`betweenness()`] | the betweenness centrality of each vertex |
//!
//! [`path_to`] reads a shortest path from the parents that [`bfs()`] or [`sssp::parents`] returns.
//!
//! Each module has a function `verify`, which compares a result with a plain serial algorithm.
//!
//! A kernel runs on the pool of its caller: the default one, or that of [`Pool::install`](anabranch::Pool::install).
//! Its last argument is asked between blocks of work whether to stop. `&()` never stops it.

pub mod betweenness;
pub mod bfs;
pub mod components;
pub mod cores;
mod error;
pub mod pagerank;
mod path;
pub mod sssp;
pub mod strong;
mod tools;
pub mod triangles;

pub use betweenness::betweenness;
pub use bfs::bfs;
pub use components::connected_components;
pub use cores::core_numbers;
pub use error::{Cancel, KernelError, VerifyError};
pub use pagerank::pagerank;
pub use path::path_to;
pub use sssp::sssp;
pub use strong::strongly_connected_components;
pub use triangles::count_triangles;

/// Stands for "no vertex" in a list of parents, and for "no level" in a list of levels.
pub const UNREACHED: u32 = u32::MAX;

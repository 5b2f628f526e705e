//! `anabranch bfs`, `sssp`, `cc`, `pagerank`, `triangles` and `bc`: the kernels of the GAP suite on a graph from a
//! file.

mod args;
mod columns;
mod kernels;
mod report;
mod run;

pub use args::{BcArgs, BfsArgs, CcArgs, PagerankArgs, SsspArgs, TrianglesArgs};
pub use kernels::{bc, bfs, cc, pagerank, sssp, triangles};

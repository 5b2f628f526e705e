//! Kernel 3: shortest paths from each key, by delta-stepping.
//!
//! Source: Graph500 specification, section 6 ("Kernel 3 - Single-Source Shortest Paths"). The kernel is
//! [`LightFirst::sssp`], and [`LightFirst::parents`] computes the tree from the distances. Both are timed.
//!
//! **Ranks.** The graph with weights numbers its vertices by the ranks of kernel 1: by descending degree, without the
//! isolated vertices. So most distances that a relaxation reads lie close together. Construction takes the ranks from
//! [`Graph`], and a search translates distances and parents back to the labels of the input.

mod error;
mod report;
#[cfg(feature = "sssp")]
mod run;
#[cfg(feature = "sssp")]
mod search;
#[cfg(feature = "sssp")]
mod validate;

pub use error::{PathError, PathVerdict};
pub use report::{PathRecord, PathReport};
#[cfg(feature = "sssp")]
pub(crate) use run::run;
#[cfg(feature = "sssp")]
pub use search::{PathSearch, WeightedGraph};
#[cfg(feature = "sssp")]
pub use validate::PathValidator;

#[cfg(not(feature = "sssp"))]
pub(crate) fn run(
    _: &crate::Spec,
    _: bool,
    _: &crate::Graph,
    _: &[u64],
    _: &dyn crate::Observer,
) -> Result<PathReport, crate::RunError> {
    Err(crate::RunError::NoKernel3)
}

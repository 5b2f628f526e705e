//! The Graph500 benchmark on the anabranch worker pool.
//!
//! Graph500 measures how fast a machine searches a graph without locality. A run generates a Kronecker graph as a list
//! of edge tuples ([`generate`]), builds a graph from it ([`Graph::build`], kernel 1), searches it breadth first from
//! 64 random vertices ([`search_keys`], [`Search`], kernel 2), checks every result against the tuples ([`Validator`])
//! and reports traversed edges per second ([`Report`]). [`run()`] does all of it. Every step can also be used alone.
//!
//! ```
//! use graph500::{BfsKind, Graph, Search, Spec, Validator, generate, search_keys};
//!
//! let spec = Spec::new(10, 16, 1)?;
//! let edges = generate(&spec, &())?;
//! let graph = Graph::build(&edges, &())?;
//! let mut search = Search::new(&graph, BfsKind::Direction)?;
//! let mut validator = Validator::new(&edges, graph.num_vertices())?;
//! for key in search_keys(&graph, 4, spec.seed()) {
//!     search.run(key, &())?;
//!     let component = validator.check(key, search.parents(), &()).unwrap();
//!     assert!(component.edges > 0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All parallel parts run on the current [`anabranch::Pool`].

mod bfs;
mod bitmap;
mod checkpoint;
mod construct;
pub mod distributed;
mod edge;
mod error;
mod generator;
mod graph;
mod keys;
mod memory;
mod paths;
mod plan;
mod report;
mod run;
mod spec;
mod statistics;
mod techniques;
mod validate;
mod watch;

pub use bfs::{BfsKind, Reach, Search, UNREACHED, UnknownBfsKind};
pub use checkpoint::CheckpointError;
pub use edge::{Edge, WeightedEdge};
pub use error::RunError;
pub use generator::{Generator, generate, generate_weighted};
pub use graph::Graph;
pub use keys::search_keys;
pub use paths::{PathError, PathRecord, PathReport, PathVerdict};
#[cfg(feature = "sssp")]
pub use paths::{PathSearch, PathValidator, WeightedGraph};
pub use plan::MemoryPlan;
pub use report::{Report, SearchRecord};
pub use run::{Built, Config, run, run_built};
pub use spec::{Spec, SpecError};
pub use statistics::{Summary, TepsSummary};
pub use techniques::{Technique, Techniques, UnknownTechnique};
pub use validate::{Component, ValidationError, Validator, Verdict};
pub use watch::{Observer, Phase};

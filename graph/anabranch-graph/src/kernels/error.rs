//! The ends of a kernel without a result, and the request to stop.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::{Graph, Weight};

/// Tells a kernel whether to stop. `()` never stops one.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{KernelError, bfs};
/// use std::sync::atomic::AtomicBool;
///
/// let graph = Graph::undirected([(0, 1)]);
/// let stop = AtomicBool::new(true);
/// assert!(matches!(bfs(&graph, 0, &stop), Err(KernelError::Cancelled)));
/// ```
pub trait Cancel: Sync {
    /// Returns whether the kernel shall stop. All threads call this once per block of work, so it should cost no more
    /// than an atomic load. Once it has returned `true`, it must always do.
    fn is_cancelled(&self) -> bool;
}

impl Cancel for () {
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Cancel for AtomicBool {
    fn is_cancelled(&self) -> bool {
        self.load(Relaxed)
    }
}

/// The reason why a kernel has no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KernelError {
    /// [`Cancel::is_cancelled`] has returned `true`.
    Cancelled,
    /// The graph has no such vertex.
    NoSuchVertex {
        /// The argument.
        vertex: u32,
        /// The number of vertices of the graph.
        num_vertices: usize,
    },
    /// The weight of an edge is negative or not a number.
    BadWeight {
        /// The start of the edge.
        from: u32,
        /// The end of the edge.
        to: u32,
        /// The weight.
        weight: f64,
    },
    /// A parameter of the kernel is outside its range.
    BadParameter {
        /// The name of the parameter.
        name: &'static str,
        /// The values that the kernel accepts.
        expected: &'static str,
        /// The argument.
        value: f64,
    },
}

impl KernelError {
    /// Returns an error if `graph` has no `vertex`.
    pub(super) fn check_vertex<W: Weight>(graph: &Graph<W>, vertex: u32) -> Result<(), KernelError> {
        let num_vertices = graph.num_vertices();
        let exists = (vertex as usize) < num_vertices;
        exists.then_some(()).ok_or(KernelError::NoSuchVertex { vertex, num_vertices })
    }

    /// Returns an error if `cancel` says so.
    pub(super) fn check(cancel: &dyn Cancel) -> Result<(), KernelError> {
        if cancel.is_cancelled() { Err(KernelError::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::Cancelled => f.write_str("the kernel was cancelled"),
            KernelError::NoSuchVertex { vertex, num_vertices } => {
                write!(f, "there is no vertex {vertex}: the graph has {num_vertices} vertices")
            }
            KernelError::BadWeight { from, to, weight } => {
                write!(f, "the edge from {from} to {to} has the weight {weight}; shortest paths need one of at least 0")
            }
            KernelError::BadParameter { name, expected, value } => {
                write!(f, "{name} must be {expected}, and is {value}")
            }
        }
    }
}

impl Error for KernelError {}

/// The first difference that a verifier has found between a result and that of its plain serial algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError(pub(super) String);

impl VerifyError {
    /// Returns an error with the text of `message` unless `holds`.
    pub(super) fn unless(holds: bool, message: impl FnOnce() -> String) -> Result<(), VerifyError> {
        if holds { Ok(()) } else { Err(VerifyError(message())) }
    }

    /// Compares the values of all vertices with those of a serial algorithm. `has` is the verb and the
    /// name of a value.
    pub(super) fn compare(has: &str, found: &[u32], expected: &[u32]) -> Result<(), VerifyError> {
        let num_vertices = expected.len();
        VerifyError::unless(found.len() == num_vertices, || {
            format!("the result does not have {num_vertices} vertices")
        })?;
        match found.iter().zip(expected).position(|(found, expected)| found != expected) {
            None => Ok(()),
            Some(vertex) => {
                Err(VerifyError(format!("vertex {vertex} {has} {} instead of {}", found[vertex], expected[vertex])))
            }
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for VerifyError {}

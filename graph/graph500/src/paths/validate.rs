//! The checks of shortest paths, against the input tuples.
//!
//! Source: Graph500 specification, section 8 ("Validation"). (1) The parents form a tree with the key as its root. (2)
//! The distance of a vertex is its parent's plus the weight of an edge between them. (3) No input edge is a shortcut.
//! (4) The tree spans the component of the key. (5) Each tree edge is an input edge. With (2), the tree has paths of
//! the distances; with (3), there are no shorter ones.
//!
//! **Sums.** All sums are rounded to single precision. The kernel adds the weights of a path from the root on, so (2)
//! holds exactly, and (3) for the rounded sum.
//!
//! The checks do not use the constructed graphs. They take time O(N + M). The error is the first violation in the order
//! of the vertices or tuples, whatever the number of threads.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use super::{PathError, PathVerdict};
use crate::edge::Tuple as _;
use crate::memory::{Shared, zeroed};
use crate::watch::Halt;
use crate::{Component, Observer, RunError, Validator, Verdict, WeightedEdge};

/// Vertices or tuples per block.
const BLOCK: usize = 1 << 12;

/// Checks shortest paths against the weighted tuples. It reuses its memory for every result.
///
/// ```
/// use graph500::{Edge, PathError, PathValidator, PathVerdict, WeightedEdge};
/// let edges = [(0, 1, 0.5), (1, 2, 0.25)].map(|(a, b, weight)| WeightedEdge { edge: Edge::new(a, b), weight });
/// let mut validator = PathValidator::new(&edges, 3)?;
/// assert!(validator.check(0, &[0, 0, 1], &[0.0, 0.5, 0.75], &()).is_ok());
/// let wrong = validator.check(0, &[0, 0, 1], &[0.0, 0.5, 0.625], &());
/// let error = PathError::NotAnEdge { vertex: 2, parent: 1, distances: (0.625, 0.5) };
/// assert_eq!(wrong, Err(PathVerdict::Invalid(error)));
/// # Ok::<(), graph500::RunError>(())
/// ```
pub struct PathValidator<'a> {
    edges: &'a [WeightedEdge],
    tree: Validator<'a>,
    /// For each vertex its parent, or itself once an input edge to the parent was seen.
    unseen: Vec<u64>,
}

impl<'a> PathValidator<'a> {
    /// Creates a validator for paths in a graph with `num_vertices` vertices and these edges.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`]. Returns [`RunError::TooManyVertices`] if an edge has an end that is not a
    /// vertex, or if there are more than 2^32 vertices.
    pub fn new(edges: &'a [WeightedEdge], num_vertices: u64) -> Result<PathValidator<'a>, RunError> {
        let largest = edges.par_iter().map(|weighted| weighted.edge.ends().0.max(weighted.edge.ends().1));
        match largest.max() {
            Some(label) if label >= num_vertices => return Err(RunError::TooManyVertices { label }),
            _ => {}
        }
        let tree = Validator::new(&[], num_vertices)?;
        Ok(PathValidator { edges, tree, unseen: zeroed("the validation", num_vertices as usize)? })
    }

    /// Checks that `parents` and `distances` are shortest paths from `key` to its component. The depth of the result is
    /// that of the tree.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn check(
        &mut self,
        key: u64,
        parents: &[i64],
        distances: &[f32],
        observer: &dyn Observer,
    ) -> Result<Component, PathVerdict> {
        let halt = Halt::new(observer);
        let mut component = self.tree.check_tree(key, parents, &halt).map_err(|verdict| match verdict {
            Verdict::Invalid(error) => PathVerdict::Invalid(PathError::Tree(error)),
            Verdict::Cancelled => PathVerdict::Cancelled,
        })?;
        if distances.len() != parents.len() {
            return Err(PathError::Length { distances: distances.len(), vertices: parents.len() }.into());
        }
        let unseen = self.unseen.shared();
        blocks(parents.len(), &halt, |_, vertex| {
            let (parent, distance) = (parents[vertex], distances[vertex]);
            unseen[vertex].store(if parent < 0 { vertex as u64 } else { parent as u64 }, Relaxed);
            let is_valid =
                if parent < 0 { distance == f32::INFINITY } else { (0.0..f32::INFINITY).contains(&distance) };
            if is_valid { Ok(()) } else { Err(PathError::Distance { vertex: vertex as u64, parent, distance }) }
        })?;
        let distance = distances[key as usize];
        if distance != 0.0 {
            return Err(PathError::RootDistance { distance }.into());
        }
        component.edges =
            blocks(self.edges.len(), &halt, |count, index| check_edge(self.edges, distances, unseen, count, index))?;
        blocks(parents.len(), &halt, |_, vertex| {
            let parent = unseen[vertex].load(Relaxed);
            if parent == vertex as u64 {
                return Ok(());
            }
            let distances = (distances[vertex], distances[parent as usize]);
            Err(PathError::NotAnEdge { vertex: vertex as u64, parent, distances })
        })?;
        Ok(component)
    }
}

/// Checks one tuple, and marks the tree edge that it can be.
#[inline]
fn check_edge(
    edges: &[WeightedEdge],
    distances: &[f32],
    unseen: &[AtomicU64],
    inside: &mut u64,
    index: usize,
) -> Result<(), PathError> {
    let WeightedEdge { edge, weight } = edges[index];
    let (a, b) = edge.low_ends();
    let (near, far) = (distances[a as usize], distances[b as usize]);
    let (lower, upper, near, far) = if near <= far { (a, b, near, far) } else { (b, a, far, near) };
    *inside += u64::from(near < f32::INFINITY);
    let sum = near + weight;
    if sum > far {
        return Ok(());
    }
    // An infinite sum is equal too, and no parent then matches.
    if sum == far {
        // With a weight that vanishes in the sum, either end can be the parent.
        see(unseen, upper, lower);
        if near == far {
            see(unseen, lower, upper);
        }
        return Ok(());
    }
    Err(broken(index, edges[index], distances))
}

/// Marks the tree edge of `vertex` as seen if `parent` is its parent.
#[inline]
fn see(unseen: &[AtomicU64], vertex: u32, parent: u32) {
    if unseen[vertex as usize].load(Relaxed) == u64::from(parent) {
        unseen[vertex as usize].store(vertex.into(), Relaxed);
    }
}

#[cold]
fn broken(index: usize, WeightedEdge { edge, weight }: WeightedEdge, distances: &[f32]) -> PathError {
    let (a, b) = edge.ends();
    let (p, q) = (distances[a as usize], distances[b as usize]);
    let edge = index as u64;
    if p.max(q) == f32::INFINITY {
        let (inside, outside) = if p < q { (a, b) } else { (b, a) };
        PathError::Component { edge, inside, outside }
    } else {
        PathError::Shortcut { edge, ends: (a, b), distances: (p, q), weight }
    }
}

/// Runs a check for all of `0..len` in parallel, with a count. The error is that of the smallest index.
fn blocks(
    len: usize,
    halt: &Halt<'_>,
    check: impl Fn(&mut u64, usize) -> Result<(), PathError> + Sync,
) -> Result<u64, PathVerdict> {
    let block = |count: Result<u64, PathVerdict>, block: usize| {
        let mut count = count?;
        if halt.is_cancelled() {
            return Err(PathVerdict::Cancelled);
        }
        (block * BLOCK..((block + 1) * BLOCK).min(len)).try_for_each(|index| check(&mut count, index))?;
        Ok(count)
    };
    (0..len.div_ceil(BLOCK)).into_par_iter().fold(|| Ok(0), block).reduce(|| Ok(0), |a, b| Ok(a? + b?))
}

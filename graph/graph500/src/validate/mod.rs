//! The five checks of a search's result, against the input tuples.
//!
//! Source: Graph500 specification, section 8 ("Validation"). In its order: (1) the parents form a tree with the key as
//! root and without a cycle; (2) each tree edge joins vertices whose levels differ by one; (3) each input edge joins
//! vertices whose levels differ by at most one; (4) the tree spans the key's component, so no input edge leaves it; (5)
//! each tree edge is an input edge.
//!
//! The checks do not use the constructed graph: a mistake in kernel 1 must not hide one in kernel 2.
//!
//! **Levels.** A walk goes up from each vertex to a vertex of known level, and then writes the levels down that path.
//! So no step of a path is walked again for another vertex. Threads that meet on a path write the same numbers. A walk
//! longer than the number of vertices is in a cycle. Such levels obey (2), which is checked for levels that a search
//! claims.
//!
//! **Edges.** One pass over the tuples does (3), (4), (5) and counts the edges of the component: see [`edges`].
//!
//! The total time is O(N + M). The error is the first violation in the order above, then in the order of vertices or
//! tuples. It does not depend on the number of threads.

mod edges;
mod error;

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use crate::edge::NarrowEdge;
use crate::memory::{Shared, zeroed};
use crate::watch::Halt;
use crate::{Edge, Observer, RunError};

use edges::TagFormat;
pub(crate) use edges::{count_edges, sort};
pub use error::ValidationError;

/// Vertices or tuples per block.
const BLOCK: usize = 1 << 12;

/// The word of a vertex that is not in the tree.
const OUTSIDE: u64 = u64::MAX;
/// The level of a vertex in the tree whose level is not known yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// The extent of a valid tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// Input tuples in the component, self-loops and duplicates included. These are the edges of traversed edges per
    /// second.
    pub edges: u64,
    /// Vertices in the tree.
    pub reached: u64,
    /// The largest level.
    pub depth: u32,
}

/// Why a tree was not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The tree is invalid.
    Invalid(ValidationError),
    /// The observer cancelled.
    Cancelled,
}

impl Verdict {
    /// Returns the error of the run for the search from `key`.
    pub(crate) fn of_key(self, key: u64) -> RunError {
        match self {
            Verdict::Invalid(error) => RunError::Invalid { key, error },
            Verdict::Cancelled => RunError::Cancelled,
        }
    }
}

impl From<ValidationError> for Verdict {
    fn from(error: ValidationError) -> Verdict {
        Verdict::Invalid(error)
    }
}

/// Checks search results against the edge tuples. It reuses its memory for every result.
///
/// ```
/// use graph500::{Edge, ValidationError, Validator, Verdict};
/// let edges = [Edge::new(0, 1), Edge::new(1, 2), Edge::new(2, 2), Edge::new(3, 4)];
/// let mut validator = Validator::new(&edges, 5)?;
/// let component = validator.check(0, &[0, 0, 1, -1, -1], &()).unwrap();
/// assert_eq!((component.edges, component.reached, component.depth), (3, 3, 2));
/// let shortcut = validator.check(0, &[0, 0, 0, -1, -1], &());
/// assert_eq!(shortcut, Err(Verdict::Invalid(ValidationError::NotAnEdge { vertex: 2, parent: 0 })));
/// # Ok::<(), graph500::RunError>(())
/// ```
pub struct Validator<'a> {
    edges: Tuples<'a>,
    /// For each vertex its level above its parent.
    words: Vec<u64>,
    /// For each vertex its tag, see [`edges`].
    tags: Vec<u32>,
    /// What the tags of the last check mean.
    format: TagFormat,
}

/// The tuples of a caller or of a run.
#[derive(Clone, Copy)]
pub(crate) enum Tuples<'a> {
    Wide(&'a [Edge]),
    Narrow(&'a [NarrowEdge]),
}

#[inline]
fn word(level: u32, parent: u32) -> u64 {
    u64::from(level) << 32 | u64::from(parent)
}

#[inline]
fn level(word: u64) -> u32 {
    (word >> 32) as u32
}

#[inline]
fn parent(word: u64) -> u32 {
    word as u32
}

impl<'a> Validator<'a> {
    /// Creates a validator for searches of a graph with `num_vertices` vertices and these edges.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`]. Returns [`RunError::TooManyVertices`] if an edge has an end that is not a
    /// vertex, or if there are more than 2^32 vertices.
    pub fn new(edges: &'a [Edge], num_vertices: u64) -> Result<Validator<'a>, RunError> {
        if num_vertices > 1 << 32 {
            return Err(RunError::TooManyVertices { label: num_vertices - 1 });
        }
        let outside = |found: Option<u64>, edges: &[Edge]| {
            found.or_else(|| edges.iter().map(|edge| edge.ends().0.max(edge.ends().1)).find(|&end| end >= num_vertices))
        };
        if let Some(label) = edges.par_chunks(BLOCK).fold(|| None, outside).reduce(|| None, Option::or) {
            return Err(RunError::TooManyVertices { label });
        }
        Validator::of_graph(Tuples::Wide(edges), num_vertices)
    }

    /// Sorts `edges` into an order in which [`check`](Self::check) is fast. It accepts any order, and takes about twice
    /// as long if the ends of neighbouring tuples are far apart.
    ///
    /// Takes time O(M log M) and no memory that grows with M.
    pub fn sort_edges(edges: &mut [Edge]) {
        sort(edges);
    }

    /// Creates a validator without a check of the edges: a graph with this many vertices was built from them.
    pub(crate) fn of_graph(edges: Tuples<'a>, num_vertices: u64) -> Result<Validator<'a>, RunError> {
        let (what, vertices) = ("the validation", num_vertices as usize);
        Ok(Validator {
            edges,
            words: zeroed(what, vertices)?,
            tags: zeroed(what, vertices)?,
            format: TagFormat::default(),
        })
    }

    /// Checks that `parents` is a breadth-first tree of the component of `key`.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn check(&mut self, key: u64, parents: &[i64], observer: &dyn Observer) -> Result<Component, Verdict> {
        let halt = Halt::new(observer);
        self.load(key, parents.len(), |vertex| parents[vertex], &halt)?;
        let tree = self.find_levels(key, &halt)?;
        self.finish(tree, parents, &halt)
    }

    /// Checks 1 to 4, and marks the tree edges among these tuples for check 5. The count of edges is of these tuples.
    pub(crate) fn check_part(
        &mut self,
        key: u64,
        parent_of: impl Fn(usize) -> i64 + Sync,
        halt: &Halt<'_>,
    ) -> Result<Component, Verdict> {
        self.load(key, self.words.len(), parent_of, halt)?;
        let tree = self.find_levels(key, halt)?;
        self.check_edges(tree, halt)
    }

    /// After [`check_part`](Self::check_part), returns the vertices of the `word`th 64 whose tree edge is not among
    /// these tuples, as bits.
    pub(crate) fn unseen(&self, word: usize) -> u64 {
        let vertices = word * 64..(word * 64 + 64).min(self.words.len());
        let is_seen = |vertex| self.format.is_seen(vertex as u32, self.tags[vertex], || self.words[vertex]);
        vertices.clone().fold(0, |bits, vertex| bits | u64::from(!is_seen(vertex)) << (vertex - vertices.start))
    }

    /// Check 1 alone: `parents` is a tree with `key` as its root. The result has no count of edges.
    #[cfg(feature = "sssp")]
    pub(crate) fn check_tree(&mut self, key: u64, parents: &[i64], halt: &Halt<'_>) -> Result<Component, Verdict> {
        self.load(key, parents.len(), |vertex| parents[vertex], halt)?;
        self.find_levels(key, halt)
    }

    /// Checks a search that also returns levels, which the checks then use. Levels of vertices outside the tree are
    /// ignored.
    ///
    /// # Errors
    /// Returns the first violation.
    ///
    /// # Panics
    /// Panics if there are fewer levels than parents.
    pub fn check_levels(
        &mut self,
        key: u64,
        parents: &[i64],
        levels: &[u32],
        observer: &dyn Observer,
    ) -> Result<Component, Verdict> {
        let halt = Halt::new(observer);
        self.load(key, parents.len(), |vertex| parents[vertex], &halt)?;
        let mut tree = self.find_levels(key, &halt)?;
        tree.depth = 0;
        for (word, &claimed) in self.words.iter_mut().zip(&levels[..parents.len()]) {
            if *word != OUTSIDE {
                *word = self::word(claimed.min(UNKNOWN), parent(*word));
                tree.depth = tree.depth.max(level(*word));
            }
        }
        check_tree_edges(self.words.shared(), &halt)?;
        self.finish(tree, parents, &halt)
    }

    /// Checks that `parents` parents are in range and that the key is its own; fills the words.
    fn load(
        &mut self,
        key: u64,
        parents: usize,
        parent_of: impl Fn(usize) -> i64 + Sync,
        halt: &Halt<'_>,
    ) -> Result<(), Verdict> {
        let vertices = self.words.len();
        if parents != vertices {
            return Err(ValidationError::Length { parents, vertices }.into());
        }
        let of_key = usize::try_from(key).ok().filter(|&key| key < parents).map(&parent_of);
        if of_key != Some(key as i64) {
            return Err(ValidationError::Root { parent: of_key.unwrap_or(-1) }.into());
        }
        let words = self.words.shared();
        each_vertex(vertices, halt, |vertex| {
            let parent = parent_of(vertex);
            if !(-1..vertices as i64).contains(&parent) {
                return Err(ValidationError::ParentRange { vertex: vertex as u64, parent });
            }
            // Without a branch, which would be hard to predict: -1 has all bits, as `OUTSIDE` has.
            words[vertex].store(word(UNKNOWN, parent as u32) | (parent >> 63) as u64, Relaxed);
            Ok(())
        })?;
        words[key as usize].store(word(0, key as u32), Relaxed);
        Ok(())
    }

    /// Check 1: finds the level of every vertex in the tree. Returns the extent of the tree, without its edges.
    fn find_levels(&mut self, key: u64, halt: &Halt<'_>) -> Result<Component, Verdict> {
        let limit = self.words.len();
        let words = self.words.shared();
        debug_assert_eq!(level(words[key as usize].load(Relaxed)), 0);
        let check = |found: &mut Component, vertex: usize| {
            let level = walk(words, vertex as u32, limit)?;
            let is_inside = level < UNKNOWN;
            found.reached += u64::from(is_inside);
            found.depth = found.depth.max(if is_inside { level } else { 0 });
            Ok(())
        };
        blocks(limit, halt, check, |a, b| Component {
            reached: a.reached + b.reached,
            depth: a.depth.max(b.depth),
            edges: 0,
        })
    }

    /// Runs the checks over the tuples.
    fn finish(&mut self, tree: Component, parents: &[i64], halt: &Halt<'_>) -> Result<Component, Verdict> {
        let component = self.check_edges(tree, halt)?;
        let (words, tags, format) = (self.words.shared(), self.tags.shared(), self.format);
        let is_seen = |vertex: usize| {
            if format.is_seen(vertex as u32, tags[vertex].load(Relaxed), || words[vertex].load(Relaxed)) {
                Ok(())
            } else {
                Err(ValidationError::NotAnEdge { vertex: vertex as u64, parent: parents[vertex] as u64 })
            }
        };
        each_vertex(words.len(), halt, is_seen)?;
        Ok(component)
    }

    /// Runs checks 3 and 4, and marks the tree edges.
    fn check_edges(&mut self, mut tree: Component, halt: &Halt<'_>) -> Result<Component, Verdict> {
        let (words, tags) = (self.words.shared(), self.tags.shared());
        (tree.edges, self.format) = match self.edges {
            Tuples::Wide(edges) => edges::check(edges, words, tags, tree.depth, halt)?,
            Tuples::Narrow(edges) => edges::check(edges, words, tags, tree.depth, halt)?,
        };
        Ok(tree)
    }
}

/// Walks from `vertex` to a known level, and writes the levels on the way. Returns that of `vertex`, or that of
/// [`OUTSIDE`].
#[inline]
fn walk(words: &[AtomicU64], vertex: u32, limit: usize) -> Result<u32, ValidationError> {
    let start = words[vertex as usize].load(Relaxed);
    if level(start) != UNKNOWN {
        return Ok(level(start));
    }
    let (mut at, mut steps, mut here) = (vertex, 0, start);
    while level(here) == UNKNOWN {
        if steps == limit {
            return Err(ValidationError::Cycle { vertex: vertex.into() });
        }
        let above = parent(here);
        here = words[above as usize].load(Relaxed);
        if here == OUTSIDE {
            return Err(ValidationError::Orphan { vertex: at.into(), parent: above.into() });
        }
        at = above;
        steps += 1;
    }
    let found = level(here) + steps as u32;
    let (mut at, mut known) = (vertex, found);
    while steps > 0 {
        let above = parent(words[at as usize].load(Relaxed));
        words[at as usize].store(word(known, above), Relaxed);
        (at, known, steps) = (above, known - 1, steps - 1);
    }
    Ok(found)
}

/// Check 2, for levels that a search has claimed.
fn check_tree_edges(words: &[AtomicU64], halt: &Halt<'_>) -> Result<(), Verdict> {
    each_vertex(words.len(), halt, |vertex| {
        let here = words[vertex].load(Relaxed);
        if here == OUTSIDE {
            return Ok(());
        }
        let is_root = parent(here) == vertex as u32;
        let parent_level = level(words[parent(here) as usize].load(Relaxed));
        if if is_root { level(here) == 0 } else { level(here) == parent_level.wrapping_add(1) } {
            Ok(())
        } else {
            Err(ValidationError::TreeEdgeLevels { vertex: vertex as u64, level: level(here), parent_level })
        }
    })
}

/// Runs a check without a count.
fn each_vertex(
    vertices: usize,
    halt: &Halt<'_>,
    check: impl Fn(usize) -> Result<(), ValidationError> + Sync,
) -> Result<(), Verdict> {
    blocks(vertices, halt, |(), vertex| check(vertex), |(), ()| ())
}

/// Runs a check for all of `0..len` in parallel, with a count. The error is that of the smallest index.
fn blocks<A: Default + Send>(
    len: usize,
    halt: &Halt<'_>,
    check: impl Fn(&mut A, usize) -> Result<(), ValidationError> + Sync,
    add: impl Fn(A, A) -> A + Sync,
) -> Result<A, Verdict> {
    ranges(len, halt, |count, mut range| range.try_for_each(|index| check(count, index)), add)
}

/// Runs a check for the blocks of `0..len` in parallel, with a count. The error is that of the first block.
fn ranges<A: Default + Send>(
    len: usize,
    halt: &Halt<'_>,
    check: impl Fn(&mut A, Range<usize>) -> Result<(), ValidationError> + Sync,
    add: impl Fn(A, A) -> A + Sync,
) -> Result<A, Verdict> {
    let fold = |count: Result<A, Verdict>, block: usize| {
        let mut count = count?;
        if halt.is_cancelled() {
            return Err(Verdict::Cancelled);
        }
        check(&mut count, block * BLOCK..((block + 1) * BLOCK).min(len))?;
        Ok(count)
    };
    let combine = |a: Result<A, Verdict>, b: Result<A, Verdict>| Ok(add(a?, b?));
    (0..len.div_ceil(BLOCK)).into_par_iter().fold(|| Ok(A::default()), fold).reduce(|| Ok(A::default()), combine)
}

/// Returns the bytes that validation takes for a graph of this size.
pub(crate) fn bytes(num_vertices: u64) -> u64 {
    num_vertices * (size_of::<u64>() + size_of::<u32>()) as u64
}

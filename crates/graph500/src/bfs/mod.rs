//! Kernel 2: breadth-first search, one kernel per file.
//!
//! All kernels fill the same array: for each vertex its parent in the tree, in the input's labels. The root is its own
//! parent, and -1 stands for a vertex that was not reached.

mod color;
mod direction;
mod sequential;

use std::fmt;
use std::str::FromStr;

use anabranch::prelude::*;

use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Halt;
use crate::{Observer, RunError};

/// The parent of a vertex that was not reached.
pub const UNREACHED: i64 = -1;

/// The kind of search kernel.
///
/// ```
/// use graph500::BfsKind;
/// assert_eq!("color".parse(), Ok(BfsKind::Color));
/// assert_eq!(BfsKind::default().to_string(), "direction");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BfsKind {
    /// The textbook queue, on one thread.
    Sequential,
    /// White, gray and black vertices, all visited in every round.
    Color,
    /// Top-down while the frontier is small, bottom-up while it is large.
    #[default]
    Direction,
}

impl BfsKind {
    /// All kinds.
    pub const ALL: [BfsKind; 3] = [BfsKind::Sequential, BfsKind::Color, BfsKind::Direction];

    /// Returns the name that [`FromStr`] parses.
    pub fn name(self) -> &'static str {
        match self {
            BfsKind::Sequential => "sequential",
            BfsKind::Color => "color",
            BfsKind::Direction => "direction",
        }
    }
}

impl fmt::Display for BfsKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name of a kernel is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBfsKind(String);

impl fmt::Display for UnknownBfsKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no search kernel `{}`: choose ", self.0)?;
        let [first, middle, last] = BfsKind::ALL;
        write!(f, "{first}, {middle} or {last}")
    }
}

impl std::error::Error for UnknownBfsKind {}

impl FromStr for BfsKind {
    type Err = UnknownBfsKind;

    fn from_str(name: &str) -> Result<BfsKind, UnknownBfsKind> {
        BfsKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownBfsKind(name.to_owned()))
    }
}

/// The result of a search, besides the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Vertices in the tree, the root included.
    pub reached: u64,
    /// The greatest distance from the root.
    pub depth: u32,
}

/// A search kernel with its memory, which searches from one root after the other.
///
/// ```
/// use graph500::{BfsKind, Edge, Graph, Search};
/// let graph = Graph::build(&[Edge::new(0, 1), Edge::new(1, 2), Edge::new(3, 4)], &())?;
/// let mut search = Search::new(&graph, BfsKind::Direction)?;
/// let reach = search.run(2, &())?;
/// assert_eq!(search.parents(), [1, 2, 2, -1, -1]);
/// assert_eq!((reach.reached, reach.depth), (3, 2));
/// # Ok::<(), graph500::RunError>(())
/// ```
pub struct Search<'g> {
    graph: &'g Graph,
    kernel: Box<dyn Kernel + 'g>,
    parents: Vec<i64>,
}

impl<'g> Search<'g> {
    /// Allocates the memory for searches of `graph`.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`].
    pub fn new(graph: &'g Graph, kind: BfsKind) -> Result<Search<'g>, RunError> {
        let kernel: Box<dyn Kernel + 'g> = match kind {
            BfsKind::Sequential => Box::new(sequential::Sequential::new(graph)?),
            BfsKind::Color => Box::new(color::Color::new(graph)?),
            BfsKind::Direction => Box::new(direction::Direction::new(graph)?),
        };
        let mut parents = zeroed::<i64>("the parents", graph.num_vertices)?;
        parents.par_chunks_mut(1 << 16).for_each(|parents| parents.fill(UNREACHED));
        Ok(Search { graph, kernel, parents })
    }

    /// Searches from `root`. The benchmark times exactly this call.
    ///
    /// # Errors
    /// Returns [`RunError::Cancelled`] if the observer cancels. The parents are then incomplete, and the next run
    /// starts anew.
    ///
    /// # Panics
    /// Panics if there is no vertex `root`.
    pub fn run(&mut self, root: u64, observer: &dyn Observer) -> Result<Reach, RunError> {
        assert!(root < self.graph.num_vertices(), "there is no vertex {root}");
        let halt = Halt::new(observer);
        let reach = self.kernel.search(root as u32, &mut self.parents, &halt);
        halt.check()?;
        Ok(reach)
    }

    /// Returns the tree of the last run: every vertex's parent, or [`UNREACHED`].
    pub fn parents(&self) -> &[i64] {
        &self.parents
    }
}

/// A search algorithm.
trait Kernel: Send {
    /// Fills `parents` from `root`. On entry they are as the kernel's last search left them, initially all
    /// [`UNREACHED`]. If `halt` requests it, returns soon with arbitrary parents. The next search must still be
    /// correct.
    fn search(&mut self, root: u32, parents: &mut [i64], halt: &Halt<'_>) -> Reach;
}

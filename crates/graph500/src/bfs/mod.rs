//! Kernel 2: breadth-first search, one kernel a file.
//!
//! All kernels fill the same array: for each vertex its parent in the tree, in the input's labels;
//! the root is its own parent, and -1 stands where the search did not come.

mod color;
mod direction;
mod sequential;

use std::fmt;
use std::str::FromStr;

use anabranch::{chunks_mut, par_for_each};

use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Halt;
use crate::{Observer, RunError};

/// The parent of a vertex that was not reached.
pub const UNREACHED: i64 = -1;

/// Which search kernel to run.
///
/// ```
/// use graph500::BfsKind;
/// assert_eq!("color".parse(), Ok(BfsKind::Color));
/// assert_eq!(BfsKind::default().to_string(), "direction");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BfsKind {
    /// The textbook's queue, on one thread.
    Sequential,
    /// White, gray and black vertices, all looked at in every round.
    Color,
    /// Top-down while the frontier is small, bottom-up while it is large.
    #[default]
    Direction,
}

impl BfsKind {
    /// Every kind.
    pub const ALL: [BfsKind; 3] = [BfsKind::Sequential, BfsKind::Color, BfsKind::Direction];

    /// The name that [`FromStr`] reads.
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

/// There is no such kernel.
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

/// What a search found, besides the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Vertices in the tree, with the root.
    pub reached: u64,
    /// Edges from the root to the farthest of them.
    pub depth: u32,
}

/// A search kernel with its memory, to be used for one root after the other.
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
    /// Takes the memory that searches of `graph` need.
    ///
    /// # Errors
    /// [`RunError::OutOfMemory`].
    pub fn new(graph: &'g Graph, kind: BfsKind) -> Result<Search<'g>, RunError> {
        let kernel: Box<dyn Kernel + 'g> = match kind {
            BfsKind::Sequential => Box::new(sequential::Sequential::new(graph)?),
            BfsKind::Color => Box::new(color::Color::new(graph)?),
            BfsKind::Direction => Box::new(direction::Direction::new(graph)?),
        };
        let mut parents = zeroed::<i64>("the parents", graph.num_vertices)?;
        par_for_each(chunks_mut(&mut parents, 1 << 16), |parents| parents.fill(UNREACHED));
        Ok(Search { graph, kernel, parents })
    }

    /// Searches from `root`. All that this does is what the benchmark times.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] if the observer says so; the parents are then half-written, and the
    /// next run starts anew.
    ///
    /// # Panics
    /// If there is no vertex `root`.
    pub fn run(&mut self, root: u64, observer: &dyn Observer) -> Result<Reach, RunError> {
        assert!(root < self.graph.num_vertices(), "there is no vertex {root}");
        let halt = Halt::new(observer);
        let reach = self.kernel.search(root as u32, &mut self.parents, &halt);
        halt.check()?;
        Ok(reach)
    }

    /// The tree of the last run: every vertex's parent, [`UNREACHED`] where it did not come.
    pub fn parents(&self) -> &[i64] {
        &self.parents
    }
}

/// One way to search.
trait Kernel: Send {
    /// Fills `parents` from `root`. On entry they are as the kernel's last search left them, at
    /// first all [`UNREACHED`]. If `halt` says so, returns soon and leaves anything in them, but
    /// the next search must be right again.
    fn search(&mut self, root: u32, parents: &mut [i64], halt: &Halt<'_>) -> Reach;
}

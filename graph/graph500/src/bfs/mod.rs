//! Kernel 2: breadth-first search, one kernel per file.
//!
//! A kernel searches in ranks. It writes the *tree*: for each rank the label of its parent, 32 bits each, and
//! [`Graph::no_label`] for a vertex that it did not reach. The last pass of every search writes the output: for each
//! label the label of its parent, the root being its own, and -1 for a vertex that was not reached.
//!
//! **Translation.** A kernel knows the label of a parent at little cost: top-down it serves a whole row, and bottom-up
//! most parents are first neighbours, whose labels kernel 1 has listed. The last pass goes over the labels, so that it
//! writes the output in order. Within a degree class ranks ascend with the labels. So the reads of the tree are one
//! ascending stream per class, and each cache line is read once. Isolated vertices share one entry behind the tree's
//! end.

mod color;
pub(crate) mod direction;
mod sequential;

use std::fmt;
use std::str::FromStr;

use anabranch::prelude::*;

use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Halt;
use crate::{Observer, RunError, Techniques};

/// The parent of a vertex that was not reached.
pub const UNREACHED: i64 = -1;

/// Labels that one task translates.
const TRANSLATED: usize = 1 << 13;

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
    /// The parent's label by rank, and one entry for all isolated vertices.
    tree: Vec<u32>,
    parents: Vec<i64>,
}

impl<'g> Search<'g> {
    /// Allocates the memory for searches of `graph`.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`].
    pub fn new(graph: &'g Graph, kind: BfsKind) -> Result<Search<'g>, RunError> {
        Search::with(graph, kind, Techniques::default())
    }

    /// Allocates the memory for searches with these techniques. Only [`BfsKind::Direction`] has any.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`].
    pub fn with(graph: &'g Graph, kind: BfsKind, techniques: Techniques) -> Result<Search<'g>, RunError> {
        let kernel: Box<dyn Kernel + 'g> = match kind {
            BfsKind::Sequential => Box::new(sequential::Sequential::new(graph)?),
            BfsKind::Color => Box::new(color::Color::new(graph)?),
            BfsKind::Direction => Box::new(direction::Direction::new(graph, techniques)?),
        };
        let mut tree = zeroed::<u32>("the tree", graph.num_ranks() + 1)?;
        tree.par_chunks_mut(1 << 16).for_each(|tree| tree.fill(graph.no_label()));
        let mut parents = zeroed::<i64>("the parents", graph.ranks.len())?;
        parents.par_chunks_mut(1 << 16).for_each(|parents| parents.fill(UNREACHED));
        Ok(Search { graph, kernel, tree, parents })
    }

    /// Searches from `root`. The benchmark times exactly this call.
    ///
    /// # Errors
    /// Returns [`RunError::Cancelled`] if the observer cancels. The parents are then arbitrary, and the next run starts
    /// anew.
    ///
    /// # Panics
    /// Panics if there is no vertex `root`.
    pub fn run(&mut self, root: u64, observer: &dyn Observer) -> Result<Reach, RunError> {
        assert!(root < self.graph.num_vertices(), "there is no vertex {root}");
        let halt = Halt::new(observer);
        let rank = self.graph.ranks[root as usize];
        let (tree, isolated) = self.tree.split_at_mut(self.graph.num_ranks());
        debug_assert_eq!(isolated, [self.graph.no_label()]);
        let reach = if rank == self.graph.no_rank() {
            tree.fill(self.graph.no_label());
            Reach { reached: 1, depth: 0 }
        } else {
            self.kernel.search(rank, tree, &halt)
        };
        halt.check()?;
        translate(&self.tree, self.graph, &mut self.parents);
        // An isolated root is in no tree of ranks.
        self.parents[root as usize] = root as i64;
        Ok(reach)
    }

    /// Returns the tree of the last run: every vertex's parent, or [`UNREACHED`].
    pub fn parents(&self) -> &[i64] {
        &self.parents
    }
}

/// Writes `parents` from the tree.
pub(crate) fn translate(tree: &[u32], graph: &Graph, parents: &mut [i64]) {
    let unreached = graph.no_label();
    let blocks = parents.par_chunks_mut(TRANSLATED).zip(graph.ranks.par_chunks(TRANSLATED));
    blocks.for_each(|(parents, ranks)| {
        for (parent, &rank) in parents.iter_mut().zip(ranks) {
            // Without a branch: the loads of many iterations then overlap, and -1 has all bits.
            let above = tree[rank as usize];
            *parent = i64::from(above) | -i64::from(above == unreached);
        }
    });
}

/// A search algorithm.
trait Kernel: Send {
    /// Fills `tree` with the labels of the parents, from the connected vertex at rank `root`. On entry the tree is as
    /// the last search left it, and any other entry may be arbitrary. If `halt` requests it, returns soon with an
    /// arbitrary tree. The next search must still be correct.
    fn search(&mut self, root: u32, tree: &mut [u32], halt: &Halt<'_>) -> Reach;
}

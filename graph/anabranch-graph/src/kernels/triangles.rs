//! Triangle counting: each triangle once, at its vertex of least degree.
//!
//! Source: the ordering of vertices by degree is from Schank, Wagner, *Finding, Counting and Listing All Triangles in
//! Large Graphs*, WEA 2005, and GAP chooses when to use it.
//!
//! **Encoding.** Each vertex keeps the neighbours of lower rank only: its *lower list*. A vertex, a member of its lower
//! list, and a member of that one's lower list are a triangle if the third is in the first's lower list too. The kernel
//! marks the lower list of a vertex in a set of bits, and looks up the members of the lower lists in it. So no
//! comparison has an unpredictable branch, and the lists need not be sorted.
//!
//! **Ranks.** If the degrees are skewed, the vertex of the highest degree has rank 0. Then a hub has a short lower
//! list, and no lower list has more than `sqrt(2 * edges)` members. Otherwise, ranks are the vertex numbers, and
//! nothing is copied.

use anabranch::prelude::*;

use super::tools::{blocks, is_skewed, states};
use super::{Cancel, KernelError, VerifyError};
use crate::{Graph, Weight};

/// Vertices per block of work.
const BLOCK: usize = 64;

/// Returns the number of triangles in an undirected graph. In a directed graph, this ignores the directions: an edge
/// and its reverse are one.
///
/// Takes time proportional to the number of arcs times its square root in the worst case.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::count_triangles;
/// let graph = Graph::undirected([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]);
/// assert_eq!(count_triangles(&graph, &()).unwrap(), 2);
/// ```
///
/// # Errors
/// Returns [`KernelError::Cancelled`].
pub fn count_triangles<W: Weight>(graph: &Graph<W>, cancel: &dyn Cancel) -> Result<u64, KernelError> {
    let total = if graph.is_directed() {
        let lists = LowerLists::without_directions(graph);
        count(lists.len(), &|vertex| lists.list(vertex).iter().copied(), cancel)
    } else if is_skewed(graph) {
        let lists = LowerLists::by_degree(graph);
        count(lists.len(), &|vertex| lists.list(vertex).iter().copied(), cancel)
    } else {
        count(graph.num_vertices(), &|vertex| lower_part(graph.out_neighbours(vertex), vertex), cancel)
    };
    KernelError::check(cancel)?;
    Ok(total)
}

/// Returns the members of a sorted list that are less than `vertex`.
fn lower_part(row: &[u32], vertex: u32) -> impl Iterator<Item = u32> {
    row.iter().copied().take_while(move |&neighbour| neighbour < vertex)
}

/// The set of marked vertices of one thread, and its triangles.
struct Marks {
    words: Vec<u64>,
    triangles: u64,
}

/// Returns the triangles of the vertices `0..len` with these lower lists.
fn count<I: Iterator<Item = u32>>(len: usize, list: &(impl Fn(u32) -> I + Sync), cancel: &dyn Cancel) -> u64 {
    let mut marks = states(|| Marks { words: vec![0u64; len.div_ceil(64)], triangles: 0 });
    blocks(len, BLOCK, &mut marks, cancel, |Marks { words, triangles }, range| {
        for vertex in range.start as u32..range.end as u32 {
            let mut least = u32::MAX;
            for lower in list(vertex) {
                words[(lower / 64) as usize] |= 1 << (lower % 64);
                least = least.min(lower);
            }
            // The lower list of the least member has no marked vertex.
            for lower in list(vertex).filter(|&lower| lower != least) {
                let found = list(lower).map(|lowest| words[(lowest / 64) as usize] >> (lowest % 64) & 1);
                *triangles += found.sum::<u64>();
            }
            list(vertex).for_each(|lower| words[(lower / 64) as usize] = 0);
        }
    });
    marks.into_iter().map(|marks| marks.triangles).sum()
}

/// The lower lists of all vertices.
struct LowerLists {
    /// The start of each list, and the end of the last one.
    starts: Vec<usize>,
    lists: Vec<u32>,
}

impl LowerLists {
    /// Returns the lists by rank: a vertex has the number of vertices of higher degree as its number here.
    fn by_degree<W: Weight>(graph: &Graph<W>) -> LowerLists {
        let degree = |vertex: u32| graph.out_neighbours(vertex).len();
        let vertices = 0..graph.num_vertices() as u32;
        // Vertices without an edge are in no triangle, and get no rank.
        let mut order: Vec<(u32, u32)> =
            vertices.map(|vertex| (!(degree(vertex) as u32), vertex)).filter(|&(key, _)| key != !0).collect();
        order.par_sort_unstable();
        let mut ranks = vec![0; graph.num_vertices()];
        for (rank, &(_, vertex)) in order.iter().enumerate() {
            ranks[vertex as usize] = rank as u32;
        }
        let row = |rank: usize| graph.out_neighbours(order[rank].1).iter().map(|&vertex| ranks[vertex as usize]);
        LowerLists::new(order.len(), |rank| row(rank).filter(move |&neighbour| (neighbour as usize) < rank))
    }

    /// Returns the lists of a directed graph whose edges lose their directions.
    fn without_directions<W: Weight>(graph: &Graph<W>) -> LowerLists {
        LowerLists::new(graph.num_vertices(), |vertex| {
            let lower = |row| lower_part(row, vertex as u32);
            let (outgoing, incoming) = (graph.out_neighbours(vertex as u32), graph.in_neighbours(vertex as u32));
            lower(outgoing).chain(lower(incoming).filter(|other| outgoing.binary_search(other).is_err()))
        })
    }

    /// Collects the lists that `list` returns for the vertices `0..len`.
    fn new<I: Iterator<Item = u32>>(len: usize, list: impl Fn(usize) -> I + Sync) -> LowerLists {
        /// Vertices whose lists one piece of work collects.
        const PIECE: usize = 1024;
        let pieces: Vec<(Vec<usize>, Vec<u32>)> = (0..len.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let (mut ends, mut lists) = (Vec::with_capacity(PIECE), Vec::new());
                for vertex in piece * PIECE..(piece * PIECE + PIECE).min(len) {
                    lists.extend(list(vertex));
                    ends.push(lists.len());
                }
                (ends, lists)
            })
            .collect();
        let mut all = LowerLists { starts: Vec::with_capacity(len + 1), lists: Vec::new() };
        all.starts.push(0);
        all.lists.reserve_exact(pieces.iter().map(|(_, lists)| lists.len()).sum());
        for (ends, lists) in pieces {
            let start = all.lists.len();
            all.starts.extend(ends.into_iter().map(|end| start + end));
            all.lists.extend_from_slice(&lists);
        }
        all
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    fn list(&self, vertex: u32) -> &[u32] {
        &self.lists[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }
}

/// Compares `triangles` with a plain count by intersections of sorted lists.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::triangles::verify;
/// let graph = Graph::undirected([(0, 1), (1, 2), (2, 0)]);
/// assert!(verify(&graph, 1).is_ok() && verify(&graph, 2).is_err());
/// ```
///
/// # Errors
/// Returns an error if the numbers differ.
pub fn verify<W: Weight>(graph: &Graph<W>, triangles: u64) -> Result<(), VerifyError> {
    let row = |vertex: u32| {
        let mut row = graph.out_neighbours(vertex).to_vec();
        if graph.is_directed() {
            row.extend_from_slice(graph.in_neighbours(vertex));
            row.sort_unstable();
            row.dedup();
        }
        row
    };
    let rows: Vec<Vec<u32>> = (0..graph.num_vertices() as u32).map(row).collect();
    let mut counted = 0;
    for (vertex, row) in rows.iter().enumerate() {
        for &middle in row.iter().filter(|&&middle| middle as usize > vertex) {
            let (mut a, mut b) = (row.iter().peekable(), rows[middle as usize].iter().peekable());
            while let (Some(&x), Some(&y)) = (a.peek(), b.peek()) {
                counted += u64::from(x == y && *x > middle);
                if x <= y {
                    a.next();
                }
                if y <= x {
                    b.next();
                }
            }
        }
    }
    VerifyError::unless(counted == triangles, || format!("there are {counted} triangles instead of {triangles}"))
}

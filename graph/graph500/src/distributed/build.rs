//! Kernel 1 on several processes: one exchange of the tuples, then local steps, and one gather of the ranks.
//!
//! 1. **Exchange.** A process sends each of its tuples to the owners of both ends, once if they are the same. So an
//!    owner has all tuples of its vertices.
//! 2. **Rank.** Each process counts the degrees of its labels and orders them, as a process alone does.
//! 3. **Gather.** Each process receives the ranks of all labels, 4 bytes each. They give the order and the number of
//!    every possible neighbour, and the table of labels by number.
//! 4. **Partition and sort** the arcs of the own vertices, by the same code as for a process alone. Rows are sorted by
//!    order; then each order is replaced by its number.
//!
//! With one process, order, number and rank are the same, and steps 1 and 3 copy nothing but the ranks.
//!
//! **Memory.** The two tables with an entry for each label, 8 bytes together, do not shrink with more processes. The
//! first ends with kernel 1. Up to 32 processes they take less than labels in the rows would, 8 * edge factor bytes for
//! each of N / P vertices.

use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use super::agree::agree;
use super::communicator::gather_equal;
use super::layout::Layout;
use super::{Communicator, Progress};
use crate::construct::{self, Bands, Partition, degrees, rank, sort};
use crate::edge::Tuple;
use crate::graph::{Graph, Row};
use crate::keys::keys_of;
use crate::memory::{Shared, zeroed};
use crate::watch::Watch;
use crate::{Edge, Observer, Phase, RunError};

/// Tuples that are exchanged at once, which bounds the buffers.
const SLICE: usize = 1 << 22;
/// Tuples that one task divides among the owners.
const PIECE: usize = 1 << 16;
/// Labels or arcs that one task renumbers.
const BLOCK: usize = 1 << 14;
/// The rank of an isolated vertex in the gathered table.
const ISOLATED: u32 = u32::MAX;

/// A process's part of a graph: the rows of its vertices.
///
/// ```
/// use graph500::Edge;
/// use graph500::distributed::{Communicator, Part, in_threads};
/// let arcs = in_threads(2, |communicator| {
///     // The first process has the only edge, and each owns one end.
///     let edges = if communicator.process() == 0 { &[Edge::new(0, 1)][..] } else { &[] };
///     let part = Part::build(communicator, edges, &()).unwrap();
///     assert_eq!((part.num_vertices(), part.num_connected()), (2, 2));
///     part.num_own_arcs()
/// });
/// assert_eq!(arcs, [1, 1]);
/// ```
pub struct Part {
    pub(super) layout: Layout,
    /// The rows of the own vertices. `ranks` has the own labels, `labels` the labels by number.
    pub(super) graph: Graph,
    pub(super) num_vertices: u64,
    /// The connected vertices of each process.
    connected: Vec<u64>,
}

impl Part {
    /// Kernel 1: builds the graph of the tuples of all processes. Each process passes some of them.
    ///
    /// The observer cannot cancel.
    ///
    /// Takes time O((N + M) / P + N) for N vertices and M edges on P processes.
    ///
    /// # Errors
    /// Returns [`RunError::TooManyVertices`] if a label is 2^32 or more, [`RunError::OutOfMemory`], or
    /// [`RunError::Process`] if another process has an error.
    pub fn build(communicator: &dyn Communicator, edges: &[Edge], observer: &dyn Observer) -> Result<Part, RunError> {
        let observer = Progress(observer);
        let watch = Watch::new(&observer, Phase::Construction, 3 * edges.len() as u64);
        let own = agree(communicator, construct::num_vertices(edges, &watch))?;
        let num_vertices = gather_equal(communicator, &[own as u64]).into_iter().max().unwrap_or_default();
        let process = communicator.process() as u32;
        let mut layout = Layout { processes: communicator.processes() as u32, process, stride: 0 };

        let received = agree(communicator, exchange(communicator, edges, layout, &watch))?;
        let order = degrees(edges, &received, layout, num_vertices, &watch);
        let rank::Order { ranks, labels: _, mut rows } =
            agree(communicator, order.and_then(|degrees| rank::rank(degrees, true)))?;
        let connected = gather_equal(communicator, &[rows.len() as u64]);
        let stride = connected.iter().max().copied().unwrap_or_default().next_multiple_of(64);
        if stride * u64::from(layout.processes) > u32::MAX.into() {
            return Err(RunError::TooManyVertices { label: u32::MAX.into() });
        }
        layout.stride = stride as u32;

        let (orders, labels) = gather_ranks(communicator, &ranks, rows.len() as u32, layout, num_vertices)?;
        let arcs = own_arcs(edges, received, &orders, &mut rows, layout, &watch);
        let own = arcs.and_then(|arcs| Ok((construct::first_labels(&labels, &arcs.first)?, arcs)));
        let (first_labels, OwnArcs { bases, neighbours, first }) = agree(communicator, own)?;
        let own_arcs: u64 = rows.par_iter().map(|row| u64::from(row.len)).sum();
        let num_arcs = gather_equal(communicator, &[own_arcs]).into_iter().sum();
        let start = process * layout.stride;
        let graph = Graph { num_arcs, start, ranks, labels, bases, rows, neighbours, first, first_labels };
        agree(communicator, watch.finish())?;
        Ok(Part { layout, graph, num_vertices, connected })
    }

    /// Returns the largest label in the tuples of all processes plus one.
    pub fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    /// Returns the number of vertices, of all processes, with a neighbour other than themselves.
    pub fn num_connected(&self) -> u64 {
        self.connected.iter().sum()
    }

    /// Returns the number of directed edges of all processes, without self-loops and duplicates.
    pub fn num_arcs(&self) -> u64 {
        self.graph.num_arcs
    }

    /// Returns the number of directed edges that start at this process's vertices.
    pub fn num_own_arcs(&self) -> u64 {
        self.graph.rows.par_iter().map(|row| u64::from(row.len)).sum()
    }

    /// Returns the process that owns `vertex`, and its index among the labels of that process.
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    pub fn owner(&self, vertex: u64) -> (usize, usize) {
        assert!(vertex < self.num_vertices, "there is no vertex {vertex}");
        let (owner, index) = self.layout.split(vertex as u32);
        (owner as usize, index as usize)
    }

    /// Returns `count` different random vertices that have a neighbour other than themselves, or all such vertices if
    /// there are fewer. They are those of [`search_keys`](crate::search_keys) for the same tuples in one process.
    pub fn search_keys(&self, count: usize, seed: u64) -> Vec<u64> {
        let mut is_connected = vec![0u64; (self.num_vertices as usize).div_ceil(64)];
        for (labels, &connected) in self.graph.labels.chunks(self.layout.stride.max(1) as usize).zip(&self.connected) {
            for label in &labels[..connected as usize] {
                is_connected[(label / 64) as usize] |= 1 << (label % 64);
            }
        }
        let connected =
            (0..self.num_vertices).filter(|&label| is_connected[(label / 64) as usize] >> (label % 64) & 1 != 0);
        keys_of(self.num_connected(), connected, count, seed)
    }
}

/// Sends each tuple to the owners of its ends, except this process. Returns the received ones.
fn exchange(
    communicator: &dyn Communicator,
    edges: &[Edge],
    layout: Layout,
    watch: &Watch<'_>,
) -> Result<Vec<u64>, RunError> {
    let mut received = Vec::new();
    if layout.processes == 1 {
        return Ok(received);
    }
    let slices = gather_equal(communicator, &[edges.len().div_ceil(SLICE) as u64]).into_iter().max();
    let mut result = Ok(());
    for slice in 0..slices.unwrap_or_default() as usize {
        let edges = edges.chunks(SLICE).nth(slice).unwrap_or_default();
        let (words, counts) = divide(edges, layout);
        let more = communicator.all_to_all(&words, &counts);
        watch.advance(edges.len() as u64);
        // After an error this process still takes part, as the others wait for it.
        if result.is_ok() {
            let bytes = 8 * more.len() as u64;
            let no_memory = |_| RunError::OutOfMemory { what: "the received tuples", bytes };
            result = received.try_reserve_exact(more.len()).map_err(no_memory);
        }
        if result.is_ok() {
            received.extend(more);
        }
    }
    result.map(|()| received)
}

/// Returns the tuples for each other process, one after the other, and their counts.
fn divide(edges: &[Edge], layout: Layout) -> (Vec<u64>, Vec<usize>) {
    let processes = layout.processes as usize;
    let divide = |edges: &[Edge]| {
        let mut parts = vec![Vec::new(); processes];
        for edge in edges {
            let (a, b) = edge.low_ends();
            let ((owner_a, _), (owner_b, _)) = (layout.split(a), layout.split(b));
            let tuple = u64::from(a) << 32 | u64::from(b);
            if a != b && owner_a != layout.process {
                parts[owner_a as usize].push(tuple);
            }
            if a != b && owner_b != layout.process && owner_b != owner_a {
                parts[owner_b as usize].push(tuple);
            }
        }
        parts
    };
    let pieces: Vec<Vec<Vec<u64>>> = edges.par_chunks(PIECE).map(divide).collect();
    let counts: Vec<usize> =
        (0..processes).map(|process| pieces.iter().map(|parts| parts[process].len()).sum()).collect();
    let mut words = Vec::with_capacity(counts.iter().sum());
    for process in 0..processes {
        pieces.iter().for_each(|parts| words.extend_from_slice(&parts[process]));
    }
    (words, counts)
}

/// Returns the ends of a received tuple.
#[inline]
fn received_ends(tuple: u64) -> (u32, u32) {
    ((tuple >> 32) as u32, tuple as u32)
}

/// Returns the number of tuples at each own label, without self-loops.
fn degrees(
    edges: &[Edge],
    received: &[u64],
    layout: Layout,
    num_vertices: u64,
    watch: &Watch<'_>,
) -> Result<Vec<u32>, RunError> {
    let owned = layout.owned(layout.process, num_vertices);
    let add = |degrees: &mut [u32], (a, b): (u32, u32)| {
        for end in [a, b] {
            if let Some(index) = layout.own(end)
                && a != b
            {
                degrees[index as usize] += 1;
            }
        }
    };
    let mut degrees = degrees::count(edges, owned, |degrees, edge: &Edge| add(degrees, edge.low_ends()), watch)?;
    if !received.is_empty() {
        let more = degrees::count(received, owned, |degrees, &tuple| add(degrees, received_ends(tuple)), watch)?;
        degrees::add_counters(&mut degrees, &more)?;
    }
    Ok(degrees)
}

/// Returns the order of each label, and the label at each number with one more that is no connected vertex's label.
fn gather_ranks(
    communicator: &dyn Communicator,
    ranks: &[u32],
    num_ranks: u32,
    layout: Layout,
    num_vertices: u64,
) -> Result<(Vec<u32>, Vec<u32>), RunError> {
    // Two ranks a word. Each process sends as many as the one with the most labels.
    let words = layout.owned(0, num_vertices).div_ceil(2);
    let processes = communicator.processes();
    let own = zeroed::<u64>("the own ranks", words);
    let buffers = own.and_then(|own| Ok((own, zeroed::<u64>("the ranks", words * processes)?)));
    let (mut own, mut gathered) = agree(communicator, buffers.map_err(RunError::from))?;
    let rank = |index: usize| match ranks.get(index) {
        Some(&rank) if rank < num_ranks => rank,
        _ => ISOLATED,
    };
    own.par_iter_mut().enumerate().for_each(|(word, pair)| {
        *pair = u64::from(rank(2 * word)) | u64::from(rank(2 * word + 1)) << 32;
    });
    communicator.all_gather(&own, &vec![words; processes], &mut gathered);
    agree(communicator, number(&gathered, words, layout, num_vertices))
}

/// Makes the tables of [`gather_ranks`] from the ranks of all processes, `words` words each.
fn number(gathered: &[u64], words: usize, layout: Layout, num_vertices: u64) -> Result<(Vec<u32>, Vec<u32>), RunError> {
    let mut orders = zeroed::<u32>("the vertex order", num_vertices as usize)?;
    let mut labels = zeroed::<u32>("the labels", layout.numbers() + 1)?;
    let shared_labels = labels.shared();
    orders.par_chunks_mut(BLOCK).enumerate().for_each(|(block, orders)| {
        for (label, order) in (block * BLOCK..).zip(orders) {
            let (owner, index) = layout.split(label as u32);
            let pair = gathered[owner as usize * words + index as usize / 2];
            let rank = (pair >> (index % 2 * 32)) as u32;
            *order = ISOLATED;
            if rank != ISOLATED {
                *order = layout.join(owner, rank);
                shared_labels[layout.number(*order) as usize].store(label as u32, Relaxed);
            }
        }
    });
    if let Some(last) = labels.last_mut() {
        *last = construct::no_label(&orders, ISOLATED);
    }
    Ok((orders, labels))
}

/// The sorted arcs of a process.
struct OwnArcs {
    bases: Vec<u64>,
    neighbours: Vec<u32>,
    first: Vec<u32>,
}

/// Partitions and sorts the arcs of the own vertices, and numbers their targets.
fn own_arcs(
    edges: &[Edge],
    received: Vec<u64>,
    orders: &[u32],
    rows: &mut [Row],
    layout: Layout,
    watch: &Watch<'_>,
) -> Result<OwnArcs, RunError> {
    let bands = Bands::new(rows.len(), layout.numbers());
    let mut partition = Partition::new(&bands, bands.arc_starts(rows)?)?;
    let order = |(a, b): (u32, u32)| (orders[a as usize], orders[b as usize]);
    let arcs = |a, b| {
        // Only a self-loop has two equal orders, or two of isolated vertices.
        let own = |source| if a == b { None } else { layout.own(source) };
        [own(a).map(|rank| (rank, b)), own(b).map(|rank| (rank, a))]
    };
    partition.add(edges, |edge| order(edge.low_ends()), arcs, watch)?;
    partition.add(&received, |&tuple| order(received_ends(tuple)), arcs, watch)?;
    drop(received);
    let mut arcs = partition.finish();
    let mut first = sort::sort(&mut arcs, rows, &bands, watch)?;
    if layout.processes > 1 {
        // Between the rows are words that are no orders, and are never read.
        for orders in [&mut arcs.words[..], &mut first[..]] {
            orders.par_chunks_mut(BLOCK).for_each(|orders| {
                orders.iter_mut().for_each(|order| *order = layout.number(*order));
            });
        }
    }
    Ok(OwnArcs { bases: bands.bases(&arcs.starts), neighbours: arcs.words, first })
}

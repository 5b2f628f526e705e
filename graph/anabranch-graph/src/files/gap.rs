//! The serialized graphs of the GAP benchmark suite, `.sg` and `.wsg`.
//!
//! Layout, little-endian, without gaps: a byte that says whether the graph is directed; the number of arcs and the
//! number of vertices (64 bits each); the start of each row and the end of the last (64 bits each); the arcs: the
//! target and, in `.wsg`, the weight (32 bits each). A directed graph has starts and arcs again, for incoming edges.
//! An undirected one has each edge in the rows of both ends.

use anabranch::prelude::*;

use super::assemble::{Edges, Pieces};
use super::binary;
use super::blocks::Share;
use super::error::{Fault, ReadErrorKind};
use super::source::Source;
use crate::graph::Direction;
use crate::{Labels, Weight};

const HEADER: u64 = 17;
/// Arcs in a piece.
const PIECE: usize = 1 << 17;

/// What the header says.
struct Header {
    num_arcs: u64,
    num_vertices: u64,
    direction: Direction,
}

/// Reads the edges. The incoming ones of a directed graph follow from the outgoing ones, so they are not read.
pub(crate) fn read<W: Weight>(source: &mut Source, is_weighted: bool) -> Result<(Edges<W>, Direction), Fault> {
    let Header { num_arcs, num_vertices, direction } = header(source, is_weighted)?;
    let reader = source.reader();
    let starts = binary::words::<u64>(reader, num_vertices + 1)?;
    if starts[0] != 0 || starts[num_vertices as usize] != num_arcs || !starts.is_sorted() {
        return Err(unsorted());
    }
    let words = binary::words::<u32>(reader, num_arcs * words_per_arc(is_weighted))?;
    let arcs = Arcs { num_vertices, first_row: 0, starts: &starts, first_arc: 0, words: &words, is_weighted };
    Ok((Edges::from_pieces(num_vertices as usize, Labels::identity(), arcs.pieces()?), direction))
}

/// Reads a share of the arcs, with the rows that they are in. Returns the edges of a graph with all vertices.
///
/// A process does not see all rows, so nothing checks that an undirected graph has both directions of an edge.
pub(crate) fn read_share<W: Weight>(
    source: &mut Source,
    is_weighted: bool,
    share: Share,
) -> Result<(Edges<W>, Direction), Fault> {
    let Header { num_arcs, num_vertices, direction } = header(source, is_weighted)?;
    let file = source.file()?;
    let range = share.of(num_arcs);
    if range.is_empty() {
        return Ok((Edges::from_pieces(num_vertices as usize, Labels::identity(), Vec::new()), direction));
    }
    // The row of an arc: the last that starts at or before it.
    let row_of = |arc: u64| -> Result<u64, Fault> {
        let (mut low, mut high) = (0, num_vertices);
        while low < high {
            let row = low + (high - low) / 2;
            let start = binary::words_at::<u64>(file, HEADER + 8 * row, 1)?[0];
            if start <= arc { low = row + 1 } else { high = row }
        }
        low.checked_sub(1).ok_or_else(unsorted)
    };
    let (first_row, last_row) = (row_of(range.start)?, row_of(range.end - 1)?);
    if last_row < first_row {
        return Err(unsorted());
    }
    let starts = binary::words_at::<u64>(file, HEADER + 8 * first_row, last_row - first_row + 2)?;
    if starts[0] > range.start || starts[starts.len() - 1] < range.end || !starts.is_sorted() {
        return Err(unsorted());
    }
    let per_arc = words_per_arc(is_weighted);
    let targets = HEADER + 8 * (num_vertices + 1);
    let words =
        binary::words_at::<u32>(file, targets + 4 * per_arc * range.start, (range.end - range.start) * per_arc)?;
    let arcs = Arcs { num_vertices, first_row, starts: &starts, first_arc: range.start, words: &words, is_weighted };
    Ok((Edges::from_pieces(num_vertices as usize, Labels::identity(), arcs.pieces()?), direction))
}

fn words_per_arc(is_weighted: bool) -> u64 {
    if is_weighted { 2 } else { 1 }
}

fn unsorted() -> Fault {
    Fault::malformed("the starts of the rows do not ascend from 0 to the number of arcs")
}

fn header(source: &mut Source, is_weighted: bool) -> Result<Header, Fault> {
    let len = source.len()?;
    let mut head = [0; HEADER as usize];
    source.reader().read_exact(&mut head)?;
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
    let (num_arcs, num_vertices) = (word(1), word(9));
    let direction = match head[0] {
        0 => Direction::Symmetric,
        1 => Direction::Directed,
        _ => return Err(Fault::malformed("the first byte is neither 0 nor 1; this is no serialized graph of GAP")),
    };
    if num_vertices >= u64::from(u32::MAX) || num_arcs >= 1 << 58 {
        let message = format!("the header says {num_vertices} vertices and {num_arcs} arcs, which is too large");
        return Err(Fault::new(ReadErrorKind::TooLarge, message));
    }
    let section = (num_vertices + 1) * 8 + num_arcs * 4 * words_per_arc(is_weighted);
    let sections = if direction == Direction::Directed { 2 } else { 1 };
    let expected = HEADER + section * sections;
    if let Some(len) = len.filter(|&len| len != expected) {
        let hint = "copy it again, or check that its name ends with .wsg if and only if it has weights";
        return Err(Fault::malformed(format!("the file has {len} bytes, but its header means {expected}; {hint}")));
    }
    Ok(Header { num_arcs, num_vertices, direction })
}

/// Consecutive arcs of a file, and the rows that they are in.
struct Arcs<'a> {
    num_vertices: u64,
    first_row: u64,
    /// The starts of the rows, and the end of the last one.
    starts: &'a [u64],
    first_arc: u64,
    words: &'a [u32],
    is_weighted: bool,
}

impl Arcs<'_> {
    /// Returns the edges piece by piece.
    fn pieces<W: Weight>(&self) -> Result<Pieces<W>, Fault> {
        let len = self.words.len() / words_per_arc(self.is_weighted) as usize;
        let pieces = (0..len.div_ceil(PIECE)).into_par_iter().map(|piece| {
            let range = piece * PIECE..((piece + 1) * PIECE).min(len);
            // The row of the first arc: the last that starts at or before it.
            let first = self.first_arc + range.start as u64;
            let mut row = self.starts.partition_point(|&start| start <= first) - 1;
            let edge = |index: usize| {
                while self.starts[row + 1] <= self.first_arc + index as u64 {
                    row += 1;
                }
                self.edge(self.first_row + row as u64, index)
            };
            range.map(edge).collect::<Result<Vec<_>, Fault>>()
        });
        pieces.collect::<Vec<_>>().into_iter().collect()
    }

    /// Returns the edge from a vertex of the arc with this index.
    #[inline]
    fn edge<W: Weight>(&self, from: u64, index: usize) -> Result<(u32, u32, W), Fault> {
        let (words, num_vertices) = (self.words, self.num_vertices);
        let (to, weight) = if self.is_weighted { (words[2 * index], words[2 * index + 1]) } else { (words[index], 1) };
        if u64::from(to) >= num_vertices {
            let message = format!("vertex {from} has an arc to {to}, but there are {num_vertices} vertices");
            return Err(Fault::malformed(message));
        }
        let weight = if self.is_weighted { W::from_i32(weight as i32) } else { Some(W::ONE) };
        let weight = weight.ok_or_else(|| {
            Fault::malformed(format!("an arc of vertex {from} has a negative weight; read the weights as real numbers"))
        })?;
        Ok((from as u32, to, weight))
    }
}

//! The serialized graphs of the GAP benchmark suite, `.sg` and `.wsg`.
//!
//! Layout, little-endian, without gaps: a byte that says whether the graph is directed; the number of arcs and the
//! number of vertices (64 bits each); the start of each row and the end of the last (64 bits each); the arcs: the
//! target and, in `.wsg`, the weight (32 bits each). A directed graph has starts and arcs again, for incoming edges.
//! An undirected one has each edge in the rows of both ends.

use anabranch::prelude::*;

use super::assemble::{Direction, Edges};
use super::binary;
use super::error::{Fault, ReadErrorKind};
use super::source::Source;
use crate::{Labels, Weight};

const HEADER: u64 = 17;
/// Arcs in a piece.
const PIECE: usize = 1 << 17;

/// Reads the edges. The incoming ones of a directed graph follow from the outgoing ones, so they are not read.
pub(crate) fn read<W: Weight>(source: &mut Source, is_weighted: bool) -> Result<(Edges<W>, Direction), Fault> {
    let len = source.len()?;
    let reader = source.reader();
    let mut head = [0; HEADER as usize];
    reader.read_exact(&mut head)?;
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
    let section = (num_vertices + 1) * 8 + num_arcs * if is_weighted { 8 } else { 4 };
    let sections = if direction == Direction::Directed { 2 } else { 1 };
    let expected = HEADER + section * sections;
    if let Some(len) = len.filter(|&len| len != expected) {
        let hint = "copy it again, or check that its name ends with .wsg if and only if it has weights";
        return Err(Fault::malformed(format!("the file has {len} bytes, but its header means {expected}; {hint}")));
    }
    let starts = binary::words::<u64>(reader, num_vertices + 1)?;
    if starts[0] != 0 || starts[num_vertices as usize] != num_arcs || !starts.is_sorted() {
        return Err(Fault::malformed("the starts of the rows do not ascend from 0 to the number of arcs"));
    }
    let words = binary::words::<u32>(reader, num_arcs * if is_weighted { 2 } else { 1 })?;
    let pieces = (0..num_arcs.div_ceil(PIECE as u64)).into_par_iter().map(|piece| {
        let range = piece as usize * PIECE..((piece as usize + 1) * PIECE).min(num_arcs as usize);
        // The row of the first arc: the last that starts at or before it.
        let mut from = starts.partition_point(|&start| start <= range.start as u64) - 1;
        range
            .map(|arc| {
                while starts[from + 1] <= arc as u64 {
                    from += 1;
                }
                let (to, weight) = if is_weighted { (words[2 * arc], words[2 * arc + 1]) } else { (words[arc], 1) };
                if u64::from(to) >= num_vertices {
                    let message = format!("vertex {from} has an arc to {to}, but there are {num_vertices} vertices");
                    return Err(Fault::malformed(message));
                }
                let weight = if is_weighted { W::from_i32(weight as i32) } else { Some(W::ONE) };
                let weight = weight.ok_or_else(|| {
                    Fault::malformed(format!("an arc of vertex {from} has a negative weight, which needs f32"))
                })?;
                Ok((from as u32, to, weight))
            })
            .collect::<Result<Vec<_>, Fault>>()
    });
    let pieces = pieces.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
    Ok((Edges::from_pieces(num_vertices as usize, Labels::identity(), pieces), direction))
}

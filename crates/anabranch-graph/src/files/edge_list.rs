//! Edge lists: a line per edge, with two vertices and perhaps a weight.
//!
//! Empty lines, and lines that begin with `#` or `%`, are ignored.

use super::blocks::Text;
use super::error::{Fault, ReadErrorKind};
use super::observer::Watch;
use super::scan::{Misread, Scanner};
use crate::Weight;

/// The third column of a line.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Third {
    /// There is none.
    None,
    /// A weight.
    Weight,
}

/// The edges of a block of a file. `L` is the type of labels.
pub(crate) struct Block<L, W> {
    pub(crate) edges: Vec<(L, L, W)>,
    /// The largest label.
    pub(crate) largest: u64,
}

/// A type of labels: `u32` for vertices, and `u64` for labels that are translated.
pub(crate) trait Label: Copy + Send + Sync {
    /// The largest label.
    const LARGEST: u64;
    fn new(label: u64) -> Self;
}

impl Label for u32 {
    // The number of vertices has 32 bits too.
    const LARGEST: u64 = u32::MAX as u64 - 1;
    #[inline]
    fn new(label: u64) -> u32 {
        label as u32
    }
}

impl Label for u64 {
    const LARGEST: u64 = u64::MAX;
    #[inline]
    fn new(label: u64) -> u64 {
        label
    }
}

/// Reads the edges of a text.
pub(crate) fn read<L: Label, W: Weight>(
    text: Text,
    third: Third,
    watch: &Watch<'_>,
) -> Result<Vec<Block<L, W>>, Fault> {
    text.parse(|bytes| parse(bytes, third), watch)
}

fn parse<L: Label, W: Weight>(bytes: &[u8], third: Third) -> Result<Block<L, W>, Misread> {
    // The shortest line has four bytes.
    let mut edges = Vec::with_capacity(bytes.len() / 4 + 1);
    let mut largest = 0;
    let mut scanner = Scanner::new(bytes);
    while scanner.next_entry(|byte| byte == b'#' || byte == b'%') {
        let from = vertex::<L>(&mut scanner)?;
        let to = vertex::<L>(&mut scanner)?;
        largest = from.max(to).max(largest);
        let weight = match third {
            Third::None => W::ONE,
            Third::Weight => weight(&mut scanner)?,
        };
        if !scanner.is_at_end_of_line() {
            let at = scanner.position();
            let hint = if third == Third::None {
                "the end of the line (name files with weights .wel)"
            } else {
                "the end of the line"
            };
            return Err(scanner.expected_at(at, hint));
        }
        edges.push((L::new(from), L::new(to), weight));
    }
    edges.shrink_to_fit();
    Ok(Block { edges, largest })
}

#[inline]
fn vertex<L: Label>(scanner: &mut Scanner<'_>) -> Result<u64, Misread> {
    let at = scanner.position();
    let vertex = scanner.number("a vertex")?;
    if vertex > L::LARGEST {
        let message = format!(
            "the vertex {vertex} is too large; a graph has at most {} vertices, unless its labels are compacted",
            u32::MAX
        );
        return Err(scanner.fault_at(at, ReadErrorKind::TooLarge, message));
    }
    Ok(vertex)
}

/// Reads a weight.
#[inline]
pub(crate) fn weight<W: Weight>(scanner: &mut Scanner<'_>) -> Result<W, Misread> {
    let at = scanner.position();
    W::parse(scanner.word()).map_err(|expected| scanner.expected_at(at, &format!("a weight, {expected}")))
}

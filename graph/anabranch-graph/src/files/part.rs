//! A part of the edges of a file, for programs of several processes, each of which reads one.

use std::path::{Path, PathBuf};

use super::assemble::plausible_vertices;
use super::blocks::{Share, Text};
use super::edge_list::{self, Block, Rules, Third};
use super::error::{Fault, ReadErrorKind};
use super::observer::{Phase, Watch};
use super::source::Source;
use super::{Format, Observer, ReadError, ReadOptions, dimacs, gap, matrix_market};
use crate::graph::Direction;
use crate::{Labels, Weight};

/// A part of the edges of a file, see [`read_part`].
#[non_exhaustive]
pub struct Part<W = ()> {
    /// The edges, piece by piece: their vertices and weights.
    pub pieces: Vec<Vec<(u32, u32, W)>>,
    /// The vertices of the whole file if it says how many, else the largest one of this part plus one.
    pub num_vertices: u64,
    /// Whether an edge leads only from its first vertex to its second one.
    pub is_directed: bool,
    /// The names of the vertices in the file.
    pub labels: Labels,
    path: PathBuf,
    /// The edges of the whole file, if it says how many.
    promised: Option<u64>,
}

/// Prints the sizes alone.
impl<W> std::fmt::Debug for Part<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Part");
        fields.field("edges", &self.num_edges()).field("num_vertices", &self.num_vertices).finish_non_exhaustive()
    }
}

impl<W> Part<W> {
    /// Returns the number of edges of this part.
    pub fn num_edges(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Checks what no part shows alone. `num_vertices` is the largest number of vertices of all parts, and `num_edges`
    /// the sum of their edges.
    ///
    /// # Errors
    /// Returns a [`ReadError`] as [`read`](crate::read) does: if the header promises another number of edges, or if a
    /// graph of more than 2^20 vertices does not have an edge for every 16 of them.
    pub fn check_whole(&self, num_vertices: u64, num_edges: u64) -> Result<(), ReadError> {
        let fault = match self.promised {
            Some(promised) if promised != num_edges => Fault::malformed(format!(
                "the header promises {promised} edges, but there are {num_edges}; copy the file again"
            )),
            _ if num_vertices >= u64::from(u32::MAX) || num_vertices > plausible_vertices(num_edges) => Fault::new(
                ReadErrorKind::TooLarge,
                format!("there are {num_vertices} vertices, too many for {num_edges} edges; compact the labels"),
            ),
            _ => return Ok(()),
        };
        Err(fault.in_file(&self.path))
    }
}

/// Reads one of `parts` equal parts of a file, in parallel on the current pool. Each edge is in one of the parts.
///
/// Only the bytes of the part are read, and the header. The files may be texts with vertices as labels (`.el`, `.wel`,
/// `.mtx`, `.gr`) and serialized graphs of GAP. An undirected graph of GAP has each edge twice, once in each direction;
/// nothing checks that both are there.
///
/// ```
/// use anabranch_graph::{ReadOptions, read_part};
/// let path = std::env::temp_dir().join(format!("anabranch-part-{}.el", std::process::id()));
/// std::fs::write(&path, "0 1\n1 2\n2 3\n3 0\n")?;
/// let options = ReadOptions::default();
/// let parts = (0..3).map(|part| read_part::<()>(&path, &options, part, 3, &())).collect::<Result<Vec<_>, _>>()?;
/// let edges: Vec<_> = parts.iter().flat_map(|part| part.pieces.iter().flatten()).collect();
/// assert_eq!(edges, [&(0, 1, ()), &(1, 2, ()), &(2, 3, ()), &(3, 0, ())]);
/// parts[0].check_whole(4, 4)?;
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`ReadError`] if the part cannot be read or is malformed, if the file is compressed or has another format,
/// and if the options compact the labels.
///
/// # Panics
/// Panics if `part` is not less than `parts`.
pub fn read_part<W: Weight>(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    part: usize,
    parts: usize,
    observer: &dyn Observer,
) -> Result<Part<W>, ReadError> {
    assert!(part < parts, "part {part} of {parts}");
    let path = path.as_ref();
    read_share(path, options, Share { part, parts }, observer).map_err(|fault| fault.in_file(path))
}

fn read_share<W: Weight>(
    path: &Path,
    options: &ReadOptions,
    share: Share,
    observer: &dyn Observer,
) -> Result<Part<W>, Fault> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    let mut source = Source::open(path, options.max_expansion)?;
    let len = source.file()?.metadata()?.len();
    if options.compact || matches!(format, Format::Snap | Format::Native) {
        let what = if options.compact { "compacted labels are" } else { "this format is" };
        let message = format!("{what} not read in parts; convert the file to another format");
        return Err(Fault::new(ReadErrorKind::Unsupported, message));
    }
    let bytes = share.of(len);
    let watch = Watch::begin(observer, Phase::Read, bytes.end - bytes.start);
    let read = |text: Text, rules: &Rules| edge_list::read(text.with_share(share)?, rules, &watch);
    let part = match format {
        Format::Gap | Format::WeightedGap => {
            let (edges, direction) = gap::read_share(&mut source, format == Format::WeightedGap, share)?;
            let (num_vertices, labels, pieces) = edges.into_parts();
            let is_directed = direction == Direction::Directed;
            Part { pieces, num_vertices: num_vertices as u64, is_directed, labels, path: path.into(), promised: None }
        }
        Format::MatrixMarket => {
            let mut text = Text::new(source)?;
            let header = matrix_market::header(&mut text)?;
            let blocks = read(text, &header.rules)?;
            counted(path, blocks, &header.rules, header.num_entries, !header.is_symmetric)
        }
        Format::Dimacs => {
            let mut text = Text::new(source)?;
            let (rules, num_arcs) = dimacs::header(&mut text)?;
            let blocks = read(text, &rules)?;
            counted(path, blocks, &rules, num_arcs, true)
        }
        _ => {
            let third = if format == Format::EdgeList { Third::None } else { Third::Weight };
            let blocks: Vec<Block<u32, W>> = read(Text::new(source)?, &Rules::edge_list(third))?;
            let largest = blocks.iter().filter(|block| !block.edges.is_empty()).map(|block| block.largest).max();
            let (num_vertices, labels) = (largest.map_or(0, |largest| largest + 1), Labels::identity());
            Part { pieces: pieces(blocks), num_vertices, is_directed: true, labels, path: path.into(), promised: None }
        }
    };
    watch.end();
    Ok(Part { is_directed: part.is_directed && !options.symmetrize, ..part })
}

/// Returns a part of a file whose header has the numbers of vertices and edges.
fn counted<W>(path: &Path, blocks: Vec<Block<u32, W>>, rules: &Rules, num_edges: u64, is_directed: bool) -> Part<W> {
    let num_vertices = rules.num_vertices.unwrap_or(0);
    let labels = Labels::starting_at(rules.first);
    Part { pieces: pieces(blocks), num_vertices, is_directed, labels, path: path.into(), promised: Some(num_edges) }
}

fn pieces<W>(blocks: Vec<Block<u32, W>>) -> Vec<Vec<(u32, u32, W)>> {
    blocks.into_iter().map(|block| block.edges).collect()
}

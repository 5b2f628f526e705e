//! Graphs from files.
//!
//! [`read`] opens the file ([`source`]), parses it in parallel ([`blocks`], [`scan`], and a module for each format),
//! and builds the graph ([`assemble`]).

pub(crate) mod assemble;
mod binary;
mod blocks;
mod compact;
mod decompress;
mod dimacs;
mod edge_list;
mod error;
mod format;
mod gap;
mod matrix_market;
mod native;
mod observer;
mod part;
mod scan;
mod snap;
mod source;
mod write;

use std::path::Path;
use std::sync::Arc;

use anabranch::prelude::*;

use crate::graph::Direction;
use crate::{Graph, Labels, Weight};
use assemble::Edges;
use blocks::Text;
use edge_list::{Block, Rules, Third};
use error::Fault;
use observer::Watch;
use source::Source;

pub use error::{ReadError, ReadErrorKind};
pub use format::Format;
pub use observer::{Observer, Phase};
pub use part::{Part, read_part};
pub use write::write;

/// How to read a file.
///
/// ```
/// use anabranch_graph::{Format, ReadOptions};
/// let mut options = ReadOptions::default();
/// options.format = Some(Format::EdgeList);
/// options.symmetrize = true;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format. By default the end of the file's name says it.
    pub format: Option<Format>,
    /// Makes the graph undirected, even if the file is directed.
    pub symmetrize: bool,
    /// Numbers the vertices that occur in edges from 0, in the order of their labels. Other vertices are left out.
    /// Binary files are not affected.
    pub compact: bool,
    /// The largest ratio of the decompressed size to the compressed one, 100 by default. Beyond 16 MiB, reading stops
    /// there, so that a small file cannot fill the memory.
    pub max_expansion: u64,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { format: None, symmetrize: false, compact: false, max_expansion: 100 }
    }
}

/// A graph from a file.
#[non_exhaustive]
pub struct Input<W = ()> {
    /// The graph.
    pub graph: Graph<W>,
    /// The names of its vertices in the file.
    pub labels: Labels,
}

/// Prints the sizes alone.
impl<W: Weight> std::fmt::Debug for Input<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl<W: Weight> Input<W> {
    /// Makes the graph undirected.
    fn symmetrized(self) -> Input<W> {
        if !self.graph.is_directed() {
            return self;
        }
        /// Vertices whose arcs make a piece.
        const PIECE: usize = 1 << 12;
        let row = |vertex| {
            let targets = self.graph.out_neighbours(vertex).iter();
            targets.zip(self.graph.out_weights(vertex)).map(move |(&to, &weight)| (vertex, to, weight))
        };
        let num_vertices = self.graph.num_vertices();
        let piece = |first: usize| {
            let vertices = first as u32..(first + PIECE).min(num_vertices) as u32;
            vertices.flat_map(row).collect()
        };
        let pieces = (0..num_vertices.div_ceil(PIECE)).into_par_iter().map(|index| piece(index * PIECE)).collect();
        Input { graph: Graph::from_pieces(num_vertices, pieces, Direction::Undirected), labels: self.labels }
    }
}

/// Reads a graph from a file, in parallel on the current pool.
///
/// If the file has no weights, every weight is 1. If `W` is `()`, the weights of the file are ignored. Self-loops are
/// left out. Of several edges between the same vertices the lightest stays.
///
/// ```
/// use anabranch_graph::{ReadOptions, read};
/// let path = std::env::temp_dir().join(format!("anabranch-read-{}.wel", std::process::id()));
/// std::fs::write(&path, "0 1 5\n1 2 7\n")?;
/// let input = read::<u32>(&path, &ReadOptions::default())?;
/// assert_eq!(input.graph.out_neighbours(1), [2]);
/// assert_eq!(input.graph.out_weights(1), [7]);
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`ReadError`] if the file cannot be read, or is malformed. A malformed file causes no panic.
/// What it says about its size causes no large allocation: a graph of more than 2^20 vertices must have an edge for
/// every 16 of them.
///
/// # Complexity
/// O(V + E log D) for the largest degree D.
pub fn read<W: Weight>(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Input<W>, ReadError> {
    read_with(path, options, &())
}

/// Like [`read`], and reports the progress to `observer`.
///
/// ```
/// use anabranch_graph::{ReadOptions, read_with};
/// assert!(read_with::<u32>("none.wel", &ReadOptions::default(), &()).is_err());
/// ```
///
/// # Errors
/// Returns the errors of [`read`].
pub fn read_with<W: Weight>(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Input<W>, ReadError> {
    let path = path.as_ref();
    read_file(path, options, observer).map_err(|fault| fault.in_file(path))
}

/// Maps a file of the format [`Format::Native`], which opens it in constant time: the system reads the pages that are
/// used. If `W` is not the type of the file's weights, they are converted in linear time.
///
/// Only the header is checked. A damaged file makes the methods of the graph panic, or return neighbours that are no
/// vertices; [`Graph::verify`] finds that.
///
/// ```
/// use anabranch_graph::{Format, Graph, Labels, map, write};
/// let path = std::env::temp_dir().join(format!("anabranch-map-{}.ag", std::process::id()));
/// let mut file = std::fs::File::create(&path)?;
/// write(&Graph::undirected([(0, 1)]), &Labels::identity(), Format::Native, &mut file)?;
/// // SAFETY: no process changes the file.
/// let input = unsafe { map::<()>(&path) }?;
/// assert_eq!(input.graph.out_neighbours(1), [0]);
/// # drop(input);
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`ReadError`] if the file cannot be mapped, is no such file, is compressed, or has another length than its
/// header says.
///
/// # Safety
/// No process may change or shorten the file while the graph lives. A change is a data race with every read of the
/// graph. [`read`] copies the file instead, and is safe.
pub unsafe fn map<W: Weight>(path: impl AsRef<Path>) -> Result<Input<W>, ReadError> {
    let path = path.as_ref();
    let open = || {
        // Arrays in a file are little-endian.
        if cfg!(target_endian = "big") {
            return Err(Fault::new(ReadErrorKind::Unsupported, "big-endian systems cannot map the file; read it"));
        }
        let file = std::fs::File::open(path)?;
        // SAFETY: the caller guarantees that the file does not change.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        native::open(&Arc::new(map))
    };
    open().map_err(|fault: Fault| fault.in_file(path))
}

/// The weights in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WeightType {
    /// None: `()`.
    None,
    /// Whole numbers: `u32`.
    Whole,
    /// Real numbers: `f64`.
    Real,
    /// Real numbers of which 24 bits are enough: `f32`. It takes less memory and time, and [`weight_type`] never
    /// returns it.
    Single,
}

/// Returns the type of weights for which a file should be read, from its format and its header alone. The weights of
/// `.wel` are taken for whole numbers, those of SNAP are ignored.
///
/// ```
/// use anabranch_graph::{ReadOptions, weight_type};
/// assert!(weight_type("none.mtx", &ReadOptions::default()).is_err());
/// ```
///
/// # Errors
/// Returns a [`ReadError`] if the header cannot be read.
pub fn weight_type(path: impl AsRef<Path>, options: &ReadOptions) -> Result<WeightType, ReadError> {
    let path = path.as_ref();
    let find = || {
        Ok(match options.format.map_or_else(|| Format::of(path), Ok)? {
            Format::EdgeList | Format::Snap | Format::Gap => WeightType::None,
            Format::WeightedEdgeList | Format::Dimacs | Format::WeightedGap => WeightType::Whole,
            Format::MatrixMarket => {
                matrix_market::weight_type(&mut Text::new(Source::open(path, options.max_expansion)?)?)?
            }
            Format::Native => {
                let mut source = Source::open(path, options.max_expansion)?;
                match native::weight_code(source.reader().fill_buf()?)? {
                    0 => WeightType::None,
                    1 => WeightType::Whole,
                    _ => WeightType::Real,
                }
            }
        })
    };
    find().map_err(|fault: Fault| fault.in_file(path))
}

fn read_file<W: Weight>(path: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<Input<W>, Fault> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    let mut source = Source::open(path, options.max_expansion)?;
    let watch = Watch::begin(observer, Phase::Read, std::fs::metadata(path)?.len());
    if format == Format::Native {
        let input = native::read(&mut source)?;
        watch.end();
        return Ok(if options.symmetrize { input.symmetrized() } else { input });
    }
    let (edges, direction) = match format {
        Format::EdgeList | Format::WeightedEdgeList => {
            let third = if format == Format::EdgeList { Third::None } else { Third::Weight };
            let (text, rules) = (Text::new(source)?, Rules::edge_list(third));
            let edges = if options.compact {
                Edges::compact(edge_list::read(text, &rules, &watch)?, 0)?
            } else {
                Edges::plain(edge_list::read(text, &rules, &watch)?)?
            };
            (edges, Direction::Directed)
        }
        Format::Snap => {
            let is_undirected = snap::is_undirected(&mut source)?;
            let edges = Edges::compact(edge_list::read(Text::new(source)?, &snap::rules(), &watch)?, 0)?;
            (edges, if is_undirected { Direction::Undirected } else { Direction::Directed })
        }
        Format::MatrixMarket => {
            let mut text = Text::new(source)?;
            let header = matrix_market::header(&mut text)?;
            let edges = edges(text, &header.rules, header.num_entries, options, &watch)?;
            (edges, if header.is_symmetric { Direction::Undirected } else { Direction::Directed })
        }
        Format::Dimacs => {
            let mut text = Text::new(source)?;
            let (rules, num_arcs) = dimacs::header(&mut text)?;
            (edges(text, &rules, num_arcs, options, &watch)?, Direction::Directed)
        }
        Format::Native | Format::Gap | Format::WeightedGap => gap::read(&mut source, format == Format::WeightedGap)?,
    };
    watch.end();
    let direction = match direction {
        Direction::Directed if options.symmetrize => Direction::Undirected,
        direction => direction,
    };
    edges.into_input(direction, observer)
}

/// Reads the edges of a text after its header.
fn edges<W: Weight>(
    text: Text,
    rules: &Rules,
    num_edges: u64,
    options: &ReadOptions,
    watch: &Watch<'_>,
) -> Result<Edges<W>, Fault> {
    if options.compact {
        let blocks = edge_list::read(text, rules, watch)?;
        check_count(&blocks, num_edges)?;
        return Edges::compact(blocks, rules.first);
    }
    let blocks = edge_list::read(text, rules, watch)?;
    check_count(&blocks, num_edges)?;
    Edges::counted(blocks, rules.num_vertices.unwrap_or(0))
}

/// Checks that there are as many edges as the header says.
fn check_count<L, W>(blocks: &[Block<L, W>], promised: u64) -> Result<(), Fault> {
    let found: u64 = blocks.iter().map(|block| block.edges.len() as u64).sum();
    if found == promised {
        return Ok(());
    }
    Err(Fault::malformed(format!("the header promises {promised} edges, but there are {found}; copy the file again")))
}

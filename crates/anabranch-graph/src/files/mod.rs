//! Graphs from files.
//!
//! [`read`] opens the file ([`source`]), parses it in parallel ([`blocks`], [`scan`], and a module for each format), and
//! builds the graph ([`assemble`]).

mod assemble;
mod blocks;
mod edge_list;
mod error;
mod format;
mod observer;
mod scan;
mod source;

use std::path::Path;

use crate::{Graph, Labels, Weight};
use assemble::Edges;
use blocks::Text;
use edge_list::Third;
use error::Fault;
use observer::Watch;
use source::Source;

pub use error::{ReadError, ReadErrorKind};
pub use format::Format;
pub use observer::{Observer, Phase};

/// How to read a file.
///
/// ```
/// use anabranch_graph::{Format, ReadOptions};
/// let mut options = ReadOptions::default();
/// options.format = Some(Format::EdgeList);
/// options.symmetrize = true;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format. By default the end of the file's name says it.
    pub format: Option<Format>,
    /// Makes the graph undirected, even if the file is directed.
    pub symmetrize: bool,
    /// Numbers the vertices that occur in edges from 0, in the order of their labels. Other vertices are left out.
    pub compact: bool,
}

/// A graph from a file.
#[non_exhaustive]
pub struct Input<W = ()> {
    /// The graph.
    pub graph: Graph<W>,
    /// The names of its vertices in the file.
    pub labels: Labels,
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
/// Returns a [`ReadError`] if the file cannot be read, or is malformed. A malformed file causes no panic, and no
/// allocation that is much larger than the file.
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

fn read_file<W: Weight>(path: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<Input<W>, Fault> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    let source = Source::open(path)?;
    let watch = Watch::begin(observer, Phase::Read, std::fs::metadata(path)?.len());
    let third = match format {
        Format::EdgeList => Third::None,
        Format::WeightedEdgeList => Third::Weight,
    };
    let text = Text::new(source);
    let edges = if options.compact {
        Edges::compact(edge_list::read(text, third, &watch)?)?
    } else {
        Edges::plain(edge_list::read(text, third, &watch)?)?
    };
    watch.end();
    Ok(edges.into_input(!options.symmetrize, observer))
}

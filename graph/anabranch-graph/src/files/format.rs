//! The formats of files.

use std::fmt;
use std::path::Path;

use super::error::{Fault, ReadErrorKind};

/// The format of a file with a graph.
///
/// ```
/// use anabranch_graph::Format;
/// assert_eq!(Format::from_path("road.gr.gz".as_ref()), Some(Format::Dimacs));
/// assert_eq!(Format::from_path("road".as_ref()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `.el`: two vertices a line, from 0.
    EdgeList,
    /// `.wel`: two vertices and a weight a line.
    WeightedEdgeList,
    /// `.txt`, `.snap`: an edge list of SNAP. Its labels are always compacted.
    Snap,
    /// `.mtx`: Matrix Market, coordinates of a square matrix.
    MatrixMarket,
    /// `.gr`: shortest paths of the ninth DIMACS challenge.
    Dimacs,
    /// `.sg`: a serialized graph of GAP.
    Gap,
    /// `.wsg`: a serialized graph of GAP with weights.
    WeightedGap,
    /// `.ag`: the format of this crate, which [`map`](crate::map) opens in constant time.
    Native,
}

impl Format {
    /// All formats.
    pub const ALL: &[Format] = &[
        Format::EdgeList,
        Format::WeightedEdgeList,
        Format::Snap,
        Format::MatrixMarket,
        Format::Dimacs,
        Format::Gap,
        Format::WeightedGap,
        Format::Native,
    ];

    /// Returns the format that the end of the file's name says, before `.gz` or `.zst`.
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        let extension = name.rsplit_once('.')?.1;
        Format::ALL.iter().copied().find(|format| format.extensions().contains(&extension))
    }

    /// Returns the ends of names of such files, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::EdgeList => &["el"],
            Format::WeightedEdgeList => &["wel"],
            Format::Snap => &["txt", "snap"],
            Format::MatrixMarket => &["mtx"],
            Format::Dimacs => &["gr"],
            Format::Gap => &["sg"],
            Format::WeightedGap => &["wsg"],
            Format::Native => &["ag"],
        }
    }

    /// Returns the format of `path`, or an error that lists the formats.
    pub(crate) fn of(path: &Path) -> Result<Format, Fault> {
        Format::from_path(path).ok_or_else(|| {
            let known: Vec<String> = Format::ALL.iter().map(|format| format!(".{}", format.extensions()[0])).collect();
            let message = format!("the name does not say the format; it must end with one of {}", known.join(", "));
            Fault::new(ReadErrorKind::Unsupported, message)
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::EdgeList => "edge list",
            Format::WeightedEdgeList => "weighted edge list",
            Format::Snap => "edge list of SNAP",
            Format::MatrixMarket => "Matrix Market",
            Format::Dimacs => "DIMACS",
            Format::Gap => "serialized graph of GAP",
            Format::WeightedGap => "weighted serialized graph of GAP",
            Format::Native => "graph file of anabranch",
        })
    }
}

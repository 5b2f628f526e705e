//! Edge lists of the Stanford Network Analysis Project: comments `#`, and a line per edge. Labels are any numbers.
//!
//! The first comment may say that the graph is undirected. A third column is a weight.

use super::edge_list::{Rules, Third};
use super::source::{BYTE_ORDER_MARK, Source};

/// Returns the rules of the lines.
pub(crate) fn rules() -> Rules {
    Rules { third: Third::Any, comments: b"#%", word: None, first: 0, num_vertices: None }
}

/// Returns whether the file begins with a comment that the graph is undirected. Takes nothing from the file.
pub(crate) fn is_undirected(source: &mut Source) -> std::io::Result<bool> {
    let first = source.reader().fill_buf()?;
    let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
    Ok(first.get(..18).is_some_and(|begin| begin.eq_ignore_ascii_case(b"# undirected graph")))
}

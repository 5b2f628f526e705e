//! The names of vertices in a file.

use std::fmt;

use crate::array::Array;

/// The labels that a file gives to the vertices of a graph.
///
/// A vertex of a [`Graph`](crate::Graph) is a number from 0 without gaps. A file may count from 1, or use any numbers.
///
/// ```
/// use anabranch_graph::Labels;
/// let labels = Labels::from_one();
/// assert_eq!((labels.label(0), labels.vertex(1), labels.vertex(0)), (1, Some(0), None));
/// ```
#[derive(Clone, Default)]
pub struct Labels {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// The label of the vertex 0. The others follow.
    First(u64),
    /// The label of each vertex, ascending.
    Table(Array<u64>),
}

impl Default for Kind {
    fn default() -> Kind {
        Kind::First(0)
    }
}

impl Labels {
    /// Returns labels that are the vertices themselves.
    pub fn identity() -> Labels {
        Labels::default()
    }

    /// Returns labels that count from one.
    pub fn from_one() -> Labels {
        Labels { kind: Kind::First(1) }
    }

    /// Returns the labels in `table`, which ascends; otherwise vertices may not be found.
    pub(crate) fn from_table(table: impl Into<Array<u64>>) -> Labels {
        Labels { kind: Kind::Table(table.into()) }
    }

    /// Returns labels that count from `first`.
    pub(crate) fn starting_at(first: u64) -> Labels {
        Labels { kind: Kind::First(first) }
    }

    /// Returns the label of the vertex 0 if the labels have no gaps, else the labels of all vertices.
    pub(crate) fn parts(&self) -> Result<u64, &[u64]> {
        match &self.kind {
            Kind::First(first) => Ok(*first),
            Kind::Table(table) => Err(table),
        }
    }

    /// Returns whether the label of each vertex is its own number.
    pub fn is_identity(&self) -> bool {
        matches!(self.kind, Kind::First(0))
    }

    /// Returns the label of `vertex`. Constant time.
    ///
    /// # Panics
    /// Panics if the labels come from a table, and it has no such vertex.
    #[inline]
    pub fn label(&self, vertex: u32) -> u64 {
        match &self.kind {
            Kind::First(first) => first.wrapping_add(u64::from(vertex)),
            Kind::Table(table) => table[vertex as usize],
        }
    }

    /// Returns the vertex with this label, if it can be one. Without a table every vertex number may be returned, since
    /// the labels do not know the number of vertices. Logarithmic time if the labels have gaps.
    pub fn vertex(&self, label: u64) -> Option<u32> {
        match &self.kind {
            Kind::First(first) => label.checked_sub(*first).and_then(|vertex| u32::try_from(vertex).ok()),
            Kind::Table(table) => table.binary_search(&label).ok().map(|vertex| vertex as u32),
        }
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Labels) -> bool {
        self.parts() == other.parts()
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            Ok(first) => write!(f, "Labels from {first}"),
            Err(table) => f.debug_list().entries(table).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_translate_both_ways() {
        let sparse = Labels::from_table(vec![3, 70, 1 << 40]);
        assert_eq!((0..3).map(|vertex| sparse.label(vertex)).collect::<Vec<_>>(), [3, 70, 1 << 40]);
        assert_eq!([3, 4, 1 << 40].map(|label| sparse.vertex(label)), [Some(0), None, Some(2)]);
        assert!(Labels::identity().is_identity() && !Labels::from_one().is_identity());
        assert_eq!(Labels::identity().vertex(1 << 32), None);
    }
}

//! The errors in the result of a search.

use std::fmt;

/// An error in the result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValidationError {
    /// The result does not have one parent for each vertex.
    Length {
        /// The number of parents.
        parents: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// The key is not its own parent.
    Root {
        /// The parent of the key.
        parent: i64,
    },
    /// A parent is neither a vertex nor -1.
    ParentRange {
        /// The vertex with this parent.
        vertex: u64,
        /// The parent.
        parent: i64,
    },
    /// A vertex has a parent that is not in the tree (check 1).
    Orphan {
        /// The vertex.
        vertex: u64,
        /// Its parent, which has no parent itself.
        parent: u64,
    },
    /// The path from a vertex towards the root runs into a cycle (check 1).
    Cycle {
        /// The vertex.
        vertex: u64,
    },
    /// A vertex is not one level below its parent (check 2).
    TreeEdgeLevels {
        /// The vertex.
        vertex: u64,
        /// Its level.
        level: u32,
        /// Its parent's level.
        parent_level: u32,
    },
    /// An input edge joins levels that are more than one apart (check 3). So the tree does not have shortest paths.
    EdgeSpansLevels {
        /// The index of the tuple.
        edge: u64,
        /// Its ends.
        ends: (u64, u64),
        /// Their levels.
        levels: (u32, u32),
    },
    /// An input edge leaves the tree (check 4), so the tree does not span the component.
    Component {
        /// The index of the tuple.
        edge: u64,
        /// The end in the tree.
        inside: u64,
        /// The end outside of the tree.
        outside: u64,
    },
    /// A tree edge is not in the input (check 5).
    NotAnEdge {
        /// The vertex.
        vertex: u64,
        /// Its parent.
        parent: u64,
    },
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ValidationError::*;
        match *self {
            Length { parents, vertices } => write!(f, "{parents} parents for {vertices} vertices"),
            Root { parent } => write!(f, "the key has parent {parent} instead of itself"),
            ParentRange { vertex, parent } => {
                write!(f, "vertex {vertex} has parent {parent}, which is not a vertex")
            }
            Orphan { vertex, parent } => write!(f, "vertex {vertex} has parent {parent}, which is not in the tree"),
            Cycle { vertex } => write!(f, "vertex {vertex} is on or below a cycle"),
            TreeEdgeLevels { vertex, level, parent_level } => {
                write!(f, "vertex {vertex} is on level {level}, its parent on level {parent_level}")
            }
            EdgeSpansLevels { edge, ends: (a, b), levels: (p, q) } => {
                write!(f, "edge {edge} joins vertex {a} on level {p} and vertex {b} on level {q}")
            }
            Component { edge, inside, outside } => {
                write!(f, "edge {edge} joins vertex {inside} in the tree and vertex {outside} outside")
            }
            NotAnEdge { vertex, parent } => {
                write!(f, "the tree joins vertex {vertex} and its parent {parent}, but no input edge does")
            }
        }
    }
}

impl std::error::Error for ValidationError {}

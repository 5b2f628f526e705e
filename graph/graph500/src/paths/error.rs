//! The errors in the result of kernel 3.

use std::fmt;

use crate::ValidationError;

/// An error in shortest paths.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PathError {
    /// The parents form no tree with the key as its root (check 1).
    Tree(ValidationError),
    /// The result does not have one distance for each vertex.
    Length {
        /// The number of distances.
        distances: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// The distance of the key is not 0.
    RootDistance {
        /// The distance.
        distance: f32,
    },
    /// The distance of a vertex in the tree is no number from 0 on, or a vertex outside of the tree has a finite one.
    Distance {
        /// The vertex.
        vertex: u64,
        /// Its parent, or -1 outside of the tree.
        parent: i64,
        /// Its distance.
        distance: f32,
    },
    /// An input edge is a shortcut: one end is farther than the other's distance plus the weight (check 3).
    Shortcut {
        /// The index of the tuple.
        edge: u64,
        /// Its ends.
        ends: (u64, u64),
        /// Their distances.
        distances: (f32, f32),
        /// Its weight.
        weight: f32,
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
    /// No input edge joins a vertex and its parent and has their difference as its weight (checks 2 and 5).
    NotAnEdge {
        /// The vertex.
        vertex: u64,
        /// Its parent.
        parent: u64,
        /// The distances of the vertex and of its parent.
        distances: (f32, f32),
    },
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use PathError::*;
        match *self {
            Tree(error) => error.fmt(f),
            Length { distances, vertices } => write!(f, "{distances} distances for {vertices} vertices"),
            RootDistance { distance } => write!(f, "the key has distance {distance} instead of 0"),
            Distance { vertex, parent: -1, distance } => {
                write!(f, "vertex {vertex} is outside of the tree and has distance {distance}")
            }
            Distance { vertex, distance, .. } => write!(f, "vertex {vertex} in the tree has distance {distance}"),
            Shortcut { edge, ends: (a, b), distances: (p, q), weight } => write!(
                f,
                "edge {edge} of weight {weight} joins vertex {a} at distance {p} and vertex {b} at distance {q}"
            ),
            Component { edge, inside, outside } => {
                write!(f, "edge {edge} joins vertex {inside} in the tree and vertex {outside} outside")
            }
            NotAnEdge { vertex, parent, distances: (p, q) } => write!(
                f,
                "the tree joins vertex {vertex} at distance {p} and its parent {parent} at distance {q}, \
                 but no input edge of this weight does"
            ),
        }
    }
}

impl std::error::Error for PathError {}

/// Why paths were not validated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathVerdict {
    /// The paths are invalid.
    Invalid(PathError),
    /// The observer cancelled.
    Cancelled,
}

impl From<PathError> for PathVerdict {
    fn from(error: PathError) -> PathVerdict {
        PathVerdict::Invalid(error)
    }
}

//! The path to a vertex in a tree of parents.

use super::UNREACHED;

/// Returns the vertices on the way from the root of a tree to `vertex`, both included. Returns `None` if the root does
/// not reach it. `parents` is that of [`bfs`](super::bfs()) or of [`sssp::parents`](super::sssp::parents): of several
/// shortest paths, each may be the result.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{bfs, path_to};
/// let found = bfs(&Graph::directed([(0, 3), (3, 1), (2, 0)]), 0, &())?;
/// assert_eq!(path_to(&found.parents, 1), Some(vec![0, 3, 1]));
/// assert_eq!(path_to(&found.parents, 2), None);
/// # Ok::<(), anabranch_graph::kernels::KernelError>(())
/// ```
///
/// # Panics
/// Panics if there is no such vertex, or if the parents are not a tree.
#[must_use]
pub fn path_to(parents: &[u32], vertex: u32) -> Option<Vec<u32>> {
    let mut path = vec![vertex];
    let mut last = vertex;
    loop {
        let parent = parents[last as usize];
        if parent == UNREACHED {
            assert!(last == vertex, "vertex {last} is a parent, and was not reached");
            return None;
        }
        if parent == last {
            path.reverse();
            return Some(path);
        }
        assert!(path.len() < parents.len(), "the parents of vertex {vertex} are a cycle");
        path.push(parent);
        last = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_ends_at_root() {
        assert_eq!(path_to(&[1, 1, 0, UNREACHED], 2), Some(vec![1, 0, 2]));
        assert_eq!(path_to(&[1, 1, 0, UNREACHED], 1), Some(vec![1]));
        assert_eq!(path_to(&[1, 1, 0, UNREACHED], 3), None);
    }

    #[test]
    #[should_panic(expected = "are a cycle")]
    fn cycle_is_refused() {
        let _ = path_to(&[1, 2, 0], 0);
    }
}

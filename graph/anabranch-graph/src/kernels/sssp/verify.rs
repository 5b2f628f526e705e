//! Checks of distances, in about twice the precision that the distances have.
//!
//! **Sums.** A [`Wide`] number is a sum of two `f64`, which has 106 bits. It has every sum of whole weights exactly.
//! Source of the addition: Dekker, *A Floating-Point Technique for Extending the Available Precision*, 1971.
//!
//! **Bound.** Each addition of floats changes the sum of the weights of a path by at most `ROUNDING` of the result, and
//! a path to a vertex has fewer edges than the graph has vertices. So the least of the rounded sums, which is the
//! result, differs from the least sum by at most `ROUNDING` of it for each vertex of the graph (Rump, *Error Estimation
//! of Floating-Point Summation and Dot Product*, 2012). Whole numbers are never rounded, so they must be equal.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Length;
use crate::Graph;
use crate::kernels::VerifyError;

/// The sum of two numbers, of which the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wide(f64, f64);

impl Wide {
    const ZERO: Wide = Wide(0.0, 0.0);
    pub(super) const INFINITY: Wide = Wide(f64::INFINITY, 0.0);

    /// Returns the distance.
    pub(super) fn new<W: Length>(distance: W::Distance) -> Wide {
        let (first, second) = W::parts(distance);
        Wide(first, second)
    }

    /// Returns the sum. Neither number is negative.
    pub(super) fn plus(self, other: f64) -> Wide {
        let sum = self.0 + other;
        if sum == f64::INFINITY {
            return Wide::INFINITY;
        }
        let others_part = sum - self.0;
        let lost = (self.0 - (sum - others_part)) + (other - others_part) + self.1;
        let first = sum + lost;
        Wide(first, lost - (first - sum))
    }

    /// Returns how far the numbers are from each other.
    pub(super) fn distance(self, other: Wide) -> f64 {
        if self == other { 0.0 } else { ((self.0 - other.0) + (self.1 - other.1)).abs() }
    }

    /// Returns the nearest number.
    pub(super) fn rounded(self) -> f64 {
        self.0
    }
}

impl Eq for Wide {}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Wide) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Wide) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.total_cmp(&other.1))
    }
}

/// Compares `distances` with those that a plain Dijkstra computes in about 106 bits. Whole numbers must be equal, and
/// floats may differ by [`Length::ROUNDING`] of the distance for each vertex of the graph, since a path has fewer
/// additions than that.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::sssp::verify;
/// let graph = Graph::undirected_weighted([(0, 1, 0.1), (1, 2, 0.2)]);
/// assert!(verify(&graph, 0, &[0.0, 0.1, 0.30000000000000004]).is_ok());
/// assert!(verify(&graph, 0, &[0.0, 0.1, 0.3000001]).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
///
/// # Panics
/// Panics if the graph has no `root`.
pub fn verify<W: Length>(graph: &Graph<W>, root: u32, distances: &[W::Distance]) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    VerifyError::unless(distances.len() == num_vertices, || {
        format!("the result does not have {num_vertices} vertices")
    })?;
    let share = W::ROUNDING * num_vertices as f64;
    for (vertex, (&distance, expected)) in distances.iter().zip(dijkstra(graph, root)).enumerate() {
        let bound = share * expected.rounded();
        let is_right = if expected == Wide::INFINITY {
            distance == W::UNREACHED
        } else {
            // A sum of `f32` may be infinite where that of `f64` is not.
            Wide::new::<W>(distance).distance(expected) <= bound
                || distance == W::UNREACHED && expected.rounded() + bound > W::LARGEST
        };
        VerifyError::unless(is_right, || {
            format!("vertex {vertex} has the distance {distance} instead of {}, within {bound:e}", expected.rounded())
        })?;
    }
    Ok(())
}

fn dijkstra<W: Length>(graph: &Graph<W>, root: u32) -> Vec<Wide> {
    let mut distances = vec![Wide::INFINITY; graph.num_vertices()];
    distances[root as usize] = Wide::ZERO;
    let mut queue = BinaryHeap::from([Reverse((Wide::ZERO, root))]);
    while let Some(Reverse((distance, vertex))) = queue.pop() {
        if distances[vertex as usize] < distance {
            continue;
        }
        for (&neighbour, &weight) in graph.out_neighbours(vertex).iter().zip(graph.out_weights(vertex)) {
            let sum = distance.plus(weight.into());
            if sum < distances[neighbour as usize] {
                distances[neighbour as usize] = sum;
                queue.push(Reverse((sum, neighbour)));
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_sums_keep_what_a_rounded_sum_loses() {
        let sum = Wide::ZERO.plus(1e16).plus(1.0).plus(0.25).plus(1e-9);
        assert!(sum.distance(Wide(1e16, 1.25)) < 1.1e-9 && Wide(1e16, 1.25) < sum, "{sum:?}");
        assert_eq!(Wide::new::<u32>(u64::MAX - 1), Wide(2f64.powi(64), -2.0));
        assert_eq!(Wide::ZERO.plus(f64::MAX).plus(f64::MAX), Wide::INFINITY);
    }
}

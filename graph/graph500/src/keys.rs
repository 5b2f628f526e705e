//! The search keys: the start vertices of the searches.

use std::collections::HashSet;

use crate::generator::SplitMix;
use crate::graph::Graph;

/// Returns `count` different random vertices that have a neighbour other than themselves, or all such vertices if there
/// are fewer.
///
/// The same graph and seed give the same keys in the same order.
///
/// ```
/// use graph500::{Edge, Graph, search_keys};
/// let graph = Graph::build(&[Edge::new(0, 4), Edge::new(2, 2)], &())?;
/// let mut keys = search_keys(&graph, 64, 1);
/// keys.sort();
/// assert_eq!(keys, [0, 4]);
/// # Ok::<(), graph500::RunError>(())
/// ```
pub fn search_keys(graph: &Graph, count: usize, seed: u64) -> Vec<u64> {
    let connected = (0..graph.num_vertices()).filter(|&vertex| graph.is_connected(vertex));
    keys_of(graph.num_connected(), connected, count, seed)
}

/// Returns the keys of a graph whose `candidates` connected vertices are `connected`, in ascending order.
pub(crate) fn keys_of(candidates: u64, mut connected: impl Iterator<Item = u64>, count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix::new(seed, 3);
    let places = distinct_below(candidates, count, &mut random);

    // One pass over the labels in ascending order finds all of them. So this sorts the draws, and stores each vertex at
    // the position of its draw.
    let mut ascending: Vec<(u64, usize)> = places.iter().copied().zip(0..).collect();
    ascending.sort_unstable();
    let mut keys = vec![0; places.len()];
    let mut passed = 0;
    for (place, slot) in ascending {
        keys[slot] = connected.nth((place - passed) as usize).unwrap_or_default();
        passed = place + 1;
    }
    keys
}

/// Returns `count` different numbers below `bound` in random order, or all of them if there are fewer.
fn distinct_below(bound: u64, count: usize, random: &mut SplitMix) -> Vec<u64> {
    if bound <= count as u64 {
        let mut all: Vec<u64> = (0..bound).collect();
        for i in (1..all.len()).rev() {
            all.swap(i, random.below(i as u64 + 1) as usize);
        }
        return all;
    }
    let mut seen = HashSet::with_capacity(count);
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let number = random.below(bound);
        if seen.insert(number) {
            drawn.push(number);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_numbers_differ_and_stay_below() {
        for (bound, count) in [(0, 5), (1, 1), (5, 5), (6, 5), (1000, 64)] {
            let drawn = distinct_below(bound, count, &mut SplitMix::new(1, 3));
            assert_eq!(drawn.len() as u64, bound.min(count as u64));
            assert!(drawn.iter().all(|&number| number < bound));
            assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
        }
    }
}

//! The plain models that the parallel code is held against.

pub mod distributed;

use std::collections::{BTreeSet, VecDeque};

use graph500::{BfsKind, Edge, Graph, Search, Spec, generate};
use proptest::prelude::*;

/// Tuples from pairs.
pub fn edges(pairs: &[(u64, u64)]) -> Vec<Edge> {
    pairs.iter().map(|&(a, b)| Edge::new(a, b)).collect()
}

/// Neighbours without loops and duplicates.
pub fn naive_adjacency(edges: &[Edge]) -> Vec<BTreeSet<u32>> {
    let vertices = edges.iter().map(|edge| edge.ends().0.max(edge.ends().1) + 1).max().unwrap_or(0);
    let mut adjacency = vec![BTreeSet::new(); vertices as usize];
    for (a, b) in edges.iter().map(|edge| edge.ends()).filter(|(a, b)| a != b) {
        adjacency[a as usize].insert(b as u32);
        adjacency[b as usize].insert(a as u32);
    }
    adjacency
}

/// Levels by a queue.
pub fn naive_levels(adjacency: &[BTreeSet<u32>], root: u64) -> Vec<Option<u32>> {
    let mut levels = vec![None; adjacency.len()];
    levels[root as usize] = Some(0);
    let mut queue = VecDeque::from([(root as usize, 0)]);
    while let Some((vertex, level)) = queue.pop_front() {
        for &neighbour in &adjacency[vertex] {
            if levels[neighbour as usize].is_none() {
                levels[neighbour as usize] = Some(level + 1);
                queue.push_back((neighbour as usize, level + 1));
            }
        }
    }
    levels
}

/// Levels by walking up from every vertex; the tree must have no cycle.
pub fn tree_levels(parents: &[i64]) -> Vec<Option<u32>> {
    let level = |vertex: usize| {
        let (mut at, mut level) = (vertex, 0);
        if parents[at] < 0 {
            return None;
        }
        while parents[at] as usize != at {
            at = parents[at] as usize;
            level += 1;
            assert!(level as usize <= parents.len(), "a cycle above {vertex}");
        }
        Some(level)
    };
    (0..parents.len()).map(level).collect()
}

/// The parents that a search of `kind` finds.
pub fn search(graph: &Graph, kind: BfsKind, root: u64) -> Vec<i64> {
    let mut search = Search::new(graph, kind).unwrap();
    search.run(root, &()).unwrap();
    search.parents().to_vec()
}

/// Runs on a pool with as many workers as it takes for them to get into each other's way.
pub fn in_pool<R>(work: impl FnOnce() -> R) -> R {
    anabranch::Pool::builder().threads(4).build().unwrap().install(work)
}

/// Small graphs of all shapes: random ones of every density, stars, paths, loops alone.
pub fn any_edges() -> impl Strategy<Value = Vec<Edge>> {
    let random = (1u64..200, 0usize..600)
        .prop_flat_map(|(vertices, edges)| prop::collection::vec((0..vertices, 0..vertices), edges));
    let clustered = (1u64..3000, 1usize..3000).prop_flat_map(|(vertices, edges)| {
        // Squares pile up at the small labels: hubs, duplicates, many isolated vertices.
        let end = move || (0..vertices).prop_map(move |x| x * x / vertices);
        prop::collection::vec((end(), end()), edges)
    });
    let star = (0u64..300, 1u64..300).prop_map(|(centre, leaves)| (0..leaves).map(|leaf| (centre, leaf)).collect());
    let path =
        (2u64..2000, 1u64..7).prop_map(|(vertices, step)| (1..vertices).map(|v| ((v - 1) * step, v * step)).collect());
    let loops = prop::collection::vec((0u64..100).prop_map(|v| (v, v)), 0..20);
    prop_oneof![3 => random, 3 => clustered, 1 => star, 1 => path, 1 => loops]
        .prop_map(|pairs: Vec<(u64, u64)>| edges(&pairs))
}

/// Seeded graphs with their names.
pub fn corpus() -> Vec<(&'static str, Vec<Edge>)> {
    let grid = (0..60u64).flat_map(|y| {
        (0..60).flat_map(move |x| {
            let right = (x < 59).then_some((60 * y + x, 60 * y + x + 1));
            let below = (y < 59).then_some((60 * y + x, 60 * y + x + 60));
            right.into_iter().chain(below)
        })
    });
    let star = (1..5000).map(|leaf| (0, leaf));
    let path = (1..3000).map(|vertex| (vertex - 1, vertex));
    let components = (1..400).flat_map(|vertex| [(0, vertex), (1000 + vertex, 1001 + vertex)]);
    let kronecker = |scale, seed| generate(&Spec::new(scale, 16, seed).unwrap(), &()).unwrap();
    let pairs: Vec<(&str, Vec<(u64, u64)>)> = vec![
        ("no edge", vec![]),
        ("one vertex", vec![(0, 0)]),
        ("one edge", vec![(0, 1)]),
        ("self-loops", (0..100).map(|vertex| (vertex, vertex)).collect()),
        ("duplicates", (0..500).map(|i| (i % 7, i % 5)).collect()),
        ("isolated vertices", (0..300).map(|i| (100 * i, 100 * (i / 2))).collect()),
        ("star", star.collect()),
        ("path", path.collect()),
        ("grid", grid.collect()),
        ("two components", components.collect()),
    ];
    let small = pairs.into_iter().map(|(name, pairs)| (name, edges(&pairs)));
    small.chain([("scale 10", kronecker(10, 3)), ("scale 12", kronecker(12, 4))]).collect()
}

/// The roots for a graph of the corpus: its first and last vertex, its hub and an isolated vertex.
pub fn corpus_roots(edges: &[Edge]) -> Vec<u64> {
    let adjacency = naive_adjacency(edges);
    let vertices = 0..adjacency.len();
    let hub = vertices.clone().max_by_key(|&vertex| adjacency[vertex].len());
    let isolated = vertices.clone().find(|&vertex| adjacency[vertex].is_empty());
    let roots = vertices.clone().take(1).chain(vertices.last()).chain(hub).chain(isolated);
    roots.map(|root| root as u64).collect()
}

//! Graphs from edges, against a sorted set.

use anabranch_graph::{Graph, Weight};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn arcs<W: Weight>(graph: &Graph<W>) -> Vec<(u32, u32, W)> {
    let row = |vertex| {
        let targets = graph.out_neighbours(vertex).iter();
        targets.zip(graph.out_weights(vertex)).map(move |(&to, &weight)| (vertex, to, weight))
    };
    (0..graph.num_vertices() as u32).flat_map(row).collect()
}

/// Returns the lightest arcs, sorted.
fn expected<W: Weight>(edges: &[(u32, u32, W)], is_directed: bool) -> Vec<(u32, u32, W)> {
    let mut lightest: BTreeMap<(u32, u32), W> = BTreeMap::new();
    for &(from, to, weight) in edges.iter().filter(|edge| edge.0 != edge.1) {
        let ends = [(from, to), (to, from)];
        for end in &ends[..if is_directed { 1 } else { 2 }] {
            let entry = lightest.entry(*end).or_insert(weight);
            if weight < *entry {
                *entry = weight;
            }
        }
    }
    lightest.into_iter().map(|((from, to), weight)| (from, to, weight)).collect()
}

fn check<W: Weight + std::fmt::Debug>(edges: &[(u32, u32, W)]) {
    let directed = Graph::directed_weighted(edges.iter().copied());
    assert_eq!(arcs(&directed), expected(edges, true));
    let mut reversed: Vec<_> = expected(edges, true).iter().map(|&(from, to, _)| (to, from)).collect();
    reversed.sort_unstable();
    let vertices = 0..directed.num_vertices() as u32;
    let incoming: Vec<_> =
        vertices.flat_map(|to| directed.in_neighbours(to).iter().map(move |&from| (to, from))).collect();
    assert_eq!(incoming, reversed);
    assert_eq!(arcs(&Graph::undirected_weighted(edges.iter().copied())), expected(edges, false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rows_are_sorted_and_lightest(edges in prop::collection::vec((0..40u32, 0..40u32, any::<u32>()), 0..200)) {
        check(&edges);
    }

    #[test]
    fn float_weights_keep_their_order(edges in prop::collection::vec((0..4u32, 0..4u32, -9e9f64..9e9), 0..60)) {
        check(&edges);
        check(&edges.into_iter().map(|(from, to, weight)| (from, to, weight as f32)).collect::<Vec<_>>());
    }

    #[test]
    fn many_vertices(edges in prop::collection::vec((0..30_000u32, 0..30_000u32, Just(())), 0..200)) {
        check(&edges);
    }
}

#[test]
fn many_edges_in_pools_of_any_size() {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    // A hub with a row that is sorted in parallel, and others.
    let mut edges: Vec<(u32, u32, u32)> = (0..100_000).map(|_| (7, random() % 90_000, random() % 9)).collect();
    edges.extend((0..100_000).map(|_| (random() % 90_000, random() % 90_000, random() % 9)));
    for threads in [1, 3] {
        anabranch::Pool::builder().threads(threads).build().unwrap().install(|| check(&edges));
    }
}

#[test]
#[should_panic(expected = "a vertex is less than 4294967295")]
fn the_number_for_no_vertex_is_refused() {
    Graph::undirected([(0, u32::MAX)]);
}

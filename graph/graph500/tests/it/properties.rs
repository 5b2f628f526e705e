//! The parallel steps against plain sequential models, on random graphs.

use std::collections::HashSet;

use crate::common::{any_edges, edges, in_pool, naive_adjacency, naive_levels, tree_levels};
use graph500::{BfsKind, Edge, Generator, Graph, Search, Spec, Validator, generate, search_keys};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn generated_list_is_the_function_of_the_index(scale in 1u32..12, factor in 1u64..20, seed: u64) {
        let spec = Spec::new(scale, factor, seed).unwrap();
        let generator = Generator::new(&spec);
        let list = in_pool(|| generate(&spec, &()).unwrap());
        prop_assert_eq!(list.len() as u64, spec.num_edges());
        for (index, edge) in list.iter().enumerate() {
            prop_assert_eq!(*edge, generator.edge(index as u64));
            prop_assert!(edge.ends().0 < spec.num_vertices() && edge.ends().1 < spec.num_vertices());
        }
    }

    #[test]
    fn graph_is_the_naive_one(edges in any_edges()) {
        let graph = in_pool(|| Graph::build(&edges, &()).unwrap());
        let adjacency = naive_adjacency(&edges);
        prop_assert_eq!(graph.num_vertices() as usize, adjacency.len());
        prop_assert_eq!(graph.num_arcs() as usize, adjacency.iter().map(|row| row.len()).sum::<usize>());
        prop_assert_eq!(graph.num_isolated() as usize, adjacency.iter().filter(|row| row.is_empty()).count());
        let mut endpoints = vec![0u32; adjacency.len()];
        for (a, b) in edges.iter().map(|edge| edge.ends()).filter(|(a, b)| a != b) {
            endpoints[a as usize] += 1;
            endpoints[b as usize] += 1;
        }
        for (vertex, expected) in adjacency.iter().enumerate() {
            let row: Vec<u32> = graph.neighbours(vertex as u32).collect();
            let mut sorted = row.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.iter().eq(expected), "row {}: {:?} for {:?}", vertex, sorted, expected);
            prop_assert_eq!(graph.degree(vertex as u32) as usize, expected.len());
            prop_assert_eq!(graph.is_connected(vertex as u64), !expected.is_empty());
            // By descending degree; above 64 only six binary digits of it count.
            let rounded = |v: u32| {
                let degree = endpoints[v as usize];
                let extra = (degree | 32).ilog2() - 5;
                degree >> extra << extra
            };
            prop_assert!(row.is_sorted_by_key(|&neighbour| std::cmp::Reverse(rounded(neighbour))));
        }
    }

    #[test]
    fn every_search_finds_the_naive_levels(edges in any_edges(), roots in prop::collection::vec(any::<prop::sample::Index>(), 1..5)) {
        let adjacency = naive_adjacency(&edges);
        prop_assume!(!adjacency.is_empty());
        let graph = Graph::build(&edges, &()).unwrap();
        let mut validator = Validator::new(&edges, graph.num_vertices()).unwrap();
        for kind in BfsKind::ALL {
            // One search object for all roots, isolated ones too: what one search leaves must not
            // reach the next.
            let mut search = Search::new(&graph, kind).unwrap();
            for root in &roots {
                let root = root.index(adjacency.len()) as u64;
                let reach = in_pool(|| search.run(root, &()).unwrap());
                let expected = naive_levels(&adjacency, root);
                prop_assert_eq!(&tree_levels(search.parents()), &expected, "{} from {}", kind, root);
                prop_assert_eq!(reach.reached, expected.iter().flatten().count() as u64);
                prop_assert_eq!(Some(reach.depth), expected.iter().flatten().max().copied());

                let component = in_pool(|| validator.check(root, search.parents(), &()));
                let component = component.map_err(|verdict| TestCaseError::fail(format!("{kind}: {verdict:?}")))?;
                let inside = edges.iter().filter(|edge| expected[edge.ends().0 as usize].is_some()).count();
                prop_assert_eq!(component.edges, inside as u64);
                prop_assert_eq!((component.reached, component.depth), (reach.reached, reach.depth));
            }
        }
    }

    #[test]
    fn keys_differ_and_have_neighbours(edges in any_edges(), count in 0usize..100, seed: u64) {
        let graph = Graph::build(&edges, &()).unwrap();
        let keys = search_keys(&graph, count, seed);
        let connected = naive_adjacency(&edges).iter().filter(|row| !row.is_empty()).count();
        prop_assert_eq!(keys.len(), count.min(connected));
        prop_assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
        prop_assert!(keys.iter().all(|&key| graph.is_connected(key)));
        prop_assert_eq!(keys, search_keys(&graph, count, seed));
    }
}

/// Large enough for every branch of the searches: several blocks, both directions, rows that are
/// cut, keys of 64 bits.
#[test]
fn all_searches_agree_on_kronecker_graph() {
    let spec = Spec::new(13, 16, 7).unwrap();
    let (edges, graph) = in_pool(|| {
        let edges = generate(&spec, &()).unwrap();
        let graph = Graph::build(&edges, &()).unwrap();
        (edges, graph)
    });
    let adjacency = naive_adjacency(&edges);
    for (vertex, expected) in adjacency.iter().enumerate() {
        assert_eq!(graph.neighbours(vertex as u32).len(), expected.len());
    }
    let mut validator = Validator::new(&edges, graph.num_vertices()).unwrap();
    for kind in BfsKind::ALL {
        let mut search = Search::new(&graph, kind).unwrap();
        for key in search_keys(&graph, 6, 7) {
            in_pool(|| search.run(key, &()).unwrap());
            assert_eq!(tree_levels(search.parents()), naive_levels(&adjacency, key), "{kind} from {key}");
            in_pool(|| validator.check(key, search.parents(), &()).unwrap());
        }
    }
}

/// A hub whose row is explored in pieces, in a graph so large otherwise that the search stays top-down, or returns to
/// it.
#[test]
fn long_path_is_searched_top_down() {
    // With the other vertices first, the search lists those that it finds bottom-up in a later piece of the bitmap.
    for first in [0, 200_000] {
        let hub = (1..=6000).map(|leaf| (0, leaf));
        let twice = (1..=3000).map(|leaf| (leaf, leaf + 6000));
        let near = hub.chain(twice).map(|(a, b)| (first + a, first + b));
        let far = 10_000 - first.min(10_000);
        let elsewhere = (0..100_000).map(|i| (far + 2 * i, far + 2 * i + 1));
        let edges = edges(&near.chain(elsewhere).collect::<Vec<_>>());
        let graph = in_pool(|| Graph::build(&edges, &()).unwrap());
        let adjacency = naive_adjacency(&edges);
        let mut search = Search::new(&graph, BfsKind::Direction).unwrap();
        for root in [0, 1, 5999, 9000].map(|vertex| first + vertex).into_iter().chain([10_000]) {
            in_pool(|| search.run(root, &()).unwrap());
            assert_eq!(tree_levels(search.parents()), naive_levels(&adjacency, root), "from {root}");
        }
    }
}

/// Spread over labels that make the bands and the sort keys as wide as they get in a test's memory.
#[test]
fn sparse_labels_up_to_two_to_the_23() {
    let spec = Spec::new(10, 4, 1).unwrap();
    let generator = Generator::new(&spec);
    let far = |vertex: u64| vertex << 13 | vertex;
    let edges: Vec<Edge> = (0..spec.num_edges())
        .map(|index| generator.edge(index).ends())
        .map(|(a, b)| Edge::new(far(a), far(b)))
        .collect();
    let graph = in_pool(|| Graph::build(&edges, &()).unwrap());
    let adjacency = naive_adjacency(&edges);
    for vertex in 0..1 << 10 {
        let vertex = far(vertex);
        if vertex < graph.num_vertices() {
            let mut row = graph.neighbours(vertex as u32).collect::<Vec<_>>();
            row.sort_unstable();
            assert!(row.iter().eq(&adjacency[vertex as usize]), "row {vertex}");
        }
    }
    assert_eq!(graph.num_arcs() as usize, adjacency.iter().map(|row| row.len()).sum::<usize>());
}

#[test]
fn empty_graph_has_no_keys() {
    let graph = Graph::build(&[], &()).unwrap();
    assert_eq!((graph.num_vertices(), graph.num_arcs(), graph.num_isolated()), (0, 0, 0));
    assert!(search_keys(&graph, 64, 1).is_empty());
    for kind in BfsKind::ALL {
        assert!(Search::new(&graph, kind).unwrap().parents().is_empty());
    }
}

#[test]
fn labels_beyond_32_bits_are_refused() {
    let label = 1 << 32;
    let error = Graph::build(&edges(&[(0, 1), (label, 2)]), &()).err().unwrap();
    assert_eq!(error, graph500::RunError::TooManyVertices { label });
}

#[test]
fn seeds_make_different_graphs() {
    let list = |seed| generate(&Spec::new(8, 16, seed).unwrap(), &()).unwrap();
    assert_ne!(list(1), list(2));
}

/// The degrees of a Kronecker graph: many vertices without a neighbour, a hub with a large part of
/// all edges.
#[test]
fn generated_degrees_are_skewed() {
    let edges = generate(&Spec::new(14, 16, 1).unwrap(), &()).unwrap();
    let graph = Graph::build(&edges, &()).unwrap();
    let isolated = graph.num_isolated() as f64 / graph.num_vertices() as f64;
    assert!((0.15..0.40).contains(&isolated), "{isolated}");
    let largest = (0..graph.num_vertices() as u32).map(|vertex| graph.degree(vertex)).max().unwrap();
    assert!(largest > 1500, "{largest}");
}

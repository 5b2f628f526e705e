//! Kernel 3 against a plain Dijkstra on the tuples, and each check of its validation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::common::{any_edges, in_pool};
use graph500::{
    Config, Edge, Graph, PathError, PathSearch, PathValidator, PathVerdict, Spec, ValidationError, WeightedEdge,
    WeightedGraph, generate, generate_weighted, run,
};
use proptest::prelude::*;

fn weighted(edges: &[(u64, u64, f32)]) -> Vec<WeightedEdge> {
    edges.iter().map(|&(a, b, weight)| WeightedEdge { edge: Edge::new(a, b), weight }).collect()
}

/// The distances by a plain Dijkstra, which reads all tuples of a vertex.
fn dijkstra(edges: &[WeightedEdge], vertices: usize, root: u64) -> Vec<f32> {
    let mut rows = vec![Vec::new(); vertices];
    for &WeightedEdge { edge, weight } in edges {
        let (a, b) = edge.ends();
        rows[a as usize].push((b, weight));
        rows[b as usize].push((a, weight));
    }
    let mut distances = vec![f32::INFINITY; vertices];
    distances[root as usize] = 0.0;
    let mut queue = BinaryHeap::from([Reverse((0, root))]);
    while let Some(Reverse((bits, vertex))) = queue.pop() {
        if f32::from_bits(bits) > distances[vertex as usize] {
            continue;
        }
        for &(to, weight) in &rows[vertex as usize] {
            let sum = f32::from_bits(bits) + weight;
            if sum < distances[to as usize] {
                distances[to as usize] = sum;
                queue.push(Reverse((sum.to_bits(), to)));
            }
        }
    }
    distances
}

fn holds(edges: &[WeightedEdge], roots: &[u64]) {
    let tuples: Vec<Edge> = edges.iter().map(|weighted| weighted.edge).collect();
    let order = Graph::build(&tuples, &()).unwrap();
    let graph = WeightedGraph::build(&order, edges, &()).unwrap();
    assert_eq!(graph.num_arcs(), order.num_arcs());
    let mut search = PathSearch::new(&graph).unwrap();
    let mut validator = PathValidator::new(edges, order.num_vertices()).unwrap();
    for &root in roots.iter().filter(|&&root| root < order.num_vertices()) {
        search.run(root, &()).unwrap();
        assert_eq!(search.distances(), dijkstra(edges, order.num_vertices() as usize, root));
        let component = validator.check(root, search.parents(), search.distances(), &()).unwrap();
        assert_eq!(component.reached, search.parents().iter().filter(|&&parent| parent >= 0).count() as u64);
        let inside = |edge: &&Edge| search.parents()[edge.ends().0 as usize] >= 0;
        assert_eq!(component.edges, tuples.iter().filter(inside).count() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn paths_are_those_of_dijkstra(edges in any_edges(), seed in any::<u64>(), steps in 0u32..3, root in 0u64..64) {
        // Many equal weights, many zeros, or 24 random bits.
        let mut state = seed;
        let mut weight = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match steps {
                0 => (state >> 40) as f32 / (1u32 << 24) as f32,
                1 => (state >> 62) as f32 / 4.0,
                _ => if state >> 60 == 0 { 1e-8 } else { (state >> 63) as f32 / 2.0 },
            }
        };
        let edges: Vec<_> = edges.iter().map(|&edge| WeightedEdge { edge, weight: weight() }).collect();
        in_pool(|| holds(&edges, &[root, 0, 2 * root]));
    }
}

#[test]
fn generated_graphs_have_shortest_paths() {
    for seed in 0..3 {
        let spec = Spec::new(11, 16, seed).unwrap();
        let edges = generate_weighted(&spec, &()).unwrap();
        let plain = generate(&spec, &()).unwrap();
        assert!(edges.iter().map(|weighted| weighted.edge).eq(plain), "the tuples are those of kernel 2");
        assert_eq!(edges, in_pool(|| generate_weighted(&spec, &()).unwrap()));
        in_pool(|| holds(&edges, &[0, 1, 2, 777]));
    }
}

/// Vertices 0 to 4 are a component, 5 and 6 another one, and 7 is alone.
fn sample() -> (Vec<WeightedEdge>, Vec<i64>, Vec<f32>) {
    let edges = [
        (0, 1, 0.5),
        (1, 2, 0.25),
        (0, 2, 0.875),
        (2, 3, 0.5),
        (3, 3, 0.125),
        (3, 4, 0.0),
        (1, 4, 1.0),
        (5, 6, 0.5),
        (7, 7, 0.5),
    ];
    let parents = vec![0, 0, 1, 2, 3, -1, -1, -1];
    let far = f32::INFINITY;
    (weighted(&edges), parents, vec![0.0, 0.5, 0.75, 1.25, 1.25, far, far, far])
}

fn error_of(change: impl FnOnce(&mut Vec<i64>, &mut Vec<f32>)) -> PathError {
    let (edges, mut parents, mut distances) = sample();
    change(&mut parents, &mut distances);
    let found = PathValidator::new(&edges, 8).unwrap().check(0, &parents, &distances, &());
    let Err(PathVerdict::Invalid(error)) = found else { panic!("{found:?}") };
    error
}

#[test]
fn each_violation_is_named() {
    let (edges, parents, distances) = sample();
    let component = PathValidator::new(&edges, 8).unwrap().check(0, &parents, &distances, &()).unwrap();
    assert_eq!((component.edges, component.reached, component.depth), (7, 5, 4));
    let far = f32::INFINITY;

    let error = error_of(|parents, _| parents[0] = 1);
    assert_eq!(error, PathError::Tree(ValidationError::Root { parent: 1 }));
    let error = error_of(|parents, _| parents[3] = 9);
    assert_eq!(error, PathError::Tree(ValidationError::ParentRange { vertex: 3, parent: 9 }));
    // An edge of weight 0 can make a cycle that all distances agree with.
    let error = error_of(|parents, _| (parents[3], parents[4]) = (4, 3));
    assert_eq!(error, PathError::Tree(ValidationError::Cycle { vertex: 3 }));
    assert_eq!(error.to_string(), "vertex 3 is on or below a cycle");

    let error = error_of(|_, distances| _ = distances.pop());
    assert_eq!(error, PathError::Length { distances: 7, vertices: 8 });
    let error = error_of(|_, distances| distances[0] = 0.5);
    assert_eq!(error, PathError::RootDistance { distance: 0.5 });
    for (vertex, parent, distance) in [(2, 1, far), (4, 3, -0.5), (7, -1, 3.0)] {
        let error = error_of(|_, distances| distances[vertex] = distance);
        assert_eq!(error, PathError::Distance { vertex: vertex as u64, parent, distance });
    }
    assert!(matches!(error_of(|_, distances| distances[1] = f32::NAN), PathError::Distance { vertex: 1, .. }));

    // A longer path in place of the shortest one.
    let error = error_of(|parents, distances| {
        parents[2] = 0;
        distances[2..5].copy_from_slice(&[0.875, 1.375, 1.375]);
    });
    assert_eq!(error, PathError::Shortcut { edge: 1, ends: (1, 2), distances: (0.5, 0.875), weight: 0.25 });
    assert!(error.to_string().starts_with("edge 1 of weight 0.25 joins vertex 1 at distance 0.5"), "{error}");

    let error = error_of(|parents, distances| (parents[4], distances[4]) = (-1, far));
    assert_eq!(error, PathError::Component { edge: 5, inside: 3, outside: 4 });

    // A vertex that is nearer than any path, without a tuple of that weight.
    let error = error_of(|_, distances| distances[1] = 0.4375);
    assert_eq!(error, PathError::Shortcut { edge: 1, ends: (1, 2), distances: (0.4375, 0.75), weight: 0.25 });
    let error = error_of(|_, distances| distances[3..5].copy_from_slice(&[1.125, 1.125]));
    assert_eq!(error, PathError::NotAnEdge { vertex: 3, parent: 2, distances: (1.125, 0.75) });
    // A parent that is at a possible distance, without a tuple.
    let error = error_of(|parents, _| parents[3] = 1);
    assert_eq!(error, PathError::NotAnEdge { vertex: 3, parent: 1, distances: (1.25, 0.5) });
    assert!(error.to_string().contains("vertex 3 at distance 1.25 and its parent 1"), "{error}");
    // A component that the tree joins with vertices of another one.
    let error = error_of(|parents, distances| {
        (parents[5], parents[6]) = (0, 5);
        (distances[5], distances[6]) = (0.5, 1.0);
    });
    assert_eq!(error, PathError::NotAnEdge { vertex: 5, parent: 0, distances: (0.5, 0.0) });
}

#[test]
fn weights_below_zero_and_unknown_vertices_are_refused() {
    let order = Graph::build(&[Edge::new(0, 1)], &()).unwrap();
    for weight in [-0.5, f32::NAN] {
        let graph = WeightedGraph::build(&order, &weighted(&[(0, 1, weight)]), &()).unwrap();
        let error = PathSearch::new(&graph).unwrap().run(0, &()).unwrap_err();
        assert!(error.to_string().contains("weights must be 0 or more"), "{error}");
    }
    assert!(WeightedGraph::build(&order, &weighted(&[(0, 2, 0.5)]), &()).is_err());
    assert!(PathValidator::new(&weighted(&[(0, 2, 0.5)]), 2).is_err());
}

#[test]
fn run_reports_the_paths_of_all_keys() {
    let config = Config { roots: 8, sssp: true, ..Config::official(Spec::new(10, 16, 1).unwrap()) };
    let report = in_pool(|| run(&config, &()).unwrap());
    let paths = report.paths.as_ref().unwrap();
    let facts = |key, edges, reached| (key, edges, reached);
    let expected: Vec<_> = report.searches.iter().map(|s| facts(s.key, s.edges, s.reached)).collect();
    assert_eq!(paths.searches.iter().map(|s| facts(s.key, s.edges, s.reached)).collect::<Vec<_>>(), expected);
    let official = report.official();
    let names: Vec<&str> = official.lines().filter(|line| line.starts_with("sssp ")).collect();
    assert_eq!(names.len(), 21, "{official}");

    let unchecked = run(&Config { validate: false, ..config }, &()).unwrap().paths.unwrap();
    assert_eq!(unchecked.searches.iter().map(|s| facts(s.key, s.edges, s.reached)).collect::<Vec<_>>(), expected);
    assert_eq!(unchecked.validation(), None);
    assert_eq!(run(&Config { sssp: false, ..config }, &()).unwrap().paths, None);
}

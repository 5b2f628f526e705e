//! Searches of a seeded corpus of graphs against a plain queue, on pools of 1 to 32 threads.

use crate::common::{corpus, corpus_roots, edges, naive_adjacency, naive_levels, tree_levels};
use graph500::{BfsKind, Edge, Graph, Search, Technique, Techniques, Validator};

#[test]
fn corpus_has_the_levels_of_a_queue_on_1_to_32_threads() {
    let corpus = corpus();
    for threads in [1, 2, 3, 7, 32] {
        let pool = anabranch::Pool::builder().threads(threads).build().unwrap();
        pool.install(|| corpus.iter().for_each(|(name, edges)| check(&format!("{name}, {threads} threads"), edges)));
    }
}

/// Searches the graph with every kernel from its ends, its hub and an isolated vertex.
fn check(name: &str, edges: &[Edge]) {
    let graph = Graph::build(edges, &()).unwrap();
    let adjacency = naive_adjacency(edges);
    let mut validator = Validator::new(edges, graph.num_vertices()).unwrap();
    let roots = corpus_roots(edges);
    for kind in BfsKind::ALL {
        let mut search = Search::new(&graph, kind).unwrap();
        for &root in &roots {
            let reach = search.run(root, &()).unwrap();
            let expected = naive_levels(&adjacency, root);
            assert_eq!(tree_levels(search.parents()), expected, "{name}: {kind} from {root}");
            let component = validator.check(root, search.parents(), &()).unwrap();
            assert_eq!((component.reached, component.depth), (reach.reached, reach.depth), "{name}: {kind}");
        }
    }
}

#[test]
fn searches_without_techniques_have_the_levels_of_a_queue() {
    let all_left_out = Technique::ALL.into_iter().fold(Techniques::default(), Techniques::without);
    let sets = Technique::ALL.map(|technique| Techniques::default().without(technique));
    for (name, edges) in corpus() {
        let adjacency = naive_adjacency(&edges);
        for techniques in sets.into_iter().chain([all_left_out]) {
            let graph = Graph::build_with(&edges, techniques, &()).unwrap();
            let mut search = Search::with(&graph, BfsKind::Direction, techniques).unwrap();
            for root in (0..graph.num_vertices()).step_by(1 + adjacency.len() / 5) {
                search.run(root, &()).unwrap();
                let expected = naive_levels(&adjacency, root);
                let left_out: Vec<_> = techniques.left_out().collect();
                assert_eq!(tree_levels(search.parents()), expected, "{name} without {left_out:?} from {root}");
            }
        }
    }
}

#[test]
fn vertices_keep_the_order_of_their_labels_without_the_order_by_degree() {
    let techniques = Techniques::default().without(Technique::DegreeOrder);
    let star = edges(&[(0, 9), (1, 9), (2, 9), (3, 9), (0, 4)]);
    let neighbours = |graph: &Graph, vertex| graph.neighbours(vertex).collect::<Vec<_>>();
    let graph = Graph::build_with(&star, techniques, &()).unwrap();
    assert_eq!(neighbours(&graph, 0), [4, 9]);
    assert_eq!(neighbours(&Graph::build(&star, &()).unwrap(), 0), [9, 4]);
}

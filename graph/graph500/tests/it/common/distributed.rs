//! What a process checks, on threads and over MPI.

use super::{naive_adjacency, naive_levels, tree_levels};
use graph500::distributed::{Communicator, Part, PartSearch, PartValidator};
use graph500::{Component, Edge, Graph, search_keys};

/// The tuples of a process: every P-th of P processes.
pub fn share(edges: &[Edge], communicator: &dyn Communicator) -> Vec<Edge> {
    edges.iter().skip(communicator.process()).step_by(communicator.processes()).copied().collect()
}

/// Searches from each root on all processes. Process 0 compares graph, levels, reach and component with one process and
/// a plain queue.
pub fn searches_are_those_of_a_queue(communicator: &dyn Communicator, case: &str, edges: &[Edge], roots: &[u64]) {
    let own = share(edges, communicator);
    let part = Part::build(communicator, &own, &()).unwrap();
    let counts = [part.num_vertices(), part.num_connected(), part.num_arcs()];
    let graph: Vec<u64> = counts.into_iter().chain(part.search_keys(20, 5)).collect();
    let is_first = communicator.process() == 0;
    if is_first {
        let graph = Graph::build(edges, &()).unwrap();
        assert_eq!(counts, [graph.num_vertices(), graph.num_connected(), graph.num_arcs()], "{case}");
        assert_eq!(part.search_keys(20, 5), search_keys(&graph, 20, 5), "{case}");
    }
    same_on_all(communicator, &graph, case);
    let adjacency = if is_first { naive_adjacency(edges) } else { Vec::new() };

    let mut search = PartSearch::new(communicator, &part).unwrap();
    let mut validator = PartValidator::new(communicator, &part, &own).unwrap();
    for &root in roots {
        let reach = search.run(root);
        let component = validator.check(root, search.parents()).unwrap();
        assert_eq!((component.reached, component.depth), (reach.reached, reach.depth), "{case} from {root}");
        assert_eq!(validator.count_edges(search.parents()), component.edges, "{case} from {root}");
        same_on_all(communicator, &[component.edges, component.reached, component.depth.into()], case);
        let parents = all_parents(communicator, search.parents(), part.num_vertices() as usize);
        if is_first {
            let expected = naive_levels(&adjacency, root);
            assert_eq!(tree_levels(&parents), expected, "{case} from {root}");
            let expected = Component {
                edges: edges.iter().filter(|edge| expected[edge.ends().0 as usize].is_some()).count() as u64,
                reached: expected.iter().flatten().count() as u64,
                depth: expected.iter().flatten().max().copied().unwrap(),
            };
            assert_eq!(component, expected, "{case} from {root}");
        }
    }
}

/// Gathers the parents of all processes in the order of the labels.
fn all_parents(communicator: &dyn Communicator, own: &[i64], num_vertices: usize) -> Vec<i64> {
    let processes = communicator.processes();
    let own: Vec<u64> = own.iter().map(|&parent| parent as u64).collect();
    let counts: Vec<usize> = (0..processes).map(|process| (process..num_vertices).step_by(processes).len()).collect();
    let mut all = vec![0; num_vertices];
    communicator.all_gather(&own, &counts, &mut all);
    let starts: Vec<usize> = (0..processes).map(|process| counts[..process].iter().sum()).collect();
    (0..num_vertices).map(|label| all[starts[label % processes] + label / processes] as i64).collect()
}

/// Checks that all processes have these words.
fn same_on_all(communicator: &dyn Communicator, words: &[u64], case: &str) {
    let mut all = vec![0; words.len() * communicator.processes()];
    communicator.all_gather(words, &vec![words.len(); communicator.processes()], &mut all);
    assert!(all.chunks(words.len()).all(|other| other == words), "{case}: {all:?}");
}

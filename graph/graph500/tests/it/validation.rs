//! Right trees that are broken in one way each, and the error that names it.

use crate::common::{edges, in_pool, search};
use graph500::{BfsKind, Edge, Graph, Observer, ValidationError, Validator, Verdict, generate};

/// Two squares that share vertex 2, a pendant path, and a component apart:
///
/// ```text
/// 0 - 1    4      7 - 8
/// |   |  / |      9 (loop)
/// 3 - 2 - 5 - 6
/// ```
fn sample() -> Vec<Edge> {
    edges(&[(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (5, 2), (5, 6), (7, 8), (9, 9), (1, 0), (6, 6)])
}

/// From vertex 0: levels 0 1 2 1 3 3 4.
const TREE: [i64; 10] = [0, 0, 1, 0, 2, 2, 5, -1, -1, -1];

fn verdict(parents: &[i64]) -> ValidationError {
    let edges = sample();
    let mut validator = Validator::new(&edges, 10).unwrap();
    match in_pool(|| validator.check(0, parents, &())) {
        Err(Verdict::Invalid(error)) => error,
        other => panic!("{other:?} for {parents:?}"),
    }
}

fn broken(changes: &[(usize, i64)]) -> ValidationError {
    let mut parents = TREE;
    for &(vertex, parent) in changes {
        parents[vertex] = parent;
    }
    verdict(&parents)
}

#[test]
fn correct_tree_is_accepted_repeatedly() {
    let edges = sample();
    let mut validator = Validator::new(&edges, 10).unwrap();
    for _ in 0..2 {
        let component = validator.check(0, &TREE, &()).unwrap();
        assert_eq!((component.edges, component.reached, component.depth), (10, 7, 4));
        let component = validator.check(7, &[-1, -1, -1, -1, -1, -1, -1, 7, 7, -1], &()).unwrap();
        assert_eq!((component.edges, component.reached, component.depth), (1, 2, 1));
        let component = validator.check(9, &[-1, -1, -1, -1, -1, -1, -1, -1, -1, 9], &()).unwrap();
        assert_eq!((component.edges, component.reached, component.depth), (1, 1, 0));
    }
    let levels = [0, 1, 2, 1, 3, 3, 4, 77, 77, 77];
    assert!(validator.check_levels(0, &TREE, &levels, &()).is_ok());
}

#[test]
fn check_1_cycles() {
    // 4 and 5 hold each other.
    assert_eq!(broken(&[(4, 5), (5, 4)]), ValidationError::Cycle { vertex: 4 });
    // A vertex that is not the key is its own parent.
    assert_eq!(broken(&[(6, 6)]), ValidationError::Cycle { vertex: 6 });
}

#[test]
fn check_1_parents_outside_the_tree() {
    assert_eq!(broken(&[(2, -1)]), ValidationError::Orphan { vertex: 4, parent: 2 });
}

#[test]
fn check_2_levels_of_tree_edges() {
    let edges = sample();
    let mut validator = Validator::new(&edges, 10).unwrap();
    // The tree is right, but the search says that leaf 6 is two levels below its parent.
    let levels = [0, 1, 2, 1, 3, 3, 5, 0, 0, 0];
    let error = validator.check_levels(0, &TREE, &levels, &()).unwrap_err();
    assert_eq!(error, Verdict::Invalid(ValidationError::TreeEdgeLevels { vertex: 6, level: 5, parent_level: 3 }));
    // All levels one too deep: no tree edge is wrong but the root's.
    let levels = [1, 2, 3, 2, 4, 4, 5, 0, 0, 0];
    let error = validator.check_levels(0, &TREE, &levels, &()).unwrap_err();
    assert_eq!(error, Verdict::Invalid(ValidationError::TreeEdgeLevels { vertex: 0, level: 1, parent_level: 1 }));
}

#[test]
fn check_3_levels_of_all_edges() {
    // Vertex 3 hangs from 2, which is an edge, instead of from 0: the edge (3, 0) then spans three
    // levels.
    let error = broken(&[(3, 2)]);
    assert_eq!(error, ValidationError::EdgeSpansLevels { edge: 3, ends: (3, 0), levels: (3, 0) });
}

#[test]
fn check_4_the_whole_component() {
    // The pendant vertex is left out.
    assert_eq!(broken(&[(6, -1)]), ValidationError::Component { edge: 7, inside: 5, outside: 6 });
}

#[test]
fn check_5_tree_edges_are_input_edges() {
    // On the right level, but from 3 there is no edge to 4 or 5. Vertex 6 stays within one level of
    // all its neighbours.
    assert_eq!(broken(&[(6, 4)]), ValidationError::NotAnEdge { vertex: 6, parent: 4 });
    // A vertex of another component drawn in.
    let edges = edges(&[(0, 1), (2, 2)]);
    let error = Validator::new(&edges, 3).unwrap().check(0, &[0, 0, 1], &()).unwrap_err();
    assert_eq!(error, Verdict::Invalid(ValidationError::NotAnEdge { vertex: 2, parent: 1 }));
}

#[test]
fn check_5_compares_whole_numbers() {
    let edges = edges(&[(0, 1), (0, 257), (1, 2)]);
    let mut parents = vec![-1; 258];
    (parents[0], parents[1], parents[257], parents[2]) = (0, 0, 0, 257);
    let mut validator = Validator::new(&edges, 258).unwrap();
    let error = validator.check(0, &parents, &()).unwrap_err();
    assert_eq!(error, Verdict::Invalid(ValidationError::NotAnEdge { vertex: 2, parent: 257 }));
    parents[2] = 1;
    assert!(validator.check(0, &parents, &()).is_ok());
}

/// The tag of a vertex of this deep tree has 15 bits of its parent.
#[test]
fn check_5_compares_whole_numbers_in_deep_trees() {
    let (depth, child) = (70_000, 80_000);
    // Both on level 1, and both can be the parent by the tags. One is.
    let (parent, other) = (1, 1 + (3 << 15));
    let pairs: Vec<(u64, u64)> = (1..=depth).map(|vertex| (vertex - 1, vertex)).collect();
    let edges = edges(&[&pairs[..], &[(0, other), (parent, child)]].concat());
    let mut parents = vec![-1; other as usize + 1];
    pairs.iter().for_each(|&(above, vertex)| parents[vertex as usize] = above as i64);
    (parents[0], parents[other as usize]) = (0, 0);
    let mut validator = Validator::new(&edges, parents.len() as u64).unwrap();
    parents[child as usize] = other as i64;
    let error = validator.check(0, &parents, &()).unwrap_err();
    assert_eq!(error, Verdict::Invalid(ValidationError::NotAnEdge { vertex: child, parent: other }));
    parents[child as usize] = parent as i64;
    assert!(validator.check(0, &parents, &()).is_ok());
}

#[test]
fn impossible_parents_are_refused() {
    assert_eq!(broken(&[(4, 10)]), ValidationError::ParentRange { vertex: 4, parent: 10 });
    assert_eq!(broken(&[(4, -2)]), ValidationError::ParentRange { vertex: 4, parent: -2 });
    assert_eq!(broken(&[(4, i64::MAX)]), ValidationError::ParentRange { vertex: 4, parent: i64::MAX });
    assert_eq!(verdict(&TREE[..9]), ValidationError::Length { parents: 9, vertices: 10 });
}

#[test]
fn root_must_be_its_own_parent() {
    assert_eq!(broken(&[(0, 1)]), ValidationError::Root { parent: 1 });
    assert_eq!(broken(&[(0, -1)]), ValidationError::Root { parent: -1 });
    let edges = sample();
    let error = Validator::new(&edges, 10).unwrap().check(10, &TREE, &()).unwrap_err();
    assert_eq!(error, Verdict::Invalid(ValidationError::Root { parent: -1 }));
}

#[test]
fn edges_beyond_the_vertices_are_refused() {
    assert!(Validator::new(&sample(), 9).is_err());
    assert!(Validator::new(&edges(&[(0, 1 << 40)]), 9).is_err());
}

/// Every single change of one parent in a Kronecker tree is either another right parent or found
/// out.
#[test]
fn no_single_change_slips_through() {
    let spec = graph500::Spec::new(6, 8, 5).unwrap();
    let edges = generate(&spec, &()).unwrap();
    let graph = Graph::build(&edges, &()).unwrap();
    let key = graph500::search_keys(&graph, 1, 1)[0];
    let parents = search(&graph, BfsKind::Sequential, key);
    let levels = crate::common::tree_levels(&parents);
    let mut validator = Validator::new(&edges, graph.num_vertices()).unwrap();
    let vertices = graph.num_vertices() as usize;
    for vertex in 0..vertices {
        for parent in -1..vertices as i64 {
            let mut changed = parents.clone();
            changed[vertex] = parent;
            let right = if vertex as u64 == key {
                parent == key as i64
            } else if parent < 0 {
                levels[vertex].is_none()
            } else {
                levels[vertex].is_some_and(|level| {
                    levels[parent as usize] == Some(level.wrapping_sub(1))
                        && graph.neighbours(vertex as u32).any(|other| i64::from(other) == parent)
                })
            };
            assert_eq!(validator.check(key, &changed, &()).is_ok(), right, "{vertex} below {parent}");
        }
    }
}

#[test]
fn path_as_long_as_graph_is_validated() {
    let vertices = 200_000u64;
    let edges: Vec<Edge> = (1..vertices).map(|vertex| Edge::new(vertex - 1, vertex)).collect();
    let mut validator = Validator::new(&edges, vertices).unwrap();
    // From the far end, so that the walk up from the first vertex is as long as it can be.
    let up: Vec<i64> = (1..=vertices as i64).map(|parent| parent.min(vertices as i64 - 1)).collect();
    let component = in_pool(|| validator.check(vertices - 1, &up, &()).unwrap());
    assert_eq!((component.reached, u64::from(component.depth)), (vertices, vertices - 1));
}

#[test]
fn validation_can_be_cancelled() {
    struct Stop;
    impl Observer for Stop {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let edges = sample();
    assert_eq!(Validator::new(&edges, 10).unwrap().check(0, &TREE, &Stop), Err(Verdict::Cancelled));
}

/// A path whose last vertex is `depth` edges from the first, and a pair of vertices apart.
fn path(depth: u64) -> (Vec<Edge>, Vec<i64>) {
    let edges = (0..depth).map(|vertex| Edge::new(vertex, vertex + 1)).chain([Edge::new(depth + 1, depth + 2)]);
    let parents = (0..=depth as i64).map(|vertex| (vertex - 1).max(0)).chain([-1, -1]);
    (edges.collect(), parents.collect())
}

/// The depths around those from which a level takes another bit, and one at which tags have not all bits of parents.
const DEPTHS: [u64; 9] = [1, 4, 5, 252, 253, 254, 255, 256, 70_000];

#[test]
fn trees_of_each_depth_are_validated() {
    for depth in DEPTHS {
        let (edges, parents) = path(depth);
        let component = Validator::new(&edges, depth + 3).unwrap().check(0, &parents, &()).unwrap();
        assert_eq!((component.edges, component.reached, u64::from(component.depth)), (depth, depth + 1, depth));
    }
}

#[test]
fn broken_trees_of_each_depth_are_refused() {
    for depth in DEPTHS {
        let (mut edges, parents) = path(depth);
        let count = edges.len() as u64;
        let vertices = depth + 3;
        let check = |edges: &[Edge]| match Validator::new(edges, vertices).unwrap().check(0, &parents, &()) {
            Err(Verdict::Invalid(error)) => error,
            other => panic!("{other:?}"),
        };
        edges.push(Edge::new(depth + 1, depth));
        let outside = ValidationError::Component { edge: count, inside: depth, outside: depth + 1 };
        assert_eq!(check(&edges), outside);
        edges[count as usize] = Edge::new(depth, 0);
        if depth > 1 {
            let levels = (depth as u32, 0);
            assert_eq!(check(&edges), ValidationError::EdgeSpansLevels { edge: count, ends: (depth, 0), levels });
        }
        edges[depth as usize - 1] = Edge::new(0, 0);
        edges.pop();
        assert_eq!(check(&edges), ValidationError::NotAnEdge { vertex: depth, parent: depth - 1 });
    }
}

#[test]
fn order_of_edges_does_not_matter() {
    let spec = graph500::Spec::new(18, 4, 3).unwrap();
    let mut edges = generate(&spec, &()).unwrap();
    let graph = Graph::build(&edges, &()).unwrap();
    let key = graph500::search_keys(&graph, 1, 1)[0];
    let parents = search(&graph, BfsKind::Direction, key);
    let check =
        |edges: &[Edge]| Validator::new(edges, graph.num_vertices()).unwrap().check(key, &parents, &()).unwrap();
    let before = check(&edges);
    in_pool(|| Validator::sort_edges(&mut edges));
    assert!(edges.is_sorted_by_key(|edge| (edge.ends().0 >> 16, edge.ends().1 >> 8)));
    assert_eq!(check(&edges), before);
}

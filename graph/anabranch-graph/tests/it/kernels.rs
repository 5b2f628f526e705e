//! Each kernel on the corpus, with different numbers of threads.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use anabranch::Pool;
use anabranch_graph::Graph;
use anabranch_graph::kernels::betweenness::Scale;
use anabranch_graph::kernels::pagerank::Parameters;
use anabranch_graph::kernels::{self, Cancel, KernelError, UNREACHED};

use crate::corpus::{Edges, Random, corpus, grid};

const THREADS: [usize; 4] = [1, 2, 5, 32];

/// Returns the directed and the undirected graph of `edges`.
pub fn graphs(edges: &Edges) -> [Graph; 2] {
    let edges = || edges.iter().map(|&(from, to, _)| (from, to));
    [Graph::undirected(edges()), Graph::directed(edges())]
}

/// Calls `check` for each directed and undirected graph of the corpus, on pools of 1 to 32 threads.
fn on_corpus(check: impl Fn(&str, &Graph) + Sync) {
    let graphs: Vec<_> = corpus().iter().map(|(name, edges)| (*name, graphs(edges))).collect();
    for threads in THREADS {
        let pool = Pool::builder().threads(threads).build().unwrap();
        pool.install(|| {
            for (name, graphs) in &graphs {
                for graph in graphs {
                    let name = format!("{name}, directed {}, {threads} threads", graph.is_directed());
                    check(&name, graph);
                }
            }
        });
    }
}

/// The same for weighted graphs, with whole numbers and with fractions in both precisions.
fn on_weighted_corpus(check: impl Fn(&str, &[Graph<u32>; 2], &[Graph<f64>; 2], &[Graph<f32>; 2]) + Sync) {
    let whole = |edges: &Edges| edges.clone();
    let fractions = |edges: &Edges| edges.iter().map(|&(a, b, w)| (a, b, f64::from(w) / 7.0)).collect::<Vec<_>>();
    let singles = |edges: &Edges| edges.iter().map(|&(a, b, w)| (a, b, w as f32 / 7.0)).collect::<Vec<_>>();
    let graphs: Vec<_> = corpus()
        .iter()
        .map(|(name, edges)| {
            let whole = [Graph::undirected_weighted(whole(edges)), Graph::directed_weighted(whole(edges))];
            let fractions = [Graph::undirected_weighted(fractions(edges)), Graph::directed_weighted(fractions(edges))];
            let singles = [Graph::undirected_weighted(singles(edges)), Graph::directed_weighted(singles(edges))];
            (*name, whole, fractions, singles)
        })
        .collect();
    for threads in THREADS {
        let pool = Pool::builder().threads(threads).build().unwrap();
        pool.install(|| {
            for (name, whole, fractions, singles) in &graphs {
                check(&format!("{name}, {threads} threads"), whole, fractions, singles);
            }
        });
    }
}

/// Some vertices of a graph: the first, the last, and others.
fn roots(num_vertices: usize) -> BTreeSet<u32> {
    let mut random = Random(num_vertices as u64);
    let end = num_vertices as u32;
    let mut roots = BTreeSet::new();
    if end > 0 {
        roots.extend([0, end - 1, random.below(end), random.below(end)]);
    }
    roots
}

#[test]
fn bfs_finds_levels_of_plain_search() {
    on_corpus(|name, graph| {
        for root in roots(graph.num_vertices()) {
            let found = kernels::bfs(graph, root, &()).unwrap();
            kernels::bfs::verify(graph, root, &found).unwrap_or_else(|error| panic!("{name}, root {root}: {error}"));
        }
    });
}

#[test]
fn bfs_finds_levels_of_wide_and_narrow_frontiers() {
    // The root has as many paths as make a level wide. They have different lengths, so that the last levels are narrow.
    const PATHS: u32 = 6000;
    let path = |path: u32| {
        let vertices = (0..20 + path % 40).map(move |step| 1 + step * PATHS + path);
        std::iter::once(0).chain(vertices.clone()).zip(vertices)
    };
    let graph = Graph::undirected((0..PATHS).flat_map(path));
    for threads in THREADS {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for root in [0, 1 + 10 * PATHS] {
            let found = pool.install(|| kernels::bfs(&graph, root, &())).unwrap();
            kernels::bfs::verify(&graph, root, &found).unwrap_or_else(|error| panic!("{threads} threads: {error}"));
        }
    }
}

#[test]
fn bfs_follows_all_arcs_of_a_long_row() {
    // The path, which no arc of the star leads to, keeps the search top-down.
    const LEAVES: u32 = 10_000;
    let star = (1..=LEAVES).map(|leaf| (0, leaf));
    let path = (LEAVES + 1..30 * LEAVES).map(|vertex| (vertex, vertex + 1));
    let graph = Graph::directed(star.chain(path));
    let found = kernels::bfs(&graph, 0, &()).unwrap();
    assert_eq!(found.levels.iter().filter(|level| **level == 1).count(), LEAVES as usize);
    kernels::bfs::verify(&graph, 0, &found).unwrap();
}

#[test]
fn sssp_finds_distances_and_parents_of_dijkstra() {
    fn check<W: kernels::sssp::Length>(name: &str, graph: &Graph<W>) {
        // Rounds of many threads take long in unoptimised code.
        let some = if anabranch::pool::current_num_threads() > THREADS[2] { 1 } else { 4 };
        let many_deltas = anabranch::pool::current_num_threads() == THREADS[1];
        for root in roots(graph.num_vertices()).into_iter().take(some) {
            for delta in if many_deltas && root == 0 { &[None, Some(0.5), Some(3.0), Some(1e12)][..] } else { &[None] }
            {
                let fail = |error| panic!("{name}, root {root}, delta {delta:?}: {error}");
                let distances = kernels::sssp(graph, root, *delta, &()).unwrap();
                kernels::sssp::verify(graph, root, &distances).unwrap_or_else(fail);
                if delta.is_none() {
                    let parents = kernels::sssp::parents(graph, root, &distances, &()).unwrap();
                    kernels::sssp::verify_parents(graph, root, &distances, &parents).unwrap_or_else(fail);
                }
            }
        }
    }
    on_weighted_corpus(|name, whole, fractions, singles| {
        whole.iter().for_each(|graph| check(name, graph));
        fractions.iter().for_each(|graph| check(name, graph));
        singles.iter().for_each(|graph| check(name, graph));
    });
}

#[test]
fn sssp_sums_in_the_precision_of_the_weights() {
    const STEPS: u32 = 100_000;
    let path = Graph::directed_weighted((0..STEPS).map(|vertex| (vertex, vertex + 1, 0.1f64)));
    let distances = kernels::sssp(&path, 0, None, &()).unwrap();
    // The error of n additions in 64 bits is at most n units in the last place.
    let expected = f64::from(STEPS) / 10.0;
    assert!((distances[STEPS as usize] - expected).abs() <= f64::from(STEPS) * f64::EPSILON * expected);
    kernels::sssp::verify(&path, 0, &distances).unwrap();
    // A sum in 32 bits is wrong in the fourth digit, which the verifier finds because it does not sum in 32 bits.
    let sums: Vec<f64> = (0..STEPS).scan(0f32, |sum, _| Some(std::mem::replace(sum, *sum + 0.1).into())).collect();
    let error = kernels::sssp::verify(&path, 0, &[sums, vec![f64::from(STEPS)]].concat()).unwrap_err();
    assert!(error.to_string().starts_with("vertex 1 has the distance 0.10000000149"), "{error}");

    // Sums of 32 bits are accepted as sums of 32 bits, and are those of a loop.
    let path = Graph::directed_weighted((0..STEPS).map(|vertex| (vertex, vertex + 1, 0.1f32)));
    let distances = kernels::sssp(&path, 0, None, &()).unwrap();
    assert_eq!(distances[STEPS as usize], (0..STEPS).fold(0.0, |sum, _| sum + 0.1f32));
    kernels::sssp::verify(&path, 0, &distances).unwrap();
}

#[test]
fn parents_of_wrong_sums_are_refused() {
    let graph = Graph::directed_weighted([(0, 1, 0.1f64), (1, 2, 0.2), (0, 2, 0.3)]);
    let distances = kernels::sssp(&graph, 0, None, &()).unwrap();
    assert_eq!(distances, [0.0, 0.1, 0.3]);
    assert!(kernels::sssp::verify_parents(&graph, 0, &distances, &[0, 0, 0]).is_ok());
    // By vertex 1 the sum is 0.30000000000000004, which one rounding apart is no distance of 0.3.
    let far = [0.0, 0.1, 0.300_000_000_000_000_1];
    assert!(kernels::sssp::verify_parents(&graph, 0, &far, &[0, 0, 1]).is_err());
    let unreached = Graph::directed_weighted([(1, 2, 0.2f64), (0, 3, 1.0)]);
    assert!(
        kernels::sssp::verify_parents(&unreached, 0, &[0.0, f64::INFINITY, 0.2, 1.0], &[0, UNREACHED, 1, 0]).is_err()
    );
}

#[test]
fn sssp_of_a_leaf_beyond_32_bits() {
    // All but the leaf are near the root. What the leaf pulls does not fit into a label of 32 bits.
    let near = (0..40).flat_map(|a| (0..a).map(move |b| (a, b, 1)));
    let graph = Graph::undirected_weighted(near.chain([(5, 40, u32::MAX)]));
    let distances = kernels::sssp(&graph, 0, None, &()).unwrap();
    assert_eq!(distances[39..], [1, 1 + u64::from(u32::MAX)]);
}

#[test]
fn sssp_beside_sums_beyond_f32() {
    // All of the first 40 vertices are near the root. The sum for 50 over 60 is infinite, and comes before that for 61.
    let near = (0..40).flat_map(|a| (0..a).map(move |b| (a, b, 1.0f32)));
    let far = [(0, 60, 2e38), (0, 50, 3.3e38), (0, 61, 3.2e38), (60, 50, 3e38), (60, 61, 1e37)];
    let graph = || Graph::undirected_weighted(near.clone().chain(far));
    let light_first = kernels::sssp::LightFirst::new(graph());
    for distances in [kernels::sssp(&graph(), 0, None, &()), light_first.sssp(0, None, &())] {
        let distances = distances.unwrap();
        assert_eq!(distances[60..], [2e38, 2e38 + 1e37]);
        kernels::sssp::verify(&graph(), 0, &distances).unwrap();
    }
}

#[test]
fn components_are_those_of_plain_search() {
    on_corpus(|name, graph| {
        let components = kernels::connected_components(graph, &()).unwrap();
        kernels::components::verify(graph, &components).unwrap_or_else(|error| panic!("{name}: {error}"));
    });
}

#[test]
fn strong_components_are_those_of_two_plain_searches() {
    on_corpus(|name, graph| {
        let components = kernels::strongly_connected_components(graph, &()).unwrap();
        kernels::strong::verify(graph, &components).unwrap_or_else(|error| panic!("{name}: {error}"));
    });
    // Many cycles of different lengths in a row, of which trimming finds none and the hub's search one.
    let mut edges = Vec::new();
    let mut first = 0;
    for length in 2..200 {
        edges.extend((0..length).map(|step| (first + step, first + (step + 1) % length)));
        edges.push((first, first + length));
        first += length;
    }
    for threads in THREADS {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for edges in [edges.clone(), edges.iter().map(|&(from, to)| (first - from, first - to)).collect()] {
            let graph = Graph::directed(edges);
            let components = pool.install(|| kernels::strongly_connected_components(&graph, &())).unwrap();
            kernels::strong::verify(&graph, &components).unwrap_or_else(|error| panic!("{threads} threads: {error}"));
        }
    }
}

#[test]
fn core_numbers_are_those_of_plain_peeling() {
    on_corpus(|name, graph| {
        let cores = kernels::core_numbers(graph, &()).unwrap();
        kernels::cores::verify(graph, &cores).unwrap_or_else(|error| panic!("{name}: {error}"));
    });
}

#[test]
fn path_to_each_vertex_has_as_many_edges_as_its_level() {
    on_corpus(|name, graph| {
        for root in roots(graph.num_vertices()).into_iter().take(1) {
            let found = kernels::bfs(graph, root, &()).unwrap();
            for vertex in roots(graph.num_vertices()) {
                let path = kernels::path_to(&found.parents, vertex);
                let edges = path.as_ref().map_or(UNREACHED, |path| path.len() as u32 - 1);
                assert_eq!(edges, found.levels[vertex as usize], "{name}, from {root} to {vertex}");
                let path = path.unwrap_or_default();
                assert!(path.windows(2).all(|pair| graph.out_neighbours(pair[0]).contains(&pair[1])), "{name}");
            }
        }
    });
}

#[test]
fn components_of_many_threads_are_those_of_plain_search() {
    // Long paths to the roots, in ascending, descending and random order of the numbers.
    const LEN: u32 = 30_000;
    let mut random = Random(1);
    let mut order: Vec<u32> = (0..LEN).collect();
    for index in (1..LEN).rev() {
        order.swap(index as usize, random.below(index + 1) as usize);
    }
    let paths: [Edges; 3] = [
        (1..LEN).map(|vertex| (vertex - 1, vertex, 1)).collect(),
        (1..LEN).map(|vertex| (LEN - vertex, LEN - vertex - 1, 1)).collect(),
        order.chunks(LEN as usize / 3).flat_map(|part| part.windows(2).map(|pair| (pair[0], pair[1], 1))).collect(),
    ];
    for edges in paths.into_iter().chain([grid(150)]) {
        for graph in graphs(&edges) {
            for threads in THREADS {
                let pool = Pool::builder().threads(threads).build().unwrap();
                let components = pool.install(|| kernels::connected_components(&graph, &())).unwrap();
                kernels::components::verify(&graph, &components).unwrap();
            }
        }
    }
}

#[test]
fn pagerank_is_a_fixed_point_of_plain_iteration() {
    on_corpus(|name, graph| {
        for parameters in
            [Parameters::default(), Parameters::GAP, Parameters { tolerance: 1e-12, ..Default::default() }]
        {
            let rank = kernels::pagerank(graph, &parameters, &()).unwrap();
            let verified = kernels::pagerank::verify(graph, &rank, &parameters);
            verified.unwrap_or_else(|error| panic!("{name}, {} iterations: {error}", rank.iterations));
            assert!(rank.converged || parameters != Parameters::default(), "{name}: {}", rank.change);
        }
    });
}

#[test]
fn pagerank_is_identical_for_any_number_of_threads() {
    let first = std::sync::Mutex::new(std::collections::HashMap::new());
    on_corpus(|name, graph| {
        let shape = name[..name.rfind(',').unwrap()].to_owned();
        let parameters = Parameters { tolerance: 0.0, max_iterations: 20, ..Default::default() };
        let rank = kernels::pagerank(graph, &parameters, &()).unwrap();
        let bits: Vec<u64> = rank.scores.iter().map(|score| score.to_bits()).collect();
        assert_eq!(*first.lock().unwrap().entry(shape).or_insert_with(|| bits.clone()), bits, "{name}");
    });
    // Near neighbours only, and enough vertices for several stages.
    let [grid, _] = graphs(&grid(150));
    let mut scores = THREADS.map(|threads| {
        let pool = Pool::builder().threads(threads).build().unwrap();
        pool.install(|| kernels::pagerank(&grid, &Parameters::default(), &()).unwrap().scores)
    });
    assert!(scores.windows(2).all(|pair| pair[0] == pair[1]));
    // The graph and the iteration are symmetric, except for the order of the stages.
    let last = scores[0].pop().unwrap();
    assert!((last - scores[0][0]).abs() < 1e-6);
}

#[test]
fn pagerank_of_known_graph() {
    // Vertices 0 and 1 give all to 2, and 2 gives all to 0: x = .05 + .85 z, z = .05 + .85 (x + .05).
    let graph = Graph::directed([(0, 2), (1, 2), (2, 0)]);
    let parameters = Parameters { tolerance: 1e-15, max_iterations: 1000, ..Default::default() };
    let rank = kernels::pagerank(&graph, &parameters, &()).unwrap();
    let z = (0.05 + 0.85 * 0.1) / (1.0 - 0.85 * 0.85);
    for (found, expected) in rank.scores.iter().zip([0.05 + 0.85 * z, 0.05, z]) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
}

#[test]
fn pagerank_converges_on_paths_and_grids() {
    let path = |len: u32| (0..len - 1).map(|vertex| (vertex, vertex + 1));
    for graph in [
        Graph::undirected(path(1000)),
        Graph::directed(path(1000)),
        Graph::undirected(path(20_001)),
        Graph::directed(path(20_001)),
        Graph::directed(grid(150).into_iter().map(|(from, to, _)| (from, to))),
    ] {
        for tolerance in [1e-6, 1e-12] {
            let parameters = Parameters { tolerance, max_iterations: 300, ..Default::default() };
            let rank = kernels::pagerank(&graph, &parameters, &()).unwrap();
            assert!(rank.converged, "{graph:?}: {}", rank.change);
            assert!(rank.iterations <= 100 || tolerance < 1e-6);
            kernels::pagerank::verify(&graph, &rank, &parameters).unwrap();
            assert!((rank.scores.iter().sum::<f64>() - 1.0).abs() < 10.0 * tolerance);
        }
    }
}

#[test]
fn pagerank_agrees_with_networkx() {
    // The ranks of networkx 3.6 with tol=1e-14: a directed path, and a star with an edge back.
    let (spread, lost) = (Parameters::default().dangling, Parameters::GAP.dangling);
    let ranks = |graph: &Graph, dangling| {
        let parameters = Parameters { tolerance: 1e-14, max_iterations: 1000, dangling, ..Default::default() };
        kernels::pagerank(graph, &parameters, &()).unwrap().scores
    };
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
    };
    let path = Graph::directed([(0, 1), (1, 2)]);
    near(ranks(&path, spread), &[0.184416781927155, 0.341171046565238, 0.474412171507607]);
    near(ranks(&path, lost), &[0.05, 0.05 * 1.85, 0.05 * (1.0 + 0.85 * 1.85)]);
    near(
        ranks(&Graph::directed([(0, 1), (0, 2), (0, 3), (3, 0)]), spread),
        &[0.324561403508771, 0.225146198830410, 0.225146198830410, 0.225146198830410],
    );
}

#[test]
fn unconverged_pagerank_says_so() {
    let graph = Graph::directed([(0, 2), (1, 2), (2, 0)]);
    let parameters = Parameters { max_iterations: 3, ..Default::default() };
    let rank = kernels::pagerank(&graph, &parameters, &()).unwrap();
    assert!(!rank.converged && rank.iterations == 3 && rank.change >= parameters.tolerance);
    kernels::pagerank::verify(&graph, &rank, &parameters).unwrap();
    let boast = kernels::pagerank::PageRank { converged: true, ..rank.clone() };
    assert!(kernels::pagerank::verify(&graph, &boast, &parameters).is_err());
    let mut wrong = rank;
    wrong.scores.swap(0, 1);
    assert!(kernels::pagerank::verify(&graph, &wrong, &parameters).is_err());
}

#[test]
fn triangles_are_those_of_intersections() {
    on_corpus(|name, graph| {
        let triangles = kernels::count_triangles(graph, &()).unwrap();
        kernels::triangles::verify(graph, triangles).unwrap_or_else(|error| panic!("{name}: {error}"));
    });
    let clique = (0..50).flat_map(|a| (0..a).map(move |b| (a, b)));
    assert_eq!(kernels::count_triangles(&Graph::undirected(clique), &()), Ok(50 * 49 * 48 / 6));
}

#[test]
fn betweenness_is_that_of_plain_brandes() {
    on_corpus(|name, graph| {
        let sources: Vec<u32> = roots(graph.num_vertices()).into_iter().collect();
        let scores = kernels::betweenness(graph, &sources, Scale::Normalized, &()).unwrap();
        let verified = kernels::betweenness::verify(graph, &sources, Scale::Normalized, &scores);
        verified.unwrap_or_else(|error| panic!("{name}, sources {sources:?}: {error}"));
    });
}

#[test]
fn betweenness_is_that_of_networkx() {
    // Computed with networkx 3.6: all sources with and without `normalized`, and the sources 0, 3 and 5.
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 1), (5, 6)];
    let all: Vec<u32> = (0..7).collect();
    let expected = [
        (
            Graph::undirected(edges),
            [
                [0.03333333333333333, 0.3, 0.03333333333333333, 0.16666666666666666, 0.13333333333333333, 0.4, 0.0],
                [0.5, 4.5, 0.5, 2.5, 2.0, 6.0, 0.0],
                [0.05, 0.3, 0.03333333333333333, 0.15000000000000002, 0.2, 0.2, 0.0],
            ],
        ),
        (
            Graph::directed(edges),
            [
                [0.1, 0.43333333333333335, 0.4666666666666667, 0.5, 0.26666666666666666, 0.3, 0.0],
                [3.0, 13.0, 14.0, 15.0, 8.0, 9.0, 0.0],
                [0.2, 0.6666666666666666, 0.4666666666666667, 0.5, 0.26666666666666666, 0.2, 0.0],
            ],
        ),
    ];
    for (graph, [normalized, pairs, some]) in expected {
        for (sources, scale, expected) in [
            (&all[..], Scale::Normalized, normalized),
            (&all, Scale::Pairs, pairs),
            (&[0, 3, 5], Scale::Normalized, some),
        ] {
            let scores = kernels::betweenness(&graph, sources, scale, &()).unwrap();
            let near = scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14 * f64::from(7 * 7));
            assert!(near && scores.len() == 7, "{scale:?} {sources:?}: {scores:?} instead of {expected:?}");
            kernels::betweenness::verify(&graph, sources, scale, &scores).unwrap();
        }
    }
    let path = Graph::undirected([(0, 1), (1, 2)]);
    let scores = |sources, scale| kernels::betweenness(&path, sources, scale, &()).unwrap();
    assert_eq!(scores(&[0, 1, 2], Scale::default()), [0.0, 1.0, 0.0]);
    assert_eq!(scores(&[0, 1, 2], Scale::Pairs), [0.0, 1.0, 0.0]);
    assert_eq!(scores(&[0, 1, 2], Scale::Gap), [0.5, 1.0, 0.5]);
    assert_eq!(scores(&[1], Scale::Normalized), [0.0, 0.0, 0.0]);
    assert_eq!(scores(&[], Scale::Normalized), [0.0, 0.0, 0.0]);
    let edge = Graph::undirected([(0, 1)]);
    assert_eq!(kernels::betweenness(&edge, &[0, 1], Scale::Pairs, &()).unwrap(), [0.0, 0.0]);
}

#[test]
fn bad_arguments_are_refused() {
    let graph = Graph::undirected_weighted([(0, 1, -1.0f32), (1, 2, f32::NAN)]);
    let missing = KernelError::NoSuchVertex { vertex: 3, num_vertices: 3 };
    assert_eq!(kernels::bfs(&graph, 3, &()).unwrap_err(), missing);
    assert_eq!(kernels::sssp(&graph, 3, None, &()).unwrap_err(), missing);
    assert_eq!(kernels::betweenness(&graph, &[0, 3], Scale::Gap, &()).unwrap_err(), missing);
    assert_eq!(kernels::bfs(&Graph::undirected([]), 0, &()).unwrap_err().to_string().split(':').count(), 2);
    let bad = KernelError::BadWeight { from: 0, to: 1, weight: -1.0 };
    assert_eq!(kernels::sssp(&graph, 0, None, &()).unwrap_err(), bad);
    assert!(matches!(kernels::sssp(&graph, 2, Some(1.0), &()), Err(KernelError::BadWeight { .. })));
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(kernels::sssp(&graph, 0, Some(delta), &()), Err(KernelError::BadParameter { .. })));
    }
    for damping in [-0.1, 1.1, f64::NAN] {
        let rank = kernels::pagerank(&graph, &Parameters { damping, ..Default::default() }, &());
        assert!(matches!(rank, Err(KernelError::BadParameter { .. })));
    }
    let parameters = Parameters { tolerance: f64::NAN, ..Default::default() };
    assert!(matches!(kernels::pagerank(&graph, &parameters, &()), Err(KernelError::BadParameter { .. })));
}

/// Cancels after it has been asked some times.
struct After(AtomicUsize);

impl Cancel for After {
    fn is_cancelled(&self) -> bool {
        let rest = self.0.load(Relaxed);
        self.0.store(rest.saturating_sub(1), Relaxed);
        rest == 0
    }
}

#[test]
fn cancelled_kernels_return_error_at_any_moment() {
    let (_, edges) = corpus().into_iter().find(|(name, _)| *name == "skewed").unwrap();
    let directed = Graph::directed_weighted(edges.clone());
    let graph = Graph::undirected_weighted(edges);
    let distances = kernels::sssp(&graph, 0, None, &()).unwrap();
    for asked in [0, 1, 2, 3, 5, 8, 13, 21] {
        let after = || After(AtomicUsize::new(asked));
        let ends = [
            kernels::bfs(&graph, 0, &after()).map(drop),
            kernels::sssp(&graph, 0, Some(1.0), &after()).map(drop),
            kernels::sssp::parents(&graph, 0, &distances, &after()).map(drop),
            kernels::connected_components(&graph, &after()).map(drop),
            kernels::strongly_connected_components(&directed, &after()).map(drop),
            kernels::core_numbers(&graph, &after()).map(drop),
            kernels::pagerank(&graph, &Parameters { tolerance: 0.0, ..Default::default() }, &after()).map(drop),
            kernels::count_triangles(&graph, &after()).map(drop),
            kernels::betweenness(&graph, &[0, 1, 2, 3, 4, 5, 6, 7], Scale::Gap, &after()).map(drop),
        ];
        for (kernel, end) in ends.into_iter().enumerate() {
            let may_be_done = asked > 3 && end == Ok(());
            assert!(may_be_done || end == Err(KernelError::Cancelled), "kernel {kernel}, asked {asked}: {end:?}");
        }
    }
}

#[test]
fn parents_of_unreached_vertices_are_absent() {
    let found = kernels::bfs(&Graph::directed([(1, 0)]), 0, &()).unwrap();
    assert_eq!((found.parents, found.levels), (vec![0, UNREACHED], vec![0, UNREACHED]));
}

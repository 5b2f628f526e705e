//! The distributed steps, on threads instead of processes, against one process and plain models.

#[path = "../../../../runtime/anabranch/tests/common/watchdog.rs"]
mod watchdog;

use self::watchdog::{LONG, watchdog};
use crate::common::distributed::{searches_are_those_of_a_queue, share};
use crate::common::{any_edges, corpus, corpus_roots, edges};
use graph500::distributed::{
    self, Communicator, LevelKind, LevelShape, Outcome, Part, PartValidator, Traffic, check_settings, in_threads,
    predicted_bytes,
};
use graph500::{Config, Edge, Graph, Report, RunError, Spec, ValidationError, Validator, Verdict, search_keys};
use proptest::prelude::*;

/// Numbers of processes, and of threads of each.
const PAIRS: [(usize, usize); 10] = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2), (8, 1), (8, 2)];

/// Runs `work` on threads with pools of their own. One of them may leave the others waiting.
fn in_pools<R: Send>(processes: usize, threads: usize, work: impl Fn(&dyn Communicator) -> R + Sync) -> Vec<R> {
    watchdog(LONG, || {
        in_threads(processes, |communicator| {
            let pool = anabranch::Pool::builder().threads(threads).build().unwrap();
            pool.install(|| work(communicator))
        })
    })
}

/// Searches from each root on several processes, see [`searches_are_those_of_a_queue`].
fn check(name: &str, edges: &[Edge], roots: &[u64], processes: usize, threads: usize) {
    let case = format!("{name}, {processes} processes, {threads} threads");
    in_pools(processes, threads, |communicator| searches_are_those_of_a_queue(communicator, &case, edges, roots));
}

#[test]
fn corpus_has_the_levels_of_a_queue_on_1_to_8_processes() {
    for (name, edges) in corpus() {
        let roots = corpus_roots(&edges);
        for (processes, threads) in PAIRS {
            // A graph with thousands of levels takes thousands of operations.
            let roots = if name == "path" { &roots[..1] } else { &roots };
            check(name, &edges, roots, processes, threads);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn searches_on_processes_have_the_levels_of_a_queue(
        edges in any_edges(),
        processes in 1usize..10,
        threads in 1usize..3,
        roots in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let vertices = edges.iter().map(|edge| edge.ends().0.max(edge.ends().1) + 1).max().unwrap_or(0);
        prop_assume!(vertices > 0);
        let roots: Vec<u64> = roots.iter().map(|root| root.index(vertices as usize) as u64).collect();
        check("random", &edges, &roots, processes, threads);
    }

    #[test]
    fn wrong_trees_are_refused_as_in_one_process(
        edges in any_edges(),
        processes in 1usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8), 1..4),
    ) {
        let graph = Graph::build(&edges, &()).unwrap();
        let Some(&key) = search_keys(&graph, 1, 1).first() else { return Ok(()) };
        let mut search = graph500::Search::new(&graph, Default::default()).unwrap();
        search.run(key, &()).unwrap();
        let mut parents = search.parents().to_vec();
        for (vertex, parent, kind) in changes {
            let (vertex, parent) = (vertex.index(parents.len()), parent.index(parents.len()));
            parents[vertex] = match kind {
                0 => -1,
                1 => parents.len() as i64,
                2 => -2,
                3 => vertex as i64,
                4 => parents[parent],
                _ => parent as i64,
            };
        }
        let alone = Validator::new(&edges, graph.num_vertices()).unwrap().check(key, &parents, &());
        let verdicts = in_pools(processes, 1, |communicator| {
            let own = share(&edges, communicator);
            let part = Part::build(communicator, &own, &()).unwrap();
            let mut validator = PartValidator::new(communicator, &part, &own).unwrap();
            let own: Vec<i64> = parents.iter().skip(communicator.process()).step_by(processes).copied().collect();
            validator.check(key, &own)
        });
        match alone {
            Ok(component) => prop_assert!(verdicts.iter().all(|verdict| *verdict == Ok(component))),
            Err(error) => {
                // All end with the error of one process, which is of the same kind.
                let is_own = |verdict: &&Result<_, _>| matches!(verdict, Err(RunError::Invalid { .. }));
                prop_assert_eq!(verdicts.iter().filter(is_own).count(), 1, "{:?} {:?}", error, &verdicts);
                let Some(Err(RunError::Invalid { error: found, .. })) = verdicts.iter().find(is_own) else {
                    unreachable!()
                };
                let Verdict::Invalid(expected) = error else { unreachable!() };
                prop_assert_eq!(check_number(found), check_number(&expected));
                let of_other = |verdict: &&Result<_, _>| matches!(verdict, Err(RunError::Process { .. }));
                prop_assert_eq!(verdicts.iter().filter(of_other).count(), processes - 1);
            }
        }
    }
}

/// The number of the check that failed. Checks 3 and 4 are one pass over the tuples, whose first error depends on
/// their order.
fn check_number(error: &ValidationError) -> u32 {
    match error {
        ValidationError::Root { .. } | ValidationError::ParentRange { .. } => 0,
        ValidationError::Orphan { .. } | ValidationError::Cycle { .. } => 1,
        ValidationError::TreeEdgeLevels { .. } => 2,
        ValidationError::EdgeSpansLevels { .. } | ValidationError::Component { .. } => 3,
        ValidationError::NotAnEdge { .. } => 5,
        other => unreachable!("{other}"),
    }
}

/// Everything of a report but times.
fn figures(report: &Report) -> Vec<(u64, u64, u64, u32)> {
    report.searches.iter().map(|search| (search.key, search.edges, search.reached, search.depth)).collect()
}

fn run(scale: u32, roots: usize, processes: usize, threads: usize) -> Outcome {
    let config = Config { roots, ..Config::official(Spec::new(scale, 16, 1).unwrap()) };
    let mut outcomes = in_pools(processes, threads, |communicator| distributed::run(communicator, &config, &()));
    let last = outcomes.pop().unwrap().unwrap();
    for outcome in outcomes {
        assert_eq!(figures(&outcome.unwrap().report), figures(&last.report));
    }
    last
}

#[test]
fn statistics_are_those_of_one_process() {
    for scale in 1..=11 {
        let config = Config { roots: 4, ..Config::official(Spec::new(scale, 16, 1).unwrap()) };
        let alone = graph500::run(&config, &()).unwrap();
        for (processes, threads) in PAIRS {
            let report = run(scale, 4, processes, threads).report;
            assert_eq!(figures(&report), figures(&alone), "scale {scale}, {processes} processes of {threads}");
            assert_eq!(report.nedge(), alone.nedge());
            assert_eq!((report.processes, report.threads), (processes, threads));
            let official = report.official();
            assert!(official.contains(&format!("num_mpi_processes:              {processes}\n")), "{official}");
        }
    }
}

#[test]
fn skipped_validation_has_the_same_counts() {
    let config = Config { roots: 8, validate: false, ..Config::official(Spec::new(10, 16, 1).unwrap()) };
    let alone = graph500::run(&config, &()).unwrap();
    for outcome in in_pools(3, 1, |communicator| distributed::run(communicator, &config, &())) {
        let report = outcome.unwrap().report;
        assert_eq!(figures(&report), figures(&alone));
        assert_eq!(report.validation(), None);
    }
}

#[test]
fn one_process_sends_nothing() {
    let outcome = run(10, 8, 1, 2);
    let sent = outcome.levels.iter().flatten().flat_map(|level| &level.traffic);
    assert!(sent.clone().count() > 8 && sent.clone().all(|&traffic| traffic == Traffic::default()));
}

/// What a search without levels bottom-up would send, if it sent a message of 8 bytes for each edge to a vertex of
/// another process.
fn plain_top_down_bytes(outcome: &Outcome, processes: u64) -> f64 {
    let arcs: u64 = outcome.report.searches.iter().map(|search| 2 * search.edges).sum();
    8.0 * arcs as f64 * (processes - 1) as f64 / processes as f64
}

#[test]
fn sent_bytes_are_those_of_the_model_and_less_than_half_of_top_down() {
    let shapes: Vec<Vec<LevelShape>> = run(14, 8, 1, 1).levels.iter().map(|levels| shapes(levels)).collect();
    for processes in [2, 3, 4, 8] {
        let outcome = run(14, 8, processes, 1);
        let predicted: f64 =
            shapes.iter().flat_map(|levels| predicted_bytes(levels, outcome.connected, processes as u64)).sum();
        let sent: u64 =
            outcome.levels.iter().flatten().flat_map(|level| &level.traffic).map(|traffic| traffic.bytes).sum();
        let ratio = sent as f64 / predicted;
        assert!((0.9..1.1).contains(&ratio), "{processes} processes send {ratio} of the predicted bytes");
        assert!(2.0 * sent as f64 <= plain_top_down_bytes(&outcome, processes as u64), "{processes} processes: {sent}");
    }
}

#[test]
fn vertices_of_gathered_frontiers_get_no_messages() {
    let outcome = run(14, 16, 4, 1);
    let is_top_down = |level: &&distributed::LevelProfile| level.kind == LevelKind::TopDown;
    let levels: Vec<_> = outcome.levels.iter().flat_map(|levels| levels.iter().skip_while(is_top_down)).collect();
    let last: Vec<_> = levels.into_iter().filter(is_top_down).collect();
    assert!(!last.is_empty(), "searches turn top-down again");
    // Each process sends 24 bytes of counts to each other one.
    let messages = last.iter().flat_map(|level| &level.traffic).map(|sent| (sent.bytes - 3 * 24) / 8).sum::<u64>();
    let found: u64 = last.iter().map(|level| level.found).sum();
    assert!(messages <= 3 * found, "{messages} messages for {found} vertices");
}

fn shapes(levels: &[distributed::LevelProfile]) -> Vec<LevelShape> {
    let shape = |level: &distributed::LevelProfile| LevelShape {
        kind: level.kind,
        frontier: level.frontier,
        edges: level.edges,
        found: level.found,
    };
    levels.iter().map(shape).collect()
}

#[test]
fn frontiers_take_all_three_forms() {
    let outcome = run(14, 8, 4, 1);
    for kind in [LevelKind::TopDown, LevelKind::BottomUpList, LevelKind::BottomUpBitmap] {
        assert!(outcome.levels.iter().flatten().any(|level| level.kind == kind), "{kind:?}");
    }
}

#[test]
fn error_of_one_process_ends_all() {
    let results = in_pools(3, 1, |communicator| {
        let edge = Edge::new(3, if communicator.process() == 1 { 1 << 40 } else { 4 });
        Part::build(communicator, &[edge], &()).map(|_| ())
    });
    let own = RunError::TooManyVertices { label: 1 << 40 };
    let other = RunError::Process { process: 1, message: own.to_string() };
    assert_eq!(results, [Err(other.clone()), Err(own), Err(other)]);
}

#[test]
fn problem_without_keys_is_refused_by_all() {
    let config = Config::official(Spec::new(33, 16, 1).unwrap());
    for result in in_pools(2, 1, |communicator| distributed::run(communicator, &config, &())) {
        assert!(matches!(result, Err(RunError::TooManyVertices { .. })));
    }
}

#[test]
fn processes_of_another_version_are_refused() {
    let results = in_threads(4, |communicator| {
        let version = if communicator.process() == 3 { "0.2.0" } else { "0.1.0" };
        check_settings(communicator, &[("the version of anabranch", version)])
    });
    for result in results {
        let message = result.unwrap_err().to_string();
        assert_eq!(message, "process 3: the version of anabranch is 0.2.0 and not 0.1.0 as for process 0");
    }
}

#[test]
fn panic_of_one_thread_ends_the_others() {
    let panic = std::panic::catch_unwind(|| {
        in_threads(3, |communicator| {
            assert!(communicator.process() != 2, "the third process fails");
            communicator.all_to_all(&[1, 2, 3], &[1, 1, 1])
        })
    });
    let message = *panic.unwrap_err().downcast::<&str>().unwrap();
    assert_eq!(message, "the third process fails");
}

#[test]
fn path_over_all_processes_is_searched_to_its_end() {
    let path = edges(&(1..3000).map(|vertex| (vertex - 1, vertex)).collect::<Vec<_>>());
    check("path", &path, &[0, 1500], 5, 1);
}

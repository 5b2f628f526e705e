//! Whole runs: what they report, what the observer sees, and how they end early.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::common::in_pool;
use graph500::{
    BfsKind, Config, Edge, Graph, MemoryPlan, Observer, Phase, Report, RunError, Search, SearchRecord, Spec, run,
};

fn config(scale: u32, bfs: BfsKind) -> Config {
    Config { bfs, roots: 8, ..Config::official(Spec::new(scale, 16, 1).unwrap()) }
}

#[test]
fn kernels_agree_on_everything_but_time() {
    let facts = |bfs| {
        let report = in_pool(|| run(&config(11, bfs), &()).unwrap());
        assert_eq!((report.bfs, report.searches.len()), (bfs, 8));
        report.searches.iter().map(|s| (s.key, s.edges, s.reached, s.depth)).collect::<Vec<_>>()
    };
    let expected = facts(BfsKind::Sequential);
    assert_eq!(facts(BfsKind::Color), expected);
    assert_eq!(facts(BfsKind::Direction), expected);

    // Without validation the same is known.
    let unchecked = Config { validate: false, ..config(11, BfsKind::Direction) };
    let report = run(&unchecked, &()).unwrap();
    let found: Vec<_> = report.searches.iter().map(|s| (s.key, s.edges, s.reached, s.depth)).collect();
    assert_eq!(found, expected);
    assert_eq!(report.validation(), None);
    assert!(!report.official().contains("validate"));
}

#[test]
fn fewer_vertices_make_fewer_searches() {
    let small = Config::official(Spec::new(2, 16, 1).unwrap());
    let report = run(&small, &()).unwrap();
    assert!((1..=4).contains(&report.searches.len()));
    let official = report.official();
    assert!(official.contains(&format!("NBFS:                           {}\n", report.searches.len())), "{official}");
    // A single self-loop or none at all: some seed of scale 1 with one edge per vertex has loops
    // only.
    let loops = (0..200).map(|seed| Config { spec: Spec::new(1, 1, seed).unwrap(), ..small });
    assert!(loops.map(|config| run(&config, &())).any(|result| result == Err(RunError::NoKeys)));
}

#[test]
fn too_large_is_refused_at_once() {
    let large = Config { spec: Spec::new(33, 16, 1).unwrap(), ..config(11, BfsKind::Direction) };
    assert_eq!(run(&large, &()), Err(RunError::TooManyVertices { label: (1 << 33) - 1 }));
}

#[derive(Default)]
struct Log {
    events: Mutex<Vec<(Phase, u64, u64, bool)>>,
}

impl Observer for Log {
    fn begin(&self, phase: Phase, total: u64) {
        self.events.lock().unwrap().push((phase, total, 0, false));
    }
    fn advance(&self, phase: Phase, done: u64) {
        let mut events = self.events.lock().unwrap();
        let event = events.iter_mut().find(|event| event.0 == phase).expect("a phase begins before it advances");
        assert!(!event.3, "{phase:?} is over");
        event.2 += done;
    }
    fn end(&self, phase: Phase, _: Duration) {
        self.events.lock().unwrap().iter_mut().find(|event| event.0 == phase).unwrap().3 = true;
    }
}

#[test]
fn observer_sees_every_phase_to_its_end() {
    let log = Log::default();
    in_pool(|| run(&config(12, BfsKind::Direction), &log).unwrap());
    let events = log.events.into_inner().unwrap();
    let phases: Vec<_> = events.iter().map(|event| event.0).collect();
    let searches = [Phase::Validation, Phase::Search, Phase::WarmSearch];
    assert_eq!(phases, [&[Phase::Generation, Phase::Construction][..], &searches].concat());
    for (phase, total, done, ended) in events {
        assert!(ended, "{phase:?}");
        // Self-loops are never sorted, so that construction ends a little below its total.
        assert!(done <= total && done * 10 >= total * 9, "{phase:?}: {done} of {total}");
    }
}

/// Says stop after it has been asked a number of times.
struct StopAfter {
    asked: AtomicU64,
    limit: u64,
}

impl Observer for StopAfter {
    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.limit
    }
}

#[test]
fn run_can_be_cancelled_anywhere() {
    for bfs in BfsKind::ALL {
        let count = StopAfter { asked: AtomicU64::new(0), limit: u64::MAX };
        run(&config(10, bfs), &count).unwrap();
        let asked = count.asked.into_inner();
        assert!(asked > 50, "{bfs}: asked {asked} times");
        for limit in (0..asked).step_by(asked as usize / 40) {
            let stop = StopAfter { asked: AtomicU64::new(0), limit };
            assert_eq!(run(&config(10, bfs), &stop), Err(RunError::Cancelled), "{bfs} after {limit} of {asked}");
        }
    }
}

#[test]
fn search_can_be_cancelled_after_another_one_and_used_again() {
    // A star, and a path from one leaf on. A search from the hub reaches all leaves in its first level.
    let edges = (1..5000).map(|leaf| (0, leaf)).chain([(1, 5000), (5000, 5001)]);
    let edges: Vec<_> = edges.map(|(a, b)| Edge::new(a, b)).collect();
    let graph = Graph::build(&edges, &()).unwrap();
    for bfs in BfsKind::ALL {
        let mut search = Search::new(&graph, bfs).unwrap();
        let count = StopAfter { asked: AtomicU64::new(0), limit: u64::MAX };
        search.run(5001, &count).unwrap();
        let reach = search.run(0, &()).unwrap();
        for limit in 0..count.asked.into_inner() {
            let stop = StopAfter { asked: AtomicU64::new(0), limit };
            assert_eq!(search.run(5001, &stop), Err(RunError::Cancelled), "{bfs} after {limit}");
            assert_eq!(search.run(0, &()), Ok(reach), "{bfs} after {limit}");
        }
    }
}

/// Counts the questions of each part of a run.
#[derive(Default)]
struct Asked {
    parts: Mutex<Vec<(Phase, u64)>>,
}

impl Observer for Asked {
    fn begin(&self, phase: Phase, _: u64) {
        // Searches are checked as they come, so these two phases are one part.
        if phase != Phase::Validation {
            self.parts.lock().unwrap().push((phase, 0));
        }
    }
    fn is_cancelled(&self) -> bool {
        if let Some(part) = self.parts.lock().unwrap().last_mut() {
            part.1 += 1;
        }
        false
    }
}

#[test]
fn run_checks_for_cancellation_often() {
    let asked = Asked::default();
    let config = Config { roots: 2, ..config(14, BfsKind::Sequential) };
    run(&config, &asked).unwrap();
    // How many tuples of the graph there may be for each question.
    let at_most = [
        (Phase::Generation, 1 << 18),
        (Phase::Construction, 1 << 13),
        (Phase::Search, 1 << 12),
        (Phase::WarmSearch, 1 << 15),
    ];
    let parts = asked.parts.into_inner().unwrap();
    assert_eq!(parts.len(), at_most.len());
    for ((phase, asked), (expected, tuples)) in parts.into_iter().zip(at_most) {
        assert_eq!(phase, expected);
        assert!(asked * tuples >= config.spec.num_edges(), "{phase:?}: asked {asked} times");
    }
}

#[test]
fn warm_searches_have_rates_of_their_own() {
    let report = report(&[(0.5, 1000, None), (0.25, 1000, None)]);
    assert_eq!(report.warm_teps().harmonic_mean, 2.0 * report.teps().harmonic_mean);
    assert_eq!(report.warm_time().max, 0.25);
    let config = config(10, BfsKind::Direction);
    let report = run(&config, &()).unwrap();
    assert!(report.searches.iter().all(|search| search.warm_seconds > 0.0));
}

#[test]
fn memory_plan_adds_up() {
    for bfs in BfsKind::ALL {
        for factor in [1, 16] {
            let config = Config { bfs, ..Config::official(Spec::new(20, factor, 1).unwrap()) };
            let plan = MemoryPlan::of(&config);
            assert_eq!(plan.stages().iter().map(|stage| stage.1).sum::<u64>(), plan.peak());
            // Eight bytes a tuple and four for each of its two arcs are always there.
            assert!(plan.peak() > 16 * config.spec.num_edges());
        }
    }
}

fn report(searches: &[(f64, u64, Option<f64>)]) -> Report {
    Report {
        processes: 1,
        spec: Spec::new(20, 16, 1).unwrap(),
        bfs: BfsKind::Direction,
        threads: 2,
        generation_seconds: 0.5,
        construction_seconds: 0.25,
        searches: searches
            .iter()
            .map(|&(seconds, edges, validation_seconds)| SearchRecord {
                key: 1,
                seconds,
                edges,
                reached: 10,
                depth: 3,
                validation_seconds,
                warm_seconds: seconds / 2.0,
            })
            .collect(),
        paths: None,
    }
}

#[test]
fn official_lines_to_the_letter() {
    let official = report(&[(0.5, 1000, Some(0.125)), (0.25, 1000, Some(0.125))]).official();
    let expected = "\
SCALE:                          20
edgefactor:                     16
NBFS:                           2
graph_generation:               0.500000000
num_mpi_processes:              1
construction_time:              0.250000000
bfs  min_time:                  0.250000000
bfs  firstquartile_time:        0.250000000
bfs  median_time:               0.375000000
bfs  thirdquartile_time:        0.500000000
bfs  max_time:                  0.500000000
bfs  mean_time:                 0.375000000
bfs  stddev_time:               0.176776695
min_nedge:                      1000
firstquartile_nedge:            1000
median_nedge:                   1000
thirdquartile_nedge:            1000
max_nedge:                      1000
mean_nedge:                     1000
stddev_nedge:                   0
bfs  min_TEPS:                  2000
bfs  firstquartile_TEPS:        2000
bfs  median_TEPS:               2667
bfs  thirdquartile_TEPS:        4000
bfs  max_TEPS:                  4000
bfs  harmonic_mean_TEPS:        2667
bfs  harmonic_stddev_TEPS:      1257
bfs  min_validate:              0.125000000
bfs  firstquartile_validate:    0.125000000
bfs  median_validate:           0.125000000
bfs  thirdquartile_validate:    0.125000000
bfs  max_validate:              0.125000000
bfs  mean_validate:             0.125000000
bfs  stddev_validate:           0.000000000
";
    assert_eq!(official, expected);
}

#[test]
fn one_search_has_no_nan() {
    let official = report(&[(0.5, 1000, Some(0.1))]).official();
    assert!(!official.contains("NaN") && !official.contains("inf"), "{official}");
    assert!(official.contains("bfs  stddev_time:               0.000000000\n"));
    assert!(official.contains("bfs  harmonic_stddev_TEPS:      0\n"));
}

//! The whole benchmark: generation, kernel 1, and kernel 2 with its validation for each key.

use std::time::{Duration, Instant};

use crate::watch::Halt;
use crate::{
    BfsKind, Graph, Observer, Phase, Report, RunError, Search, SearchRecord, Spec, Validator, generate, search_keys,
    validate,
};

/// The configuration of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The problem.
    pub spec: Spec,
    /// The search kernel.
    pub bfs: BfsKind,
    /// The number of searches; the benchmark requires 64. If fewer vertices have neighbours, there is one search for
    /// each.
    pub roots: usize,
    /// Whether to validate every search. The benchmark requires it.
    pub validate: bool,
}

/// Runs the benchmark on the current pool.
///
/// ```
/// use graph500::{BfsKind, Config, Spec};
/// let config = Config { spec: Spec::new(10, 16, 1)?, bfs: BfsKind::Direction, roots: 4, validate: true };
/// let report = graph500::run(&config, &())?;
/// assert_eq!(report.searches.len(), 4);
/// assert!(report.official().starts_with("SCALE:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the first error. The observer can cancel with [`RunError::Cancelled`].
pub fn run(config: &Config, observer: &dyn Observer) -> Result<Report, RunError> {
    if config.spec.scale() > 32 {
        return Err(RunError::TooManyVertices { label: config.spec.num_vertices() - 1 });
    }
    let (edges, generation) = timed(|| generate(&config.spec, observer));
    let mut edges = edges?;
    let (graph, construction) = timed(|| Graph::build(&edges, observer));
    let graph = graph?;
    let keys = search_keys(&graph, config.roots, config.spec.seed());
    if keys.is_empty() {
        return Err(RunError::NoKeys);
    }

    let halt = Halt::new(observer);
    let mut search = Search::new(&graph, config.bfs)?;
    let mut validator = None;
    if config.validate {
        Validator::sort_edges(&mut edges);
        validator = Some(Validator::of_graph(&edges, graph.num_vertices())?);
    }
    let mut searches = Vec::with_capacity(keys.len());
    let (mut searching, mut validating) = (Duration::ZERO, Duration::ZERO);
    observer.begin(Phase::Search, keys.len() as u64);
    if config.validate {
        observer.begin(Phase::Validation, keys.len() as u64);
    }
    for key in keys {
        let (reach, time) = timed(|| search.run(key, observer));
        let reach = reach?;
        searching += time;
        observer.advance(Phase::Search, 1);
        let mut record = SearchRecord {
            key,
            seconds: time.as_secs_f64(),
            edges: 0,
            reached: reach.reached,
            depth: reach.depth,
            validation_seconds: None,
        };
        if let Some(validator) = &mut validator {
            let (component, time) = timed(|| validator.check(key, search.parents(), observer));
            let component = component.map_err(|verdict| verdict.of_key(key))?;
            validating += time;
            observer.advance(Phase::Validation, 1);
            (record.edges, record.reached, record.depth) = (component.edges, component.reached, component.depth);
            record.validation_seconds = Some(time.as_secs_f64());
        } else {
            let count = validate::count_edges(&edges, search.parents(), &halt);
            record.edges = count.map_err(|verdict| verdict.of_key(key))?;
        }
        searches.push(record);
    }
    observer.end(Phase::Search, searching);
    if config.validate {
        observer.end(Phase::Validation, validating);
    }
    Ok(Report {
        spec: config.spec,
        bfs: config.bfs,
        threads: anabranch::current_num_threads(),
        generation_seconds: generation.as_secs_f64(),
        construction_seconds: construction.as_secs_f64(),
        searches,
    })
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

//! The whole benchmark: generation, kernel 1, kernel 2 with its validation for each key, kernel 2 again without
//! a break, and kernel 3.

use std::time::Duration;

use crate::construct::{self, NarrowEdges};
use crate::watch::{Halt, timed};
use crate::{
    BfsKind, Graph, Observer, Phase, Report, RunError, Search, SearchRecord, Spec, Techniques, Validator, generate,
    paths, search_keys, validate,
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
    /// Whether to run kernel 3 too: shortest paths from the same keys. Needs the feature `sssp`, which is a default.
    pub sssp: bool,
    /// The techniques of kernel 1 and of the search.
    pub techniques: Techniques,
}

impl Config {
    /// Returns the configuration of an official run of kernels 1 and 2: 64 searches, each validated.
    pub fn official(spec: Spec) -> Config {
        let (bfs, techniques) = (BfsKind::default(), Techniques::default());
        Config { spec, bfs, roots: 64, validate: true, sssp: false, techniques }
    }
}

/// Runs the benchmark on the current pool.
///
/// ```
/// use graph500::{Config, Spec};
/// let config = Config { roots: 4, sssp: true, ..Config::official(Spec::new(10, 16, 1)?) };
/// let report = graph500::run(&config, &())?;
/// assert_eq!(report.searches.len(), 4);
/// assert!(report.paths.as_ref().is_some_and(|paths| paths.searches.len() == 4));
/// assert!(report.official().starts_with("SCALE:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the first error. The observer can cancel with [`RunError::Cancelled`].
pub fn run(config: &Config, observer: &dyn Observer) -> Result<Report, RunError> {
    check_kernels(config)?;
    run_built(config, Built::generate(&config.spec, config.techniques, observer)?, observer)
}

/// The tuples of a problem, and the graph that kernel 1 has built of them.
pub struct Built {
    pub(crate) spec: Spec,
    pub(crate) edges: NarrowEdges,
    pub(crate) graph: Graph,
    pub(crate) generation_seconds: f64,
    pub(crate) construction_seconds: f64,
}

impl Built {
    /// Generates the tuples of `spec`, and runs kernel 1.
    ///
    /// ```
    /// use graph500::{Built, Spec, Techniques};
    /// let built = Built::generate(&Spec::new(8, 16, 1)?, Techniques::default(), &())?;
    /// assert_eq!(built.spec().scale(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`RunError::TooManyVertices`] for a scale above 32, and the errors of [`generate`] and [`Graph::build`].
    pub fn generate(spec: &Spec, techniques: Techniques, observer: &dyn Observer) -> Result<Built, RunError> {
        if spec.scale() > 32 {
            return Err(RunError::TooManyVertices { label: spec.num_vertices() - 1 });
        }
        let (edges, generation) = timed(|| generate(spec, observer));
        let edges = edges?;
        let (built, construction) = timed(|| {
            let watch = construct::watch(edges.len(), observer);
            let (edges, num_vertices) = NarrowEdges::new(edges);
            let graph = Graph::of_tuples(&edges, num_vertices, techniques, watch)?;
            Ok::<_, RunError>((edges, graph))
        });
        let (edges, graph) = built?;
        Ok(Built {
            spec: *spec,
            edges,
            graph,
            generation_seconds: generation.as_secs_f64(),
            construction_seconds: construction.as_secs_f64(),
        })
    }

    /// Returns the problem.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }
}

/// Runs the benchmark from kernel 2 on. `built` decides the problem, and `config` the rest.
///
/// # Errors
/// Returns the first error. The observer can cancel with [`RunError::Cancelled`].
pub fn run_built(config: &Config, built: Built, observer: &dyn Observer) -> Result<Report, RunError> {
    check_kernels(config)?;
    let Built { spec, mut edges, graph, generation_seconds, construction_seconds } = built;
    let config = &Config { spec, ..*config };
    let keys = search_keys(&graph, config.roots, spec.seed());
    if keys.is_empty() {
        return Err(RunError::NoKeys);
    }

    let halt = Halt::new(observer);
    let mut search = Search::with(&graph, config.bfs, config.techniques)?;
    let mut validator = None;
    if config.validate {
        // First, because the sort takes long: the phase has begun then, as an observer can tell.
        observer.begin(Phase::Validation, keys.len() as u64);
        validate::sort(&mut edges);
        validator = Some(Validator::of_graph(validate::Tuples::Narrow(&edges), graph.num_vertices())?);
    }
    let mut searches = Vec::with_capacity(keys.len());
    let (mut searching, mut validating) = (Duration::ZERO, Duration::ZERO);
    observer.begin(Phase::Search, keys.len() as u64);
    for &key in &keys {
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
            warm_seconds: 0.0,
        };
        if let Some(validator) = &mut validator {
            let (component, time) = timed(|| validator.check(key, search.parents(), observer));
            let component = component.map_err(|verdict| verdict.of_key(key))?;
            validating += time;
            observer.advance(Phase::Validation, 1);
            (record.edges, record.reached, record.depth) = (component.edges, component.reached, component.depth);
            record.validation_seconds = Some(time.as_secs_f64());
        } else {
            let parents = search.parents();
            let count = validate::count_edges(&edges, |vertex| parents[vertex as usize] >= 0, &halt);
            record.edges = count.map_err(|verdict| verdict.of_key(key))?;
        }
        searches.push(record);
    }
    observer.end(Phase::Search, searching);
    if config.validate {
        observer.end(Phase::Validation, validating);
    }
    drop(validator);
    drop(edges);
    repeat_back_to_back(&mut search, &mut searches, observer)?;
    drop(search);
    let paths = if config.sssp { Some(paths::run(&spec, config.validate, &graph, &keys, observer)?) } else { None };
    Ok(Report {
        spec,
        bfs: config.bfs,
        processes: 1,
        threads: anabranch::pool::current_num_threads(),
        generation_seconds,
        construction_seconds,
        searches,
        paths,
    })
}

/// Checks that the crate was built with what the run needs.
fn check_kernels(config: &Config) -> Result<(), RunError> {
    if config.sssp && cfg!(not(feature = "sssp")) { Err(RunError::NoKernel3) } else { Ok(()) }
}

/// Repeats all searches back to back: the warm protocol. A pass over the tuples comes before, so the first key is
/// searched once more.
fn repeat_back_to_back(
    search: &mut Search<'_>,
    records: &mut [SearchRecord],
    observer: &dyn Observer,
) -> Result<(), RunError> {
    let mut total = Duration::ZERO;
    observer.begin(Phase::WarmSearch, records.len() as u64);
    if let Some(first) = records.first() {
        search.run(first.key, observer)?;
    }
    for record in records {
        let (reach, time) = timed(|| search.run(record.key, observer));
        let reach = reach?;
        debug_assert_eq!(reach.reached, record.reached, "key {}", record.key);
        total += time;
        observer.advance(Phase::WarmSearch, 1);
        record.warm_seconds = time.as_secs_f64();
    }
    observer.end(Phase::WarmSearch, total);
    Ok(())
}

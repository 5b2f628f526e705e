//! The whole benchmark on several processes.

use super::agree::agree;
use super::communicator::gather_equal;
use super::{Communicator, LevelKind, LevelRecord, Part, PartSearch, PartValidator, Progress, Traffic};
use crate::run::Config;
use crate::watch::timed;
use crate::{Edge, Observer, Phase, Report, RunError, SearchRecord, Spec, Validator, generator};

/// The result of a run, the same on all processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The report. Times are the longest of all processes.
    pub report: Report,
    /// The number of vertices with a neighbour other than themselves.
    pub connected: u64,
    /// The levels of each search of the official protocol.
    pub levels: Vec<Vec<LevelProfile>>,
}

/// A level of a search, with what each process has sent.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelProfile {
    /// How it was searched.
    pub kind: LevelKind,
    /// Vertices in the frontier.
    pub frontier: u64,
    /// The sum of their degrees, where the level was searched top-down or is the first one bottom-up; else 0.
    pub edges: u64,
    /// Vertices that were found.
    pub found: u64,
    /// The longest time of a process, in seconds.
    pub seconds: f64,
    /// What each process has sent.
    pub traffic: Vec<Traffic>,
}

/// Runs the benchmark on the processes of `communicator`, each on its current pool. All pass the same configuration.
///
/// A run has kernels 1 and 2 with the search [`BfsKind::Direction`](crate::BfsKind::Direction) and all techniques;
/// other settings of these have no effect. For one problem, the keys and the figures of the searches other than times
/// are those of [`run`](crate::run()) with one process. The observer cannot cancel.
///
/// # Errors
/// Returns the first error, on all processes.
pub fn run(communicator: &dyn Communicator, config: &Config, observer: &dyn Observer) -> Result<Outcome, RunError> {
    let (observer, spec) = (&Progress(observer), &config.spec);
    if spec.scale() > 32 {
        return Err(RunError::TooManyVertices { label: spec.num_vertices() - 1 });
    }
    let (edges, generation_seconds) = together(communicator, || generate(communicator, spec, observer));
    let mut edges = agree(communicator, edges)?;
    let (part, construction_seconds) = together(communicator, || Part::build(communicator, &edges, observer));
    let part = part?;
    let keys = part.search_keys(config.roots, spec.seed());
    if keys.is_empty() {
        return Err(RunError::NoKeys);
    }

    let mut search = PartSearch::new(communicator, &part)?;
    Validator::sort_edges(&mut edges);
    let mut validator = PartValidator::new(communicator, &part, &edges)?;
    observer.begin(Phase::Search, keys.len() as u64);
    if config.validate {
        observer.begin(Phase::Validation, keys.len() as u64);
    }
    let (mut searches, mut levels) = (Vec::with_capacity(keys.len()), Vec::with_capacity(keys.len()));
    for &key in &keys {
        let (reach, seconds) = together(communicator, || search.run(key));
        observer.advance(Phase::Search, 1);
        let mut record = SearchRecord {
            key,
            seconds,
            edges: 0,
            reached: reach.reached,
            depth: reach.depth,
            validation_seconds: None,
            warm_seconds: 0.0,
        };
        if config.validate {
            let (component, seconds) = together(communicator, || validator.check(key, search.parents()));
            let component = component?;
            (record.edges, record.reached, record.depth) = (component.edges, component.reached, component.depth);
            record.validation_seconds = Some(seconds);
            observer.advance(Phase::Validation, 1);
        } else {
            record.edges = validator.count_edges(search.parents());
        }
        searches.push(record);
        levels.push(search.levels().iter().map(|level| profile(communicator, level)).collect());
    }
    observer.end(Phase::Search, total(&searches, |search| search.seconds));
    if config.validate {
        observer.end(Phase::Validation, total(&searches, |search| search.validation_seconds.unwrap_or_default()));
    }
    drop(validator);
    drop(edges);

    // The warm protocol. A pass over the tuples comes before, so the first key is searched once more.
    observer.begin(Phase::WarmSearch, keys.len() as u64);
    search.run(keys[0]);
    for record in &mut searches {
        (_, record.warm_seconds) = together(communicator, || search.run(record.key));
        observer.advance(Phase::WarmSearch, 1);
    }
    observer.end(Phase::WarmSearch, total(&searches, |search| search.warm_seconds));
    let report = Report {
        spec: *spec,
        bfs: crate::BfsKind::Direction,
        processes: communicator.processes(),
        threads: anabranch::pool::current_num_threads(),
        generation_seconds,
        construction_seconds,
        searches,
        paths: None,
    };
    Ok(Outcome { report, connected: part.num_connected(), levels })
}

/// Generates this process's share of the tuples.
fn generate(communicator: &dyn Communicator, spec: &Spec, observer: &dyn Observer) -> Result<Vec<Edge>, RunError> {
    let (process, processes) = (communicator.process() as u128, communicator.processes() as u128);
    let start = |process: u128| (u128::from(spec.num_edges()) * process / processes) as u64;
    generator::generate_part(spec, start(process)..start(process + 1), observer)
}

/// Runs `work` on all processes at the same time. Returns its result, and the longest time of a process in seconds.
fn together<R>(communicator: &dyn Communicator, work: impl FnOnce() -> R) -> (R, f64) {
    gather_equal(communicator, &[0]);
    let (result, time) = timed(work);
    (result, longest(communicator, time.as_secs_f64()))
}

fn longest(communicator: &dyn Communicator, seconds: f64) -> f64 {
    gather_equal(communicator, &[seconds.to_bits()]).into_iter().map(f64::from_bits).fold(0.0, f64::max)
}

/// Returns a level with what all processes have sent.
fn profile(communicator: &dyn Communicator, level: &LevelRecord) -> LevelProfile {
    let &LevelRecord { kind, frontier, edges, found, seconds, traffic } = level;
    let all = gather_equal(communicator, &[traffic.messages, traffic.bytes]);
    let traffic = all.chunks(2).map(|words| Traffic { messages: words[0], bytes: words[1] }).collect();
    LevelProfile { kind, frontier, edges, found, seconds: longest(communicator, seconds), traffic }
}

fn total(searches: &[SearchRecord], seconds: impl Fn(&SearchRecord) -> f64) -> std::time::Duration {
    std::time::Duration::from_secs_f64(searches.iter().map(seconds).sum())
}

//! `anabranch bfs --mpi`: a search of a file's graph on all processes that `mpirun` has started.
//!
//! Each process reads a part of the file. The partition and the search are the same as in Graph500
//! ([`graph500::distributed`]), so the graph is undirected.

use std::time::Instant;

use anabranch_graph::kernels::UNREACHED;
use anabranch_graph::{Labels, Observer};
use graph500::distributed::{Communicator, Part, PartSearch, PartValidator, check_settings};
use graph500::{Edge, Reach, RunError};
use graph500_mpi::Mpi;

use super::args::BfsArgs;
use super::columns::{Column, Columns};
use super::observer::Watcher;
use super::report::{Found, Report};
use super::run::{Targets, vertex_of};
use super::source::failure;
use crate::exit::Failure;
use crate::mpi::{self, agree};
use crate::signals::Signals;

/// Runs the searches on all processes. Process 0 writes the results.
pub fn run(args: &BfsArgs) -> Result<(), Failure> {
    let mpi = &mpi::start()?;
    let is_first = mpi.process() == 0;
    let (signals, pool, targets) = agree(mpi, set_up(args, is_first))?;
    check(mpi, args)?;
    let results = pool.install(|| {
        let watcher = is_first.then(|| Watcher::new(&signals));
        let observer: &dyn Observer = watcher.as_ref().map_or(&(), |watcher| watcher);
        search(mpi, args, observer)
    })?;
    let written = if is_first {
        let Results { mut report, reach, columns, labels } = results;
        report.threads = pool.num_threads();
        let found = Found::tree(args.source, reach.reached, reach.depth, columns);
        targets.map_or(Ok(()), |targets| targets.write(&report, &found, &labels))
    } else {
        Ok(())
    };
    agree(mpi, written)
}

/// Sets up the run: everything that can fail before the file is read. Only process 0 has files for results.
fn set_up(args: &BfsArgs, is_first: bool) -> Result<(Signals, anabranch::Pool, Option<Targets>), Failure> {
    let signals = Signals::install()?;
    signals.be_quiet();
    let targets = is_first.then(|| Targets::open(&args.common, Some(&args.output), &signals)).transpose()?;
    Ok((signals, args.common.source.pool()?, targets))
}

/// Checks that all processes have the same arguments.
fn check(mpi: &Mpi, args: &BfsArgs) -> Result<(), Failure> {
    let given = |is_given: bool| if is_given { "given" } else { "absent" }.to_owned();
    let settings = [
        ("the version of anabranch", env!("CARGO_PKG_VERSION").to_owned()),
        ("--source", args.source.to_string()),
        ("--trials", args.common.trials.to_string()),
        ("--verify", given(args.common.verify)),
        ("--output", given(args.output.output.is_some())),
    ];
    let settings: Vec<_> = settings.into_iter().chain(args.common.source.settings()).collect();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    agree(mpi, check_settings(mpi, &settings).map_err(failed))
}

/// The output of process 0.
struct Results {
    report: Report,
    reach: Reach,
    columns: Columns,
    labels: Labels,
}

fn search(mpi: &Mpi, args: &BfsArgs, observer: &dyn Observer) -> Result<Results, Failure> {
    let start = Instant::now();
    let Input { edges, num_vertices, root, labels } = read(mpi, args, observer)?;
    let graph = agree(mpi, Part::build(mpi, &edges, &()).map_err(failed))?;
    let mut search = agree(mpi, PartSearch::new(mpi, &graph).map_err(failed))?;
    let read_seconds = longest(mpi, start);

    let mut reach = Reach { reached: 0, depth: 0 };
    let mut seconds = Vec::with_capacity(args.common.trials);
    for _ in 0..args.common.trials {
        // All begin together.
        gather(mpi, &[0]);
        let start = Instant::now();
        reach = search.run(root.into());
        seconds.push(longest(mpi, start));
    }
    if args.common.verify {
        let validator = PartValidator::new(mpi, &graph, &edges);
        let checked = validator.and_then(|mut validator| validator.check(root.into(), search.parents()));
        agree(mpi, checked.map_err(failed))?;
    }
    let columns = match args.output.output {
        Some(_) => columns(mpi, search.parents(), num_vertices, root)?,
        None => Vec::new(),
    };
    let report = Report {
        command: "bfs",
        file: args.common.source.file.display().to_string(),
        vertices: num_vertices,
        edges: graph.num_arcs() / 2,
        directed: false,
        processes: mpi.processes(),
        threads: 0,
        read_seconds,
        seconds,
        verified: args.common.verify,
    };
    Ok(Results { report, reach, columns, labels })
}

/// The part of the graph that a process has read, and the derived figures of the whole graph.
struct Input {
    edges: Vec<Edge>,
    num_vertices: u64,
    root: u32,
    labels: Labels,
}

/// Reads this process's part of the file.
fn read(mpi: &Mpi, args: &BfsArgs, observer: &dyn Observer) -> Result<Input, Failure> {
    let source = &args.common.source;
    let part = agree(mpi, source.read_part(mpi.process(), mpi.processes(), observer))?;
    let totals = gather(mpi, &[part.num_vertices, part.num_edges()]);
    let num_vertices = totals.iter().step_by(2).copied().max().unwrap_or_default();
    let num_edges: u64 = totals.iter().skip(1).step_by(2).sum();
    let make = || {
        part.check_whole(num_vertices, num_edges).map_err(failure)?;
        if part.is_directed {
            let message = "with --mpi a search has no directions; give --undirected for a directed graph";
            return Err(Failure::Usage(message.to_owned()));
        }
        let root = vertex_of(num_vertices, &part.labels, args.source)?;
        let mut edges = Vec::new();
        let no_memory = |_| Failure::Run("no memory for the edges of the file".to_owned());
        edges.try_reserve_exact(part.num_edges() as usize + 1).map_err(no_memory)?;
        // A header may promise more vertices than have edges. A self-loop at the last vertex changes nothing else.
        edges.push(Edge::new(num_vertices - 1, num_vertices - 1));
        for piece in part.pieces {
            edges.extend(piece.into_iter().map(|(from, to, ())| Edge::new(from.into(), to.into())));
        }
        Ok(Input { edges, num_vertices, root, labels: part.labels })
    };
    agree(mpi, make())
}

/// Gathers the parents of all vertices. Process 0 returns them and the levels.
fn columns(mpi: &Mpi, own: &[i64], num_vertices: u64, root: u32) -> Result<Columns, Failure> {
    let (processes, len) = (mpi.processes(), num_vertices as usize);
    let mut words = Vec::new();
    let no_memory = |_| Failure::Run("no memory for the parents of all vertices".to_owned());
    agree(mpi, words.try_reserve_exact(len).map_err(no_memory))?;
    words.resize(len, 0);
    // Vertex v belongs to process v mod P.
    let counts: Vec<usize> = (0..processes).map(|process| len.saturating_sub(process).div_ceil(processes)).collect();
    let own: Vec<u64> = own.iter().map(|&parent| parent as u64).collect();
    mpi.all_gather(&own, &counts, &mut words);
    if mpi.process() != 0 {
        return Ok(Vec::new());
    }
    let starts: Vec<usize> = (0..processes).map(|process| counts[..process].iter().sum()).collect();
    let parent = |vertex: usize| words[starts[vertex % processes] + vertex / processes] as i64;
    let parents: Vec<u32> = (0..len).map(|vertex| u32::try_from(parent(vertex)).unwrap_or(UNREACHED)).collect();
    let levels = levels(&parents, root);
    Ok(vec![("parent", Column::Vertices(parents)), ("level", Column::Counts(levels))])
}

/// Returns the level of each vertex of a tree.
fn levels(parents: &[u32], root: u32) -> Vec<u32> {
    let mut levels = vec![UNREACHED; parents.len()];
    levels[root as usize] = 0;
    let mut path = Vec::new();
    for vertex in 0..parents.len() as u32 {
        let mut at = vertex;
        while levels[at as usize] == UNREACHED && parents[at as usize] != UNREACHED {
            path.push(at);
            at = parents[at as usize];
        }
        let mut level = levels[at as usize];
        while let Some(vertex) = path.pop() {
            level += 1;
            levels[vertex as usize] = level;
        }
    }
    levels
}

/// Gathers the words of all processes, each of which has the same number of words.
fn gather(mpi: &Mpi, words: &[u64]) -> Vec<u64> {
    let mut all = vec![0; words.len() * mpi.processes()];
    mpi.all_gather(words, &vec![words.len(); mpi.processes()], &mut all);
    all
}

/// Returns the longest time since the start on any process, in seconds.
fn longest(mpi: &Mpi, start: Instant) -> f64 {
    let all = gather(mpi, &[start.elapsed().as_secs_f64().to_bits()]);
    all.into_iter().map(f64::from_bits).fold(0.0, f64::max)
}

fn failed(error: RunError) -> Failure {
    Failure::Run(error.to_string())
}

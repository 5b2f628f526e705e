//! Checks Graph500 on the processes of `mpirun` against one process: `mpirun -n 4 target/release/examples/check 18`.
//!
//! The benchmark runs at the scales from 1 to the given one: keys, edges, reached vertices, depths and statistics are
//! those of `graph500::run`. Then the corpus of the tests of `graph500` and random graphs are searched: each vertex has
//! the level that a plain queue finds. All this runs with 1 and with 2 threads a process.
//!
//! With the argument `panic` the last process panics, which must end all.

#[allow(dead_code, reason = "it serves the tests of graph500 too")]
#[path = "../../graph500/tests/it/common/mod.rs"]
mod common;

use common::distributed::searches_are_those_of_a_queue;
use common::{any_edges, corpus, corpus_roots};
use graph500::distributed::{self, Communicator};
use graph500::{Config, Report, Spec};
use graph500_mpi::Mpi;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Random graphs for each number of threads.
const RANDOM: usize = 48;

/// Above this scale fewer keys are searched.
const LARGE: u32 = 12;

/// Everything of a report but times.
fn figures(report: &Report) -> Vec<(u64, u64, u64, u32)> {
    report.searches.iter().map(|search| (search.key, search.edges, search.reached, search.depth)).collect()
}

/// Runs the benchmark. Process 0 compares it with one process, on its own pool.
fn statistics_are_those_of_one_process(mpi: &Mpi, scale: u32) {
    let roots = if scale > LARGE { 8 } else { 64 };
    let config = Config { roots, ..Config::official(Spec::new(scale, 16, 1).expect("a scale")) };
    let report = distributed::run(mpi, &config, &()).expect("a run").report;
    assert_eq!(report.processes, mpi.processes());
    if mpi.process() == 0 {
        let alone = graph500::run(&config, &()).expect("a run of one process");
        assert_eq!(figures(&report), figures(&alone), "scale {scale}");
        assert_eq!(report.nedge(), alone.nedge(), "scale {scale}");
    }
}

/// Checks searches of the corpus and of random graphs, the same on all processes.
fn levels_are_those_of_a_queue(mpi: &Mpi, runner: &mut TestRunner) {
    for (name, edges) in corpus() {
        let roots = corpus_roots(&edges);
        // A graph with thousands of levels takes thousands of operations.
        let roots = if name == "path" { &roots[..1] } else { &roots };
        searches_are_those_of_a_queue(mpi, name, &edges, roots);
    }
    for _ in 0..RANDOM {
        let edges = any_edges().new_tree(runner).expect("a graph").current();
        searches_are_those_of_a_queue(mpi, "random", &edges, &corpus_roots(&edges));
    }
}

fn main() {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let mpi = Mpi::start().expect("MPI starts");
    let (is_first, is_last) = (mpi.process() == 0, mpi.process() + 1 == mpi.processes());
    assert!(argument != "panic" || !is_last, "asked to panic");
    let scales = argument.parse().unwrap_or(10);
    let mut runner = TestRunner::deterministic();
    for threads in [1, 2] {
        let pool = anabranch::Pool::builder().threads(threads).build().expect("a pool");
        pool.install(|| {
            (1..=scales).for_each(|scale| statistics_are_those_of_one_process(&mpi, scale));
            levels_are_those_of_a_queue(&mpi, &mut runner);
        });
        if is_first {
            println!(
                "{} processes of {threads} threads: scales 1 to {scales} and the corpus are equal",
                mpi.processes()
            );
        }
    }
}

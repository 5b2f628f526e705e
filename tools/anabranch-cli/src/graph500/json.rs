//! The JSON file: all data of a run, for scripts. `docs/graph500-json.md` explains each field; a test compares the two.

use std::time::SystemTime;

use graph500::{Summary, TepsSummary};
use serde::Serialize;

use super::Outcome;
use crate::machine::Machine;

/// Increases by one when a field is removed or changes its meaning, not when one is added.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    benchmark: &'static str,
    date: String,
    version: Version,
    machine: &'a Machine,
    settings: Settings,
    graph: Graph,
    memory: Memory,
    generation_seconds: f64,
    construction_seconds: f64,
    from_checkpoint: bool,
    validated: bool,
    time: Seven,
    nedge: Seven,
    teps: Teps,
    warm: Warm,
    validation: Option<Seven>,
    searches: Vec<Search>,
    sssp: Option<Sssp>,
}

/// The figures of the warm protocol.
#[derive(Serialize)]
struct Warm {
    time: Seven,
    teps: Teps,
}

#[derive(Serialize)]
struct Sssp {
    generation_seconds: f64,
    construction_seconds: f64,
    time: Seven,
    teps: Teps,
    validation: Option<Seven>,
    searches: Vec<PathSearch>,
}

#[derive(Serialize)]
struct PathSearch {
    key: u64,
    seconds: f64,
    edges: u64,
    teps: f64,
    reached: u64,
    farthest: f32,
    validation_seconds: Option<f64>,
}

#[derive(Serialize)]
struct Version {
    anabranch: &'static str,
    rustc: &'static str,
    optimised: bool,
}

#[derive(Serialize)]
struct Settings {
    scale: u32,
    edge_factor: u64,
    processes: usize,
    threads: usize,
    roots: usize,
    bfs: String,
    seed: u64,
    skip_validation: bool,
    sssp: bool,
    without: Vec<&'static str>,
}

#[derive(Serialize)]
struct Graph {
    vertices: u64,
    edge_tuples: u64,
}

#[derive(Serialize)]
struct Memory {
    planned_bytes: u64,
    peak_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Seven {
    min: f64,
    first_quartile: f64,
    median: f64,
    third_quartile: f64,
    max: f64,
    mean: f64,
    stddev: f64,
}

#[derive(Serialize)]
struct Teps {
    min: f64,
    first_quartile: f64,
    median: f64,
    third_quartile: f64,
    max: f64,
    harmonic_mean: f64,
    harmonic_stddev: f64,
}

#[derive(Serialize)]
struct Search {
    key: u64,
    seconds: f64,
    edges: u64,
    teps: f64,
    reached: u64,
    depth: u32,
    validation_seconds: Option<f64>,
    warm_seconds: f64,
}

impl From<Summary> for Seven {
    fn from(from: Summary) -> Self {
        let Summary { min, first_quartile, median, third_quartile, max, mean, stddev, .. } = from;
        Self { min, first_quartile, median, third_quartile, max, mean, stddev }
    }
}

impl From<TepsSummary> for Teps {
    fn from(from: TepsSummary) -> Self {
        let TepsSummary { min, first_quartile, median, third_quartile, max, harmonic_mean, harmonic_stddev, .. } = from;
        Self { min, first_quartile, median, third_quartile, max, harmonic_mean, harmonic_stddev }
    }
}

/// Returns the whole document, with a line end.
pub fn text(outcome: &Outcome<'_>, threads: usize, started: SystemTime, machine: &Machine) -> String {
    let Outcome { report, config, .. } = outcome;
    let spec = &config.spec;
    let document = Document {
        schema: SCHEMA,
        benchmark: "graph500",
        date: humantime::format_rfc3339_seconds(started).to_string(),
        version: Version {
            anabranch: env!("CARGO_PKG_VERSION"),
            rustc: env!("ANABRANCH_RUSTC"),
            optimised: !cfg!(debug_assertions),
        },
        machine,
        settings: Settings {
            scale: spec.scale(),
            edge_factor: spec.edge_factor(),
            processes: report.processes,
            threads,
            roots: config.roots,
            bfs: config.bfs.to_string(),
            seed: spec.seed(),
            skip_validation: !config.validate,
            sssp: config.sssp,
            without: config.techniques.left_out().map(graph500::Technique::name).collect(),
        },
        graph: Graph { vertices: spec.num_vertices(), edge_tuples: spec.num_edges() },
        memory: Memory { planned_bytes: outcome.plan_bytes, peak_bytes: outcome.peak_bytes },
        generation_seconds: report.generation_seconds,
        construction_seconds: report.construction_seconds,
        from_checkpoint: outcome.is_resumed,
        validated: report.validation().is_some(),
        time: report.time().into(),
        nedge: report.nedge().into(),
        teps: report.teps().into(),
        warm: Warm { time: report.warm_time().into(), teps: report.warm_teps().into() },
        validation: report.validation().map(Into::into),
        searches: report
            .searches
            .iter()
            .map(|search| Search {
                key: search.key,
                seconds: search.seconds,
                edges: search.edges,
                teps: search.teps(),
                reached: search.reached,
                depth: search.depth,
                validation_seconds: search.validation_seconds,
                warm_seconds: search.warm_seconds,
            })
            .collect(),
        sssp: report.paths.as_ref().map(sssp),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("a document of plain fields can always be written");
    text.push('\n');
    text
}

fn sssp(paths: &graph500::PathReport) -> Sssp {
    let searches = paths.searches.iter().map(|search| PathSearch {
        key: search.key,
        seconds: search.seconds,
        edges: search.edges,
        teps: search.teps(),
        reached: search.reached,
        farthest: search.farthest,
        validation_seconds: search.validation_seconds,
    });
    Sssp {
        generation_seconds: paths.generation_seconds,
        construction_seconds: paths.construction_seconds,
        time: paths.time().into(),
        teps: paths.teps().into(),
        validation: paths.validation().map(Into::into),
        searches: searches.collect(),
    }
}

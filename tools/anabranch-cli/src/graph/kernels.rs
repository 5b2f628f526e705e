//! One kernel per subcommand: its parameters, its check, and its summary.

use std::collections::HashMap;

use anabranch_graph::kernels::betweenness::Scale;
use anabranch_graph::kernels::bfs::Bfs;
use anabranch_graph::kernels::pagerank::{PageRank, Parameters};
use anabranch_graph::kernels::sssp::Length;
use anabranch_graph::kernels::{self, KernelError, UNREACHED, VerifyError};
use anabranch_graph::{Graph, Labels, Weight, WeightType};
use serde_json::{Value, json};

use super::args::{BcArgs, BfsArgs, CcArgs, PagerankArgs, SsspArgs, TrianglesArgs};
use super::columns::Column;
use super::report::Found;
use super::run::{Kernel, Stop, run, vertex};
use crate::exit::Failure;
use crate::units::{count, counted};

/// The number of vertices that a summary lists.
const TOP: usize = 5;

/// Runs `anabranch bfs`.
pub fn bfs(args: &BfsArgs) -> Result<(), Failure> {
    if args.mpi {
        #[cfg(feature = "mpi")]
        return super::mpi::run(args);
        #[cfg(not(feature = "mpi"))]
        return Err(crate::no_mpi::refuse());
    }
    run(Search { label: args.source, root: 0 }, &args.common, Some(&args.output))
}

/// Runs `anabranch sssp`.
pub fn sssp(args: &SsspArgs) -> Result<(), Failure> {
    let kernel = Paths { label: args.source, root: 0, delta: args.delta };
    match args.common.source.weight_type(&args.weights)? {
        WeightType::Real => run::<f64, _>(kernel, &args.common, Some(&args.output)),
        WeightType::Single => run::<f32, _>(kernel, &args.common, Some(&args.output)),
        // Without weights, each edge has the length 1.
        _ => run::<u32, _>(kernel, &args.common, Some(&args.output)),
    }
}

/// Runs `anabranch cc`.
pub fn cc(args: &CcArgs) -> Result<(), Failure> {
    run(Components, &args.common, Some(&args.output))
}

/// Runs `anabranch pagerank`.
pub fn pagerank(args: &PagerankArgs) -> Result<(), Failure> {
    let &PagerankArgs { damping, tolerance, iterations: max_iterations, dangling, .. } = args;
    run(Rank(Parameters { damping, tolerance, max_iterations, dangling }), &args.common, Some(&args.output))
}

/// Runs `anabranch triangles`.
pub fn triangles(args: &TrianglesArgs) -> Result<(), Failure> {
    run(Triangles, &args.common, None)
}

/// Runs `anabranch bc`.
pub fn bc(args: &BcArgs) -> Result<(), Failure> {
    let kernel = Centrality { labels: args.sources.clone(), sources: Vec::new(), scale: args.scale };
    run(kernel, &args.common, Some(&args.output))
}

struct Search {
    label: u64,
    root: u32,
}

impl Kernel<()> for Search {
    type Result = Bfs;
    const NAME: &'static str = "bfs";

    fn prepare(&mut self, graph: &Graph, labels: &Labels) -> Result<(), Failure> {
        self.root = vertex(graph, labels, self.label)?;
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<Bfs, KernelError> {
        kernels::bfs(graph, self.root, stop)
    }

    fn verify(&self, graph: &Graph, result: &Bfs) -> Result<(), VerifyError> {
        kernels::bfs::verify(graph, self.root, result)
    }

    fn found(&self, _: &Graph, _: &Labels, result: Bfs) -> Found {
        let levels = || result.levels.iter().filter(|&&level| level != UNREACHED);
        let (reached, depth) = (levels().count() as u64, levels().max().copied().unwrap_or(0));
        let columns = vec![("parent", Column::Vertices(result.parents)), ("level", Column::Counts(result.levels))];
        Found::tree(self.label, reached, depth, columns)
    }
}

struct Paths {
    label: u64,
    root: u32,
    delta: Option<f64>,
}

/// Distances that have a column and a JSON value.
trait Distances: Length {
    fn column(distances: Vec<Self::Distance>) -> Column;
    fn json(distance: Self::Distance) -> Value;
}

impl Distances for u32 {
    fn column(distances: Vec<u64>) -> Column {
        Column::Whole(distances)
    }

    fn json(distance: u64) -> Value {
        json!(distance)
    }
}

impl Distances for f32 {
    fn column(distances: Vec<f32>) -> Column {
        Column::Single(distances)
    }

    fn json(distance: f32) -> Value {
        json!(distance)
    }
}

impl Distances for f64 {
    fn column(distances: Vec<f64>) -> Column {
        Column::Double(distances)
    }

    fn json(distance: f64) -> Value {
        json!(distance)
    }
}

impl<W: Distances> Kernel<W> for Paths {
    type Result = Vec<W::Distance>;
    const NAME: &'static str = "sssp";

    fn prepare(&mut self, graph: &Graph<W>, labels: &Labels) -> Result<(), Failure> {
        self.root = vertex(graph, labels, self.label)?;
        Ok(())
    }

    fn run(&self, graph: &Graph<W>, stop: &Stop<'_>) -> Result<Self::Result, KernelError> {
        kernels::sssp(graph, self.root, self.delta, stop)
    }

    fn verify(&self, graph: &Graph<W>, result: &Self::Result) -> Result<(), VerifyError> {
        kernels::sssp::verify(graph, self.root, result)
    }

    fn found(&self, _: &Graph<W>, _: &Labels, result: Self::Result) -> Found {
        let reached = || result.iter().copied().filter(|&distance| distance < W::UNREACHED);
        let farthest = reached().fold(W::ZERO, |a, b| if a < b { b } else { a });
        let reached = reached().count();
        Found {
            rows: vec![
                ("source", self.label.to_string()),
                ("reached", format!("{}, the farthest at {farthest}", counted(reached as u64, "vertex"))),
            ],
            json: json!({ "source": self.label, "reached": reached, "farthest": W::json(farthest) }),
            columns: vec![("distance", W::column(result))],
            unfinished: None,
        }
    }
}

struct Components;

impl Kernel<()> for Components {
    type Result = Vec<u32>;
    const NAME: &'static str = "cc";

    fn prepare(&mut self, _: &Graph, _: &Labels) -> Result<(), Failure> {
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<Vec<u32>, KernelError> {
        kernels::connected_components(graph, stop)
    }

    fn verify(&self, graph: &Graph, result: &Vec<u32>) -> Result<(), VerifyError> {
        kernels::components::verify(graph, result)
    }

    fn found(&self, _: &Graph, _: &Labels, result: Vec<u32>) -> Found {
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        result.iter().for_each(|&component| *sizes.entry(component).or_default() += 1);
        let (components, largest) = (sizes.len() as u64, sizes.into_values().max().unwrap_or(0));
        Found {
            rows: vec![("components", count(components)), ("largest", counted(largest, "vertex"))],
            json: json!({ "components": components, "largest": largest }),
            columns: vec![("component", Column::Vertices(result))],
            unfinished: None,
        }
    }
}

struct Rank(Parameters);

impl Kernel<()> for Rank {
    type Result = PageRank;
    const NAME: &'static str = "pagerank";

    fn prepare(&mut self, _: &Graph, _: &Labels) -> Result<(), Failure> {
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<PageRank, KernelError> {
        kernels::pagerank(graph, &self.0, stop)
    }

    fn verify(&self, graph: &Graph, result: &PageRank) -> Result<(), VerifyError> {
        kernels::pagerank::verify(graph, result, &self.0)
    }

    fn found(&self, graph: &Graph, labels: &Labels, result: PageRank) -> Found {
        let top = top(graph, labels, |vertex| result.scores[vertex as usize]);
        let PageRank { scores, iterations, change, converged } = result;
        let end = if converged { "" } else { ": not converged" };
        let tolerance = self.0.tolerance;
        let unfinished = || {
            format!(
                "pagerank has not converged: iteration {iterations} changes the scores by {change:.2e}, not by less \
                 than {tolerance:e}; give more --iterations or a greater --tolerance"
            )
        };
        Found {
            rows: vec![
                ("iterations", format!("{iterations}, the last one changed {change:.2e}{end}")),
                ("highest", listed(&top)),
            ],
            json: json!({
                "iterations": iterations, "change": change, "converged": converged, "highest": named(&top)
            }),
            columns: vec![("score", Column::Double(scores))],
            unfinished: (!converged).then(unfinished),
        }
    }
}

struct Triangles;

impl Kernel<()> for Triangles {
    type Result = u64;
    const NAME: &'static str = "triangles";

    fn prepare(&mut self, _: &Graph, _: &Labels) -> Result<(), Failure> {
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<u64, KernelError> {
        kernels::count_triangles(graph, stop)
    }

    fn verify(&self, graph: &Graph, result: &u64) -> Result<(), VerifyError> {
        kernels::triangles::verify(graph, *result)
    }

    fn found(&self, _: &Graph, _: &Labels, result: u64) -> Found {
        let rows = vec![("triangles", count(result))];
        Found { rows, json: json!({ "triangles": result }), columns: Vec::new(), unfinished: None }
    }
}

struct Centrality {
    /// Empty for all vertices.
    labels: Vec<u64>,
    sources: Vec<u32>,
    scale: Scale,
}

impl Kernel<()> for Centrality {
    type Result = Vec<f64>;
    const NAME: &'static str = "bc";

    fn prepare(&mut self, graph: &Graph, labels: &Labels) -> Result<(), Failure> {
        self.sources = self.labels.iter().map(|&label| vertex(graph, labels, label)).collect::<Result<_, _>>()?;
        self.sources.sort_unstable();
        self.sources.dedup();
        if self.labels.is_empty() {
            self.sources = (0..graph.num_vertices() as u32).collect();
        }
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<Vec<f64>, KernelError> {
        kernels::betweenness(graph, &self.sources, self.scale, stop)
    }

    fn verify(&self, graph: &Graph, result: &Vec<f64>) -> Result<(), VerifyError> {
        kernels::betweenness::verify(graph, &self.sources, self.scale, result)
    }

    fn found(&self, graph: &Graph, labels: &Labels, result: Vec<f64>) -> Found {
        let top = top(graph, labels, |vertex| result[vertex as usize]);
        let sources: Vec<u64> = self.sources.iter().map(|&source| labels.label(source)).collect();
        Found {
            rows: vec![("sources", count(self.sources.len() as u64)), ("highest", listed(&top))],
            json: json!({ "sources": sources, "highest": named(&top) }),
            columns: vec![("score", Column::Double(result))],
            unfinished: None,
        }
    }
}

/// Returns the labels and scores of the vertices with the highest scores, in descending order.
fn top<W: Weight>(graph: &Graph<W>, labels: &Labels, score: impl Fn(u32) -> f64) -> Vec<(u64, f64)> {
    let mut vertices: Vec<u32> = (0..graph.num_vertices() as u32).collect();
    let descending = |a: &u32, b: &u32| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
    if vertices.len() > TOP {
        vertices.select_nth_unstable_by(TOP, descending);
        vertices.truncate(TOP);
    }
    vertices.sort_by(descending);
    vertices.into_iter().map(|vertex| (labels.label(vertex), score(vertex))).collect()
}

fn listed(top: &[(u64, f64)]) -> String {
    top.iter().map(|(label, score)| format!("{label} ({score:.3e})")).collect::<Vec<_>>().join(", ")
}

fn named(top: &[(u64, f64)]) -> Value {
    top.iter().map(|(label, score)| json!({ "vertex": label, "score": score })).collect()
}

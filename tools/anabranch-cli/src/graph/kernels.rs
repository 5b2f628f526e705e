//! The kernels that need no source: the parameters of the subcommand, the check, and the summary.

use std::collections::HashMap;

use anabranch_graph::kernels::betweenness::Scale;
use anabranch_graph::kernels::pagerank::{PageRank, Parameters};
use anabranch_graph::kernels::{self, KernelError, VerifyError};
use anabranch_graph::{Graph, Labels};
use serde_json::{Value, json};

use super::args::{BcArgs, CcArgs, KcoreArgs, PagerankArgs, TrianglesArgs};
use super::columns::Column;
use super::report::Found;
use super::run::{Kernel, Stop, run, vertex};
use crate::exit::Failure;
use crate::units::{count, counted};

/// Runs `anabranch cc`.
pub fn cc(args: &CcArgs) -> Result<(), Failure> {
    run(Components::<false>, &args.common, Some(&args.output))
}

/// Runs `anabranch scc`.
pub fn scc(args: &CcArgs) -> Result<(), Failure> {
    run(Components::<true>, &args.common, Some(&args.output))
}

/// Runs `anabranch kcore`.
pub fn kcore(args: &KcoreArgs) -> Result<(), Failure> {
    run(Cores { top: args.top.top }, &args.common, Some(&args.output))
}

/// Runs `anabranch pagerank`.
pub fn pagerank(args: &PagerankArgs) -> Result<(), Failure> {
    let &PagerankArgs { damping, tolerance, iterations: max_iterations, dangling, .. } = args;
    let parameters = Parameters { damping, tolerance, max_iterations, dangling };
    run(Rank { parameters, top: args.top.top }, &args.common, Some(&args.output))
}

/// Runs `anabranch triangles`.
pub fn triangles(args: &TrianglesArgs) -> Result<(), Failure> {
    run(Triangles, &args.common, None)
}

/// Runs `anabranch bc`.
pub fn bc(args: &BcArgs) -> Result<(), Failure> {
    let labels = args.sources.clone();
    let kernel = Centrality { labels, sources: Vec::new(), scale: args.scale, top: args.top.top };
    run(kernel, &args.common, Some(&args.output))
}

struct Components<const ARE_STRONG: bool>;

impl<const ARE_STRONG: bool> Kernel<()> for Components<ARE_STRONG> {
    type Result = Vec<u32>;
    const NAME: &'static str = if ARE_STRONG { "scc" } else { "cc" };

    fn prepare(&mut self, _: &Graph, _: &Labels) -> Result<(), Failure> {
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<Vec<u32>, KernelError> {
        let find = if ARE_STRONG { kernels::strongly_connected_components } else { kernels::connected_components };
        find(graph, stop)
    }

    fn verify(&self, graph: &Graph, result: &Vec<u32>) -> Result<(), VerifyError> {
        if ARE_STRONG { kernels::strong::verify(graph, result) } else { kernels::components::verify(graph, result) }
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

struct Cores {
    top: usize,
}

impl Kernel<()> for Cores {
    type Result = Vec<u32>;
    const NAME: &'static str = "kcore";

    fn prepare(&mut self, _: &Graph, _: &Labels) -> Result<(), Failure> {
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<Vec<u32>, KernelError> {
        kernels::core_numbers(graph, stop)
    }

    fn verify(&self, graph: &Graph, result: &Vec<u32>) -> Result<(), VerifyError> {
        kernels::cores::verify(graph, result)
    }

    fn found(&self, graph: &Graph, labels: &Labels, result: Vec<u32>) -> Found {
        let top = top(graph, labels, self.top, |vertex| result[vertex as usize].into());
        let largest = result.iter().max().copied().unwrap_or(0);
        let innermost = result.iter().filter(|&&core| core == largest).count() as u64;
        let highest: Vec<String> = top.iter().map(|(label, core)| format!("{label} ({core})")).collect();
        Found {
            rows: vec![
                ("greatest core number", format!("{largest}, of {}", counted(innermost, "vertex"))),
                ("highest", highest.join(", ")),
            ],
            json: json!({ "greatest": largest, "innermost": innermost, "highest": named(&top) }),
            columns: vec![("core", Column::Counts(result))],
            unfinished: None,
        }
    }
}

struct Rank {
    parameters: Parameters,
    top: usize,
}

impl Kernel<()> for Rank {
    type Result = PageRank;
    const NAME: &'static str = "pagerank";

    fn prepare(&mut self, _: &Graph, _: &Labels) -> Result<(), Failure> {
        Ok(())
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<PageRank, KernelError> {
        kernels::pagerank(graph, &self.parameters, stop)
    }

    fn verify(&self, graph: &Graph, result: &PageRank) -> Result<(), VerifyError> {
        kernels::pagerank::verify(graph, result, &self.parameters)
    }

    fn found(&self, graph: &Graph, labels: &Labels, result: PageRank) -> Found {
        let top = top(graph, labels, self.top, |vertex| result.scores[vertex as usize]);
        let PageRank { scores, iterations, change, converged } = result;
        let end = if converged { "" } else { ": not converged" };
        let tolerance = self.parameters.tolerance;
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
    top: usize,
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
        let top = top(graph, labels, self.top, |vertex| result[vertex as usize]);
        let sources: Vec<u64> = self.sources.iter().map(|&source| labels.label(source)).collect();
        Found {
            rows: vec![("sources", count(self.sources.len() as u64)), ("highest", listed(&top))],
            json: json!({ "sources": sources, "highest": named(&top) }),
            columns: vec![("score", Column::Double(result))],
            unfinished: None,
        }
    }
}

/// Returns the labels and scores of the `most` vertices with the highest scores, in descending order.
fn top(graph: &Graph, labels: &Labels, most: usize, score: impl Fn(u32) -> f64) -> Vec<(u64, f64)> {
    let mut vertices: Vec<u32> = (0..graph.num_vertices() as u32).collect();
    let descending = |a: &u32, b: &u32| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
    if vertices.len() > most {
        vertices.select_nth_unstable_by(most, descending);
        vertices.truncate(most);
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

//! The options of the kernels.

use std::path::PathBuf;

use anabranch_graph::kernels::betweenness::Scale;
use anabranch_graph::kernels::pagerank::Dangling;

use super::source::{Source, Weights};
use crate::values::number;

const MOST_TRIALS: u64 = 1_000_000;

/// The options of all kernels.
#[derive(clap::Args)]
pub struct Common {
    #[command(flatten)]
    pub source: Source,

    /// How many times the kernel runs
    #[arg(long, value_name = "N", default_value = "1", value_parser = trials, allow_negative_numbers = true)]
    pub trials: usize,

    /// Check the result against a plain serial algorithm
    #[arg(long)]
    pub verify: bool,

    /// Also write the times and the summary to FILE; '-' is standard output, and the table goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// The file for the values of all vertices.
#[derive(clap::Args)]
pub struct Output {
    /// Write the value of each vertex to FILE: a NumPy array if the name ends with .npy, else lines of text
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The list of the vertices with the highest values.
#[derive(clap::Args)]
pub struct Top {
    /// How many of the vertices with the highest values the summary lists
    #[arg(long, value_name = "N", default_value = "5", value_parser = trials, allow_negative_numbers = true)]
    pub top: usize,
}

/// The options of `anabranch bfs`.
#[derive(clap::Args)]
pub struct BfsArgs {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub output: Output,
    /// Label of the vertex where the search begins
    #[arg(long, value_name = "K", value_parser = whole, allow_negative_numbers = true)]
    pub source: u64,
    /// Also show a shortest path from the source to the vertex with this label
    #[arg(long, value_name = "K", value_parser = whole, allow_negative_numbers = true, conflicts_with = "mpi")]
    pub target: Option<u64>,
    /// Search with all processes that `mpirun` has started: each reads a part of the file (plain .el, .wel, .mtx, .gr,
    /// .sg or .wsg), and the graph is undirected
    #[arg(long, conflicts_with_all = ["map", "compact"])]
    pub mpi: bool,
}

/// The options of `anabranch sssp`.
#[derive(clap::Args)]
pub struct SsspArgs {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub output: Output,
    /// Label of the vertex where all paths begin
    #[arg(long, value_name = "K", value_parser = whole, allow_negative_numbers = true)]
    pub source: u64,
    /// Also show a shortest path from the source to the vertex with this label
    #[arg(long, value_name = "K", value_parser = whole, allow_negative_numbers = true)]
    pub target: Option<u64>,
    /// Width of a bucket; affects only the time [default: derived from the mean weight and degree]
    #[arg(long, value_name = "D", value_parser = real, allow_negative_numbers = true)]
    pub delta: Option<f64>,
    #[command(flatten)]
    pub weights: Weights,
}

/// The options of `anabranch cc` and `anabranch scc`.
#[derive(clap::Args)]
pub struct CcArgs {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub output: Output,
}

/// The options of `anabranch kcore`.
#[derive(clap::Args)]
pub struct KcoreArgs {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub top: Top,
}

/// The options of `anabranch pagerank`.
#[derive(clap::Args)]
pub struct PagerankArgs {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub top: Top,
    /// Damping factor: the share of a score that comes from other vertices, from 0 to 1
    #[arg(long, value_name = "D", default_value = "0.85", value_parser = real, allow_negative_numbers = true)]
    pub damping: f64,
    /// The change of an iteration below which the scores are final: the sum of the absolute changes of all scores, as
    /// in GAP. networkx multiplies its tolerance by the number of vertices
    #[arg(long, value_name = "E", default_value = "1e-6", value_parser = real, allow_negative_numbers = true)]
    pub tolerance: f64,
    /// The most iterations. If they do not meet the tolerance, the results are written and say so, and the exit status
    /// is 1
    #[arg(long, value_name = "I", default_value = "100", value_parser = iterations, allow_negative_numbers = true)]
    pub iterations: u32,
    /// Where the score of a vertex without outgoing edges goes: to all vertices in equal parts (`spread`, as in
    /// networkx), or nowhere (`lost`, as in GAP)
    #[arg(long, value_name = "WHERE", default_value = "spread", value_parser = dangling)]
    pub dangling: Dangling,
}

/// The options of `anabranch triangles`.
#[derive(clap::Args)]
pub struct TrianglesArgs {
    #[command(flatten)]
    pub common: Common,
}

/// The options of `anabranch bc`.
#[derive(clap::Args)]
pub struct BcArgs {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub top: Top,
    /// The vertices where paths begin, by their labels in the file, for an estimate [default: all vertices, which takes
    /// time proportional to the vertices times the edges]
    #[arg(long = "sources", alias = "source", value_name = "K,K,..", value_delimiter = ',')]
    pub sources: Vec<u64>,
    /// The scores: the share of the pairs of other vertices whose shortest paths lead through a vertex (`normalized`,
    /// the default of networkx), their number (`pairs`, as with normalized=False there), or with the start of a path
    /// counted as well, divided by the greatest (`gap`, as in the GAP suite)
    #[arg(long, value_name = "SCALE", default_value = "normalized", value_parser = scale)]
    pub scale: Scale,
}

fn dangling(text: &str) -> Result<Dangling, String> {
    match text {
        "spread" => Ok(Dangling::Spread),
        "lost" => Ok(Dangling::Lost),
        _ => Err("give one of spread, lost".to_owned()),
    }
}

fn scale(text: &str) -> Result<Scale, String> {
    match text {
        "normalized" => Ok(Scale::Normalized),
        "pairs" => Ok(Scale::Pairs),
        "gap" => Ok(Scale::Gap),
        _ => Err("give one of normalized, pairs, gap".to_owned()),
    }
}

fn iterations(text: &str) -> Result<u32, String> {
    number(text, 0, u32::MAX.into(), "").map(|iterations| iterations as u32)
}

fn trials(text: &str) -> Result<usize, String> {
    number(text, 1, MOST_TRIALS, "").map(|trials| trials as usize)
}

/// Parses any whole number.
fn whole(text: &str) -> Result<u64, String> {
    number(text, 0, u64::MAX, "")
}

/// Parses a number with or without a fraction.
fn real(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "give a number, such as 0.5 or 1e-6".to_owned())
}

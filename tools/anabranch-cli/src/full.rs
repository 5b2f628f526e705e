//! The subcommands that only a build with the feature `full` has.

use clap::Subcommand;

use crate::exit::{EXIT_CODES, Failure};
#[cfg(unix)]
use crate::predict;
use crate::{bench, compare, graph, plan, proto, report, trace};

/// The subcommand: one variant per module, and one per kernel of `graph`.
#[derive(Subcommand)]
pub enum Command {
    /// Search a graph from a file breadth-first
    #[command(after_help = EXIT_CODES)]
    Bfs(graph::BfsArgs),
    /// Find the shortest paths in a graph from a file
    #[command(after_help = EXIT_CODES)]
    Sssp(graph::SsspArgs),
    /// Find the connected components of a graph from a file
    #[command(after_help = EXIT_CODES)]
    Cc(graph::CcArgs),
    /// Find the strongly connected components of a graph from a file
    #[command(after_help = EXIT_CODES)]
    Scc(graph::CcArgs),
    /// Compute the core numbers of the vertices of a graph from a file
    #[command(after_help = EXIT_CODES)]
    Kcore(graph::KcoreArgs),
    /// Compute the PageRank of the vertices of a graph from a file
    #[command(after_help = EXIT_CODES)]
    Pagerank(graph::PagerankArgs),
    /// Count the triangles in a graph from a file
    #[command(after_help = EXIT_CODES)]
    Triangles(graph::TrianglesArgs),
    /// Compute the betweenness centrality of the vertices of a graph from a file
    #[command(after_help = EXIT_CODES)]
    Bc(graph::BcArgs),
    /// Convert a file with a graph to another format
    #[command(after_help = EXIT_CODES)]
    Convert(graph::ConvertArgs),
    /// Describe files with graphs
    Graph(graph::Args),
    /// Run the workloads of the benches: anabranch, plain code, and other libraries where they were compiled in
    #[command(after_help = EXIT_CODES)]
    Bench(bench::Args),
    /// Compare two results of `anabranch bench`, and fail if the second one is slower
    #[command(after_help = EXIT_CODES)]
    Compare(compare::Args),
    /// Show how a number of elements is spread over the cores and vectors of a GPU or a processor, and why
    Plan(plan::Args),
    /// Show the protocols in a source file: their diagrams, and the code that `proto!` generates
    Proto(proto::Args),
    /// Write an HTML file that shows a trace, or the results of `anabranch bench` in a directory
    Report(report::Args),
    /// Explain where the time of a traced program went
    Explain(trace::ExplainArgs),
    /// Predict how fast a program would be on other numbers of cores, from a record of its forks
    #[cfg(unix)]
    #[command(after_help = EXIT_CODES)]
    Predict(predict::Args),
    /// Show what is in a trace, or export it for Perfetto
    Trace(trace::Args),
}

impl Command {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Bfs(args) => graph::bfs(&args),
            Command::Sssp(args) => graph::sssp(&args),
            Command::Cc(args) => graph::cc(&args),
            Command::Scc(args) => graph::scc(&args),
            Command::Kcore(args) => graph::kcore(&args),
            Command::Pagerank(args) => graph::pagerank(&args),
            Command::Triangles(args) => graph::triangles(&args),
            Command::Bc(args) => graph::bc(&args),
            Command::Convert(args) => graph::convert(&args),
            Command::Graph(args) => graph::run(&args),
            Command::Bench(args) => bench::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Plan(args) => plan::run(&args),
            Command::Proto(args) => proto::run(&args),
            Command::Report(args) => report::run(&args),
            Command::Explain(args) => trace::explain(&args),
            #[cfg(unix)]
            Command::Predict(args) => predict::run(&args),
            Command::Trace(args) => trace::run(&args),
        }
    }
}

//! The command line: its subcommands, and usage errors in one line.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::exit::Failure;
use crate::{bench, compare, graph, graph500, output, plan, proto, report, trace};

const EXIT_CODES: &str = "Exit status:
  0    the run ended and its results are valid (or validation was skipped)
  1    the run was refused, or failed in whole or in part
  2    the command line is wrong
  3    compare has found a regression
  130  interrupted by Ctrl-C (129 by a hang-up, 143 by SIGTERM)
  141  standard output was closed early

Environment:
  ANABRANCH_NUM_THREADS  the number of threads where --threads does not say
  NO_COLOR               no colours";

/// Run benchmarks and graph kernels on the anabranch worker pool, explain traces, and show protocols
#[derive(Parser)]
#[command(name = "anabranch", version, after_help = EXIT_CODES, subcommand_required = true)]
#[command(arg_required_else_help = true, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommand: one variant per module, and one per kernel of `graph`.
#[derive(Subcommand)]
pub enum Command {
    /// Run the Graph500 benchmark: breadth-first searches in a Kronecker graph
    #[command(after_help = EXIT_CODES)]
    Graph500(graph500::Args),
    /// Search a graph from a file breadth-first
    #[command(after_help = EXIT_CODES)]
    Bfs(graph::BfsArgs),
    /// Find the shortest paths in a graph from a file
    #[command(after_help = EXIT_CODES)]
    Sssp(graph::SsspArgs),
    /// Find the connected components of a graph from a file
    #[command(after_help = EXIT_CODES)]
    Cc(graph::CcArgs),
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
    /// Show what is in a trace, or export it for Perfetto
    Trace(trace::Args),
}

impl Command {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Graph500(args) => graph500::run(&args),
            Command::Bfs(args) => graph::bfs(&args),
            Command::Sssp(args) => graph::sssp(&args),
            Command::Cc(args) => graph::cc(&args),
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
            Command::Trace(args) => trace::run(&args),
        }
    }
}

/// Parses the command line. Prints `--help` and `--version` and ends the program there.
pub fn parse() -> Result<Command, Failure> {
    match Cli::try_parse() {
        Ok(cli) => Ok(cli.command),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                output::to_stdout(&error.render().to_string())?;
                Err(Failure::Nothing)
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Err(Failure::Usage(format!("say what to run\n\n{}", error.render()).trim_end().to_owned()))
            }
            _ => {
                // A subcommand's help is more specific than the general one.
                let first = std::env::args_os().nth(1).unwrap_or_default();
                let help = match Cli::command().find_subcommand(first) {
                    Some(command) => format!("anabranch {} --help", command.get_name()),
                    None => "anabranch --help".to_owned(),
                };
                Err(Failure::Usage(format!("{} (see '{help}')", one_line(&error.render().to_string()))))
            }
        },
    }
}

/// Returns clap's message without its usage paragraph, on one line.
fn one_line(message: &str) -> String {
    let line = message
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more information"))
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("; ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn usage_errors_take_one_line() {
        let message = "error: invalid value 'x' for '--bfs <KIND>'\n  [possible values: a, b]\n\n  tip: say a\n\n\
                       Usage: anabranch\n\nFor more information, try '--help'.\n";
        assert_eq!(one_line(message), "invalid value 'x' for '--bfs <KIND>' [possible values: a, b]; tip: say a");
    }
}

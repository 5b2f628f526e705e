//! The command line: its subcommands, and usage errors in one line.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::exit::{BUILD_ALL, EXIT_CODES, Failure};
#[cfg(feature = "full")]
use crate::full;
use crate::{graph500, output};

/// Run benchmarks and graph kernels on the anabranch worker pool, explain traces, and show protocols
#[derive(Parser)]
#[command(name = "anabranch", version, after_help = EXIT_CODES, subcommand_required = true)]
#[command(arg_required_else_help = true, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommand.
#[derive(Subcommand)]
pub enum Command {
    /// Run the Graph500 benchmark: breadth-first searches in a Kronecker graph
    #[command(after_help = EXIT_CODES)]
    Graph500(graph500::Args),
    #[cfg(feature = "full")]
    #[command(flatten)]
    Full(full::Command),
}

impl Command {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Graph500(args) => graph500::run(&args),
            #[cfg(feature = "full")]
            Command::Full(command) => command.run(),
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
                let reason = match error.get(ContextKind::InvalidArg) {
                    Some(ContextValue::String(arg)) if arg == "--mpi" && error.kind() == ErrorKind::UnknownArgument => {
                        "only `graph500` and `bfs` run over MPI".to_owned()
                    }
                    _ => one_line(&error.render().to_string()),
                };
                if error.kind() == ErrorKind::InvalidSubcommand && cfg!(not(feature = "full")) {
                    let only = "this build has `graph500` alone";
                    return Err(Failure::Usage(format!("{reason}; {only}, for the others {BUILD_ALL}")));
                }
                // A subcommand's help is more specific than the general one.
                let first = std::env::args_os().nth(1).unwrap_or_default();
                let help = match Cli::command().find_subcommand(first) {
                    Some(command) => format!("anabranch {} --help", command.get_name()),
                    None => "anabranch --help".to_owned(),
                };
                Err(Failure::Usage(format!("{reason} (see '{help}')")))
            }
        },
    }
}

/// The begins of paragraphs of clap's messages that are not printed.
const LEFT_OUT: [&str; 3] = ["Usage:", "For more information", "tip: to pass "];

/// Returns clap's message on one line, without its usage paragraph and the tip how to pass an option as a value.
fn one_line(message: &str) -> String {
    let line = message
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| LEFT_OUT.iter().all(|start| !paragraph.starts_with(start)))
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

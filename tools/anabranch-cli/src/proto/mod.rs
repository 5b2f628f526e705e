//! `anabranch proto`: prints the protocols of a source file as diagrams, and the code that `proto!` generates.

use std::path::PathBuf;

use crate::exit::Failure;
use crate::output;

/// The arguments.
#[derive(clap::Args)]
pub struct Args {
    /// The source file
    file: PathBuf,
    /// Print only the protocol with this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print only the diagrams, as Mermaid
    #[arg(long, conflicts_with = "expansion")]
    diagram: bool,
    /// Print only the code
    #[arg(long)]
    expansion: bool,
}

/// Prints the protocols.
pub fn run(args: &Args) -> Result<(), Failure> {
    let file = args.file.display();
    let source = std::fs::read_to_string(&args.file).map_err(|error| Failure::Run(format!("{file}: {error}")))?;
    let failure = |error: syn::Error| {
        let lines = error.into_iter().map(|error| {
            let at = error.span().start();
            format!("{file}:{}:{}: {error}", at.line, at.column + 1)
        });
        Failure::Run(lines.collect::<Vec<_>>().join("\nanabranch: "))
    };
    let not_rust = |error: syn::Error| {
        let at = error.span().start();
        Failure::Run(format!("{file} is not Rust: {error}, line {}, column {}", at.line, at.column + 1))
    };
    let mut protocols = Vec::new();
    for tokens in anabranch_proto::find(&source).map_err(not_rust)? {
        // With `--name`, other protocols are not checked.
        if args.name.is_none() || args.name == anabranch_proto::name(tokens.clone()) {
            protocols.push(anabranch_proto::read(tokens).map_err(failure)?);
        }
    }
    if protocols.is_empty() {
        let what = args.name.as_ref().map_or("no `proto! { .. }`".to_owned(), |name| format!("no protocol `{name}`"));
        return Err(Failure::Run(format!("{file}: {what} in it")));
    }
    let mut shown = Vec::new();
    for protocol in protocols {
        if !args.expansion {
            shown.push(format!("```mermaid\n{}\n```\n", protocol.mermaid()));
        }
        if !args.diagram {
            let code = syn::parse_str(&tidy(&protocol.to_module().to_string())).map_err(failure)?;
            shown.push(prettyplease::unparse(&code));
        }
    }
    output::to_stdout(&shown.join("\n"))
}

/// Removes the absolute paths that a macro needs. `tokens` is code with spaces between all tokens.
fn tidy(tokens: &str) -> String {
    let shorter = [
        (":: core :: result :: Result :: Ok", "Ok"),
        (":: core :: result :: Result :: Err", "Err"),
        (":: core :: result :: Result", "Result"),
        (":: core :: option :: Option :: ", ""),
        (":: core :: option :: Option", "Option"),
        (":: core :: time :: ", ""),
        (":: std :: time :: ", ""),
        (":: core :: fmt", "fmt"),
        (":: core :: unreachable", "unreachable"),
        (":: anabranch", "anabranch"),
    ];
    shorter.into_iter().fold(tokens.to_owned(), |tokens, (long, short)| tokens.replace(long, short))
}

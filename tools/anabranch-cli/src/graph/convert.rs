//! `anabranch convert`: a graph in another format.

use std::io;
use std::path::{Path, PathBuf};

use anabranch_graph::{Format, Observer, Phase, Weight, WeightType};

use super::observer::Watcher;
use super::source::{Source, Weights, format, formats};
use crate::exit::{Failure, print_message};
use crate::output::Target;
use crate::signals::Signals;
use crate::units::counted;

/// The arguments of `anabranch convert`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    weights: Weights,

    /// The file to write; "-" is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The format to write, if the name of the file does not say it: el, wel, txt, mtx, gr, sg, wsg or ag
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    to: Option<Format>,
}

/// Converts a file. A signal ends it at once, and removes the file that it has begun.
pub fn run(args: &Args) -> Result<(), Failure> {
    let to = args.to.or_else(|| output_format(&args.output)).ok_or_else(|| {
        Failure::Usage(format!(
            "the name {} does not say the format; give --to with one of {}",
            args.output.display(),
            formats()
        ))
    })?;
    let signals = Signals::install()?;
    let weights = args.source.weight_type(&args.weights)?;
    let target = Target::open(&args.output, &signals)?;
    args.source.pool()?.install(|| match weights {
        WeightType::Real => convert::<f64>(args, to, target, &signals),
        WeightType::Single => convert::<f32>(args, to, target, &signals),
        WeightType::Whole => convert::<u32>(args, to, target, &signals),
        _ => convert::<()>(args, to, target, &signals),
    })
}

/// Returns the format that the name indicates. Output is not compressed, so the name of a compressed file indicates
/// none.
fn output_format(path: &Path) -> Option<Format> {
    let is_compressed = path.extension().is_some_and(|end| end == "gz" || end == "zst");
    Format::from_path(path).filter(|_| !is_compressed)
}

fn convert<W: Weight>(args: &Args, to: Format, target: Target, signals: &Signals) -> Result<(), Failure> {
    let watcher = Watcher::new(signals);
    let input = args.source.read::<W>(&watcher)?;
    watcher.begin(Phase::Write, 0);
    // A refusal by the format leaves the old file, since the new one does not get its name.
    target.write_with(|out| {
        let mut out = io::BufWriter::with_capacity(1 << 20, out);
        anabranch_graph::write(&input.graph, &input.labels, to, &mut out)?;
        io::Write::flush(&mut out)
    })?;
    watcher.end(Phase::Write);
    drop(watcher);
    let (vertices, edges) = (input.graph.num_vertices() as u64, input.graph.num_edges());
    print_message(&format!("{}, {}, format: {to}", counted(vertices, "vertex"), counted(edges, "edge")));
    Ok(())
}

//! `anabranch graph info`: the sizes, degrees, components, weights and diameter of a graph.

use std::path::PathBuf;

use anabranch::prelude::*;
use anabranch_graph::kernels::{UNREACHED, bfs, connected_components};
use anabranch_graph::{Graph, Weight, WeightType};

use super::info_json::{Degrees, Info, WeightRange};
use super::observer::Watcher;
use super::source::{Source, Weights};
use crate::exit::Failure;
use crate::output::{Target, to_stdout};
use crate::signals::Signals;
use crate::units::{count, counted, three};

/// The arguments of `anabranch graph info`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    weights: Weights,

    /// Also write the results to FILE; '-' is standard output, and the table goes to standard error
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Reads a graph, and prints what is in it. A signal ends it at once.
pub fn run(args: &Args) -> Result<(), Failure> {
    let signals = Signals::install()?;
    let weights = args.source.weight_type(&args.weights)?;
    let file = args.json.as_deref().map(|path| Target::open(path, &signals)).transpose()?;
    let info = args.source.pool()?.install(|| match weights {
        WeightType::Real => analyse::<f64>(args, &signals, Some(|weight| weight)),
        WeightType::Single => analyse::<f32>(args, &signals, Some(f64::from)),
        WeightType::Whole => analyse::<u32>(args, &signals, Some(f64::from)),
        _ => analyse::<()>(args, &signals, None),
    })?;
    let on_stdout = file.as_ref().is_some_and(Target::is_stdout);
    file.map_or(Ok(()), |file| file.write(&info.to_json()))?;
    let text = table(&info, on_stdout);
    if on_stdout {
        text.lines().for_each(crate::exit::print_line);
        return Ok(());
    }
    to_stdout(&text)
}

fn analyse<W: Weight>(args: &Args, signals: &Signals, number: Option<fn(W) -> f64>) -> Result<Info, Failure> {
    let watcher = Watcher::new(signals);
    let input = args.source.read::<W>(&watcher)?;
    watcher.analysis(|| describe(&input.graph, number).map_err(|error| Failure::Run(error.to_string())))
}

fn describe<W: Weight>(
    graph: &Graph<W>,
    number: Option<fn(W) -> f64>,
) -> Result<Info, anabranch_graph::kernels::KernelError> {
    let num_vertices = graph.num_vertices() as u32;
    let degree = |vertex: u32| graph.out_neighbours(vertex).len() as u64;
    let components = connected_components(graph, &())?;
    let mut sizes = vec![0u64; components.len()];
    components.iter().for_each(|&component| sizes[component as usize] += 1);

    // The hub of the largest component, where the first of two sweeps begins.
    let largest = (0..num_vertices).into_par_iter().max_by_key(|&vertex| (sizes[vertex as usize], u32::MAX - vertex));
    let in_largest = |&vertex: &u32| Some(components[vertex as usize]) == largest;
    let hub = (0..num_vertices).into_par_iter().filter(in_largest).max_by_key(|&vertex| (degree(vertex), !vertex));
    let mut diameter = 0;
    let mut from = hub;
    for _ in 0..2 {
        let Some(root) = from else { break };
        let levels = bfs(graph, root, &())?.levels;
        let reached = (0..num_vertices).into_par_iter().filter(|&vertex| levels[vertex as usize] != UNREACHED);
        from = reached.max_by_key(|&vertex| (levels[vertex as usize], !vertex));
        diameter = diameter.max(from.map_or(0, |vertex| u64::from(levels[vertex as usize])));
    }

    let weights = number.and_then(|number| {
        let range = |vertex: u32| {
            let weights = graph.out_weights(vertex).iter().map(|&weight| number(weight));
            weights.fold((f64::INFINITY, f64::NEG_INFINITY), |range, weight| (range.0.min(weight), range.1.max(weight)))
        };
        let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let (min, max) =
            (0..num_vertices).into_par_iter().map(range).reduce(|| (f64::INFINITY, f64::NEG_INFINITY), join);
        (min <= max).then_some(WeightRange { min, max })
    });
    Ok(Info {
        vertices: u64::from(num_vertices),
        edges: graph.num_edges(),
        directed: graph.is_directed(),
        degrees: degrees(graph),
        components: sizes.iter().filter(|&&size| size > 0).count() as u64,
        largest_component: sizes.iter().copied().max().unwrap_or(0),
        diameter_at_least: diameter,
        weights,
    })
}

/// Returns the distribution of the numbers of outgoing edges.
fn degrees<W: Weight>(graph: &Graph<W>) -> Degrees {
    let mut degrees: Vec<u32> = (0..graph.num_vertices() as u32)
        .into_par_iter()
        .map(|vertex| graph.out_neighbours(vertex).len() as u32)
        .collect();
    degrees.par_sort_unstable();
    let at =
        |share: f64| degrees.get((degrees.len() as f64 * share) as usize).or(degrees.last()).map_or(0, |&d| d.into());
    Degrees {
        isolated: (0..graph.num_vertices() as u32)
            .into_par_iter()
            .filter(|&vertex| graph.out_neighbours(vertex).is_empty() && graph.in_neighbours(vertex).is_empty())
            .count() as u64,
        min: at(0.0),
        median: at(0.5),
        percentile_90: at(0.9),
        percentile_99: at(0.99),
        max: at(1.0),
        mean: if degrees.is_empty() { 0.0 } else { graph.num_arcs() as f64 / degrees.len() as f64 },
    }
}

/// Returns the table, with a line end.
fn table(info: &Info, on_stderr: bool) -> String {
    let mut table = crate::table::new(on_stderr);
    let kind = if info.directed { "directed" } else { "undirected" };
    table.set_header(["graph".to_owned(), kind.to_owned()]);
    let degrees = &info.degrees;
    let name = if info.directed { "outgoing degrees" } else { "degrees" };
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    row("vertices", format!("{}, {} of them isolated", count(info.vertices), count(degrees.isolated)));
    row("edges", count(info.edges));
    row(name, format!("mean {}, min {}, max {}", three(degrees.mean), count(degrees.min), count(degrees.max)));
    let (median, ninety, most) = (count(degrees.median), count(degrees.percentile_90), count(degrees.percentile_99));
    row("", format!("median {median}, 90% up to {ninety}, 99% up to {most}"));
    let (components, largest) = (count(info.components), counted(info.largest_component, "vertex"));
    row("components", format!("{components}, the largest with {largest}"));
    row("diameter", format!("at least {}", count(info.diameter_at_least)));
    row("weights", info.weights.as_ref().map_or("none".to_owned(), |range| format!("{} to {}", range.min, range.max)));
    table.trim_fmt() + "\n"
}

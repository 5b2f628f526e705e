//! The kernels that search from a source, and the path to a target.

use anabranch_graph::kernels::bfs::Bfs;
use anabranch_graph::kernels::sssp::Length;
use anabranch_graph::kernels::{self, KernelError, UNREACHED, VerifyError};
use anabranch_graph::{Graph, Labels, Weight, WeightType};
use serde_json::{Value, json};

use super::args::{BfsArgs, SsspArgs};
use super::columns::Column;
use super::report::Found;
use super::run::{Kernel, Stop, run, vertex};
use crate::exit::Failure;
use crate::units::counted;

/// The number of vertices of a path that the table shows. The JSON file has all of them.
const MAX_SHOWN: usize = 20;

/// Runs `anabranch bfs`.
pub fn bfs(args: &BfsArgs) -> Result<(), Failure> {
    if args.mpi {
        #[cfg(feature = "mpi")]
        return super::mpi::run(args);
        #[cfg(not(feature = "mpi"))]
        return Err(crate::no_mpi::refuse());
    }
    run(Search(Ends::new(args.source, args.target)), &args.common, Some(&args.output))
}

/// Runs `anabranch sssp`.
pub fn sssp(args: &SsspArgs) -> Result<(), Failure> {
    let kernel = Paths { ends: Ends::new(args.source, args.target), delta: args.delta };
    match args.common.source.weight_type(&args.weights)? {
        WeightType::Real => run::<f64, _>(kernel, &args.common, Some(&args.output)),
        WeightType::Single => run::<f32, _>(kernel, &args.common, Some(&args.output)),
        // Without weights, each edge has the length 1.
        _ => run::<u32, _>(kernel, &args.common, Some(&args.output)),
    }
}

/// Where a search begins, and perhaps a vertex of which it shows the path.
struct Ends {
    label: u64,
    root: u32,
    target: Option<(u64, u32)>,
}

impl Ends {
    fn new(source: u64, target: Option<u64>) -> Ends {
        Ends { label: source, root: 0, target: target.map(|label| (label, 0)) }
    }

    fn find<W: Weight>(&mut self, graph: &Graph<W>, labels: &Labels) -> Result<(), Failure> {
        self.root = vertex(graph, labels, self.label)?;
        if let Some((label, target)) = &mut self.target {
            *target = vertex(graph, labels, *label)?;
        }
        Ok(())
    }

    /// Adds the path to the target, if there is one. `length` has its length, for people and for scripts.
    fn add_path(&self, found: &mut Found, labels: &Labels, parents: &[u32], length: impl Fn(u32) -> (String, Value)) {
        let Some((label, target)) = self.target else { return };
        let path = kernels::path_to(parents, target)
            .map(|path| -> Vec<u64> { path.into_iter().map(|vertex| labels.label(vertex)).collect() });
        found.json["target"] = json!(label);
        found.json["path"] = json!(path);
        let text = path.map_or_else(
            || format!("{label} is not reached"),
            |path| {
                let (text, value) = length(target);
                found.json["length"] = value;
                let shown: Vec<String> = path.iter().take(MAX_SHOWN).map(u64::to_string).collect();
                let rest = if path.len() > MAX_SHOWN { format!(", .. {label}") } else { String::new() };
                format!("{text}: {}{rest}", shown.join(", "))
            },
        );
        found.rows.push(("path", text));
    }
}

struct Search(Ends);

impl Kernel<()> for Search {
    type Result = Bfs;
    const NAME: &'static str = "bfs";

    fn prepare(&mut self, graph: &Graph, labels: &Labels) -> Result<(), Failure> {
        self.0.find(graph, labels)
    }

    fn run(&self, graph: &Graph, stop: &Stop<'_>) -> Result<Bfs, KernelError> {
        kernels::bfs(graph, self.0.root, stop)
    }

    fn verify(&self, graph: &Graph, result: &Bfs) -> Result<(), VerifyError> {
        kernels::bfs::verify(graph, self.0.root, result)
    }

    fn found(&self, _: &Graph, labels: &Labels, result: Bfs) -> Found {
        let levels = || result.levels.iter().filter(|&&level| level != UNREACHED);
        let (reached, depth) = (levels().count() as u64, levels().max().copied().unwrap_or(0));
        let mut in_level = vec![0u64; depth as usize + 1];
        levels().for_each(|&level| in_level[level as usize] += 1);
        let distances: f64 = (0u64..).zip(&in_level).map(|(level, count)| (level * count) as f64).sum();
        let mut found = Found::tree(self.0.label, reached, depth, Vec::new());
        let mean = distances / (reached.max(2) - 1) as f64;
        found.rows.push(("mean level", format!("{mean:.3}")));
        found.json["mean_level"] = json!(mean);
        found.json["vertices_in_level"] = json!(in_level);
        self.0.add_path(&mut found, labels, &result.parents, |target| {
            let edges = result.levels[target as usize];
            (counted(edges.into(), "edge"), json!(edges))
        });
        found.columns = vec![("parent", Column::Vertices(result.parents)), ("level", Column::Counts(result.levels))];
        found
    }
}

struct Paths {
    ends: Ends,
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
        self.ends.find(graph, labels)
    }

    fn run(&self, graph: &Graph<W>, stop: &Stop<'_>) -> Result<Self::Result, KernelError> {
        kernels::sssp(graph, self.ends.root, self.delta, stop)
    }

    fn verify(&self, graph: &Graph<W>, result: &Self::Result) -> Result<(), VerifyError> {
        kernels::sssp::verify(graph, self.ends.root, result)
    }

    fn found(&self, graph: &Graph<W>, labels: &Labels, result: Self::Result) -> Found {
        let reached = || result.iter().copied().filter(|&distance| distance < W::UNREACHED);
        let farthest = reached().fold(W::ZERO, |a, b| if a < b { b } else { a });
        let reached = reached().count();
        let source = self.ends.label;
        let mut found = Found {
            rows: vec![
                ("source", source.to_string()),
                ("reached", format!("{}, the farthest at {farthest}", counted(reached as u64, "vertex"))),
            ],
            json: json!({ "source": source, "reached": reached, "farthest": W::json(farthest) }),
            columns: Vec::new(),
            unfinished: None,
        };
        if self.ends.target.is_some() {
            let parents = kernels::sssp::parents(graph, self.ends.root, &result, &());
            let parents = parents.expect("nothing cancels it, and the kernel has checked the weights");
            self.ends.add_path(&mut found, labels, &parents, |target| {
                let distance = result[target as usize];
                (format!("length {distance}"), W::json(distance))
            });
        }
        found.columns = vec![("distance", W::column(result))];
        found
    }
}

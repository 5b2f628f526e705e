//! The run of a kernel: reads the graph, runs the trials, verifies, and writes the results.

use std::time::Instant;

use anabranch_graph::kernels::{Cancel, KernelError, VerifyError};
use anabranch_graph::{Graph, Input, Labels, Weight};

use super::args::{Common, Output};
use super::columns;
use super::observer::Watcher;
use super::report::{Found, Report};
use crate::exit::Failure;
use crate::output::Target;
use crate::signals::Signals;

/// The request to stop, from the signals.
pub struct Stop<'a>(&'a Signals);

impl Cancel for Stop<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// A kernel with its parameters.
pub trait Kernel<W: Weight>: Sync {
    /// The result of one trial.
    type Result: Send;
    /// The name of the subcommand.
    const NAME: &'static str;

    /// Checks the parameters against the graph, before the first trial.
    fn prepare(&mut self, graph: &Graph<W>, labels: &Labels) -> Result<(), Failure>;
    /// Runs one trial. Only this is timed.
    fn run(&self, graph: &Graph<W>, stop: &Stop<'_>) -> Result<Self::Result, KernelError>;
    /// Compares the result with that of a plain serial algorithm.
    fn verify(&self, graph: &Graph<W>, result: &Self::Result) -> Result<(), VerifyError>;
    /// Summarises the result.
    fn found(&self, graph: &Graph<W>, labels: &Labels, result: Self::Result) -> Found;
}

/// Runs `kernel` as the options say.
///
/// The files for the results are opened before the graph is read, so that a wrong path is reported at once.
pub fn run<W: Weight, K: Kernel<W> + Send>(
    mut kernel: K,
    common: &Common,
    output: Option<&Output>,
) -> Result<(), Failure> {
    let signals = Signals::install()?;
    let targets = Targets::open(common, output, &signals)?;
    let pool = common.source.pool()?;
    let (report, found, labels) = pool.install(|| {
        let start = Instant::now();
        let watcher = Watcher::new(&signals);
        let Input { graph, labels, .. } = common.source.read::<W>(&watcher)?;
        drop(watcher);
        let read_seconds = start.elapsed().as_secs_f64();
        kernel.prepare(&graph, &labels)?;
        let (seconds, result) = signals.watch(|| trials(&kernel, &graph, common.trials, &signals))?;
        if common.verify {
            kernel
                .verify(&graph, &result)
                .map_err(|error| Failure::Run(format!("the result of {} is wrong: {error}", K::NAME)))?;
        }
        let report = Report {
            command: K::NAME,
            file: common.source.file.display().to_string(),
            vertices: graph.num_vertices() as u64,
            edges: graph.num_edges(),
            directed: graph.is_directed(),
            processes: 1,
            threads: pool.num_threads(),
            read_seconds,
            seconds,
            verified: common.verify,
        };
        let found = kernel.found(&graph, &labels, result);
        Ok((report, found, labels))
    })?;

    targets.write(&report, &found, &labels)
}

/// The files for the results.
pub struct Targets {
    values: Option<Target>,
    /// Whether the values become an array of NumPy.
    is_array: bool,
    json: Option<Target>,
}

impl Targets {
    /// Opens the files that the options name.
    pub fn open(common: &Common, output: Option<&Output>, signals: &Signals) -> Result<Targets, Failure> {
        let path = output.and_then(|output| output.output.as_deref());
        let values = path.map(|path| Target::open(path, signals)).transpose()?;
        let json = common.json.as_deref().map(|path| Target::open(path, signals)).transpose()?;
        if values.as_ref().is_some_and(Target::is_stdout) && json.as_ref().is_some_and(Target::is_stdout) {
            return Err(Failure::Usage("--output and --json cannot both be '-'".to_owned()));
        }
        Ok(Targets { values, is_array: path.is_some_and(columns::is_array), json })
    }

    /// Writes the files, and prints the table.
    pub fn write(self, report: &Report, found: &Found, labels: &Labels) -> Result<(), Failure> {
        let is_stdout = |target: &Option<Target>| target.as_ref().is_some_and(Target::is_stdout);
        let on_stdout = is_stdout(&self.values) || is_stdout(&self.json);
        let written = self.values.map_or(Ok(()), |target| {
            let write = if self.is_array { columns::write_array } else { columns::write_text };
            target.write_with(|out| write(&found.columns, report.vertices as usize, labels, out))
        });
        let json = self.json.map_or(Ok(()), |target| target.write(&report.json(found)));
        let printed = report.print(found, on_stdout);
        let finished = found.unfinished.clone().map_or(Ok(()), |why| Err(Failure::Run(why)));
        written.and(json).and(printed).and(finished)
    }
}

/// Returns the seconds of all trials, and the result of the last one.
fn trials<W: Weight, K: Kernel<W>>(
    kernel: &K,
    graph: &Graph<W>,
    trials: usize,
    signals: &Signals,
) -> Result<(Vec<f64>, K::Result), Failure> {
    let mut seconds = Vec::with_capacity(trials);
    loop {
        let start = Instant::now();
        let result = kernel.run(graph, &Stop(signals));
        seconds.push(start.elapsed().as_secs_f64());
        signals.check()?;
        let result = result.map_err(|error| Failure::Run(error.to_string()))?;
        if seconds.len() == trials {
            return Ok((seconds, result));
        }
    }
}

/// Returns the vertex that the file calls `label`.
pub fn vertex<W: Weight>(graph: &Graph<W>, labels: &Labels, label: u64) -> Result<u32, Failure> {
    vertex_of(graph.num_vertices() as u64, labels, label)
}

/// The same for a graph with this many vertices.
pub fn vertex_of(num_vertices: u64, labels: &Labels, label: u64) -> Result<u32, Failure> {
    let found = labels.vertex(label).filter(|&vertex| u64::from(vertex) < num_vertices);
    found.ok_or_else(|| Failure::Run(format!("the graph has no vertex {label}; name one of the file")))
}

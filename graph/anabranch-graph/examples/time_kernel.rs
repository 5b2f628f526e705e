//! Times a kernel on a file: `time_kernel KERNEL FILE THREADS TRIALS [SOURCE ..]`.
//!
//! The kernel is `bfs`, `sssp` (with weights of `u32`), `sssp-f32`, `sssp-f64`, `sssp-light` (rows by weight, ordered
//! before the first trial), `cc`, `pr` (as GAP ends it), `pr-converged`, `tc` or `bc`. Prints the seconds of each
//! trial. The trials take the sources in turn. This is what the GAP benchmark suite prints for the same file, so the
//! two can be compared.

use std::error::Error;
use std::time::Instant;

use anabranch::Pool;
use anabranch_graph::kernels::betweenness::Scale;
use anabranch_graph::kernels::pagerank::Parameters;
use anabranch_graph::kernels::sssp::LightFirst;
use anabranch_graph::kernels::{KernelError, betweenness, bfs, connected_components, count_triangles, pagerank, sssp};
use anabranch_graph::{ReadOptions, Weight, read};

/// Reads the file, and prints the seconds that `kernel` takes from each source.
fn trials<W: Weight, R>(
    path: &str,
    sources: &[u32],
    kernel: impl Fn(&anabranch_graph::Graph<W>, u32) -> Result<R, KernelError>,
) -> Result<(), Box<dyn Error>> {
    let graph = read::<W>(path, &ReadOptions::default())?.graph;
    time(sources, |source| kernel(&graph, source))
}

/// Prints the seconds that `kernel` takes from each source.
fn time<R>(sources: &[u32], kernel: impl Fn(u32) -> Result<R, KernelError>) -> Result<(), Box<dyn Error>> {
    for &source in sources {
        let start = Instant::now();
        let result = kernel(source)?;
        println!("{:.6}", start.elapsed().as_secs_f64());
        drop(result);
    }
    Ok(())
}

fn light_first(path: &str, sources: &[u32]) -> Result<(), Box<dyn Error>> {
    let graph = LightFirst::new(read::<u32>(path, &ReadOptions::default())?.graph);
    time(sources, |source| graph.sssp(source, None, &()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, path, threads, count, sources @ ..] = &arguments[..] else {
        return Err("give KERNEL FILE THREADS TRIALS [SOURCE ..]".into());
    };
    let mut sources: Vec<u32> = sources.iter().map(|source| source.parse()).collect::<Result<_, _>>()?;
    if sources.is_empty() {
        sources.push(0);
    }
    let sources: Vec<u32> = sources.into_iter().cycle().take(count.parse()?).collect();
    let pool = Pool::builder().threads(threads.parse()?).build()?;
    let run = || -> Result<(), String> {
        let done = match &kernel[..] {
            "bfs" => trials::<(), _>(path, &sources, |graph, source| bfs(graph, source, &())),
            "sssp" => trials::<u32, _>(path, &sources, |graph, source| sssp(graph, source, None, &())),
            "sssp-f32" => trials::<f32, _>(path, &sources, |graph, source| sssp(graph, source, None, &())),
            "sssp-f64" => trials::<f64, _>(path, &sources, |graph, source| sssp(graph, source, None, &())),
            "sssp-light" => light_first(path, &sources),
            "cc" => trials::<(), _>(path, &sources, |graph, _| connected_components(graph, &())),
            "pr" => trials::<(), _>(path, &sources, |graph, _| pagerank(graph, &Parameters::GAP, &())),
            "pr-converged" => trials::<(), _>(path, &sources, |graph, _| pagerank(graph, &Parameters::default(), &())),
            "tc" => trials::<(), _>(path, &sources, |graph, _| count_triangles(graph, &())),
            "bc" => trials::<(), _>(path, &sources, |graph, source| betweenness(graph, &[source], Scale::Gap, &())),
            _ => return Err(format!("there is no kernel '{kernel}'")),
        };
        done.map_err(|error| error.to_string())
    };
    pool.install(run).map_err(Into::into)
}

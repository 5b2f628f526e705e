//! The steps of the benchmark one by one, each with its time: how to use the library for more than
//! [`graph500::run`].
//!
//! ```text
//! cargo run --release --example steps -- [SCALE [THREADS [KERNEL...]]]
//! ```

use std::error::Error;
use std::time::Instant;

use graph500::{BfsKind, Config, Graph, MemoryPlan, Search, Spec, TepsSummary, Validator, generate, search_keys};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let scale = args.next().map_or(Ok(16), |arg| arg.parse())?;
    let threads = args.next().map_or(Ok(1), |arg| arg.parse())?;
    let mut kernels = args.map(|arg| arg.parse()).collect::<Result<Vec<BfsKind>, _>>()?;
    if kernels.is_empty() {
        kernels = BfsKind::ALL.to_vec();
    }
    anabranch::Pool::builder().threads(threads).build()?.install(|| steps(Spec::new(scale, 16, 1)?, &kernels))
}

fn steps(spec: Spec, kernels: &[BfsKind]) -> Result<(), Box<dyn Error>> {
    let plan = MemoryPlan::of(&Config::official(spec));
    for (what, bytes) in plan.stages() {
        println!("{what:<20} {:>8.1} MB", *bytes as f64 / 1e6);
    }
    println!("{:<20} {:>8.1} MB", "memory at the peak", plan.peak() as f64 / 1e6);

    let start = Instant::now();
    let edges = generate(&spec, &())?;
    println!("{:<20} {:>8.3} s", "generation", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let graph = Graph::build(&edges, &())?;
    println!("{:<20} {:>8.3} s", "construction", start.elapsed().as_secs_f64());

    let keys = search_keys(&graph, 64, spec.seed());
    for &kernel in kernels {
        let mut search = Search::new(&graph, kernel)?;
        let mut validator = Validator::new(&edges, graph.num_vertices())?;
        let (mut times, mut validation) = (Vec::new(), 0.0);
        let mut edge_counts = Vec::new();
        for &key in &keys {
            let start = Instant::now();
            search.run(key, &())?;
            let seconds = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let component =
                validator.check(key, search.parents(), &()).map_err(|verdict| format!("{key}: {verdict:?}"))?;
            validation += start.elapsed().as_secs_f64();
            edge_counts.push(component.edges as f64);
            times.push(seconds / component.edges as f64);
        }
        let rate = TepsSummary::of_seconds_per_edge(&times).harmonic_mean / 1e9;
        let validation = validation / keys.len() as f64;
        println!("{kernel:<20} {rate:>8.3} GTEPS, {:.4} s a validation", validation);
        let mut warm = Vec::new();
        for (&key, per_edge) in keys.iter().zip(&times) {
            let _ = per_edge;
            let start = Instant::now();
            search.run(key, &())?;
            warm.push(start.elapsed().as_secs_f64());
        }
        let warm: Vec<f64> = warm.iter().zip(&edge_counts).map(|(t, e)| t / e).collect();
        let rate = TepsSummary::of_seconds_per_edge(&warm).harmonic_mean / 1e9;
        println!("{kernel:<20} {rate:>8.3} GTEPS warm");
    }
    Ok(())
}

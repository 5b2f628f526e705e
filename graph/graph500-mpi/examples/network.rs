//! Measures the network of the model in `docs/MPI.md`, and compares the model with searches.
//!
//! `mpirun -n 2 target/release/examples/network` prints the median time of an all-gather of 16 bytes from each process,
//! of an all-to-all without words, and of an all-gather of a large bitmap, with the bytes that a process receives in a
//! second. The latency of the model is the time of the first one for each of its log2 P steps.
//!
//! `network SCALE` also searches from 64 keys, one thread a process, and prints the median time of a search, in
//! milliseconds. `network SCALE TIME CORES` with the time on one process also prints what the model predicts from it on
//! machines with this many cores together, and the bytes. The model takes TIME / min(P, CORES) for the work.
//!
//! `network SCALE alone THREADS`, without `mpirun`, searches by `graph500::run` instead, for comparison.

use std::time::Instant;

use graph500::distributed::{self, Communicator, LevelShape, Network, predicted_bytes, predicted_seconds};
use graph500::{Config, Report, Spec};
use graph500_mpi::Mpi;

const REPETITIONS: usize = 301;
const WORDS: usize = 1 << 14;

/// Returns the median of times in seconds.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns the median time of an operation, in seconds.
fn time(mut operation: impl FnMut()) -> f64 {
    let timed = |_| {
        let start = Instant::now();
        operation();
        start.elapsed().as_secs_f64()
    };
    median((0..REPETITIONS).map(timed).collect())
}

/// Measures the network, and prints the figures on process 0.
fn network(mpi: &Mpi) -> Network {
    let processes = mpi.processes();
    let mut small = vec![0; 2 * processes];
    let counts = time(|| mpi.all_gather(&[1, 2], &vec![2; processes], &mut small));
    let no_words = time(|| drop(mpi.all_to_all(&[], &vec![0; processes])));
    let (own, mut all) = (vec![1; WORDS], vec![0; WORDS * processes]);
    let bitmap = time(|| mpi.all_gather(&own, &vec![WORDS; processes], &mut all));
    let bandwidth = (8 * WORDS * (processes - 1)) as f64 / bitmap;
    if mpi.process() == 0 {
        println!("all-gather of 16 bytes: {:.2} us", counts * 1e6);
        println!("all-to-all of nothing: {:.2} us", no_words * 1e6);
        println!("all-gather of {} bytes: {:.1} us, {:.2} GB/s", 8 * WORDS, bitmap * 1e6, bandwidth / 1e9);
    }
    Network { latency: counts / (processes as f64).log2().ceil().max(1.0), bandwidth }
}

fn config(scale: u32) -> Result<Config, Box<dyn std::error::Error>> {
    Ok(Config { validate: false, ..Config::official(Spec::new(scale, 16, 1)?) })
}

/// Prints the rate and the time of searches by the official protocol, and returns the median time.
fn print(report: &Report) -> f64 {
    let (time, teps) = (report.time().median, report.teps().harmonic_mean);
    let (scale, processes, threads) = (report.spec.scale(), report.processes, report.threads);
    let gteps = teps / 1e9;
    println!("scale {scale}, {processes} x {threads}: {gteps:.3} GTEPS (harmonic mean), {:.3} ms a search", time * 1e3);
    time
}

/// Searches, and prints time and bytes of a search with those of the model, for the time on one process and the cores.
fn searches(
    mpi: &Mpi,
    scale: u32,
    alone: Option<(f64, u64)>,
    network: &Network,
) -> Result<(), Box<dyn std::error::Error>> {
    let config = config(scale)?;
    let pool = anabranch::Pool::builder().threads(1).build()?;
    let outcome = pool.install(|| distributed::run(mpi, &config, &()))?;
    if mpi.process() != 0 {
        return Ok(());
    }
    let measured = print(&outcome.report);
    let Some((alone, cores)) = alone else { return Ok(()) };

    let (processes, searches) = (mpi.processes() as u64, outcome.levels.len() as f64);
    let work = alone * processes as f64 / processes.min(cores) as f64;
    let (mut bytes, mut sent, mut times) = (0.0, 0, Vec::new());
    for levels in &outcome.levels {
        let shape = |level: &distributed::LevelProfile| LevelShape {
            kind: level.kind,
            frontier: level.frontier,
            edges: level.edges,
            found: level.found,
        };
        let shapes: Vec<LevelShape> = levels.iter().map(shape).collect();
        bytes += predicted_bytes(&shapes, outcome.connected, processes).iter().sum::<f64>();
        sent += levels.iter().flat_map(|level| &level.traffic).map(|traffic| traffic.bytes).sum::<u64>();
        times.push(predicted_seconds(&shapes, outcome.connected, processes, work, network));
    }
    let predicted = median(times);
    println!("the model: {:.3} ms, {:+.0}%", predicted * 1e3, 100.0 * (measured / predicted - 1.0));
    println!(
        "bytes of a search: {:.0}, the model: {:.0}, {:+.1}%",
        sent as f64 / searches,
        bytes / searches,
        100.0 * (sent as f64 / bytes - 1.0)
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let scale = args.first().map(|scale| scale.parse()).transpose()?;
    if let (Some(scale), Some("alone")) = (scale, args.get(1).map(String::as_str)) {
        let threads = args.get(2).map_or(Ok(1), |threads| threads.parse())?;
        let (config, pool) = (config(scale)?, anabranch::Pool::builder().threads(threads).build()?);
        print(&pool.install(|| graph500::run(&config, &()))?);
        return Ok(());
    }
    let alone = match &args[..] {
        [_, time, cores] => Some((time.parse::<f64>()? / 1e3, cores.parse()?)),
        _ => None,
    };
    let mpi = Mpi::start()?;
    let network = network(&mpi);
    match scale {
        Some(scale) => searches(&mpi, scale, alone, &network),
        None => Ok(()),
    }
}
